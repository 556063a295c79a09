"""Who is at work in a shared store: workers join a run, show that they live, and leave.

A worker's lease ends when it has not been heard of for so long, by the server's clock. Whoever comes next notes that
(``lost_at``) and gives its claims back; as this and a sign of life change the same row, only one of them happens. A
worker that finds itself lost joins anew: a claim that it had is never good again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from experiments.errors import BudgetError
from experiments.store.run_store import RunStore

__all__ = ["NOW", "WorkSession", "Worker", "beat", "is_at_work", "join", "leave", "note_paid", "read_session", "reap"]

NOW = "extract(epoch FROM clock_timestamp())"
"""Seconds since 1970 by the server's clock, in SQL."""

_OPEN = "ended_at IS NULL AND lost_at IS NULL"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process at work; its claims are good for ``lease_seconds`` after each sign of life."""

    worker_id: str
    run_id: str
    name: str
    machine: str
    pid: int
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class WorkSession:
    """The time in which somebody is at a run; dollars of its limit, and what was paid before it, once that is counted.

    ``uncertain_before`` may be on the bill too.
    """

    session_id: str
    max_cost: float | None = None
    paid_before: float | None = None
    uncertain_before: float | None = None


def join(
    store: RunStore, worker: Worker, *, new_session: str, max_cost: float | None, resumes: bool = False
) -> WorkSession | None:
    """Join those who are at the run, or begin a session; doing it again changes nothing.

    Parameters
    ----------
    new_session
        Id of a session that may be begun; the worker's own each time.
    max_cost
        Dollars; in a session that has a limit the newest holds, for all of its workers.
    resumes
        Whether a run that nobody is at goes on under the limit, and the account, of its last session. Else a worker
        that is started again when the limit was reached would spend without one.

    Returns
    -------
    The session; ``None`` while another run with a limit of cost is at work in this store.

    Raises
    ------
    BudgetError
        If a limit is given to workers that are at it without one: what they have out is not counted.
    StoreError
        If the server stays away.
    """

    def work(connection: Connection) -> WorkSession | None:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('autorater work', 0))"))
        reap(connection)
        session = _live_session(connection, worker)
        if session is None and resumes:
            session = _last_limited(connection, worker)
        dollars = max_cost if session is None else session.max_cost
        if dollars is not None and _other_limit(connection, worker.run_id):
            return None
        if session is None:
            session = WorkSession(new_session, max_cost)
            connection.execute(_BEGIN, {"session": new_session, "run": worker.run_id, "dollars": max_cost})
        elif max_cost is not None and session.max_cost is None:
            raise BudgetError(
                f"--max-cost: {worker.run_id}: workers are at it without a limit; expected none here, or to wait "
                f"until they are done (autorater runs show {worker.run_id})"
            )
        elif max_cost is not None:
            connection.execute(_LIMIT, {"session": session.session_id, "dollars": max_cost})
        connection.execute(_JOIN, {**_worker_row(worker), "session": session.session_id})
        return session

    return store.write(work)


_BEGIN = text(
    f"INSERT INTO work_sessions (session_id, run_id, begun_at, max_cost) VALUES (:session, :run, {NOW}, :dollars) "
    "ON CONFLICT DO NOTHING"
)
_LIMIT = text("UPDATE work_sessions SET max_cost = :dollars WHERE session_id = :session")
_JOIN = text(
    "INSERT INTO workers (worker_id, session_id, run_id, name, machine, pid, joined_at, beat_at, expires_at, "
    f"allotted, spent, uncertain) VALUES (:worker, :session, :run, :name, :machine, :pid, {NOW}, {NOW}, "
    f"{NOW} + :lease, 0, 0, 0) ON CONFLICT (worker_id) DO UPDATE SET session_id = :session, lost_at = NULL, "
    f"ended_at = NULL, beat_at = {NOW}, expires_at = {NOW} + :lease"
)


def _worker_row(worker: Worker) -> Mapping[str, Any]:
    return {
        "worker": worker.worker_id,
        "run": worker.run_id,
        "name": worker.name,
        "machine": worker.machine,
        "pid": worker.pid,
        "lease": worker.lease_seconds,
    }


def _live_session(connection: Connection, worker: Worker) -> WorkSession | None:
    """The newest session of the run in which anybody else is, or this worker where it joins for the second time."""
    query = text(
        "SELECT session_id, max_cost, paid_before, uncertain_before FROM work_sessions s WHERE run_id = :run AND "
        f"EXISTS (SELECT FROM workers w WHERE w.session_id = s.session_id AND {_OPEN}) ORDER BY begun_at DESC LIMIT 1"
    )
    row = connection.execute(query, {"run": worker.run_id}).one_or_none()
    return None if row is None else WorkSession(*row)


def _last_limited(connection: Connection, worker: Worker) -> WorkSession | None:
    """The run's last session, if it had a limit; what failed in it for good may be asked again."""
    query = text(
        "SELECT session_id, max_cost, paid_before, uncertain_before FROM work_sessions WHERE run_id = :run "
        "ORDER BY begun_at DESC LIMIT 1"
    )
    row = connection.execute(query, {"run": worker.run_id}).one_or_none()
    if row is None or row.max_cost is None:
        return None
    forget = text("DELETE FROM claims WHERE worker_id IS NULL AND failed_in = :session")
    connection.execute(forget, {"session": row.session_id})
    return WorkSession(*row)


