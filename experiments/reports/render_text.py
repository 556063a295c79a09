"""A report as plain text for a terminal, a pipe or a file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from experiments.reports.document import Bars, Block, Bullets, Document, Entries, Entry, Forest, Section, Table
from experiments.reports.escaping import quote
from experiments.reports.pages import build_document
from experiments.reports.table_layout import GAP, Part, lay_out
from experiments.reports.text_bars import BAR_WIDTH, draw_bar, draw_forest
from experiments.reports.text_look import PLAIN, Look, block_style, cell_style, heading_style
from experiments.reports.wrapping import wrap

__all__ = ["MIN_WIDTH", "render_document", "render_text"]

MIN_WIDTH = 60
"""Narrower than this, tables cannot be read."""

UNDERLINES = {1: "=", 2: "-"}

_ASCII_BOX = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def render_text(report: Mapping[str, Any], *, width: int = 100, look: Look = PLAIN) -> str:
    """Text without control characters; no line is wider than ``width`` cells (at least 60).

    What people and models wrote is shown on one line, its unprintable characters as escapes, cut
    to the width; nothing in it is taken for markup. No line ends inside a number or an interval: a
    table too wide for the width goes on below, its first columns repeated. ``look`` may add colour,
    which says nothing that the text does not, and escapes what the output's encoding lacks.
    """
    return render_document(build_document(report), width=width, look=look)


def render_document(document: Document, *, width: int = 100, look: Look = PLAIN) -> str:
    """Any document as :func:`render_text` shows a report."""
    page = _Page(max(width, MIN_WIDTH), look)
    for section in document.sections:
        page.print_section(section)
    return page.text()


class _Page:
    def __init__(self, width: int, look: Look) -> None:
        self._width, self._look = width, look
        self._output = io.StringIO()
        self._console = _open_console(self._output, width, colour=look.colour)
        self._style = ""

    def text(self) -> str:
        lines = [line.rstrip() for line in self._output.getvalue().splitlines()]
        return "\n".join(lines).strip("\n") + "\n"

    def print_section(self, section: Section) -> None:
        heading = self._look.shorten(self._look.spell(section.heading), self._width)
        self._console.print()
        self._console.print(Text(heading, style=heading_style(section)))
        if section.rank in UNDERLINES:
            self._console.print(Text(UNDERLINES[section.rank] * self._width))
        for block in section.blocks:
            self._style = block_style(section, block)
            self._print_block(block)

    def _print_block(self, block: Block) -> None:
        if isinstance(block, Bullets):
            for point in block.points:
                self._print_hanging("- ", point)
        elif isinstance(block, Table):
            self._print_table(block)
        elif isinstance(block, Forest):
            self._print_lines(list(draw_forest(self._look.spell_forest(block), self._width, self._look.glyphs)))
        elif isinstance(block, Entries):
            self._print_entries(block)
        else:
            self._print_lines(wrap(self._look.spell(block.text), self._width))

    def _print_lines(self, lines: list[str]) -> None:
        self._console.print(Text("\n".join(lines), style=self._style, no_wrap=True))

    def _print_hanging(self, mark: str, text: str) -> None:
        first, *others = wrap(self._look.spell(text), self._width - len(mark))
        self._print_lines([mark + first, *(" " * len(mark) + line for line in others)])

    def _print_entries(self, block: Entries) -> None:
        for number, entry in enumerate(block.entries, start=1):
            self._print_hanging(f"{number:>2}. ", entry.heading)
            self._print_lines([f"    {line}" for line in self._entry_lines(entry, self._width - 4)])

    def _entry_lines(self, entry: Entry, width: int) -> list[str]:
        longest = max((len(name) for name, _ in entry.texts), default=0)
        # Quoting can only lengthen a text, so what is cut here would have been cut afterwards.
        quoted = [(name, self._look.spell(quote(text[: 4 * width]))) for name, text in entry.texts]
        return [f"{name:<{longest}}  {self._look.shorten(text, width - longest - 2)}" for name, text in quoted]

    def _print_table(self, block: Table) -> None:
        spell = self._look.spell
        shown = replace(
            block,
            columns=tuple(map(spell, block.columns)),
            rows=tuple(tuple(map(spell, row)) for row in block.rows),
        )
        for number, part in enumerate(lay_out(shown, self._width)):
            if number:
                self._console.print()
            self._console.print(self._rich_table(shown, part))

    def _rich_table(self, block: Table, part: Part) -> RichTable:
        edges = box.SIMPLE_HEAD if self._look.draws_lines else _ASCII_BOX
        table = RichTable(box=edges, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        bars, bar_width = _fitting_bars(block, part, self._width)
        cells: list[list[Text]] = [[] for _ in block.rows]
        for position, width in zip(part.positions, part.widths, strict=True):
            words = position < block.n_text
            head = _cell(block.columns[position], width)
            table.add_column(head, justify="left" if words else "right", width=width, no_wrap=True)
            for line, row in zip(cells, block.rows, strict=True):
                line.append(_cell(row[position], width, self._style or cell_style(row[position])))
            if position in bars:
                table.add_column("", width=bar_width, no_wrap=True)
                for line, share in zip(cells, bars[position].shares, strict=True):
                    line.append(Text(draw_bar(share, bar_width, self._look.glyphs)))
        for line in cells:
            table.add_row(*line)
        return table


def _open_console(output: io.StringIO, width: int, *, colour: bool) -> Console:
    """A console that knows nothing of the terminal it runs in, so that its output depends on its input alone."""
    return Console(
        file=output,
        width=width,
        height=100,  # without both it would ask the terminal
        force_terminal=colour,
        force_jupyter=False,
        color_system="standard" if colour else None,
        no_color=False,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def _fitting_bars(block: Table, part: Part, width: int) -> tuple[dict[int, Bars], int]:
    """The bars of a part of a table by the column they stand behind, and their width: all of them or none."""
    wanted = {bars.beside: bars for bars in block.bars if bars.beside in part.positions}
    room = (width - part.total) // len(wanted) - GAP if wanted else 0
    return (wanted, min(room, BAR_WIDTH[-1])) if room >= BAR_WIDTH[0] else ({}, 0)


def _cell(text: str, width: int, style: str = "") -> Text:
    return Text("\n".join(wrap(text, width)), style=style, no_wrap=True)
