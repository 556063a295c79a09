"""A store that has been opened: transactions on its tables, whichever database keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Insert, Select, Table

from experiments.errors import StoreError
from experiments.store.database import NewRows
from experiments.store.open_database import open_database
from experiments.store.schema import REVISIONS, create_schema, read_revision, upgrade_schema
from experiments.store.store_place import StorePlace, parse_place

__all__ = ["OpenStore"]

_Result = TypeVar("_Result")


class OpenStore:
    """A place where a store is, or now is made.

    A database of something else is refused and left as it is; a store of an earlier version is brought up to date.
    With ``must_exist`` nothing is created or changed until something is written, and a store on a read-only medium can
    be read. ``option`` is what a message calls the way to name another place.

    Raises
    ------
    StoreError
        If the place cannot be opened or is no store; with ``must_exist`` also if there is none.
    """

    def __init__(
        self, place: StorePlace | Path | str, *, must_exist: bool = False, option: str = "--store PATH"
    ) -> None:
        self.place = parse_place(place)
        self._database = open_database(self.place, must_exist=must_exist, option=option)
        try:
            self._prepare(must_exist=must_exist, option=option)
        except StoreError:
            self.close()
            raise

    @property
    def is_shared(self) -> bool:
        """Whether it is on a server, where several workers claim what each of them asks."""
        return self.place.address is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back files and connections."""
        self._database.close()

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that reads one state of the store, for much; ``StoreError`` if that is not possible."""
        return self._database.reading()

    def read(self, work: Callable[[Connection], _Result]) -> _Result:
        """The result of reading one state of the store; as :meth:`Database.read`."""
        return self._database.read(work)

    def write(self, work: Callable[[Connection], _Result], *, patient: bool = True) -> _Result:
        """The result of a transaction that writes, durable when this returns; as :meth:`Database.write`.

        ``work`` may be called twice where a connection was cut: doing it twice must be as doing it once.
        """
        self._make_current()
        return self._database.write(work, patient=patient)

    def insert(self, news: Sequence[NewRows]) -> None:
        """Make rows durable in one transaction, without those whose key is there already."""
        self._make_current()
        self._database.insert(news)

    def insert_missing(self, table: Table) -> Insert:
        """A statement that inserts rows, and leaves out those whose key is there already."""
        return self._database.insert_missing(table)

    def hold_lock(self, name: str, waits: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold a lock of the store for the length of the ``with`` statement: one process at a time, of all machines.

        Parameters
        ----------
        name
            A grader's id, or :data:`experiments.store.locks.BUDGET`.
        waits
            Called once if another process holds it.

        Raises
        ------
        StoreError
            If there can be no lock.
        """
        return self._database.hold_lock(name, waits)

    @property
    def has_row_keys(self) -> bool:
        """Whether its failed calls and sessions have keys, as they have unless it is of an earlier version."""
        return self._revision is not None and self._revision >= "0005"

    @contextmanager
    def damage_named(self, what: str = "a record") -> Iterator[None]:
        """Turn what reading a damaged record brings about into a ``StoreError`` that names it."""
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            cause = f"no {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise StoreError(f"{self.place}: {what} is damaged ({cause}); expected an intact store") from error

    # inside

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        return self._database.read(lambda connection: connection.execute(query).all())

    def _prepare(self, *, must_exist: bool, option: str) -> None:
        """Make sure that the place is a store; nothing is written to one that is not, or to read from one."""
        self._revision = read_revision(self._database)
        if self._revision is None:
            if must_exist:
                kind = self._database.kind
                raise StoreError(f"{self.place}: an empty {kind}; expected the store of an earlier run (or {option})")
            create_schema(self._database)
            self._revision = read_revision(self._database)
        if not must_exist:
            self._make_current()

    def _make_current(self) -> None:
        """Bring a store of an earlier version up to date, once something is to be written."""
        if self._revision != REVISIONS[-1]:
            upgrade_schema(self._database)
            self._revision = REVISIONS[-1]
