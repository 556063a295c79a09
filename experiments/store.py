"""The store: one SQLite file that keeps every completion from the moment it is paid for."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    func,
    inspect,
    select,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from experiments.errors import RunNotFoundError, StoreError
from experiments.store_file import check_place, connect, expected_state, is_frozen
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["CompletionKey", "RunRecord", "RunStore"]

SCHEMA = "autorater.store/1"

_metadata = MetaData()
_about = Table("about", _metadata, Column("key", String, primary_key=True), Column("value", String, nullable=False))
_snapshots = Table(
    "set_snapshots",
    _metadata,
    Column("digest", String, primary_key=True),
    Column("payload", String, nullable=False),
)
_runs = Table(
    "runs",
    _metadata,
    Column("run_id", String, primary_key=True),
    Column("snapshot", String, nullable=False),
    Column("payload", String, nullable=False),
    Column("created_at", String, nullable=False),
)
_completions = Table(
    "completions",
    _metadata,
    Column("grader_id", String, primary_key=True),
    Column("item_digest", String, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("payload", String, nullable=False),
    Column("created_at", String, nullable=False),
    sqlite_with_rowid=False,
)
_call_failures = Table(
    "call_failures",
    _metadata,
    Column("failure_id", Integer, primary_key=True),
    Column("grader_id", String, nullable=False, index=True),
    Column("item_digest", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("reason", String, nullable=False),
    Column("message", String, nullable=False),
    Column("created_at", String, nullable=False),
)


@dataclass(frozen=True, slots=True, order=True)
class CompletionKey:
    """Item content and repeat: with the grader's id, the key that a completion is paid for under."""

    item_digest: str
    repeat: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run was asked to do, as plain data: ``payload`` describes graders and analyses."""

    run_id: str
    payload: Mapping[str, Any]


class RunStore:
    """Durable completions, keyed by grader, item content and repeat, and the runs that use them.

    Writes are committed one by one with full synchronisation (write-ahead log), so a completion
    that :meth:`append` has taken survives the end of the process at any moment. Several processes
    can use one file. Everything is stored as JSON in ASCII, so replies with stray surrogates or
    NUL characters survive too. A database of something else is refused and left as it is. With
    ``must_exist`` nothing is created, and a store on a read-only medium can be read.

    Raises
    ------
    StoreError
        If the file cannot be opened or is not a store; with ``must_exist`` also if it is missing.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        check_place(path, must_exist=must_exist)
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
        """Make several answers durable in one transaction."""
        now = _now()
        completions, failures = [], []
        for key, answer in answers:
            row = {"grader_id": grader_id, "item_digest": key.item_digest, "repeat": key.repeat, "created_at": now}
            if isinstance(answer, Completion):
                completions.append({**row, "payload": _dump(asdict(answer))})
            else:
                message = answer.message.encode("utf-8", "replace").decode("utf-8")
                failures.append({**row, "reason": answer.reason, "message": message})
        with self._writing() as connection:
            if completions:
                connection.execute(insert(_completions).on_conflict_do_nothing(), completions)
            if failures:
                connection.execute(insert(_call_failures), failures)

    def stored_keys(self, grader_id: str) -> set[CompletionKey]:
        """Keys that are paid for."""
        query = select(_completions.c.item_digest, _completions.c.repeat).where(_completions.c.grader_id == grader_id)
        with self._reading() as connection:
            return {CompletionKey(digest, repeat) for digest, repeat in connection.execute(query)}

    def completions(self, grader_id: str) -> Mapping[CompletionKey, Completion]:
        """All completions of a grader."""
        columns = (_completions.c.item_digest, _completions.c.repeat, _completions.c.payload)
        query = select(*columns).where(_completions.c.grader_id == grader_id)
        with self._reading() as connection:
            rows = connection.execute(query).all()
        with self._damage_named():
            return {CompletionKey(digest, repeat): _load_completion(payload) for digest, repeat, payload in rows}

    def call_failures(self, grader_id: str) -> Mapping[CompletionKey, CallFailure]:
        """The newest failed call of each key, whether or not a later call succeeded."""
        table = _call_failures.c
        query = (
            select(table.item_digest, table.repeat, table.reason, table.message)
            .where(table.grader_id == grader_id)
            .order_by(table.failure_id)
        )
        with self._reading() as connection:
            rows = connection.execute(query).all()
        return {CompletionKey(digest, repeat): CallFailure(reason, message) for digest, repeat, reason, message in rows}

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
        with self._writing() as connection:
            connection.execute(insert(_snapshots).on_conflict_do_nothing(), [snapshot])
            connection.execute(insert(_runs).on_conflict_do_nothing(), [run])

    def list_runs(self) -> Sequence[tuple[RunRecord, str]]:
        """All runs with the time they were first recorded, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(_runs).order_by(_runs.c.created_at, _runs.c.run_id)).all()
        with self._damage_named():
            return [(RunRecord(row.run_id, json.loads(row.payload)), row.created_at) for row in rows]

    def find_run(self, name: str) -> RunRecord:
        """The run of that id, or the only one whose id begins so.

        Raises
        ------
        RunNotFoundError
            If there is none, or more than one.
        """
        runs = {record.run_id: record for record, _ in self.list_runs()}
        ids = list(runs)
        matches = [name] if name in ids else [run_id for run_id in ids if name and run_id.startswith(name)]
        if len(matches) != 1:
            found = f"{len(matches)} runs begin so (autorater runs tells them apart)" if matches else "no such run"
            expected = f"one of {matches or ids}" if ids else "a store with runs, this one has none"
            raise RunNotFoundError(f"{self.path.name}: run {name!r}: {found}; expected {expected}")
        return runs[matches[0]]

    def load_set_snapshot(self, run_id: str) -> Mapping[str, Any]:
        """The set as it was when the run was recorded."""
        query = select(_snapshots.c.payload).join_from(_snapshots, _runs, _runs.c.snapshot == _snapshots.c.digest)
        with self._reading() as connection:
            payload = connection.execute(query.where(_runs.c.run_id == run_id)).scalar_one()
        with self._damage_named():
            snapshot: Mapping[str, Any] = json.loads(payload)
        return snapshot

    def count_completions(self) -> int:
        """Number of completions in the store."""
        with self._reading() as connection:
            return int(connection.execute(select(func.count()).select_from(_completions)).scalar_one())

    # inside

    def _prepare(self, *, must_exist: bool) -> None:
        """Make sure that the file is a store; nothing is written to one that is not, or to read from one."""
        with self._reading() as connection:
            tables = set(inspect(connection).get_table_names())
        if must_exist and not tables:
            raise StoreError(f"{self.path}: an empty file; expected the store of an earlier run (or --store PATH)")
        if tables and not _metadata.tables.keys() <= tables:
            raise StoreError(f"{self.path}: a database of something else; expected an autorater store, or a new file")
        if not tables:
            self._create()
        with self._reading() as connection:
            schemas = connection.execute(select(_about.c.value).where(_about.c.key == "schema")).scalars().all()
        if schemas != [SCHEMA]:
            raise StoreError(f"{self.path}: schema {', '.join(map(repr, schemas)) or 'missing'}; expected {SCHEMA!r}")

    def _create(self) -> None:
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()
        with self._writing() as writing:
            _metadata.create_all(writing)
            writing.execute(insert(_about).on_conflict_do_nothing(), [{"key": "schema", "value": SCHEMA}])

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._errors_named(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
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
    def _damage_named(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise StoreError(f"{self.path}: a record is damaged ({error}); expected an intact store") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _dump(value: Mapping[str, Any]) -> str:
    # Infinite log-probabilities are kept as they are: nothing that was paid for may be refused here.
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _load_completion(payload: str) -> Completion:
    fields = json.loads(payload)
    return Completion(**{**fields, "usage": Usage(**fields["usage"])})
