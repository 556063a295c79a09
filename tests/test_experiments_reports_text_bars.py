"""Bars and intervals of a page of text: true to their figures, inside the width, nothing where nothing is defined."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from experiments.reports import build_report, render_markdown, render_text
from experiments.reports.document import Bars, Document, Forest, ForestGroup, ForestRow, Section, Table
from experiments.reports.forests import rate_forest
from experiments.reports.render_text import render_document
from experiments.reports.text_bars import ASCII, UNICODE, Glyphs, draw_bar, draw_forest, draw_interval
from experiments.reports.text_look import Look

GLYPHS = [UNICODE, ASCII]
SHARES = st.floats(0, 1, allow_nan=False)
NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Mn", "Me", "Zs")), max_size=60)


def row(value: float | None, low: float | None = None, high: float | None = None, name: str = "a") -> ForestRow:
    return ForestRow(name, value, low, high, "-" if value is None else f"{value:.1%}")


@pytest.mark.parametrize("glyphs", GLYPHS)
@given(share=SHARES, other=SHARES, width=st.integers(1, 40))
def test_a_longer_bar_is_a_larger_share(glyphs: Glyphs, share: float, other: float, width: int) -> None:
    drawn = draw_bar(share, width, glyphs)
    assert cell_len(drawn) == width
    assert (drawn == glyphs.empty * width) is (share == 0)
    assert (drawn == glyphs.parts[-1] * width) is (share == 1) or (len(glyphs.parts), width) == (1, 1)
    if share < other:
        longer = draw_bar(other, width, glyphs)
        assert [_filled(cell, glyphs) for cell in drawn] <= [_filled(cell, glyphs) for cell in longer] or width == 1


def _filled(cell: str, glyphs: Glyphs) -> int:
    return 0 if cell == glyphs.empty else 1 + glyphs.parts.index(cell)


def test_bars_by_hand() -> None:
    assert draw_bar(0.25, 8, UNICODE) == "██······"
    assert draw_bar(0.5 + 1 / 16, 2, UNICODE) == "█▏"
    assert draw_bar(0.999, 2, ASCII) == "#."
    assert draw_bar(0.001, 4, UNICODE) == "▏···"
    assert draw_bar(None, 4, UNICODE) == "    "


def test_intervals_by_hand() -> None:
    assert draw_interval(row(0.5, 0.25, 1.0), 9, UNICODE) == "  ├─●───┤"
    assert draw_interval(row(0.5, 0.25, 1.0), 9, ASCII) == "  |-o---|"
    assert draw_interval(row(0.0, 0.0, 0.5), 5, UNICODE) == "●─┤  "
    assert draw_interval(row(0.5), 5, UNICODE) == "  ●  "
    assert draw_interval(row(None), 5, UNICODE) == "     "
    assert draw_interval(row(1.0, 1.0, 1.0), 3, UNICODE) == "  ●"


@pytest.mark.parametrize("glyphs", GLYPHS)
@given(
    rows=st.lists(st.tuples(NAMES, st.one_of(st.none(), st.tuples(SHARES, SHARES, SHARES))), max_size=6),
    width=st.sampled_from([60, 100, 160]),
)
def test_a_drawing_keeps_its_width_and_its_figures(glyphs: Glyphs, rows: list[Any], width: int) -> None:
    drawn_rows = []
    for name, shares in rows:
        low, value, high = (None, None, None) if shares is None else sorted(shares)
        drawn_rows.append(row(value, low, high, name))
    lines = list(draw_forest(Forest((ForestGroup("false negatives", tuple(drawn_rows)),)), width, glyphs))
    assert len(lines) == 2 + len(rows)
    assert all(cell_len(line) <= width for line in lines)
    for line, one in zip(lines[2:], drawn_rows, strict=True):
        assert line.endswith(one.shown)


def test_what_is_not_defined_is_not_drawn() -> None:
    nothing = {"value": None, "low": None, "high": None}
    half = {"value": 0.5, "low": 0.2, "high": 0.8}
    (forest,) = rate_forest([("a", [half, nothing])], ("first", "second"))
    lines = list(draw_forest(forest, 60, UNICODE))
    assert "●" in lines[2]
    assert lines[4].split() == ["a", "not", "defined"]
    assert list(rate_forest([("a", [nothing, nothing])], ("first", "second"))) == []
    assert list(rate_forest([], ("first",))) == []


TABLE = Table(("kind", "rate", "other"), (("a", "50.0%", "1"), ("b", "-", "2")), bars=(Bars(1, (0.5, None)),))


def page(table: Table, *, width: int, look: Look | None = None) -> str:
    return render_document(Document((Section("Rates", 3, (table,)),)), width=width, look=look or Look())


def test_a_bar_stands_behind_its_rate() -> None:
    lines = page(TABLE, width=60).splitlines()
    assert lines[-2].split() == ["a", "50.0%", "█████·····", "1"]
    assert lines[-1].split() == ["b", "-", "2"]
    assert lines[-2].index("1") == lines[-1].index("2")


def test_without_room_there_are_no_bars_and_nothing_else_changes() -> None:
    wide = replace(TABLE, columns=("kind", "rate", "x" * 45))
    assert page(wide, width=60) == page(replace(wide, bars=()), width=60)
    assert page(wide, width=100) != page(replace(wide, bars=()), width=100)


def test_bars_are_as_many_as_rows() -> None:
    with pytest.raises(ValueError, match="expected 2 shares"):
        replace(TABLE, bars=(Bars(1, (0.5,)),))


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp437"])
def test_a_report_can_be_written_in_any_encoding(runs: Any, width: int, encoding: str) -> None:
    data = runs.run([("C", "CCCI"), ("I", "IIC-"), ("C", "CIII")] * 4, kinds=["größe", "日本", None] * 4)
    shown = render_text(build_report(data), width=width, look=Look(encoding=encoding))
    assert shown.encode(encoding)
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    drawn = "●" if encoding == "utf-8" else "o"
    assert re.search(rf"[-─]{drawn}[-─]", shown)
    assert ("\\u65e5" in shown.replace("\n", "")) is (encoding != "utf-8")


def test_the_summary_and_its_drawing_have_the_same_figures(runs: Any) -> None:
    report = build_report(runs.run([("C", "CCCI"), ("I", "IIII")]))
    shown = render_text(report)
    assert shown.count("25.0% [") >= 3
    axis, groups = next(
        (line, lines[at + 1 : at + 5])
        for lines in [shown.splitlines()]
        for at, line in enumerate(lines)
        if line.split() == ["0%", "50%", "100%"]
    )
    assert [line.strip() for line in (groups[0], groups[2])] == ["false negatives", "false positives"]
    assert axis.index("0%") == groups[3].index("●")  # no false positive: the value stands at the axis' begin
    assert "0.0% [" in groups[3]


def test_markdown_has_tables_alone(runs: Any) -> None:
    shown = render_markdown(build_report(runs.run([("C", "CCCI"), ("I", "IIII")], kinds=["a", "b"])))
    assert "25.0%" in shown
    assert not set(shown) & set("●├┤█·")
