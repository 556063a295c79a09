"""What the commands of a curation that ask models share: the limit on costs, and files that a killed run left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.strict import parse_json

__all__ = ["MaxCostOption", "cut_torn_line"]

MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", help="Dollars, what was paid for the same file before included. Default: no limit."),
]


def cut_torn_line(path: Path) -> None:
    """Take the end off a file of JSON lines whose last record was never finished, as a killed run leaves it.

    A whole record without a line end gets one; what does not begin as a record stays, for the reader to complain of.
    """
    if not path.is_file():
        return
    with path.open("r+b") as file:
        data = file.read()
        start = data.rfind(b"\n") + 1
        if start == len(data):
            return
        if _is_whole(data[start:]):
            file.write(b"\n")
        elif data[start:].startswith(b"{"):
            file.truncate(start)


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line.decode()), dict)
    except ValueError:
        return False
