"""A store in a database of a PostgreSQL server, which several machines fill at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Integer, Table, create_engine, text
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.exc import DBAPIError

from experiments.errors import StoreError
from experiments.store.database import Database, NewRows
from experiments.store.postgres_errors import expected_server, is_passing, one_line
from experiments.store.postgres_locks import HeldLocks
from experiments.store.store_place import StorePlace
from experiments.store.unsaved import UnsavedFile

__all__ = ["PATIENCE_SECONDS", "PostgresDatabase"]

PATIENCE_SECONDS = 300.0
"""So long a server may be away before what is to be written is kept elsewhere."""

_FIRST_WAIT, _LONGEST_WAIT = 0.1, 10.0

# "autorate" as a number: who changes the tables holds this lock of the database.
_SCHEMA_LOCK = int.from_bytes(b"autorate", "big")

# A network that swallows packets is noticed in a minute, not in the two hours of the system's defaults.
_CONNECTION = {
    "application_name": "autorater",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}

# And by the server too: what a writer that is gone has begun would else keep its keys locked.
_SESSION = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
_WRITING = f"{_SESSION} -c idle_in_transaction_session_timeout=60000 -c lock_timeout=60000"

_log = logging.getLogger("autorater.store")
_Result = TypeVar("_Result")


class PostgresDatabase(Database):
    """A database that is reached anew when a connection is cut, for up to :data:`PATIENCE_SECONDS`.

    Raises
    ------
    StoreError
        If psycopg is not installed.
    """

    kind = "database"

    def __init__(self, place: StorePlace) -> None:
        super().__init__(place, _connect(place, _WRITING))
        others = _connect(place, _SESSION)
        self._snapshots = others.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._locks = HeldLocks(place, others.execution_options(isolation_level="AUTOCOMMIT"), self._repeat)
        self._unsaved = UnsavedFile(place, Path.cwd())
        self._gave_up = False

    def close(self) -> None:
        """Give back all connections, and the locks with them."""
        self._locks.close()
        self._snapshots.dispose()
        super().close()

    def read(self, work: Callable[[Connection], _Result]) -> _Result:
        """As :meth:`Database.read`; read again where the connection was cut."""

        def attempt() -> _Result:
            with self._snapshots.connect() as connection:
                return work(connection)

        with self.errors_named():
            return self._repeat(attempt)

    def write(self, work: Callable[[Connection], _Result], *, patient: bool = True) -> _Result:
        """As :meth:`Database.write`."""

        def attempt() -> _Result:
            with self._engine.begin() as connection:
                return work(connection)

        with self.errors_named():
            return self._repeat(attempt) if patient else attempt()

    def insert(self, news: Sequence[NewRows]) -> None:
        """As :meth:`Database.insert`; a statement a table, however many rows there are."""
        filled = [(_statement(new.table, new.columns), _columns(new)) for new in news if new.rows]

        def work(connection: Connection) -> None:
            for statement, values in filled:
                connection.exec_driver_sql(statement, values)

        if filled:
            self.write(work)

    def insert_missing(self, table: Table) -> Insert:
        """As :meth:`Database.insert_missing`."""
        return insert(table).on_conflict_do_nothing()

    def rescue(self, news: Sequence[NewRows]) -> str | None:
        """As :meth:`Database.rescue`: in a file of this machine."""
        return self._unsaved.keep(news)

    def prepare_new(self) -> None:
        """Nothing: whoever made the database has chosen its settings."""

    def hold_schema(self, connection: Connection) -> None:
        """As :meth:`Database.hold_schema`."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _SCHEMA_LOCK})

    @contextmanager
    def hold_lock(self, name: str, waits: Callable[[], None]) -> Iterator[None]:
        """As :meth:`Database.hold_lock`: an advisory lock; the server lets go of it when this process is gone."""
        with self.errors_named(), self._locks.hold(name, waits):
            yield

    def check_locks(self) -> None:
        """As :meth:`Database.check_locks`; the server is asked now and then."""
        with self.errors_named():
            self._locks.check()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """As :meth:`Database.errors_named`."""
        try:
            yield
        except DBAPIError as error:
            raise StoreError(
                f"{self.place}: {one_line(error)}; expected {expected_server(error, self.place)}"
            ) from error

    def _reader(self) -> Engine:
        return self._snapshots

    def _repeat(self, attempt: Callable[[], _Result]) -> _Result:
        """Try again, on a new connection, while what is in the way may pass; not again once a server stayed away."""
        end, wait, told = time.monotonic() + PATIENCE_SECONDS, _FIRST_WAIT, False
        while True:
            try:
                result = attempt()
            except DBAPIError as error:
                if self._gave_up or not is_passing(error):
                    raise
                left = end - time.monotonic()
                if left <= 0:
                    self._gave_up = True
                    raise
                if wait >= 1 and not told:
                    told = True
                    _log.warning("%s: %s; trying again for %.0f s", self.place, one_line(error), left)
                time.sleep(min(wait, left))
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                self._gave_up = False
                return result


def _connect(place: StorePlace, session: str) -> Engine:
    assert place.address is not None  # who calls this has looked
    named = place.address.query
    settings = {key: value for key, value in _CONNECTION.items() if key not in named}
    settings["options"] = f"{session} {named.get('options', '')}"
    try:
        return create_engine(place.address, connect_args=settings, pool_pre_ping=True, hide_parameters=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{place}: psycopg is not installed; expected pip install 'autorater-calibration[postgres]'"
        ) from error


def _statement(table: Table, columns: Sequence[str]) -> str:
    arrays = ", ".join(f"%s::{_array_type(table, column)}[]" for column in columns)
    return f"INSERT INTO {table.name} ({', '.join(columns)}) SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"


def _array_type(table: Table, column: str) -> str:
    kind = table.c[column].type
    if isinstance(kind, Integer):
        return "bigint"
    return "double precision" if kind.python_type is float else "text"


def _columns(new: NewRows) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*new.rows, strict=True)))
