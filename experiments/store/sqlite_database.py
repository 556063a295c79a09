"""A store in a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlalchemy.exc import DBAPIError

from experiments.errors import StoreError
from experiments.store.database import Database, NewRows
from experiments.store.database_file import check_place, connect, expected_state, is_frozen, write_rows
from experiments.store.locks import hold_file_lock
from experiments.store.store_place import StorePlace

__all__ = ["SqliteDatabase"]

_Result = TypeVar("_Result")


class SqliteDatabase(Database):
    """One file with a write-ahead log; with ``must_exist`` nothing is created, and a frozen one can be read.

    Raises
    ------
    StoreError
        Where no file can be, or, with ``must_exist``, none is; ``option`` is what its message calls the way to another.
    """

    kind = "file"

    def __init__(self, path: Path, *, must_exist: bool, option: str) -> None:
        check_place(path, must_exist=must_exist, option=option)
        super().__init__(StorePlace(path), connect(path, frozen=must_exist and is_frozen(path)))
        self._path = path

    def write(self, work: Callable[[Connection], _Result], *, patient: bool = True) -> _Result:  # noqa: ARG002
        """As :meth:`Database.write`; SQLite itself waits for others, and knows what took effect."""
        with self.errors_named(), self._engine.execution_options(writes=True).begin() as connection:
            return work(connection)

    def insert(self, news: Sequence[NewRows]) -> None:
        """As :meth:`Database.insert`."""
        with self.errors_named(), write_rows(self._engine) as cursor:
            for new in news:
                places = ", ".join("?" * len(new.columns))
                cursor.executemany(
                    f"INSERT INTO {new.table.name} ({', '.join(new.columns)}) VALUES ({places}) ON CONFLICT DO NOTHING",
                    new.rows,
                )

    def insert_missing(self, table: Table) -> Insert:
        """As :meth:`Database.insert_missing`."""
        return insert(table).on_conflict_do_nothing()

    def rescue(self, news: Sequence[NewRows]) -> str | None:  # noqa: ARG002
        """Nothing: where this disk cannot be written, another file of it could not be either."""
        return None

    def prepare_new(self) -> None:
        """Give the file its write-ahead log."""
        with self.errors_named():
            connection = self._engine.raw_connection()
            try:
                connection.cursor().execute("PRAGMA journal_mode=WAL")
            finally:
                connection.close()

    def hold_schema(self, connection: Connection) -> None:
        """Nothing: a transaction that writes is the only one."""

    def hold_lock(self, name: str, waits: Callable[[], None]) -> AbstractContextManager[None]:
        """As :meth:`Database.hold_lock`: a locked file beside the store."""
        return hold_file_lock(self._path, name, waits)

    def check_locks(self) -> None:
        """Nothing: a file's lock is lost with the process alone."""

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """As :meth:`Database.errors_named`."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise StoreError(f"{self.place}: {cause}; expected {expected_state(str(cause))}") from error
