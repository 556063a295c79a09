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

from experiments.reports.document import Block, Bullets, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.escaping import quote, shorten, visible
from experiments.reports.pages import build_document
from experiments.reports.table_layout import Part, lay_out
from experiments.reports.wrapping import wrap

__all__ = ["MIN_WIDTH", "render_document", "render_text"]

MIN_WIDTH = 60
"""Narrower than this, tables cannot be read."""

UNDERLINES = {1: "=", 2: "-"}


def render_text(report: Mapping[str, Any], *, width: int = 100) -> str:
    """Text without colour or control characters; no line is wider than ``width`` cells (at least 60).

    What people and models wrote is shown on one line, its unprintable characters as escapes, cut
    to the width; nothing in it is taken for markup. No line ends inside a number or an interval: a
    table too wide for the width goes on below, its first columns repeated.
    """
    return render_document(build_document(report), width=width)


def render_document(document: Document, *, width: int = 100) -> str:
    """Any document as :func:`render_text` shows a report."""
    columns = max(width, MIN_WIDTH)
    output = io.StringIO()
    console = _plain_console(output, columns)
    for section in document.sections:
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
        _print_lines(console, wrap(visible(block.text), width))
    elif isinstance(block, Bullets):
        for point in block.points:
            _print_hanging(console, "- ", point, width)
    elif isinstance(block, Table):
        _print_table(console, block, width)
    else:
        _print_entries(console, block, width)


def _print_lines(console: Console, lines: list[str]) -> None:
    console.print(Text("\n".join(lines), no_wrap=True))


def _print_hanging(console: Console, mark: str, text: str, width: int) -> None:
    first, *others = wrap(visible(text), width - len(mark))
    _print_lines(console, [mark + first, *(" " * len(mark) + line for line in others)])


def _print_entries(console: Console, block: Entries, width: int) -> None:
    for number, entry in enumerate(block.entries, start=1):
        _print_hanging(console, f"{number:>2}. ", entry.heading, width)
        _print_lines(console, [f"    {line}" for line in _entry_lines(entry, width - 4)])


def _entry_lines(entry: Entry, width: int) -> list[str]:
    longest = max((len(name) for name, _ in entry.texts), default=0)
    # Quoting can only lengthen a text, so what is cut here would have been cut afterwards.
    return [
        f"{name:<{longest}}  {shorten(quote(text[: 4 * width]), width - longest - 2)}" for name, text in entry.texts
    ]


def _print_table(console: Console, block: Table, width: int) -> None:
    shown = replace(
        block,
        columns=tuple(map(visible, block.columns)),
        rows=tuple(tuple(map(visible, row)) for row in block.rows),
    )
    for number, part in enumerate(lay_out(shown, width)):
        if number:
            console.print()
        console.print(_rich_table(shown, part))


def _rich_table(block: Table, part: Part) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, width in zip(part.positions, part.widths, strict=True):
        words = position < block.n_text
        table.add_column(
            _cell(block.columns[position], width), justify="left" if words else "right", width=width, no_wrap=True
        )
    for row in block.rows:
        table.add_row(*(_cell(row[at], width) for at, width in zip(part.positions, part.widths, strict=True)))
    return table


def _cell(text: str, width: int) -> Text:
    return Text("\n".join(wrap(text, width)), no_wrap=True)
