"""Text in cells that a spreadsheet will open: nothing in it is run as a formula, and all of it comes back."""

from __future__ import annotations

import re

__all__ = ["defuse", "restore"]

# Apostrophes count as part of the beginning, so that a text that has one itself also comes back.
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r＝＋－＠]")


def defuse(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def restore(cell: str) -> str:
    """The text that :func:`defuse` made this cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
