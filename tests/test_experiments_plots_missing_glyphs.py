"""Characters without a font are named, and no others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from experiments.commands.figure_output import MOST_NAMED, _boxes_text
from experiments.plots.missing_glyphs import missing_glyphs

NO_CHARACTER = "\ufdd0"


def drawing(*texts: str) -> str:
    told = "".join(f"<text>{text}</text>" for text in texts)
    return f'<svg xmlns="http://www.w3.org/2000/svg"><desc>{NO_CHARACTER}</desc>{told}</svg>'


@pytest.mark.parametrize(
    ("texts", "missing"),
    [
        ((), ()),
        (("plain &lt;b&gt; &amp; 1.0",), ()),
        (("é ü ñ – …",), ()),
        ((f"a{NO_CHARACTER}", f"{NO_CHARACTER}\U0010fffe"), (NO_CHARACTER, "\U0010fffe")),
    ],
)
def test_only_texts_without_a_font_count(texts: Sequence[str], missing: Sequence[str]) -> None:
    assert missing_glyphs([drawing(text) for text in texts] + [drawing()]) == missing


def test_the_line_names_some_and_counts_the_others() -> None:
    few = _boxes_text(["é", "😀"])
    assert few.startswith("no font of this machine has é U+00E9, 😀 U+1F600: the PDFs show boxes")
    many = _boxes_text([chr(0x4E00 + place) for place in range(MOST_NAMED + 3)])
    assert " and 3 more: " in many
    assert many.count("U+") == MOST_NAMED
    assert "\n" not in many
