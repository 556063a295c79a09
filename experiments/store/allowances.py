"""A limit of cost over all workers of a session: dollars are set aside in the database before they can be spent.

Each worker's row holds what it may have spent at most (``allotted``); the sum of these, with what was paid before,
never passes the limit, as whoever raises its own has the session's row to itself meanwhile. What a worker that died had
set aside stays so until the session ends: it may have been spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, text

from experiments.store.run_store import RunStore

__all__ = ["Allowance", "Spending", "SpentTogether", "allot", "sum_spending"]

_ROUNDING = 1e-9
"""Dollars by which sums of floating-point numbers may be off."""


@dataclass(frozen=True, slots=True)
class Spending:
    """A worker's dollars: spent, perhaps on the bill too, and set aside for calls under way."""

    spent: float
    uncertain: float
    reserved: float

    @property
    def total(self) -> float:
        """The most that it can have cost."""
        return self.spent + self.uncertain + self.reserved


@dataclass(frozen=True, slots=True)
class Allowance:
    """Dollars that a worker may spend in all, and whether others may give some back, or are still counting."""

    allotted: float
    may_grow: bool


@dataclass(frozen=True, slots=True)
class SpentTogether:
    """Dollars of a limit, as all workers of a session have left it."""

    limit: float
    spent: float
    uncertain: float


_LOCK = text(
    "SELECT max_cost, paid_before + uncertain_before FROM work_sessions WHERE session_id = :session FOR UPDATE"
)
_OTHERS = text(
    "SELECT coalesce(sum(allotted), 0), coalesce(bool_or(ended_at IS NULL AND lost_at IS NULL AND "
    "allotted > spent + uncertain), false) FROM workers WHERE session_id = :session AND worker_id <> :worker"
)
_SET = text("UPDATE workers SET allotted = :allotted, spent = :spent, uncertain = :uncertain WHERE worker_id = :worker")


def allot(
    store: RunStore, session_id: str, worker_id: str, spending: Spending, *, more: float, ahead: float, patient: bool
) -> Allowance:
    """Set aside what a worker has spent and ``more``, with ``ahead`` beyond that if there is plenty; else what it has.

    Raises
    ------
    StoreError
        If the server is away.
    """

    def work(connection: Connection) -> Allowance:
        limit, before = connection.execute(_LOCK, {"session": session_id}).one()
        others, may_grow = connection.execute(_OTHERS, {"session": session_id, "worker": worker_id}).one()
        room = _room(limit, before, others)
        wanted = spending.total + more
        allotted = spending.total if wanted > room + _ROUNDING else min(wanted + ahead, max(wanted, room / 2))
        values = {"allotted": allotted, "spent": spending.spent, "uncertain": spending.uncertain}
        connection.execute(_SET, {**values, "worker": worker_id})
        return Allowance(allotted, bool(may_grow) or (limit is not None and before is None))

    return store.write(work, patient=patient)


def _room(limit: float | None, before: float | None, others: float) -> float:
    """Dollars that one worker may have."""
    if limit is None:
        return math.inf  # the run went on without a limit while this worker was taken for lost
    return 0.0 if before is None else limit - before - others


def sum_spending(store: RunStore, session_id: str) -> SpentTogether:
    """What was spent of a session's limit, before it and in it."""
    query = text(
        "SELECT max_cost, coalesce(paid_before, 0) + coalesce((SELECT sum(spent) FROM workers w WHERE w.session_id = "
        "s.session_id), 0), coalesce(uncertain_before, 0) + coalesce((SELECT sum(uncertain) FROM workers w WHERE "
        "w.session_id = s.session_id), 0) FROM work_sessions s WHERE session_id = :session"
    )
    return store.read(lambda connection: SpentTogether(*connection.execute(query, {"session": session_id}).one()))
