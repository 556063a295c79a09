"""Locks beside a store's file, for what only one process may do at a time; the system frees them when one dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from experiments.errors import StoreError

__all__ = ["BUDGET", "hold_file_lock"]

BUDGET = "max-cost"
"""The lock of runs with a limit of cost: two at a time would not see each other's money."""


@contextmanager
def hold_file_lock(store: Path, name: str, waits: Callable[[], None]) -> Iterator[None]:
    """Hold a lock of a store for the length of the ``with`` statement.

    Parameters
    ----------
    name
        A grader's id, or :data:`BUDGET`.
    waits
        Called once if another process holds it.

    Raises
    ------
    StoreError
        If the folder of the locks cannot be made.
    """
    folder = store.with_name(f"{store.name}.locks")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; expected a folder for the locks of {store.name}") from error
    lock = FileLock(folder / name)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waits()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
