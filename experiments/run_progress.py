"""Progress of a run: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from experiments.reports.escaping import visible
from experiments.runner import Progress as RunProgress

__all__ = ["open_progress"]

SECONDS_BETWEEN_LINES = 10.0


class _Bars:
    """One bar a grader."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def start(self, title: str, n_pending: int) -> None:
        self._task = self._bars.add_task(visible(title), total=n_pending)

    def advance(self) -> None:
        if self._task is not None:
            self._bars.advance(self._task)

    def wait(self, title: str) -> None:
        self._bars.console.print(Text(_waiting(title)))


class _Lines:
    """Lines for a file or a pipe: at the start, and every few seconds."""

    def __init__(self, console: Console, seconds: float = SECONDS_BETWEEN_LINES) -> None:
        self._console = console
        self._seconds = seconds
        self._title, self._pending, self._done, self._told = "", 0, 0, 0.0

    def start(self, title: str, n_pending: int) -> None:
        self._title, self._pending, self._done = visible(title), n_pending, 0
        self._tell(f"asking {self._title} for {n_pending} verdicts")

    def advance(self) -> None:
        self._done += 1
        if time.monotonic() - self._told >= self._seconds:
            self._tell(f"{self._title}: {self._done} of {self._pending}")

    def wait(self, title: str) -> None:
        self._tell(_waiting(title))

    def _tell(self, message: str) -> None:
        self._told = time.monotonic()
        self._console.print(Text(message), soft_wrap=True)


@contextmanager
def open_progress(console: Console) -> Iterator[RunProgress]:
    """Progress on a console, for the time of a run."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bars:
        yield _Bars(bars)


def _waiting(title: str) -> str:
    return f"another process is grading with {visible(title)} in this store; waiting for it"
