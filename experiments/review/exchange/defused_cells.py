"""Text in cells of a spreadsheet: nothing in it is run as a formula, and all of it comes back."""

from __future__ import annotations

import re

__all__ = ["defuse", "restore"]

# Apostrophes count as part of the beginning, so that what has been defused is told from what had one before.
_DANGEROUS = re.compile(r"'*\s*[=+\-@\t\r＝＋－＠]")


def defuse(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if _DANGEROUS.match(text) else text


def restore(cell: str) -> str:
    """The text of which :func:`defuse` made this cell."""
    return cell[1:] if cell.startswith("'") and _DANGEROUS.match(cell) else cell
