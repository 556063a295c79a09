"""Batch jobs in the store: what was handed in, what is still out, what came back through a job."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Column, Connection, Integer, MetaData, Row, String, Table, inspect, select, update
from sqlalchemy.dialects.sqlite import insert

from experiments.store.run_store import CompletionKey, RunStore
from graders.batch.calls import JobDraft

__all__ = ["BatchRecords", "JobRecord", "JobState", "batch_keys", "held_keys"]

JobState = Literal["submitting", "in_progress", "collected", "refused", "queue_full", "lost"]
"""``submitting``: the intent is recorded, the service's id is not. All after ``in_progress`` are over.

``queue_full`` is a job that its service would not take beside or because of all that waits already.
"""

_ALIVE = ("submitting", "in_progress")

_metadata = MetaData()
_jobs = Table(
    "batch_jobs",
    _metadata,
    Column("label", String, primary_key=True),
    Column("grader_id", String, nullable=False, index=True),
    Column("run_id", String, nullable=False),
    Column("service", String, nullable=False),
    Column("job_id", String),
    Column("state", String, nullable=False),
    Column("message", String, nullable=False),
    Column("n_calls", Integer, nullable=False),
    Column("created_at", String, nullable=False),
    Column("changed_at", String, nullable=False),
)
_calls = Table(
    "batch_calls",
    _metadata,
    Column("label", String, primary_key=True),
    Column("custom_id", String, primary_key=True),
    Column("item_digest", String, nullable=False),
    Column("repeats", String, nullable=False),
    sqlite_with_rowid=False,
)
_completions = Table(
    "batch_completions",
    _metadata,
    Column("grader_id", String, primary_key=True),
    Column("item_digest", String, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("label", String, nullable=False),
    sqlite_with_rowid=False,
)


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
    """The jobs of one store; its tables are made on first use."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        with store.writing() as connection:
            _metadata.create_all(connection)

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
        with self._store.writing() as connection:
            connection.execute(insert(_jobs), [job])
            connection.execute(insert(_calls), calls)

    def change(
        self, label: str, state: JobState, *, now: datetime, job_id: str | None = None, message: str = ""
    ) -> JobRecord:
        """Record a job's new state; an id that is known stays unless another is given or it is to be submitted."""
        values: dict[str, str | None] = {"state": state, "message": message, "changed_at": now.isoformat()}
        if job_id is not None or state == "submitting":
            values["job_id"] = job_id
        with self._store.writing() as connection:
            connection.execute(update(_jobs).where(_jobs.c.label == label).values(**values))
            row = connection.execute(select(_jobs).where(_jobs.c.label == label)).one()
        return _load_job(row)

    def alive(self, grader_id: str) -> Sequence[JobRecord]:
        """A grader's jobs that may still bring something, oldest first."""
        return [job for job in self.jobs(grader_id) if job.state in _ALIVE]

    def jobs(self, grader_id: str) -> Sequence[JobRecord]:
        """All jobs that a grader has had, oldest first."""
        query = select(_jobs).where(_jobs.c.grader_id == grader_id).order_by(_jobs.c.created_at, _jobs.c.label)
        with self._store.reading() as connection:
            return [_load_job(row) for row in connection.execute(query)]

    def reduced_size(self, grader_id: str) -> int | None:
        """Most calls of a job, where the service's queue was too short for larger ones: half of the smallest."""
        sizes = [job.n_calls for job in self.jobs(grader_id) if job.state == "queue_full"]
        return max(1, min(sizes) // 2) if sizes else None

    def job_ids(self) -> frozenset[str]:
        """Ids of all jobs that are accounted for."""
        query = select(_jobs.c.job_id).where(_jobs.c.job_id.is_not(None))
        with self._store.reading() as connection:
            return frozenset(connection.execute(query).scalars())

    def calls(self, label: str) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """A job's calls: custom id to the item's digest and the repeats that were asked for."""
        query = select(_calls.c.custom_id, _calls.c.item_digest, _calls.c.repeats).where(_calls.c.label == label)
        with self._store.reading() as connection:
            rows = connection.execute(query).all()
        return {custom_id: (digest, tuple(json.loads(repeats))) for custom_id, digest, repeats in rows}

    def claim(self, grader_id: str, label: str, keys: Iterable[CompletionKey]) -> None:
        """Record, just before they are stored, that completions come through a job."""
        rows = [
            {"grader_id": grader_id, "item_digest": key.item_digest, "repeat": key.repeat, "label": label}
            for key in keys
        ]
        if rows:
            with self._store.writing() as connection:
                connection.execute(insert(_completions).on_conflict_do_nothing(), rows)


def batch_keys(store: RunStore, grader_id: str) -> set[CompletionKey]:
    """Keys of the completions that came through batch jobs, and cost what those cost."""
    query = select(_completions.c.item_digest, _completions.c.repeat).where(_completions.c.grader_id == grader_id)
    with store.reading() as connection:
        if not inspect(connection).has_table(_completions.name):
            return set()
        return {CompletionKey(digest, repeat) for digest, repeat in connection.execute(query)}


def held_keys(store: RunStore, grader_id: str) -> set[CompletionKey]:
    """Keys that a job which may be alive has asked for: not to be asked for again meanwhile."""
    with store.reading() as connection:
        if not inspect(connection).has_table(_jobs.name):
            return set()
        return _held_keys(connection, grader_id)


def _held_keys(connection: Connection, grader_id: str) -> set[CompletionKey]:
    query = (
        select(_calls.c.item_digest, _calls.c.repeats)
        .join_from(_calls, _jobs, _calls.c.label == _jobs.c.label)
        .where(_jobs.c.grader_id == grader_id, _jobs.c.state.in_(_ALIVE))
    )
    return {
        CompletionKey(digest, repeat) for digest, repeats in connection.execute(query) for repeat in json.loads(repeats)
    }


def _load_job(row: Row[tuple[object, ...]]) -> JobRecord:
    fields = dict(row._mapping)
    times = {name: datetime.fromisoformat(fields[name]) for name in ("created_at", "changed_at")}
    return JobRecord(**{**fields, **times})
