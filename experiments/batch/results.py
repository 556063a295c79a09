"""From the results of a batch job to the store: completions under their keys, failures as history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from experiments.batch.records import BatchRecords, JobRecord
from experiments.store.run_store import CompletionKey, RunStore
from graders.client import Request
from graders.dispatch.service import CallError, Reply
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["PASSING", "CollectedJob", "store_results"]

PASSING = frozenset(
    {"rate_limited", "overloaded", "server_error", "timeout", "connection", "unreachable", "unreadable_reply"}
)
"""Kinds of errors that are gone another time: their calls are handed in again."""

NOTHING = Usage(0, 0, 0, 0, 0)

RESULTS_TOGETHER = 200
"""Results that are made durable in one transaction."""

_Entry = TypeVar("_Entry")


@dataclass(slots=True)
class CollectedJob:
    """What a job brought: completions that the store lacked, and failures by key.

    ``passing`` are the failed keys that are worth another try. ``n_stray_lines`` counts results that are of
    none of the job's calls, or of one that has its result already.
    """

    n_stored: int = 0
    n_stray_lines: int = 0
    failures: dict[CompletionKey, CallFailure] = field(default_factory=dict)
    passing: set[CompletionKey] = field(default_factory=set)

    @property
    def reasons(self) -> Counter[str]:
        """Failures counted by reason."""
        return Counter(failure.reason for failure in self.failures.values())


def store_results(
    results: Iterable[tuple[str, Reply | CallError]],
    requests: Mapping[str, Request],
    job: JobRecord,
    store: RunStore,
    records: BatchRecords,
    collected: CollectedJob,
) -> None:
    """Take a job's results; doing it twice changes nothing.

    Parameters
    ----------
    results
        By custom id, in any order; others stand under ids of no call. Of several results of one id the first counts.
    requests
        All calls of the job, by custom id; a call without a result has failed.
    collected
        Takes count of what comes, also if the results break off.
    """
    seen = set[str]()
    known = store.stored_keys(job.grader_id)
    for together in _chunks(_each_once(results, requests, seen, collected), RESULTS_TOGETHER):
        completions: dict[CompletionKey, Completion] = {}
        for custom_id, result in together:
            completions |= _sort(result, requests[custom_id], job, collected)
        new = {key: completion for key, completion in completions.items() if key not in known}
        _store(new, job, store, records)
        known |= new.keys()
        collected.n_stored += len(new)
    lacking = CallError("unreadable_reply", "the job is over and has no result for this call")
    for custom_id in requests.keys() - seen:
        _sort(lacking, requests[custom_id], job, collected)
    _store_failures(collected, known, job, store)


def _sort(
    result: Reply | CallError, request: Request, job: JobRecord, collected: CollectedJob
) -> dict[CompletionKey, Completion]:
    """The completions of one call; its failures are noted."""
    digest = request.item.digest
    if isinstance(result, CallError):
        for repeat, usage in _billed_once(request.repeats, result.usage):
            _note(collected, CompletionKey(digest, repeat), CallFailure(result.kind, result.message, usage), job)
        return {}
    outcomes = {answer.repeat: answer.outcome for answer in result.answers if answer.repeat in request.repeats}
    completions = {}
    for repeat in request.repeats:
        key, outcome = CompletionKey(digest, repeat), outcomes.get(repeat)
        if isinstance(outcome, Completion):
            completions[key] = outcome
        elif outcome is None:
            lacking = CallFailure("unreadable_reply", "fewer choices came than were asked for", NOTHING)
            _note(collected, key, lacking, job)
        else:
            _note(collected, key, outcome, job)
    return completions


def _billed_once(repeats: Sequence[int], usage: Usage | None) -> Iterator[tuple[int, Usage | None]]:
    """A failed call's cost stands at the first of its repeats; where it is known, the others cost nothing."""
    for place, repeat in enumerate(repeats):
        yield repeat, usage if place == 0 or usage is None else NOTHING


def _note(collected: CollectedJob, key: CompletionKey, failure: CallFailure, job: JobRecord) -> None:
    # The job is named, so that the same failure collected twice is known to be the same.
    collected.failures[key] = replace(failure, message=f"batch job {job.job_id}: {failure.message}")
    if failure.reason in PASSING:
        collected.passing.add(key)


def _store(
    completions: Mapping[CompletionKey, Completion], job: JobRecord, store: RunStore, records: BatchRecords
) -> None:
    if completions:
        records.claim(job.grader_id, job.label, completions)
        store.append_many(job.grader_id, list(completions.items()))


def _store_failures(collected: CollectedJob, known: set[CompletionKey], job: JobRecord, store: RunStore) -> None:
    for key in collected.failures.keys() & known:
        del collected.failures[key]
        collected.passing.discard(key)
    earlier = store.call_failures(job.grader_id)
    new = [
        (key, failure)
        for key, failure in collected.failures.items()
        if key not in earlier or earlier[key].message != failure.message
    ]
    if new:
        store.append_many(job.grader_id, new)


def _each_once(
    results: Iterable[tuple[str, Reply | CallError]],
    requests: Mapping[str, Request],
    seen: set[str],
    collected: CollectedJob,
) -> Iterator[tuple[str, Reply | CallError]]:
    for custom_id, result in results:
        if custom_id in seen or custom_id not in requests:
            collected.n_stray_lines += 1
            continue
        seen.add(custom_id)
        yield custom_id, result


def _chunks(entries: Iterable[_Entry], size: int) -> Iterator[list[_Entry]]:
    iterator = iter(entries)
    while chunk := list(islice(iterator, size)):
        yield chunk
