"""How the page of a decision leaves the program: as text or JSON, on the terminal or in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.commands.terminal import FILE_WIDTH, terminal_look, terminal_width
from experiments.reports.document import Document
from experiments.reports.plain import plain_value
from experiments.reports.render_text import render_document
from experiments.reports.report_file import STDOUT, write_report_file

__all__ = ["EXIT_CODES", "PageFormat", "PageFormatOption", "PageOutOption", "put_page", "text_page", "write_page"]

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}
"""Of a check by its outcome; 2 is for what a person must mend."""


class PageFormat(StrEnum):
    """Forms of a page."""

    text = "text"
    json = "json"


PageFormatOption = Annotated[PageFormat, typer.Option("--format", help="How the page is written.")]
PageOutOption = Annotated[Path | None, typer.Option("--out", help="Write the page to this file, not the terminal.")]


def write_page(document: Document, fields: Mapping[str, Any], page_format: PageFormat, out: Path | None) -> None:
    """Write a page as text from its document, or as JSON from its fields.

    Raises
    ------
    ExperimentError
        If the file cannot be written.
    """
    out = None if out == STDOUT else out
    if page_format is PageFormat.json:
        text = json.dumps(plain_value(fields), indent=2, sort_keys=True) + "\n"
    else:
        text = text_page(document, out)
    put_page(text, out)


def text_page(document: Document, out: Path | None) -> str:
    """A page as text, as wide and as bold as the terminal or the file takes it."""
    return render_document(document, width=FILE_WIDTH if out else terminal_width(), look=terminal_look(out))


def put_page(text: str, out: Path | None) -> None:
    """A page to the terminal, or to a file and its name to the terminal; ``ExperimentError`` as :func:`write_page`."""
    if out is None:
        typer.echo(text, nl=False)
        return
    write_report_file(out, text)
    typer.echo(f"wrote {out}", err=True)
