"""Colour says nothing that the text does not, and nothing that people or models wrote acts on a terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from experiments.reports import build_report, render_text
from experiments.reports.document import Bullets, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.escaping import visible
from experiments.reports.forests import rate_forest
from experiments.reports.render_text import render_document
from experiments.reports.text_look import Look

COLOUR = Look(colour=True)
OURS = re.compile("\x1b\\[[0-9;]*m")
HOSTILE = [
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ \x9b2J",
    "over\rwritten\ttabbed\x08\x7f\x0b\x0c",
    "\u202eabc\u2066def\u2069\u200f",
    "zero\u200bwidth\u200d\ufeff\u2060 \u115f\u3164\uffa0 \ufe0f\U000e0100 \u034f",
    "日本語ｗｉｄｅ 👩\u200d👩\u200d👧 🇫🇷 e\u0301",
    "[bold red]x[/] [link=http://evil.example]y[/link]",
    "lone \ud800 and NUL \x00",
]


def hostile_page(text: str) -> Document:
    rate = {"value": 0.5, "low": 0.2, "high": 0.8}
    blocks = (
        Paragraph(text),
        Bullets((text, "plain")),
        Table((text, "rate"), ((text, "1.0%"), ("plain", "2.0%"))),
        *rate_forest([(text, [rate]), ("plain", [rate])], (text,)),
        Entries((Entry(text, (("response", text),)),)),
    )
    return Document((Section(text, 1, blocks), Section("Decision", 2, (Paragraph(f"PASS. {text}"),))))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_hostile_text_does_nothing_and_keeps_the_alignment(text: str, width: int, encoding: str) -> None:
    shown = OURS.sub("", render_document(hostile_page(text), width=width, look=Look(encoding, colour=True)))
    lines = shown.splitlines()
    assert all(line.isprintable() and cell_len(line) <= width for line in lines)
    assert shown.encode(encoding)
    assert not re.search("[\u034f\u115f\u3164\ufe00-\ufe0f\uffa0]", shown)
    ends = {cell_len(line) for line in lines if line.endswith(("1.0%", "2.0%"))}
    assert len(ends) == 1
    values = {cell_len(line.partition("●" if encoding == "utf-8" else "o--")[0]) for line in lines if "50.0% [" in line}
    assert len(values) == 1 or encoding == "ascii"  # an escape may hold the letter that marks a value


@given(st.text(max_size=80))
def test_what_is_visible_prints_and_stays_itself(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert visible(shown) == shown
    assert cell_len(shown) >= sum(char.isascii() and char.isprintable() for char in text)


def test_fillers_and_variation_selectors_are_spelt_out() -> None:
    assert visible("a\u3164b\ufe0fc") == "a\\u3164b\\ufe0fc"
    assert visible("\U000e0100") == "\\U000e0100"
    assert visible("plain é 日") == "plain é 日"


def test_colour_takes_nothing_away_and_adds_no_text(runs: Any) -> None:
    report = build_report(runs.run([("C", "CCCI"), ("I", "II--")]))
    plain, coloured = render_text(report), render_text(report, look=COLOUR)
    assert "\x1b" not in plain
    assert "\x1b[1m" in coloured
    assert [line.rstrip() for line in OURS.sub("", coloured).splitlines()] == plain.splitlines()
    assert "\x1b" not in OURS.sub("", coloured)


def test_warnings_failures_and_decisions_are_marked(runs: Any) -> None:
    coloured = render_text(build_report(runs.run([("C", "CCCI"), ("I", "II--")])), look=COLOUR)
    assert re.search(r"\x1b\[1;33mWarnings", coloured)
    assert re.search(r"\x1b\[33m- grader 1", coloured)
    assert re.search(r"\x1b\[33munparsed", coloured)


@pytest.mark.parametrize(
    ("said", "code"),
    [("PASS. a", "1;32"), ("FAIL. a", "1;31"), ("SHIFT. a", "1;31"), ("UNDECIDED. a", "1;33"), ("Take a.", "1")],
)
def test_a_decision_is_bold_and_has_the_colour_of_its_outcome(said: str, code: str) -> None:
    document = Document((Section("Decision", 2, (Paragraph(said),)),))
    assert f"\x1b[{code}m{said}" in render_document(document, look=COLOUR)
    elsewhere = Document((replace(document.sections[0], heading="Other"),))
    assert f"\n{said}" in render_document(elsewhere, look=COLOUR)


def test_outcomes_in_tables_have_their_colour() -> None:
    document = Document(
        (Section("Rules", 2, (Table(("rule", "outcome"), (("a", "FAIL"), ("b", "fails")), n_text=2),)),)
    )
    shown = render_document(document, look=COLOUR)
    assert "\x1b[31mFAIL" in shown
    assert "\x1b[31mfails" not in shown


def test_the_environment_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document((Section("Decision", 2, (Paragraph("PASS."),)),))
    before = [render_document(document), render_document(document, look=COLOUR)]
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "FORCE_COLOR": "1", "COLUMNS": "20"}.items():
        monkeypatch.setenv(name, value)
    assert [render_document(document), render_document(document, look=COLOUR)] == before
