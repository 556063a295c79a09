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
from experiments.reports.report_file import write_report_file

__all__ = ["EXIT_CODES", "PageFormat", "PageFormatOption", "PageOutOption", "write_page"]

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
    if page_format is PageFormat.json:
        text = json.dumps(plain_value(fields), indent=2, sort_keys=True) + "\n"
    else:
        text = render_document(document, width=FILE_WIDTH if out else terminal_width(), look=terminal_look(out))
    if out is None:
        typer.echo(text, nl=False)
        return
    write_report_file(out, text)
    typer.echo(f"wrote {out}", err=True)
