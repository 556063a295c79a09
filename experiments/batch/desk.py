"""One grader's batch jobs: hand in what the store lacks, look after what is out, take in what is done.

Every step is recorded before and after it, so that a process that dies anywhere loses nothing and
asks for nothing twice: the intent stands before a job is submitted and its id right after; results
are in the store before their job counts as collected, and collecting again changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from calibration_sets.scale import LabelScale
from experiments.batch.records import BatchRecords, JobRecord, JobState, held_keys
from experiments.batch.results import CollectedJob, store_results
from experiments.running.plan import pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.set_snapshot import load_set
from graders.batch.batch_service import BatchService, BatchState, SoughtJob, StrangeJobError
from graders.batch.calls import BatchLimits, JobDraft, split_calls, split_repeats
from graders.client import Request
from graders.dispatch.service import CallError, Reply
from graders.grader import Grader

__all__ = ["BatchDesk", "DeskTally"]

CLOCK_SKEW = timedelta(hours=1)
"""So far a service's clock may be behind ours."""

SETTLING = timedelta(minutes=2)
"""So long a job that is not found may still appear after it was submitted."""

WINDOW = timedelta(hours=25)
"""A job older than this does nothing more, even if its service no longer knows it."""

MOST_TRIES = 3
"""So often a call that fails in passing is handed in within one run."""

_NOT_CREATED = frozenset(
    {"rate_limited", "quota_exhausted", "bad_key", "not_found", "unsupported", "bad_request", "unreachable"}
)


@dataclass(slots=True)
class DeskTally:
    """What one run did at a desk."""

    n_stored: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    states: dict[str, BatchState] = field(default_factory=dict)


