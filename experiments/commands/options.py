"""What several commands take in the same words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DEFAULT_STORE", "Format", "FormatOption", "OutOption", "Parser", "StoreOption"]


class Format(StrEnum):
    """Forms of a report."""

    text = "text"
    md = "md"
    json = "json"


class Parser(StrEnum):
    """Parsers of replies."""

    robust = "robust"
    official = "official"
    both = "both"


StoreOption = Annotated[
    Path,
    typer.Option("--store", envvar="AUTORATER_STORE", help="SQLite file that keeps every completion."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the report is written.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="Write the report to this file instead of the terminal.")]
DEFAULT_STORE = Path("autorater.sqlite")
