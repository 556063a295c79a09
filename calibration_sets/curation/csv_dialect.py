"""By which sign a CSV parts its fields: spreadsheets of many countries write semicolons."""

from __future__ import annotations

from pathlib import Path

from calibration_sets.errors import SetFileError
from calibration_sets.strict import read_text

__all__ = ["check_commas", "find_delimiter"]

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


def find_delimiter(path: Path) -> str:
    """The sign that comes most often in the line of column names, which have none of them in themselves."""
    head = read_text(path, SetFileError).lstrip().partition("\n")[0]
    return max(_NAMES, key=head.count)


def check_commas(path: Path) -> None:
    """Raise ``SetFileError`` where fields are parted by another sign; quotes within them would be misread."""
    found = find_delimiter(path)
    if found != ",":
        raise SetFileError(f"{path.name}:1: fields are parted by {_NAMES[found]}; expected commas")
