"""What was paid for and cannot be stored where it belongs: kept in a store file of this machine."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from experiments.errors import StoreError
from experiments.store.database import NewRows
from experiments.store.schema import create_schema
from experiments.store.sqlite_database import SqliteDatabase
from experiments.store.store_place import StorePlace

__all__ = ["UnsavedFile"]


class UnsavedFile:
    """The file of one process that a store's answers go to while its server is away; made when there are any.

    Parameters
    ----------
    place
        Where the answers belong.
    folder
        Where the file is made; in the system's folder of temporary files if that is not possible.
    """

    def __init__(self, place: StorePlace, folder: Path) -> None:
        self._place = place
        self._folders = (folder, Path(tempfile.gettempdir()))
        self._path: Path | None = None

    def keep(self, news: Sequence[NewRows]) -> str | None:
        """Make rows durable in the file; what to tell of it, or ``None`` where no file can be made."""
        for folder in self._folders if self._path is None else (self._path.parent,):
            path = self._path or folder / f"autorater-unsaved-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.sqlite"
            try:
                _write(path, news)
            except StoreError:
                continue
            self._path = path
            return (
                f"what was paid for and is not stored is kept in {path}: "
                f"autorater store copy {shlex.quote(str(path))} {shlex.quote(self._place.title)} brings it in"
            )
        return None


def _write(path: Path, news: Sequence[NewRows]) -> None:
    database = SqliteDatabase(path, must_exist=False, option="another working directory")
    try:
        if not path.exists() or path.stat().st_size == 0:
            create_schema(database)
        database.insert(news)
    finally:
        database.close()