class BatchDesk:
    """Looks after one grader's jobs in one store.

    Parameters
    ----------
    check_cost
        Called with a job's requests before it is submitted; raises if they would cost too much.
    tell
        Takes one line about each thing that happens.
    """

    def __init__(
        self,
        experiment: Experiment,
        grader: Grader,
        store: RunStore,
        service: BatchService,
        *,
        check_cost: Callable[[Grader, Sequence[Request]], None],
        tell: Callable[[str], None],
        clock: Callable[[], datetime],
    ) -> None:
        self.grader = grader
        self.tally = DeskTally()
        self._experiment = experiment
        self._store = store
        self._records = BatchRecords(store)
        self._service = service
        self._check_cost = check_cost
        self._tell = tell
        self._clock = clock
        self._tries: Counter[CompletionKey] = Counter()
        self._given_up: set[CompletionKey] = set()

    @property
    def name(self) -> str:
        """The service's, for messages."""
        return self._service.name

    def alive(self) -> list[JobRecord]:
        """Jobs that may still bring something."""
        return list(self._records.alive(self.grader.grader_id))

    def has_work(self) -> bool:
        """Whether there is something to hand in, or to wait for."""
        return bool(self.alive()) or next(iter(self._lacking()), None) is not None

    def step(self) -> None:
        """Find what was lost, take in what is done, hand in what is lacking.

        Raises
        ------
        CallError
            If the service did not do what was asked; a later step goes on from there.
        """
        errors = []
        with self._alone():
            for job in self.alive():
                try:
                    self._attend(job)
                except CallError as error:
                    errors.append(error)  # one job's trouble keeps nothing from the others
            if errors:
                raise errors[0]
            self._submit()

    def _alone(self) -> AbstractContextManager[None]:
        """Hold the grader's lock, that of a live run, for one step: no two processes hand in the same."""
        told = f"another process is at work with {self.grader.title} in this store; waiting for it"
        return self._store.hold_lock(self.grader.grader_id, lambda: self._tell(told))

    # what is out

    def _attend(self, job: JobRecord) -> None:
        if job.job_id is None:
            self._look_for(job)
        else:
            self._look_at(job, job.job_id)

    def _look_for(self, job: JobRecord) -> None:
        """Find a job whose id never came back, because the process or the connection died."""
        taken = self._records.job_ids()
        found = self._service.find(SoughtJob(job.label, job.created_at - CLOCK_SKEW, job.n_calls, taken))
        now = self._clock()
        if found is not None:
            self._records.change(job.label, "in_progress", now=now, job_id=found)
            self._tell(f"batch job {found}: found again, {job.n_calls} calls")
        elif now - job.changed_at >= SETTLING:
            self._records.change(job.label, "lost", now=now, message="never reached the service")

    def _look_at(self, job: JobRecord, job_id: str) -> None:
        try:
            state = self._service.state(job_id)
        except CallError as error:
            self._give_up_if_gone(job, error)
            return
        self.tally.states[job.label] = state
        if state.is_over:
            self._take_in(job, job_id, state)

    def _take_in(self, job: JobRecord, job_id: str, state: BatchState) -> None:
        requests = self._requests_of(job)
        collected = CollectedJob()
        results = _whole_failure(state, requests) or self._service.collect(job_id, requests)
        try:
            store_results(results, requests, job, self._store, self._records, collected)
        except StrangeJobError:
            # It was taken for ours by size and time; now the real one is looked for.
            self._records.change(job.label, "submitting", now=self._clock())
            return
        except CallError as error:
            self._give_up_if_gone(job, error)
            return
        finally:
            self.tally.n_stored += collected.n_stored
        self._count(collected, was_queue_full=_queue_was_full(state))
        ended: JobState = "queue_full" if _queue_was_full(state) else "collected"
        self._records.change(job.label, ended, now=self._clock(), message=_one_line(state))
        self._tell(f"batch job {job_id}: {_told(state)}, {_told_results(collected)}")

    def _give_up_if_gone(self, job: JobRecord, error: CallError) -> None:
        """A job that its service forgot is over once its time is; younger ones belong to another key."""
        if error.kind != "not_found" or self._clock() - job.created_at < WINDOW:
            raise error
        self._records.change(job.label, "lost", now=self._clock(), message=error.message)
        self._tell(f"batch job {job.job_id}: its service no longer has it; its calls are asked for again")

    def _count(self, collected: CollectedJob, *, was_queue_full: bool) -> None:
        self.tally.failures += collected.reasons
        if not was_queue_full:
            self._tries.update(collected.passing)
        self._given_up |= collected.failures.keys() - collected.passing
        self._given_up |= {key for key in collected.passing if self._tries[key] >= MOST_TRIES}

    def _requests_of(self, job: JobRecord) -> Mapping[str, Request]:
        """A job's calls again; its items may be gone from the experiment, but not from the job's run."""
        calls = self._records.calls(job.label)
        items = {item.digest: item for item in self._experiment.calibration_set.items}
        if any(digest not in items for digest, _ in calls.values()):
            recorded = load_set(self._store.load_set_snapshot(job.run_id))
            items = {item.digest: item for item in recorded.items}
        grader, scale = self.grader, self._scale
        return {
            custom_id: Request(items[digest], repeats, grader.prompt, grader.sampling, scale)
            for custom_id, (digest, repeats) in calls.items()
        }

    # what is lacking

    def _submit(self) -> None:
        smaller = self._records.reduced_size(self.grader.grader_id)
        if smaller is not None and self.alive():
            return
        drafts = self._drafts(smaller)
        for draft in drafts if smaller is None else islice(drafts, 1):
            self._hand_in(draft)

    def _drafts(self, most_calls: int | None) -> Iterator[JobDraft]:
        limits = self._service.limits
        limits = BatchLimits(min(limits.requests, most_calls or limits.requests), limits.bytes)
        calls = split_repeats(self._lacking(), self._service.choices_per_call)
        return split_calls(calls, self._service.build_body, limits)

    def _lacking(self) -> Iterator[Request]:
        """What neither the store nor a job has, less what was tried often enough."""
        excluded = held_keys(self._store, self.grader.grader_id) | self._given_up
        for request in pending_requests(self._experiment, self.grader, self._store):
            repeats = tuple(r for r in request.repeats if CompletionKey(request.item.digest, r) not in excluded)
            if repeats:
                yield replace(request, repeats=repeats)

    def _hand_in(self, draft: JobDraft) -> None:
        self._check_cost(self.grader, [call.request for call in draft.calls])
        now = self._clock()
        self._records.intend(
            draft,
            grader_id=self.grader.grader_id,
            run_id=self._experiment.run_id,
            service=self._service.name,
            now=now,
        )
        try:
            job_id = self._service.submit(draft.calls, draft.label)
        except CallError as error:
            # Refused for certain, or perhaps not: then it is looked for before anything is asked again.
            state: JobState = "refused" if error.kind in _NOT_CREATED else "submitting"
            self._records.change(draft.label, state, now=self._clock(), message=error.message)
            raise
        self._records.change(draft.label, "in_progress", now=self._clock(), job_id=job_id)
        self._tell(f"batch job {job_id}: submitted, {len(draft.calls)} calls")

    @property
    def _scale(self) -> LabelScale:
        prompt = self.grader.prompt
        return prompt.scale if prompt else self._experiment.calibration_set.scale


def _whole_failure(
    state: BatchState, requests: Mapping[str, Request]
) -> Sequence[tuple[str, Reply | CallError]] | None:
    """A job that failed as a whole has failed in each of its calls."""
    if state.failure is None:
        return None
    return [(custom_id, state.failure) for custom_id in requests]


def _queue_was_full(state: BatchState) -> bool:
    return state.failure is not None and state.failure.kind == "rate_limited"


def _one_line(state: BatchState) -> str:
    return state.failure.message if state.failure else ""


def _told(state: BatchState) -> str:
    return f"{state.status} ({state.failure.message})" if state.failure else state.status


def _told_results(collected: CollectedJob) -> str:
    stray = f", {collected.n_stray_lines} lines of results not usable" if collected.n_stray_lines else ""
    return f"{collected.n_stored} verdicts stored, {len(collected.failures)} without an answer{stray}"
