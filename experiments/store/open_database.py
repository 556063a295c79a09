"""Opening the database of a place, whichever kind it is."""

from __future__ import annotations

from experiments.store.database import Database
from experiments.store.sqlite_database import SqliteDatabase
from experiments.store.store_place import StorePlace

__all__ = ["open_database"]


def open_database(place: StorePlace, *, must_exist: bool, option: str) -> Database:
    """The database of a place; with ``must_exist`` no file is made.

    Raises
    ------
    StoreError
        Where there can be none, or what it needs is not installed.
    """
    if place.path is not None:
        return SqliteDatabase(place.path, must_exist=must_exist, option=option)
    # Imported where it is needed: a file needs nothing of it.
    from experiments.store.postgres_database import PostgresDatabase

    return PostgresDatabase(place)
