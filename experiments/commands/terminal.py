"""How wide a page may be."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

__all__ = ["FILE_WIDTH", "terminal_width"]

FILE_WIDTH, NARROWEST, WIDEST = 100, 60, 160
"""Columns of a report in a file or a pipe, and the least and most that are used of a terminal."""


def terminal_width() -> int:
    """The terminal's width within bounds; a pipe gets what a file gets, whatever the terminal."""
    output: TextIO | None = sys.stdout  # there is none where it was closed
    if output is None or not output.isatty():
        return FILE_WIDTH
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((FILE_WIDTH, 24)).columns))
