"""Figures as the page shows them: drawn, told, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from experiments.page.facts import failure_blocks, grader_title
from experiments.plots.figure import Figure, render_svg
from experiments.reports.document import Block, Paragraph, Table
from experiments.reports.figures import DASH
from experiments.reports.grader_pages import build_grader_pages

__all__ = ["FIGURE_BYTES", "MOST_ROWS", "FigureView", "view_figures"]

FIGURE_BYTES = 1_900_000
"""Of all drawings of a page together."""

MOST_ROWS = 300
"""Rows of a figure's table on the page."""

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FigureView:
    """``drawing`` is ``None`` where the page has no room for it; ``blocks`` are its numbers."""

    name: str
    title: str
    description: str
    note: str
    drawing: Markup | None
    blocks: tuple[Block, ...]


def view_figures(figures: Sequence[Figure], report: Fields) -> Iterator[FigureView]:
    """Draw figures as long as the page has room for them."""
    left = FIGURE_BYTES
    for figure in figures:
        svg = render_svg(figure)
        size = len(svg.encode("utf-8"))
        drawing = Markup(svg) if size <= left else None
        left -= size if drawing is not None else 0
        numbers = tuple(_numbers(figure, report))
        yield FigureView(figure.name, figure.title, figure.description, figure.note, drawing, numbers)


def _numbers(figure: Figure, report: Fields) -> Iterable[Block]:
    """What is read more easily in the report's own tables is shown in these."""
    if figure.name == "confusion":
        return _matrices(report)
    return failure_blocks(report) if figure.name == "failures" else _data(figure)


def _matrices(report: Fields) -> Iterator[Block]:
    for grader in report["graders"]:
        for section in build_grader_pages(grader, report):
            if section.heading == "Confusion matrix":
                yield Paragraph(grader_title(grader))
                yield from section.blocks


def _data(figure: Figure) -> Iterator[Block]:
    columns = tuple(str(name).replace("_", " ") for name in figure.table.columns)
    rows = tuple(tuple(map(_cell, row)) for row in figure.table.head(MOST_ROWS).itertuples(index=False))
    words = [place for place, kind in enumerate(figure.table.dtypes) if kind.kind not in "if"]
    yield Table(columns, rows, n_text=1 + max(words, default=0) if words and words[-1] < 4 else 1)
    left = len(figure.table) - len(rows)
    if left > 0:
        yield Paragraph(f"{left:,} more rows are in its CSV: autorater report RUN --figures DIR.")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
