"""Who does what in a run of a shared store: its workers, what they have claimed, and what they have delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection, inspect, text

from experiments.store.run_store import RunStore
from experiments.store.work_sessions import NOW, Worker
from experiments.store.work_tables import workers

__all__ = ["WorkerState", "WorkerStatus", "list_holders", "list_workers"]

WorkerStatus = Literal["at work", "silent", "lost", "ended"]
"""``silent`` is past its lease, and lost once another worker comes by; ``lost`` has lost its claims."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker of the run's newest session, or one that is still at an earlier one.

    Attributes
    ----------
    seconds_silent
        Seconds since its last sign of life, by the server's clock.
    n_claimed
        Grader's id to the number of items that it has claimed.
    n_delivered, n_failed
        Grader's id to completions stored, and to calls that failed for good.
    """

    name: str
    machine: str
    pid: int
    status: WorkerStatus
    joined_at: float
    beat_at: float
    seconds_silent: float
    n_claimed: Mapping[str, int] = field(default_factory=dict)
    n_delivered: Mapping[str, int] = field(default_factory=dict)
    n_failed: Mapping[str, int] = field(default_factory=dict)


_WORKERS = text(
    f"SELECT worker_id, name, machine, pid, joined_at, beat_at, {NOW} - beat_at AS silent, "
    f"CASE WHEN ended_at IS NOT NULL THEN 'ended' WHEN lost_at IS NOT NULL THEN 'lost' "
    f"WHEN expires_at < {NOW} THEN 'silent' ELSE 'at work' END AS status FROM workers WHERE run_id = :run AND "
    "(ended_at IS NULL AND lost_at IS NULL OR session_id = (SELECT session_id FROM work_sessions "
    "WHERE run_id = :run ORDER BY begun_at DESC LIMIT 1)) ORDER BY joined_at, worker_id"
)
_CLAIMS = text(
    "SELECT worker_id, grader_id, count(*) FROM claims WHERE worker_id = ANY(:ids) GROUP BY worker_id, grader_id"
)
_SHARES = text(
    "SELECT worker_id, grader_id, n_delivered, n_failed FROM worker_shares WHERE worker_id = ANY(:ids) "
    "ORDER BY worker_id, grader_id"
)


def list_workers(store: RunStore, run_id: str) -> tuple[WorkerState, ...] | None:
    """The workers of a run, the first that joined first; ``None`` for a store that no workers share."""
    return store.read(lambda connection: _read(connection, run_id)) if store.is_shared else None


_HOLDERS = text(
    "SELECT DISTINCT w.name, w.run_id FROM claims c JOIN workers w USING (worker_id) "
    "WHERE c.grader_id = ANY(:graders) AND w.worker_id <> :worker ORDER BY w.name, w.run_id"
)


def list_holders(store: RunStore, grader_ids: Sequence[str], worker: Worker) -> list[str]:
    """Who else has claims of some graders at the moment, with the run where it is another one than the worker's."""
    values = {"graders": list(grader_ids), "worker": worker.worker_id}
    rows = store.read(lambda connection: connection.execute(_HOLDERS, values).all())
    return [row.name if row.run_id == worker.run_id else f"{row.name} (of run {row.run_id})" for row in rows]


def _read(connection: Connection, run_id: str) -> tuple[WorkerState, ...]:
    if not inspect(connection).has_table(workers.name):
        return ()  # a store that an earlier version made, and nobody has written to since
    rows = connection.execute(_WORKERS, {"run": run_id}).all()
    ids = [row.worker_id for row in rows]
    claimed: dict[str, dict[str, int]] = {one: {} for one in ids}
    delivered: dict[str, dict[str, int]] = {one: {} for one in ids}
    failed: dict[str, dict[str, int]] = {one: {} for one in ids}
    for worker_id, grader_id, n_items in connection.execute(_CLAIMS, {"ids": ids}):
        claimed[worker_id][grader_id] = n_items
    for worker_id, grader_id, n_delivered, n_failed in connection.execute(_SHARES, {"ids": ids}):
        delivered[worker_id][grader_id], failed[worker_id][grader_id] = n_delivered, n_failed
    return tuple(
        WorkerState(
            name=row.name,
            machine=row.machine,
            pid=row.pid,
            status=row.status,
            joined_at=row.joined_at,
            beat_at=row.beat_at,
            seconds_silent=float(row.silent),
            n_claimed=claimed[row.worker_id],
            n_delivered=delivered[row.worker_id],
            n_failed=failed[row.worker_id],
        )
        for row in rows
    )
