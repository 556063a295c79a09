"""Batch jobs in the store: what was handed in, what is still out, what came back through a job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, inspect, select, update

from experiments.store.completion_records import plain_text
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.tables import batch_calls, batch_completions, batch_jobs
from graders.batch.calls import JobDraft

__all__ = ["BatchRecords", "JobRecord", "JobState", "batch_keys", "held_keys"]

JobState = Literal["submitting", "in_progress", "collected", "refused", "queue_full", "lost"]
"""``submitting``: the intent is recorded, the service's id is not. All after ``in_progress`` are over.

``queue_full`` is a job that its service would not take beside or because of all that waits already.
"""

_ALIVE = ("submitting", "in_progress")


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the store knows it; ``job_id`` is ``None`` until the service has told it.

    ``changed_at`` is when the record last changed, or the job was last tried to be submitted.
    """

    label: str
    grader_id: str
    run_id: str
    service: str
    job_id: str | None
    state: JobState
    message: str
    n_calls: int
    created_at: datetime
    changed_at: datetime


class BatchRecords:
    """The jobs of one store."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def intend(self, draft: JobDraft, *, grader_id: str, run_id: str, service: str, now: datetime) -> None:
        """Record a job before it is submitted: from now on its calls are held."""
        job = {
            "label": draft.label,
            "grader_id": grader_id,
            "run_id": run_id,
            "service": service,
            "job_id": None,
            "state": "submitting",
            "message": "",
            "n_calls": len(draft.calls),
            "created_at": now.isoformat(),
            "changed_at": now.isoformat(),
        }
        calls = [
            {
                "label": draft.label,
                "custom_id": call.custom_id,
                "item_digest": call.request.item.digest,
                "repeats": json.dumps(call.request.repeats),
            }
            for call in draft.calls
        ]

        def work(connection: Connection) -> None:
            connection.execute(self._store.insert_missing(batch_jobs), [job])
            connection.execute(self._store.insert_missing(batch_calls), calls)

        self._store.write(work)

    def change(
        self, label: str, state: JobState, *, now: datetime, job_id: str | None = None, message: str = ""
    ) -> JobRecord:
        """Record a job's new state; an id that is known stays unless another is given or it is to be submitted."""
        values: dict[str, str | None] = {"state": state, "message": plain_text(message), "changed_at": now.isoformat()}
        if job_id is not None or state == "submitting":
            values["job_id"] = job_id

        def work(connection: Connection) -> Any:
            connection.execute(update(batch_jobs).where(batch_jobs.c.label == label).values(**values))
            return connection.execute(select(batch_jobs).where(batch_jobs.c.label == label)).one()

        return _load_job(self._store.write(work))

    def alive(self, grader_id: str) -> Sequence[JobRecord]:
        """A grader's jobs that may still bring something, oldest first."""
        return [job for job in self.jobs(grader_id) if job.state in _ALIVE]

    def jobs(self, grader_id: str) -> Sequence[JobRecord]:
        """All jobs that a grader has had, oldest first."""
        query = (
            select(batch_jobs)
            .where(batch_jobs.c.grader_id == grader_id)
            .order_by(batch_jobs.c.created_at, batch_jobs.c.label)
        )
        return [_load_job(row) for row in self._rows(query)]

    def reduced_size(self, grader_id: str) -> int | None:
        """Most calls of a job, where the service's queue was too short for larger ones: half of the smallest."""
        sizes = [job.n_calls for job in self.jobs(grader_id) if job.state == "queue_full"]
        return max(1, min(sizes) // 2) if sizes else None

    def job_ids(self) -> frozenset[str]:
        """Ids of all jobs that are accounted for."""
        query = select(batch_jobs.c.job_id).where(batch_jobs.c.job_id.is_not(None))
        return frozenset(job_id for (job_id,) in self._rows(query))

    def calls(self, label: str) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """A job's calls: custom id to the item's digest and the repeats that were asked for."""
        query = select(batch_calls.c.custom_id, batch_calls.c.item_digest, batch_calls.c.repeats).where(
            batch_calls.c.label == label
        )
        return {custom_id: (digest, tuple(json.loads(repeats))) for custom_id, digest, repeats in self._rows(query)}

    def claim(self, grader_id: str, label: str, keys: Iterable[CompletionKey]) -> None:
        """Record, just before they are stored, that completions come through a job."""
        rows = [
            {"grader_id": grader_id, "item_digest": key.item_digest, "repeat": key.repeat, "label": label}
            for key in keys
        ]
        if rows:
            missing = self._store.insert_missing(batch_completions)
            self._store.write(lambda connection: connection.execute(missing, rows))

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        """What a query finds; nothing in a store of an earlier version, which had no jobs."""

        def work(connection: Connection) -> Sequence[Any]:
            return connection.execute(query).all() if inspect(connection).has_table(batch_jobs.name) else []

        return self._store.read(work)


def batch_keys(store: RunStore, grader_id: str) -> set[CompletionKey]:
    """Keys of the completions that came through batch jobs, and cost what those cost."""
    query = select(batch_completions.c.item_digest, batch_completions.c.repeat).where(
        batch_completions.c.grader_id == grader_id
    )

    def work(connection: Connection) -> set[CompletionKey]:
        if not inspect(connection).has_table(batch_completions.name):
            return set()
        return {CompletionKey(digest, repeat) for digest, repeat in connection.execute(query)}

    return store.read(work)


def held_keys(store: RunStore, grader_id: str) -> set[CompletionKey]:
    """Keys that a job which may be alive has asked for: not to be asked for again meanwhile."""

    def work(connection: Connection) -> set[CompletionKey]:
        if not inspect(connection).has_table(batch_jobs.name):
            return set()
        return _held_keys(connection, grader_id)

    return store.read(work)


def _held_keys(connection: Connection, grader_id: str) -> set[CompletionKey]:
    query = (
        select(batch_calls.c.item_digest, batch_calls.c.repeats)
        .join_from(batch_calls, batch_jobs, batch_calls.c.label == batch_jobs.c.label)
        .where(batch_jobs.c.grader_id == grader_id, batch_jobs.c.state.in_(_ALIVE))
    )
    return {
        CompletionKey(digest, repeat) for digest, repeats in connection.execute(query) for repeat in json.loads(repeats)
    }


def _load_job(row: Any) -> JobRecord:
    fields = dict(row._mapping)
    times = {name: datetime.fromisoformat(fields[name]) for name in ("created_at", "changed_at")}
    return JobRecord(**{**fields, **times})
