"""How long a grader was at work in each session: the wall clock beside the completions that it brought."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Column, Float, Integer, MetaData, String, Table, func, insert, inspect, select

from experiments.store.run_store import RunStore

__all__ = ["SessionTotals", "add_session", "sum_sessions"]

_metadata = MetaData()
_sessions = Table(
    "sessions",
    _metadata,
    Column("session_id", Integer, primary_key=True),
    Column("grader_id", String, nullable=False, index=True),
    Column("ended_at", String, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("n_completions", Integer, nullable=False),
)


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
    """Note a session that has ended; the table is made with the first."""
    row = {
        "grader_id": grader_id,
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 6),
        "n_completions": n_completions,
    }
    with store.writing() as connection:
        _metadata.create_all(connection)
        connection.execute(insert(_sessions), [row])


def sum_sessions(store: RunStore, grader_id: str) -> SessionTotals | None:
    """The sessions of a grader; ``None`` where none was noted, as in stores of earlier versions."""
    table = _sessions.c
    sums = select(func.count(), func.sum(table.seconds), func.sum(table.n_completions))
    with store.reading() as connection:
        if not inspect(connection).has_table(_sessions.name):
            return None
        n_sessions, seconds, n_completions = connection.execute(sums.where(table.grader_id == grader_id)).one()
    return SessionTotals(int(n_sessions), float(seconds), int(n_completions)) if n_sessions else None
