"""How long a grader was at work in each session: the wall clock beside the completions that it brought."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, func, inspect, select

from experiments.store.row_keys import new_key
from experiments.store.run_store import RunStore
from experiments.store.tables import sessions

__all__ = ["SessionTotals", "add_session", "sum_sessions"]


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """All sessions of a grader in a store that came to an end of their own, also by Ctrl-C or an error.

    ``seconds`` are by the wall clock, from the first call to the last answer stored: with the calls that went on side
    by side, all waiting and all failures, without loading a model. A killed session is not among them.
    """

    n_sessions: int
    seconds: float
    n_completions: int


def add_session(store: RunStore, grader_id: str, *, seconds: float, n_completions: int) -> None:
    """Note a session that has ended."""
    row = {
        "grader_id": grader_id,
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 6),
        "n_completions": n_completions,
        "session_key": new_key(),
    }
    store.write(lambda connection: connection.execute(store.insert_missing(sessions), [row]))


def sum_sessions(store: RunStore, grader_id: str) -> SessionTotals | None:
    """The sessions of a grader; ``None`` where none was noted, as in stores of earlier versions."""
    table = sessions.c
    sums = select(func.count(), func.sum(table.seconds), func.sum(table.n_completions))

    def work(connection: Connection) -> SessionTotals | None:
        if not inspect(connection).has_table(sessions.name):
            return None
        n_sessions, seconds, n_completions = connection.execute(sums.where(table.grader_id == grader_id)).one()
        return SessionTotals(int(n_sessions), float(seconds), int(n_completions)) if n_sessions else None

    return store.read(work)
