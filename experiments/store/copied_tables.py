"""What of a store is copied: its tables in parts, each with the key that tells whether a row is there already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, select, true

from experiments.store.completion_records import plain_text
from experiments.store.tables import (
    batch_calls,
    batch_completions,
    batch_jobs,
    call_failures,
    completions,
    runs,
    sessions,
    set_snapshots,
)

__all__ = ["ROWS_AT_A_TIME", "CopiedTable", "Part", "list_parts"]

ROWS_AT_A_TIME = 1000
"""Rows that are held at once while a table is copied."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table, and what tells its rows apart in any store.

    Attributes
    ----------
    key
        Columns that identify a row, of one grader where the table has graders.
    number
        The column that counts the rows of one store, in the order of writing; it is not copied.
    times
        Columns in which the same row may differ between stores that came to it each by itself.
    newer
        The column of the time of a row that changes: the newer of both stands. Elsewhere the first stands.
    """

    table: Table
    key: tuple[str, ...]
    number: str | None = None
    times: tuple[str, ...] = ()
    newer: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """What is copied."""
        return tuple(column.name for column in self.table.columns if column.name != self.number)


_SETS = CopiedTable(set_snapshots, ("digest",))
_RUNS = CopiedTable(runs, ("run_id",), times=("created_at",))
_JOB_STATE = ("job_id", "state", "message", "changed_at")
_OF_GRADERS = (
    CopiedTable(batch_jobs, ("label",), times=_JOB_STATE, newer="changed_at"),
    CopiedTable(batch_completions, ("item_digest", "repeat")),
    CopiedTable(call_failures, ("failure_key",), number="failure_id"),
    CopiedTable(completions, ("item_digest", "repeat"), times=("created_at",)),
    CopiedTable(sessions, ("session_key",), number="session_id"),
)
_CALLS = CopiedTable(batch_calls, ("label", "custom_id"))


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one table: of a grader, of some runs, or all."""

    copied: CopiedTable
    grader_id: str | None
    where: ColumnElement[bool]

    def in_writing_order(self, connection: Connection) -> Iterator[tuple[Any, ...]]:
        """The rows as they were written, as far as that is known; read as they are asked for."""
        return self._rows(connection, (self.copied.number,) if self.copied.number else self.copied.key)

    def in_key_order(self, connection: Connection) -> Iterator[tuple[Any, ...]]:
        """The rows by their keys; read as they are asked for."""
        return self._rows(connection, self.copied.key)

    def _rows(self, connection: Connection, order: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        table = self.copied.table.c
        query: Select[Any] = select(*(table[name] for name in self.copied.columns)).where(self.where)
        ordered = query.order_by(*(table[name] for name in order)).execution_options(yield_per=ROWS_AT_A_TIME)
        for row in connection.execute(ordered):
            yield tuple(plain_text(value) if isinstance(value, str) else value for value in row)


def list_parts(
    connection: Connection, run_ids: Sequence[str] | None, grader_ids: Sequence[str] | None
) -> Iterator[Part]:
    """Parts of a store in the order of copying: a run comes last, so that it is seen once all of it is there.

    Parameters
    ----------
    run_ids, grader_ids
        Runs, and the graders that they ask; ``None`` for all that the store has, also without a run.
    """
    of_runs = true() if run_ids is None else runs.c.run_id.in_(run_ids)
    of_sets = true() if run_ids is None else set_snapshots.c.digest.in_(select(runs.c.snapshot).where(of_runs))
    yield Part(_SETS, None, of_sets)
    for grader_id in _all_graders(connection) if grader_ids is None else grader_ids:
        labels = select(batch_jobs.c.label).where(batch_jobs.c.grader_id == grader_id)
        yield Part(_CALLS, grader_id, batch_calls.c.label.in_(labels))
        for copied in _OF_GRADERS:
            yield Part(copied, grader_id, copied.table.c.grader_id == grader_id)
    yield Part(_RUNS, None, of_runs)


def _all_graders(connection: Connection) -> list[str]:
    found: set[str] = set()
    for copied in _OF_GRADERS:
        found.update(connection.execute(select(copied.table.c.grader_id).distinct()).scalars())
    return sorted(found)
