"""Widths of a table's columns: numbers stay whole, names give way, and a table too wide goes on below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from experiments.reports.document import Table
from experiments.reports.wrapping import atoms, pieces

__all__ = ["GAP", "Part", "lay_out"]

GAP = 2
"""Cells between two columns."""

LONGEST_PIECE = 24
"""A part of a name that is longer than this may be cut anywhere."""


@dataclass(frozen=True, slots=True)
class Part:
    """The columns, by their position, that stand beside each other, and their widths in cells."""

    positions: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def total(self) -> int:
        """Cells from the first column's begin to the last one's end."""
        return _total(self.widths)


@dataclass(slots=True)
class _Column:
    position: int
    words: bool
    natural: int
    least: int


def lay_out(table: Table, width: int) -> list[Part]:
    """Parts of a table to be printed below each other, each at most ``width`` cells wide.

    A table that does not fit with its numbers whole is cut between columns; its columns of words
    are repeated in each part.
    """
    columns = [_measure(table, position, width) for position in range(len(table.columns))]
    if _total([column.least for column in columns]) <= width:
        return [_part(columns, width)]
    keys, rest = columns[: table.n_text], columns[table.n_text :]
    _bound_keys(keys, width)
    room = width - _total([column.least for column in keys])
    for column in rest:
        column.least = min(column.least, room - GAP)
        column.natural = min(column.natural, room - GAP)
    groups = _groups(rest, room, table.breaks)
    return [_part([*keys, *group], width) for group in groups] or [_part(keys, width)]


def _measure(table: Table, position: int, width: int) -> _Column:
    words = position < table.n_text
    texts = [table.columns[position], *(row[position] for row in table.rows)]
    natural = min(max(map(cell_len, texts)), width)
    parts = [part for text in texts for atom in atoms(text) for part in (pieces(atom) if words else [atom])]
    least = max(map(cell_len, parts), default=0)
    return _Column(position, words, natural, min(least, LONGEST_PIECE, natural) if words else min(least, natural))


def _bound_keys(keys: Sequence[_Column], width: int) -> None:
    """In a table that is cut, columns of words leave most of the width to the numbers."""
    for column in keys:
        share = max(width // (3 * len(keys)), min(column.least, LONGEST_PIECE // len(keys)))
        column.least = min(column.natural, share)
        column.natural = min(column.natural, max(width // 2, share))


def _groups(columns: Sequence[_Column], room: int, breaks: Sequence[int]) -> list[list[_Column]]:
    groups: list[list[_Column]] = []
    left = 0
    for column in columns:
        if not groups or column.least + GAP > left or column.position in breaks:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= column.least + GAP
    return groups


def _part(columns: Sequence[_Column], width: int) -> Part:
    widths = [column.natural for column in columns]
    excess = _total(widths) - width
    for words in (False, True):  # Headings and reasons wrap before names do.
        while excess > 0:
            slack = [
                size - column.least if column.words is words else 0
                for size, column in zip(widths, columns, strict=True)
            ]
            widest = max(range(len(slack)), key=slack.__getitem__)
            if slack[widest] <= 0:
                break
            widths[widest] -= 1
            excess -= 1
    return Part(tuple(column.position for column in columns), tuple(widths))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * max(len(widths) - 1, 0)
