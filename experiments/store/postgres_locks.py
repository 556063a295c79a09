"""Advisory locks: for what only one process of all machines may do at a time."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from experiments.errors import StoreError
from experiments.store.store_place import StorePlace

__all__ = ["HeldLocks"]

_ASK_SECONDS, _CHECK_SECONDS = 0.5, 10.0
_TAKE, _GIVE, _ALIVE = (
    text("SELECT pg_try_advisory_lock(:key)"),
    text("SELECT pg_advisory_unlock(:key)"),
    text("SELECT 1"),
)


class HeldLocks:
    """The locks that this process holds, each on a connection of its own: the server frees it with the connection.

    Parameters
    ----------
    engine
        One whose statements are transactions of their own.
    repeat
        Calls again what fails because a server is away, as long as it is worth it.
    """

    def __init__(
        self, place: StorePlace, engine: Engine, repeat: Callable[[Callable[[], Connection | None]], Connection | None]
    ) -> None:
        self._place = place
        self._engine = engine
        self._repeat = repeat
        self._held: dict[str, Connection] = {}
        self._guard = threading.Lock()
        self._checked = time.monotonic()

    @contextmanager
    def hold(self, name: str, waits: Callable[[], None]) -> Iterator[None]:
        """Hold a lock for the length of the ``with`` statement; ``waits`` is called once if another process has it."""
        connection = self._take(name)
        if connection is None:
            waits()
            while (connection := self._take(name)) is None:
                time.sleep(_ASK_SECONDS)
        with self._guard:
            self._held[name] = connection
        try:
            yield
        finally:
            with self._guard:
                _give(self._held.pop(name), name)

    def check(self) -> None:
        """Now and then: take again what was lost with a cut connection.

        Raises
        ------
        StoreError
            If another process has it meanwhile.
        """
        with self._guard:
            if not self._held or time.monotonic() < self._checked + _CHECK_SECONDS:
                return
            self._checked = time.monotonic()
            for name, connection in list(self._held.items()):
                if not _is_alive(connection):
                    connection.close()
                    self._held[name] = self._take_again(name)

    def close(self) -> None:
        """Let go of all."""
        with self._guard:
            for name, connection in self._held.items():
                _give(connection, name)

    def _take(self, name: str) -> Connection | None:
        def attempt() -> Connection | None:
            connection = self._engine.connect()
            taken = False
            try:
                taken = bool(connection.execute(_TAKE, {"key": _key(name)}).scalar_one())
            finally:
                if not taken:
                    connection.close()
            return connection if taken else None

        return self._repeat(attempt)

    def _take_again(self, name: str) -> Connection:
        connection = self._take(name)
        if connection is None:
            raise StoreError(
                f"{self._place}: the connection that held the lock {name} was cut, and another process took it; "
                "expected to work alone: the same command continues once that one is done"
            )
        return connection


def _key(name: str) -> int:
    """A name as a number of 64 bits with a sign."""
    return int.from_bytes(hashlib.sha256(f"autorater lock {name}".encode()).digest()[:8], "big", signed=True)


def _is_alive(connection: Connection) -> bool:
    try:
        connection.execute(_ALIVE)
    except SQLAlchemyError:
        return False
    return True


def _give(connection: Connection, name: str) -> None:
    # A connection that is cut holds nothing any more.
    with suppress(SQLAlchemyError):
        connection.execute(_GIVE, {"key": _key(name)})
    with suppress(SQLAlchemyError):
        connection.close()
