"""Progress of a run: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
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
from experiments.running.progress_reports import Progress as RunProgress

__all__ = ["open_progress"]

SECONDS_BETWEEN_LINES = 10.0


class _Pace:
    """Answers, failures, cost and speed of one grader."""

    def __init__(self, n_pending: int) -> None:
        self.n_pending = n_pending
        self.n_done = self.n_failures = self.n_elsewhere = 0
        self.cost: float | None = None
        self._began = time.monotonic()

    def add(self, n: int, failures: int, cost: float | None) -> None:
        self.n_done += n
        self.n_failures += failures
        self.cost = cost

    @property
    def per_second(self) -> float:
        return self.n_done / max(time.monotonic() - self._began, 1e-9)

    @property
    def n_left(self) -> int:
        return max(0, self.n_pending - self.n_done - self.n_elsewhere)

    def details(self) -> str:
        """Speed, and failures and cost where there are any."""
        parts = [f"{self.per_second:,.1f}/s"]
        if self.n_elsewhere:
            parts.append(f"{self.n_elsewhere} with others")
        if self.n_failures:
            parts.append(f"{self.n_failures} failed")
        if self.cost:
            parts.append(f"${self.cost:,.2f}" if self.cost >= 1 else f"${self.cost:.4f}")
        return ", ".join(parts)

    def time_left(self) -> str:
        # What others take goes as well: the time left is by the pace of all.
        seconds_each = (time.monotonic() - self._began) / max(self.n_done + self.n_elsewhere, 1)
        seconds = round(self.n_left * seconds_each)
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left"


class _Bars:
    """One bar a grader."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._pace = _Pace(0)

    def start(self, title: str, n_pending: int) -> None:
        self._pace = _Pace(n_pending)
        self._task = self._bars.add_task(visible(title), total=n_pending, details="")

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        self._pace.add(n, failures, cost)
        if self._task is not None:
            self._bars.update(self._task, advance=n, details=self._pace.details())

    def pass_over(self, n: int) -> None:
        self._pace.n_elsewhere += n
        if self._task is not None:
            self._bars.update(self._task, advance=n, details=self._pace.details())

    def wait(self, title: str, holders: Sequence[str] = ()) -> None:
        self._bars.console.print(Text(_waiting(title, holders)))


class _Lines:
    """Lines for a file or a pipe: at the start, and every few seconds."""

    def __init__(self, console: Console, seconds: float = SECONDS_BETWEEN_LINES) -> None:
        self._console = console
        self._seconds = seconds
        self._title, self._told, self._pace = "", 0.0, _Pace(0)

    def start(self, title: str, n_pending: int) -> None:
        self._title, self._pace = visible(title), _Pace(n_pending)
        self._tell(f"asking {self._title} for {n_pending} verdicts")

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        pace = self._pace
        pace.add(n, failures, cost)
        if time.monotonic() - self._told >= self._seconds:
            self._tell(f"{self._title}: {pace.n_done} of {pace.n_pending}, {pace.details()}, {pace.time_left()}")

    def pass_over(self, n: int) -> None:
        self._pace.n_elsewhere += n

    def wait(self, title: str, holders: Sequence[str] = ()) -> None:
        self._tell(_waiting(title, holders))

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
    details = TextColumn("{task.fields[details]}", markup=False)
    with Progress(*columns, details, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bars:
        yield _Bars(bars)


def _waiting(title: str, holders: Sequence[str]) -> str:
    if holders:
        return f"waiting for {visible(', '.join(holders))}: what is left of {visible(title)} is claimed there"
    return f"another process is grading with {visible(title)} in this store; waiting for it"
