"""Claims of a shared store: which worker asks a grader about which item content, so that nobody else pays for it too.

A claim is a row while it lasts. It is good for as long as its worker's lease (:mod:`experiments.store.work_sessions`),
whichever run it is for. What failed for good stays as a row without a worker: it is asked again in the next session.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from experiments.store.run_store import RunStore
from experiments.store.work_sessions import Worker, beat, reap

__all__ = ["Outcome", "Share", "Taken", "settle", "take"]


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of claiming: item digests that are this worker's now, and those that failed in this session.

    All others are somebody else's.
    """

    mine: frozenset[str]
    failed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Claims that end: all is stored; failed for good, in this session; or given back to whoever is next."""

    done: Collection[str] = ()
    failed: Collection[str] = ()
    given_back: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker has delivered for a grader so far, in all: completions, and calls that failed for good."""

    n_delivered: int
    n_failed: int


_OFFER = text(
    "INSERT INTO claims (grader_id, item_digest) SELECT :grader, unnest(CAST(:digests AS text[])) "
    "ON CONFLICT DO NOTHING"
)
_TAKE = text(
    "UPDATE claims SET worker_id = :worker, failed_in = NULL WHERE grader_id = :grader AND item_digest IN ("
    "SELECT item_digest FROM claims WHERE grader_id = :grader AND item_digest = ANY(:digests) "
    "AND (worker_id = :worker OR worker_id IS NULL AND failed_in IS DISTINCT FROM :session) "
    "FOR UPDATE SKIP LOCKED) RETURNING item_digest"
)
_FAILED = text(
    "SELECT item_digest FROM claims WHERE grader_id = :grader AND item_digest = ANY(:digests) "
    "AND worker_id IS NULL AND failed_in = :session"
)


def take(
    store: RunStore, worker: Worker, session_id: str, grader_id: str, digests: Sequence[str], *, patient: bool
) -> Taken | None:
    """Claim what is free of some items, whose claims this worker has count again; a sign of life too.

    Returns
    -------
    ``None`` where this worker was taken for lost: it has no claim any more, and is to join again.

    Raises
    ------
    StoreError
        If the server is away: at once, or, where it is ``patient``, when it stays away.
    """
    # In one order, so that no two workers wait for each other.
    values = {"grader": grader_id, "digests": sorted(digests), "worker": worker.worker_id, "session": session_id}

    def work(connection: Connection) -> Taken | None:
        if not beat(connection, worker):
            return None
        reap(connection)
        connection.execute(_OFFER, values)
        mine = frozenset(connection.execute(_TAKE, values).scalars())
        failed = frozenset() if len(mine) == len(digests) else frozenset(connection.execute(_FAILED, values).scalars())
        return Taken(mine, failed)

    return store.write(work, patient=patient)


_DONE = text("DELETE FROM claims WHERE grader_id = :grader AND item_digest = ANY(:digests) AND worker_id = :worker")
_FAIL = text(
    "UPDATE claims SET worker_id = NULL, failed_in = :session "
    "WHERE grader_id = :grader AND item_digest = ANY(:digests) AND worker_id = :worker"
)
_SHARE = text(
    "INSERT INTO worker_shares (worker_id, grader_id, n_delivered, n_failed) "
    "VALUES (:worker, :grader, :delivered, :failed) ON CONFLICT (worker_id, grader_id) "
    "DO UPDATE SET n_delivered = :delivered, n_failed = :failed"
)


def settle(
    store: RunStore, worker: Worker, session_id: str, grader_id: str, outcome: Outcome, share: Share | None = None
) -> None:
    """End claims, as far as they are still this worker's, and note its share; ``StoreError`` if that cannot be."""
    who = {"grader": grader_id, "worker": worker.worker_id}

    def work(connection: Connection) -> None:
        ended = [*outcome.done, *outcome.given_back]
        if ended:
            connection.execute(_DONE, {**who, "digests": ended})
        if outcome.failed:
            connection.execute(_FAIL, {**who, "digests": list(outcome.failed), "session": session_id})
        if share is not None:
            connection.execute(_SHARE, {**who, "delivered": share.n_delivered, "failed": share.n_failed})

    store.write(work)
