"""What several commands take in the same words."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from experiments.errors import SpecError
from experiments.store.store_place import StorePlace, parse_place

__all__ = [
    "DEFAULT_STORE",
    "Format",
    "FormatOption",
    "OutOption",
    "Parser",
    "StoreOption",
    "check_asking",
    "check_level",
]


class Format(StrEnum):
    """Forms of a report."""

    text = "text"
    md = "md"
    json = "json"
    html = "html"


class Parser(StrEnum):
    """Parsers of replies."""

    robust = "robust"
    official = "official"
    both = "both"


StoreOption = Annotated[
    StorePlace,
    typer.Option(
        "--store",
        envvar="AUTORATER_STORE",
        parser=parse_place,
        metavar="PATH",
        help="SQLite file that keeps every completion, or postgresql://USER@HOST/DATABASE.",
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", help="How the report is written; html: a page for a browser, to RUN.html without --out."),
]
OutOption = Annotated[Path | None, typer.Option("--out", help="Write the report to this file instead of the terminal.")]
DEFAULT_STORE = parse_place("autorater.sqlite")
"""The store where none is named: a file of the current folder."""


def check_level(level: float | None) -> None:
    """Raise ``SpecError`` where ``--level`` is given and is not what an experiment's file may have too."""
    if level is not None and not 0.5 < level < 1:
        raise SpecError(f"--level: {level:g}; expected a number between 0.5 and 1")


def check_asking(max_cost: float | None, *, batch: bool, wait: bool) -> None:
    """Raise ``SpecError`` where the options of a command that asks models do not fit together."""
    if max_cost is not None and not 0 <= max_cost < math.inf:
        raise SpecError(f"--max-cost: {max_cost:g}; expected dollars, 0 or more")
    if wait and not batch:
        raise SpecError("--wait: given without --batch; expected both, as only batch jobs are waited for")
