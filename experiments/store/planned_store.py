"""A store for a plan, which may not have been made yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from experiments.store.open_database import open_database
from experiments.store.run_store import RunStore
from experiments.store.schema import read_revision
from experiments.store.store_place import StorePlace

__all__ = ["open_planned"]


@contextmanager
def open_planned(place: StorePlace) -> Iterator[RunStore | None]:
    """The store for reading, or ``None`` where there is none yet: no file, an empty one, or an empty database.

    Raises
    ------
    StoreError
        If there is something else.
    """
    if _is_empty(place):
        yield None
        return
    with RunStore(place, must_exist=True) as opened:
        yield opened


def _is_empty(place: StorePlace) -> bool:
    if place.path is not None and not place.path.exists():
        return True
    with closing(open_database(place, must_exist=True, option="--store PATH")) as database:
        return read_revision(database) is None
