"""What a database does for a store, whichever kind it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Insert, Table

from experiments.store.store_place import StorePlace

__all__ = ["Database", "NewRows"]

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows for a table, with their values in the order of ``columns``."""

    table: Table
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


class Database(ABC):
    """Transactions of one store: what its kind does in a way of its own is here, and nowhere else.

    Attributes
    ----------
    kind
        What messages call it: a file, or a database.
    """

    kind: str

    def __init__(self, place: StorePlace, engine: Engine) -> None:
        self.place = place
        self._engine = engine

    def close(self) -> None:
        """Give back files and connections."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads one state of the store, as slowly as it is asked to.

        Raises
        ------
        StoreError
            If that is not possible, or no longer.
        """
        with self.errors_named(), self._reader().connect() as connection:
            yield connection

    def read(self, work: Callable[[Connection], _Result]) -> _Result:
        """The result of reading one state of the store; ``StoreError`` if that is not possible."""
        with self.reading() as connection:
            return work(connection)

    @abstractmethod
    def write(self, work: Callable[[Connection], _Result], *, patient: bool = True) -> _Result:
        """The result of a transaction that writes, durable when this returns.

        ``work`` may be called again where a connection was cut and nobody knows whether its transaction took effect:
        doing it twice must be as doing it once.

        Parameters
        ----------
        patient
            Whether to wait for a server that is away.

        Raises
        ------
        StoreError
            If the store cannot be written, or is held or away too long.
        """

    @abstractmethod
    def insert(self, news: Sequence[NewRows]) -> None:
        """Make rows durable in one transaction, without those whose key is there already; raises as :meth:`write`."""

    @abstractmethod
    def insert_missing(self, table: Table) -> Insert:
        """A statement that inserts rows, and leaves out those whose key is there already."""

    @abstractmethod
    def rescue(self, news: Sequence[NewRows]) -> str | None:
        """Keep elsewhere what was paid for and could not be written; what to tell of it, ``None`` if it is lost."""

    @abstractmethod
    def prepare_new(self) -> None:
        """Do to an empty database what is done once and outside of a transaction."""

    @abstractmethod
    def hold_schema(self, connection: Connection) -> None:
        """In a transaction that writes, keep others from changing the tables until it ends."""

    @abstractmethod
    def hold_lock(self, name: str, waits: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold a lock for the length of the ``with`` statement; ``waits`` is called once if another process has it."""

    @abstractmethod
    def check_locks(self) -> None:
        """Take again what was lost with a cut connection; ``StoreError`` if another process has it meanwhile."""

    @abstractmethod
    def errors_named(self) -> AbstractContextManager[None]:
        """Turn what the driver raises into a ``StoreError`` with the place, the cause, and what was expected."""

    def _reader(self) -> Engine:
        """The engine whose transactions read."""
        return self._engine
