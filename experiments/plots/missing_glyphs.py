"""Characters of drawings that no font of this machine has: a PDF shows boxes in their place."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import vl_convert

from experiments.plots.drawing import FONT

__all__ = ["missing_glyphs"]

_TEXT = "{http://www.w3.org/2000/svg}text"
_NONE_HAS_IT = "\ufdd0"
"""Never a character: what is drawn for it is drawn for all that are missing."""


def missing_glyphs(svgs: Iterable[str]) -> tuple[str, ...]:
    """Characters of the texts of these drawings that are drawn as boxes, in their order."""
    said = {char for svg in svgs for text in ElementTree.fromstring(svg).iter(_TEXT) for char in text.text or ""}
    odd = sorted(char for char in said if not char.isascii())
    box = _picture(_NONE_HAS_IT) if odd else b""
    return tuple(char for char in odd if _picture(char) == box)


def _picture(character: str) -> bytes:
    text = f'<text x="4" y="30" font-size="24" font-family="{FONT}">{character}</text>'
    return bytes(vl_convert.svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{text}</svg>'))
