"""Running an experiment through batch jobs: cheaper, within a day, and collected by running it again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from experiments.batch.budget import limit_cost
from experiments.batch.desk import BatchDesk
from experiments.batch.records import BatchRecords, JobRecord
from experiments.batch.results import PASSING
from experiments.running.plan import pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.run_records import record_run
from experiments.store.run_store import RunStore
from graders.batch.batch_service import BatchService
from graders.client import Request
from graders.dispatch.service import CallError
from graders.errors import ServiceError, UnsupportedError
from graders.grader import Grader

__all__ = ["BatchJob", "BatchSummary", "describe_jobs", "run_batch"]

POLL_SECONDS = 60.0
SLOWEST_POLL = 10
"""Most that the time between two looks grows, as a factor."""

MOST_TROUBLE = 10
"""So often in a row a service may be out of reach before the run gives up waiting; its jobs go on."""

TROUBLE_WITHOUT_WAITING = 3
"""The same for a run that only looks once."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A job that is still out. ``job_id`` is ``None`` while it is not certain that the service has it."""

    title: str
    job_id: str | None
    status: str
    n_calls: int
    n_done: int
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """What a run did: completions stored now, calls that failed by reason (they stay pending), jobs still out."""

    run_id: str
    n_stored: int
    call_failures: Counter[str]
    jobs: tuple[BatchJob, ...]
    interrupted: bool = False


def run_batch(
    experiment: Experiment,
    store: RunStore,
    open_batch_service: Callable[[Grader], BatchService],
    *,
    wait: bool = False,
    tell: Callable[[str], None] = lambda _line: None,
    max_cost: float | None = None,
    poll_seconds: float = POLL_SECONDS,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
    recorded: bool = True,
) -> BatchSummary:
    """Hand in every verdict that neither the store nor a job has, and take in what is done.

    Running it again, whatever ended it before, goes on where it was. An interruption while it waits
    leaves the jobs with their service.

    Parameters
    ----------
    open_batch_service
        Called only for graders with work to do, or jobs out.
    wait
        Go on until every job is over and taken in; otherwise look once.
    tell
        Takes one line about each thing that happens.
    max_cost
        Dollars. A job is submitted only if it fits at its worst, beside what is paid and what is out.
    poll_seconds
        Seconds between two looks; they grow while nothing happens, up to ten times.
    recorded
        Whether the store is to list it as a run; the answering of questions is a part of one.

    Raises
    ------
    UnsupportedError
        If a model with work to do takes no batch jobs.
    ServiceError
        If a service will not go on, or stays out of reach.
    BudgetError
        If a job could pass the limit, or a price is not known.
    """
    pace = _Pace(poll_seconds, MOST_TROUBLE if wait else TROUBLE_WITHOUT_WAITING, sleep)
    if recorded:
        record_run(experiment, store)
    graders = [grader for grader in experiment.graders if _has_work(experiment, grader, store)]
    _check_capable(graders)
    check_cost = _no_limit if max_cost is None else limit_cost(max_cost, experiment, store)
    with ExitStack() as stack:
        desks = []
        for grader in graders:
            service = open_batch_service(grader)
            stack.callback(service.close)
            desks.append(BatchDesk(experiment, grader, store, service, check_cost=check_cost, tell=tell, clock=clock))
        interrupted = _look_after(desks, pace, wait=wait)
        return _summarise(experiment.run_id, desks, interrupted=interrupted)


def describe_jobs(summary: BatchSummary) -> list[str]:
    """Lines for the person who waits: the jobs that are out, and what brings them in; none if none are out."""
    lines = [
        f"batch job {job.job_id or '(id not yet known)'}: {job.status}, {job.n_done} of {job.n_calls} calls done, "
        f"submitted {job.submitted_at:%Y-%m-%d %H:%M} UTC, {job.title}"
        for job in summary.jobs
    ]
    return [*lines, "the jobs stay with their services; the same command collects them"] if lines else []


def _no_limit(_grader: Grader, _requests: Sequence[Request]) -> None:
    """Whatever a job costs."""


def _has_work(experiment: Experiment, grader: Grader, store: RunStore) -> bool:
    pending = next(iter(pending_requests(experiment, grader, store)), None) is not None
    return pending or bool(BatchRecords(store).alive(grader.grader_id))


def _check_capable(graders: Sequence[Grader]) -> None:
    without = [grader.model for grader in graders if not grader.capabilities.batch]
    if without:
        raise UnsupportedError(
            f"--batch: {', '.join(dict.fromkeys(without))}: no batch jobs; expected models whose service takes them "
            "(run the others without --batch first, then they have nothing left to do here)"
        )


class _Pace:
    """How long to sleep between looks."""

    def __init__(self, poll_seconds: float, most_trouble: int, sleep: Callable[[float], None]) -> None:
        self._poll_seconds = poll_seconds
        self._most_trouble = most_trouble
        self._sleep = sleep
        self._factor = 1.0
        self._trouble = 0

    def rest(self, *, something_happened: bool) -> None:
        """Sleep until the next look, longer while nothing happens."""
        self._trouble = 0
        self._factor = 1.0 if something_happened else min(self._factor * 1.5, SLOWEST_POLL)
        self._sleep(self._poll_seconds * self._factor)

    def recover(self, error: CallError) -> bool:
        """Sleep after an error; whether there is to be another try."""
        self._trouble += 1
        if self._trouble >= self._most_trouble:
            return False
        self._sleep(max(error.retry_after or 0.0, min(self._poll_seconds, 2.0**self._trouble)))
        return True


def _look_after(desks: Sequence[BatchDesk], pace: _Pace, *, wait: bool) -> bool:
    """Step every desk, until all is done or, without ``wait``, once; whether it was interrupted."""
    try:
        while True:
            moved = [_step(desk, pace) for desk in desks]
            if not wait or not any(desk.has_work() for desk in desks):
                return False
            pace.rest(something_happened=any(moved))
    except KeyboardInterrupt:
        return True


def _step(desk: BatchDesk, pace: _Pace) -> bool:
    """One look of one desk, tried again after what passes; whether anything changed.

    Raises
    ------
    ServiceError
        If the service will not go on, or stays out of reach.
    """
    before = desk.alive()
    while True:
        try:
            desk.step()
        except CallError as error:
            if error.kind not in PASSING or not pace.recover(error):
                raise ServiceError(_stopped(desk, error)) from error
        else:
            return desk.alive() != before


def _stopped(desk: BatchDesk, error: CallError) -> str:
    n_jobs = len(desk.alive())
    out = f"; {n_jobs} batch jobs stay with it" if n_jobs else ""
    return f"{desk.name}: {error.kind}, {error.message}{out}; expected a working service (the same command goes on)"


def _summarise(run_id: str, desks: Sequence[BatchDesk], *, interrupted: bool) -> BatchSummary:
    return BatchSummary(
        run_id=run_id,
        n_stored=sum(desk.tally.n_stored for desk in desks),
        call_failures=sum((desk.tally.failures for desk in desks), Counter[str]()),
        jobs=tuple(_describe(desk, job) for desk in desks for job in desk.alive()),
        interrupted=interrupted,
    )


def _describe(desk: BatchDesk, job: JobRecord) -> BatchJob:
    state = desk.tally.states.get(job.label)
    return BatchJob(
        title=desk.grader.title,
        job_id=job.job_id,
        status="looked for" if job.job_id is None else state.status if state else "in_progress",
        n_calls=job.n_calls,
        n_done=state.n_done if state else 0,
        submitted_at=job.created_at,
    )
