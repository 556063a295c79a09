"""Running an experiment: the work that the store lacks, answer by answer into the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from experiments.errors import StoreError
from experiments.plan import pending_requests
from experiments.run_records import record_run
from experiments.spec import Experiment
from experiments.store import CompletionKey, RunStore
from graders.client import ModelClient
from graders.grader import Grader
from graders.verdict import Completion

__all__ = ["Progress", "RunSummary", "SilentProgress", "run_experiment"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def start(self, title: str, n_pending: int) -> None:
        """A grader begins; so many answers are to come."""
        ...

    def advance(self) -> None:
        """One answer is in the store."""
        ...

    def wait(self, title: str) -> None:
        """Another process is at work with this grader in this store; the run waits for it."""
        ...


class SilentProgress:
    """Tells nobody."""

    def start(self, title: str, n_pending: int) -> None:
        """Do nothing."""

    def advance(self) -> None:
        """Do nothing."""

    def wait(self, title: str) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did: completions stored now, and calls that failed by reason (they stay pending)."""

    run_id: str
    n_stored: int
    call_failures: Counter[str]


def run_experiment(
    experiment: Experiment,
    store: RunStore,
    open_client: Callable[[str], ModelClient],
    progress: Progress | None = None,
) -> RunSummary:
    """Ask for every verdict that the store lacks.

    Each answer is durable before the next is taken, so that an interruption anywhere loses no
    more than the requests in flight; running again continues. One process at a time works with a
    grader in a store; others wait and then find the work done.

    Parameters
    ----------
    open_client
        Model name to client; called only for graders with work to do.
    """
    progress = progress or SilentProgress()
    record_run(experiment, store)
    n_stored, failures = 0, Counter[str]()
    for grader in experiment.graders:
        with _only_one(store.path, grader, progress):
            stored, failed = _run_grader(experiment, grader, store, open_client, progress)
        n_stored += stored
        failures += failed
    return RunSummary(experiment.run_id, n_stored, failures)


def _run_grader(
    experiment: Experiment,
    grader: Grader,
    store: RunStore,
    open_client: Callable[[str], ModelClient],
    progress: Progress,
) -> tuple[int, Counter[str]]:
    requests = pending_requests(experiment, grader, store)
    n_stored, failures = 0, Counter[str]()
    if not requests:
        return n_stored, failures
    with open_client(grader.address or grader.model) as client:
        progress.start(grader.title, len(requests))
        for position, answer in client.complete(requests):
            request = requests[position]
            store.append(grader.grader_id, CompletionKey(request.item.digest, request.repeat), answer)
            if isinstance(answer, Completion):
                n_stored += 1
            else:
                failures[answer.reason] += 1
            progress.advance()
    return n_stored, failures


class _only_one:  # noqa: N801 - reads as a statement
    """Holds the lock of a grader in a store; the system lets go of it when the process dies."""

    def __init__(self, store: Path, grader: Grader, progress: Progress) -> None:
        folder = store.with_name(store.name + ".locks")
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: {error.strerror}; expected a folder for the locks of {store.name}") from error
        self._lock = FileLock(folder / grader.grader_id)
        self._title = grader.title
        self._progress = progress

    def __enter__(self) -> None:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            self._progress.wait(self._title)
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
