"""A report as plain text for a terminal, a pipe or a file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from experiments.reports.document import Block, Bullets, Entries, Entry, Paragraph, Section, Table
from experiments.reports.escaping import quote, shorten, visible
from experiments.reports.pages import build_document

__all__ = ["MIN_WIDTH", "render_text"]

MIN_WIDTH = 60
"""Narrower than this, tables cannot be read."""

UNDERLINES = {1: "=", 2: "-"}


def render_text(report: Mapping[str, Any], *, width: int = 100) -> str:
    """Text without colour or control characters; no line is wider than ``width`` cells (at least 60).

    What people and models wrote is shown on one line, its unprintable characters as escapes, cut
    to the width; nothing in it is taken for markup.
    """
    columns = max(width, MIN_WIDTH)
    output = io.StringIO()
    console = _plain_console(output, columns)
    for section in build_document(report).sections:
        _print_section(console, section, columns)
    lines = [line.rstrip() for line in output.getvalue().splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def _plain_console(output: io.StringIO, width: int) -> Console:
    """A console that knows nothing of the terminal it runs in, so that its output depends on the report alone."""
    return Console(
        file=output,
        width=width,
        force_terminal=False,
        force_jupyter=False,
        color_system=None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def _print_section(console: Console, section: Section, width: int) -> None:
    heading = shorten(visible(section.heading), width)
    console.print()
    console.print(Text(heading))
    if section.rank in UNDERLINES:
        console.print(Text(UNDERLINES[section.rank] * width))
    for block in section.blocks:
        _print_block(console, block, width)


def _print_block(console: Console, block: Block, width: int) -> None:
    if isinstance(block, Paragraph):
        console.print(_text(block.text))
    elif isinstance(block, Bullets):
        for point in block.points:
            _print_hanging(console, "- ", point)
    elif isinstance(block, Table):
        console.print(_rich_table(block))
    else:
        _print_entries(console, block, width)


def _print_hanging(console: Console, mark: str, text: str) -> None:
    grid = RichTable.grid(padding=0)
    grid.add_column(width=len(mark))
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), _text(text))
    console.print(grid)


def _print_entries(console: Console, block: Entries, width: int) -> None:
    for number, entry in enumerate(block.entries, start=1):
        _print_hanging(console, f"{number:>2}. ", entry.heading)
        console.print(Padding(_entry_lines(entry, width - 4), (0, 0, 0, 4)))


def _entry_lines(entry: Entry, width: int) -> Text:
    longest = max((len(name) for name, _ in entry.texts), default=0)
    lines = []
    for name, text in entry.texts:
        # Quoting can only lengthen a text, so what is cut here would have been cut afterwards.
        lines.append(f"{name:<{longest}}  {shorten(quote(text[: 4 * width]), width - longest - 2)}")
    return Text("\n".join(lines), no_wrap=True)


def _rich_table(block: Table) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, name in enumerate(block.columns):
        words = position < block.n_text
        table.add_column(_text(name), justify="left" if words else "right", overflow="fold")
    for row in block.rows:
        table.add_row(*(_text(cell) for cell in row))
    return table


def _text(value: str) -> Text:
    return Text(visible(value), overflow="fold")
