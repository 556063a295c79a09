"""Bars and intervals drawn with characters, for a page of text; plain ASCII where an output has no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from experiments.reports.document import Forest, ForestRow

__all__ = ["ASCII", "BAR_WIDTH", "UNICODE", "Glyphs", "draw_bar", "draw_forest", "draw_interval"]

BAR_WIDTH = range(6, 11)
"""Cells of a bar beside a number: fewer show nothing, more say no more."""

GAP = 2
WIDEST_PLOT = 72


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Characters of one cell each: ``parts`` of a bar's cell by how full it is, the last one full."""

    parts: str
    empty: str
    start: str
    line: str
    end: str
    value: str
    cut: str

    @property
    def every(self) -> str:
        """All of them, to be tried on an output."""
        return "".join((self.parts, self.empty, self.start, self.line, self.end, self.value, self.cut))


UNICODE = Glyphs("▏▎▍▌▋▊▉█", "·", "├", "─", "┤", "●", "…")
"""Signs of a drawing where the output takes them."""
ASCII = Glyphs("#", ".", "|", "-", "|", "o", "~")
"""Signs of a drawing where nothing else can be written."""


def draw_bar(share: float | None, width: int, glyphs: Glyphs) -> str:
    """A share of ``width`` cells; blank where there is none, never empty above 0 and never full below 1."""
    if share is None:
        return " " * width
    steps = len(glyphs.parts)
    filled = round(share * width * steps)
    if 0 < share < 1:
        filled = max(1, min(width * steps - 1, filled))
    whole, rest = divmod(filled, steps)
    drawn = glyphs.parts[-1] * whole + (glyphs.parts[rest - 1] if rest else "")
    return drawn + glyphs.empty * (width - len(drawn))


def draw_interval(row: ForestRow, width: int, glyphs: Glyphs) -> str:
    """A value with its interval on an axis from 0 to 1 of ``width`` cells; blank where the value is not defined."""
    cells = [" "] * width
    if row.value is None:
        return "".join(cells)
    if row.low is not None and row.high is not None:
        first, last = _place(row.low, width), _place(row.high, width)
        cells[first : last + 1] = [glyphs.line] * (last + 1 - first)
        cells[first], cells[last] = glyphs.start, glyphs.end
    cells[_place(row.value, width)] = glyphs.value
    return "".join(cells)


def _place(share: float, width: int) -> int:
    return round(max(0.0, min(1.0, share)) * (width - 1))


def draw_forest(forest: Forest, width: int, glyphs: Glyphs) -> Iterator[str]:
    """Lines of at most ``width`` cells: the axis, then each group's name and its rows, with the figures behind."""
    rows = [row for group in forest.groups for row in group.rows]
    named = max((2 + cell_len(row.name) for row in rows), default=0)
    figures = max((cell_len(row.shown) for row in rows), default=0)
    names = min(named, max(width // 3, 2))
    plot = min(WIDEST_PLOT, max(width - names - figures - 2 * GAP, 3))
    yield " " * (names + GAP) + _axis(plot)
    for group in forest.groups:
        yield _fit(group.name, width, glyphs).rstrip()
        for row in group.rows:
            name = _fit(f"  {row.name}", names, glyphs)
            figure = " " * (figures - cell_len(row.shown)) + row.shown
            yield f"{name}{' ' * GAP}{draw_interval(row, plot, glyphs)}{' ' * GAP}{figure}".rstrip()


def _axis(width: int) -> str:
    line = f"0%{'100%':>{width - 2}}" if width >= 6 else " " * width
    middle = _place(0.5, width) - 1
    return line if width < 14 else f"{line[:middle]}50%{line[middle + 3 :]}"


def _fit(text: str, width: int, glyphs: Glyphs) -> str:
    """The text in exactly ``width`` cells; one that is longer keeps both ends, as names often differ there."""
    size = cell_len(text)
    if size > width:
        head = set_cell_size(text, (width - 1) // 2)
        text = f"{head}{glyphs.cut}{_tail(text, width - 1 - cell_len(head))}"
        size = cell_len(text)
    return text + " " * (width - size)


def _tail(text: str, width: int) -> str:
    """The longest end of a text that takes ``width`` cells or fewer."""
    start = len(text)
    while start and cell_len(text[start - 1 :]) <= width:
        start -= 1
    return text[start:]
