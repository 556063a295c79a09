"""How wide a page may be, and what its output can show."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import typer

from experiments.reports.escaping import visible
from experiments.reports.text_look import PLAIN, Look

__all__ = ["FILE_WIDTH", "slow_notice", "terminal_look", "terminal_width"]

FILE_WIDTH, NARROWEST, WIDEST = 100, 60, 160
"""Columns of a report in a file or a pipe, and the least and most that are used of a terminal."""


def terminal_width() -> int:
    """The terminal's width within bounds; a pipe gets what a file gets, whatever the terminal."""
    output: TextIO | None = sys.stdout  # there is none where it was closed
    if output is None or not output.isatty():
        return FILE_WIDTH
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((FILE_WIDTH, 24)).columns))


def terminal_look(out: Path | None) -> Look:
    """Plain in a file; else the characters of the output's encoding, and colour where it is a terminal that wants it.

    ``NO_COLOR``, if it is not empty, and a dumb terminal keep colour away.
    """
    output: TextIO | None = sys.stdout
    if out is not None or output is None:
        return PLAIN
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Look(encoding=output.encoding or PLAIN.encoding, colour=wanted and output.isatty())


@contextmanager
def slow_notice(text: str, *, after: float = 2.0, again: float = 10.0) -> Iterator[None]:
    """Say on stderr what is being done once it takes longer than ``after`` seconds, and ``again`` now and then."""
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(text, done, after, again), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(text: str, done: threading.Event, after: float, again: float) -> None:
    seconds = after
    while not done.wait(after if seconds == after else again):
        so_far = "" if seconds == after else f" ({seconds:.0f} s so far)"
        typer.echo(f"{visible(text)}{so_far}", err=True)
        seconds += again