def _other_limit(connection: Connection, run_id: str) -> bool:
    query = text(
        "SELECT EXISTS (SELECT FROM work_sessions s JOIN workers w USING (session_id) "
        f"WHERE s.run_id <> :run AND max_cost IS NOT NULL AND {_OPEN})"
    )
    return bool(connection.execute(query, {"run": run_id}).scalar_one())


def reap(connection: Connection) -> None:
    """Give back the claims of workers that have not been heard of, in a transaction that writes.

    A server that was away gives everybody a whole lease from its start to show that they live.
    """
    dead = text(
        f"UPDATE workers SET lost_at = {NOW} WHERE worker_id IN (SELECT worker_id FROM workers WHERE {_OPEN} AND "
        f"greatest(expires_at, extract(epoch FROM pg_postmaster_start_time()) + expires_at - beat_at) < {NOW} "
        "FOR UPDATE SKIP LOCKED) RETURNING worker_id"
    )
    lost = list(connection.execute(dead).scalars())
    if lost:
        connection.execute(text("DELETE FROM claims WHERE worker_id = ANY(:lost)"), {"lost": lost})


def beat(connection: Connection, worker: Worker) -> bool:
    """Show that the worker lives, in a transaction that writes; whether it was not taken for lost meanwhile."""
    change = text(
        f"UPDATE workers SET beat_at = {NOW}, expires_at = {NOW} + :lease "
        f"WHERE worker_id = :worker AND {_OPEN} RETURNING worker_id"
    )
    return connection.execute(change, {"worker": worker.worker_id, "lease": worker.lease_seconds}).first() is not None


def leave(store: RunStore, worker_id: str) -> None:
    """Give back what is claimed, and end; ``StoreError`` at once if the server is away."""

    def work(connection: Connection) -> None:
        who = {"worker": worker_id}
        connection.execute(text("DELETE FROM claims WHERE worker_id = :worker"), who)
        connection.execute(text(f"UPDATE workers SET ended_at = {NOW} WHERE worker_id = :worker"), who)

    # Whoever leaves because the server is away need not wait for it: its lease ends by itself.
    store.write(work, patient=False)


def note_paid(store: RunStore, session_id: str, *, paid: float, uncertain: float) -> None:
    """Write down, once, what was paid before a session with a limit; until then nobody spends in it."""
    change = text(
        "UPDATE work_sessions SET paid_before = :paid, uncertain_before = :uncertain "
        "WHERE session_id = :session AND paid_before IS NULL"
    )
    values = {"session": session_id, "paid": paid, "uncertain": uncertain}
    store.write(lambda connection: connection.execute(change, values))


def read_session(store: RunStore, session_id: str) -> WorkSession:
    """A session as it is now."""
    query = text(
        "SELECT session_id, max_cost, paid_before, uncertain_before FROM work_sessions WHERE session_id = :session"
    )
    return store.read(lambda connection: WorkSession(*connection.execute(query, {"session": session_id}).one()))


def is_at_work(store: RunStore, run_id: str, *, besides: str = "") -> bool:
    """Whether anybody, besides one worker, is at a run and has been heard of lately."""
    query = text(
        "SELECT EXISTS (SELECT FROM workers WHERE run_id = :run AND worker_id <> :worker "
        f"AND {_OPEN} AND expires_at >= {NOW})"
    )
    values = {"run": run_id, "worker": besides}
    return store.read(lambda connection: bool(connection.execute(query, values).scalar_one()))
