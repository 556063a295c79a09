"""The store: one SQLite file that keeps every completion from the moment it is paid for."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, func, inspect, literal_column, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from experiments.errors import StoreError
from experiments.store.completion_records import dump_completion, dump_usage, load_completion, load_usage
from experiments.store.database_file import check_place, connect, expected_state, is_frozen, write_rows
from experiments.store.run_names import match_run
from experiments.store.tables import (
    SCHEMA,
    about,
    add_missing_columns,
    call_failures,
    completions,
    create_tables,
    has_failure_usage,
    runs,
    set_snapshots,
    table_names,
)
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CompletionKey", "RunRecord", "RunStore"]

_ROWS_AT_A_TIME = 1000

_INSERT_COMPLETION = (
    "INSERT INTO completions (grader_id, item_digest, repeat, payload, created_at) "
    "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_INSERT_FAILURE = (
    "INSERT INTO call_failures (grader_id, item_digest, repeat, reason, message, created_at, usage) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True, order=True)
class CompletionKey:
    """Item content and repeat: with the grader's id, the key that a completion is paid for under."""

    item_digest: str
    repeat: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run was asked to do, as plain data: ``payload`` describes graders and analyses.

    ``recorded_at`` is when it was first stored (ISO 8601 in UTC), and empty before.
    """

    run_id: str
    payload: Mapping[str, Any]
    recorded_at: str = ""


class RunStore:
    """Durable completions, keyed by grader, item content and repeat, and the runs that use them.

    Writes are committed one by one with full synchronisation (write-ahead log), so a completion
    that :meth:`append` has taken survives the end of the process at any moment. Several processes
    can use one file. Everything is stored as JSON in ASCII, so replies with stray surrogates or
    NUL characters survive too. A database of something else is refused and left as it is. With
    ``must_exist`` nothing is created, and a store on a read-only medium can be read. ``option`` is
    what a message calls the way to name another file.

    Raises
    ------
    StoreError
        If the file cannot be opened or is not a store; with ``must_exist`` also if it is missing.
    """

    def __init__(self, path: Path, *, must_exist: bool = False, option: str = "--store PATH") -> None:
        self.path, self._option = path, option
        self._complete = True
        check_place(path, must_exist=must_exist, option=option)
        self._engine = connect(path, frozen=must_exist and is_frozen(path))
        try:
            with self._errors_named():
                self._prepare(must_exist=must_exist)
        except StoreError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the file."""
        self._engine.dispose()

    # completions

    def append(self, grader_id: str, key: CompletionKey, answer: Completion | CallFailure) -> None:
        """Make one answer durable.

        A completion is kept once for each key: the first one stands. A call failure is history: it
        never stands in the way of a completion, and its key stays pending.
        """
        self.append_many(grader_id, [(key, answer)])

    def append_many(self, grader_id: str, answers: Iterable[tuple[CompletionKey, Completion | CallFailure]]) -> None:
        """Make several answers durable in one transaction, in their order."""
        now = _now()
        paid, failed = [], []
        for key, answer in answers:
            if isinstance(answer, Completion):
                paid.append((grader_id, key.item_digest, key.repeat, dump_completion(answer), now))
            else:
                failed.append(_failure_row(grader_id, key, answer, now))
        if not paid and not failed:
            return
        if failed and not self._complete:
            with self.writing() as connection:
                self._add_missing_columns(connection)
        with self._errors_named(), write_rows(self._engine) as cursor:
            cursor.executemany(_INSERT_COMPLETION, paid)
            cursor.executemany(_INSERT_FAILURE, failed)

    def stored_keys(self, grader_id: str) -> set[CompletionKey]:
        """Keys that are paid for."""
        query = select(completions.c.item_digest, completions.c.repeat).where(completions.c.grader_id == grader_id)
        with self.reading() as connection:
            return {CompletionKey(digest, repeat) for digest, repeat in connection.execute(query)}

    def stored_repeats(self, grader_id: str, item_digests: Sequence[str]) -> Mapping[str, set[int]]:
        """The repeats that are paid for, of some items (at most a few thousand); items without any are left out."""
        table = completions.c
        query = select(table.item_digest, table.repeat).where(
            table.grader_id == grader_id, table.item_digest.in_(item_digests)
        )
        found: dict[str, set[int]] = {}
        with self.reading() as connection:
            for digest, repeat in connection.execute(query):
                found.setdefault(digest, set()).add(repeat)
        return found

    def completions(self, grader_id: str) -> Mapping[CompletionKey, Completion]:
        """All completions of a grader."""
        return dict(self.iter_completions(grader_id))

    def iter_completions(self, grader_id: str) -> Iterator[tuple[CompletionKey, Completion]]:
        """The completions of a grader by item and repeat, read as they are asked for and not kept."""
        table = completions.c
        query = (
            select(table.item_digest, table.repeat, table.payload)
            .where(table.grader_id == grader_id)
            .order_by(table.item_digest, table.repeat)
            .execution_options(yield_per=_ROWS_AT_A_TIME)
        )
        with self.reading() as connection:
            for digest, repeat, payload in connection.execute(query):
                with self.damage_named():
                    completion = load_completion(payload)
                yield CompletionKey(digest, repeat), completion

    def call_failures(self, grader_id: str) -> Mapping[CompletionKey, CallFailure]:
        """The newest failed call of each key, whether or not a later call succeeded."""
        return dict(self.iter_call_failures(grader_id))

    def iter_call_failures(self, grader_id: str) -> Iterator[tuple[CompletionKey, CallFailure]]:
        """Every failed call of a grader, oldest first."""
        table = call_failures.c
        with self.reading() as connection:
            usage = table.usage if has_failure_usage(connection) else literal_column("NULL").label("usage")
            query = (
                select(table.item_digest, table.repeat, table.reason, table.message, usage)
                .where(table.grader_id == grader_id)
                .order_by(table.failure_id)
                .execution_options(yield_per=_ROWS_AT_A_TIME)
            )
            for digest, repeat, reason, message, payload in connection.execute(query):
                with self.damage_named():
                    known = None if payload is None else load_usage(payload)
                yield CompletionKey(digest, repeat), CallFailure(reason, message, known)

    def call_failure_counts(self, grader_id: str) -> Counter[str]:
        """How often calls of a grader went wrong, by reason, over its whole history."""
        table = call_failures.c
        query = select(table.reason, func.count()).where(table.grader_id == grader_id).group_by(table.reason)
        with self.reading() as connection:
            return Counter({reason: int(count) for reason, count in connection.execute(query)})

    def failed_usage(self, grader_id: str) -> Iterator[Usage | None]:
        """What each failed call of a grader cost, oldest first; ``None`` where that is not known."""
        return (failure.usage for _, failure in self.iter_call_failures(grader_id))

    # runs

    def create_run(self, record: RunRecord, set_payload: Mapping[str, Any]) -> None:
        """Record a run and the set that it judges; recording the same run again changes nothing."""
        dumped = _dump(set_payload)
        snapshot = {"digest": hashlib.sha256(dumped.encode("ascii")).hexdigest(), "payload": dumped}
        run = {
            "run_id": record.run_id,
            "snapshot": snapshot["digest"],
            "payload": _dump(record.payload),
            "created_at": _now(),
        }
        with self.writing() as connection:
            connection.execute(insert(set_snapshots).on_conflict_do_nothing(), [snapshot])
            connection.execute(insert(runs).on_conflict_do_nothing(), [run])

    def run_times(self) -> Mapping[str, str]:
        """Ids of all runs, the first recorded first, with the time of that (ISO 8601 in UTC)."""
        query = select(runs.c.run_id, runs.c.created_at).order_by(runs.c.created_at, runs.c.run_id)
        with self.reading() as connection:
            return {row.run_id: row.created_at for row in connection.execute(query)}

    def list_runs(self) -> Sequence[tuple[RunRecord, str]]:
        """All runs with the time they were first recorded, oldest first; ``StoreError`` if any is damaged."""
        return [(self.load_run(run_id), created_at) for run_id, created_at in self.run_times().items()]

    def load_run(self, run_id: str) -> RunRecord:
        """The record of a run; ``StoreError`` if it is damaged."""
        with self.reading() as connection:
            row = connection.execute(select(runs).where(runs.c.run_id == run_id)).one()
        with self.damage_named(f"the record of run {run_id}"):
            return RunRecord(run_id, dict(json.loads(row.payload).items()), row.created_at)

    def find_run(self, name: str) -> RunRecord:
        """The run that a name means, as :func:`match_run` says; ``StoreError`` if its record is damaged."""
        return self.load_run(match_run(list(self.run_times()), name, where=self.path.name))

    def load_set_snapshot(self, run_id: str) -> Mapping[str, Any]:
        """The set as it was when the run was recorded."""
        query = select(set_snapshots.c.payload).join_from(
            set_snapshots, runs, runs.c.snapshot == set_snapshots.c.digest
        )
        with self.reading() as connection:
            payload = connection.execute(query.where(runs.c.run_id == run_id)).scalar_one()
        with self.damage_named(f"the set of run {run_id}"):
            snapshot: Mapping[str, Any] = json.loads(payload)
        return snapshot

    def count_completions(self) -> int:
        """Number of completions in the store."""
        with self.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(completions)).scalar_one())

    # inside

    def _prepare(self, *, must_exist: bool) -> None:
        """Make sure that the file is a store; nothing is written to one that is not, or to read from one."""
        with self.reading() as connection:
            tables = set(inspect(connection).get_table_names())
        if must_exist and not tables:
            raise StoreError(f"{self.path}: an empty file; expected the store of an earlier run (or {self._option})")
        if tables and not table_names() <= tables:
            raise StoreError(f"{self.path}: a database of something else; expected an autorater store, or a new file")
        if not tables:
            self._create()
        with self.reading() as connection:
            schemas = connection.execute(select(about.c.value).where(about.c.key == "schema")).scalars().all()
        if schemas != [SCHEMA]:
            raise StoreError(f"{self.path}: schema {', '.join(map(repr, schemas)) or 'missing'}; expected {SCHEMA!r}")
        with self.reading() as connection:
            self._complete = has_failure_usage(connection)
        if not must_exist and not self._complete:
            with self.writing() as writing:
                self._add_missing_columns(writing)

    def _create(self) -> None:
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()
        with self.writing() as writing:
            create_tables(writing)

    def _add_missing_columns(self, connection: Connection) -> None:
        if not self._complete:
            add_missing_columns(connection)
            self._complete = True

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes, durable at the end of the ``with`` statement; for tables beside these too.

        Raises
        ------
        StoreError
            If the file cannot be written, or another process holds it too long.
        """
        with self._errors_named(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads one state of the store; ``StoreError`` if that is not possible."""
        with self._errors_named(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise StoreError(f"{self.path}: {cause}; expected {expected_state(str(cause))}") from error

    @contextmanager
    def damage_named(self, what: str = "a record") -> Iterator[None]:
        """Turn what reading a damaged record brings about into a ``StoreError`` that names it."""
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            cause = f"no {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise StoreError(f"{self.path}: {what} is damaged ({cause}); expected an intact store") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _failure_row(grader_id: str, key: CompletionKey, failure: CallFailure, now: str) -> tuple[str | int | None, ...]:
    message = failure.message.encode("utf-8", "replace").decode("utf-8")
    usage = None if failure.usage is None else dump_usage(failure.usage)
    return grader_id, key.item_digest, key.repeat, failure.reason, message, now, usage
