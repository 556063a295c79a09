"""The file of a store: where it may lie, how it is opened, and what SQLite's complaints ask for."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from experiments.errors import StoreError

__all__ = ["BUSY_SECONDS", "check_place", "connect", "expected_state", "is_frozen", "network_file_system", "write_rows"]

BUSY_SECONDS = 60
"""So long another process may hold the store before this one gives up."""


def check_place(path: Path, *, must_exist: bool, option: str = "--store PATH") -> None:
    """Raise ``StoreError`` where no store can be, or, with ``must_exist``, none is; ``option`` names another one."""
    try:
        # In this order: another process may make the store between two questions.
        is_other, is_file, has_folder = path.exists(), path.is_file(), path.parent.is_dir()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; expected the path of a store") from error
    if is_other and not is_file:
        raise StoreError(f"{path}: {'a folder' if path.is_dir() else 'not a plain file'}; expected the path of a store")
    if must_exist and not is_file:
        raise StoreError(f"{path}: no such store; expected the file of an earlier run (or {option})")
    if not has_folder:
        raise StoreError(f"{path}: its folder does not exist; expected an existing folder")


def is_frozen(path: Path) -> bool:
    """Whether the store lies where not even the index of its log could be kept, and has no log to read."""
    return not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()


def expected_state(cause: str) -> str:
    """What would have to be otherwise for SQLite not to complain so."""
    if "locked" in cause:
        return f"no other program to hold it for {BUSY_SECONDS} seconds"
    if "full" in cause or "disk I/O" in cause:
        return "room on its disk; what is stored stays, and the same command continues"
    return "a writable autorater store"


def connect(path: Path, *, frozen: bool, synchronous: Literal["FULL", "EXTRA"] = "FULL") -> Engine:
    """An engine whose transactions begin where it is told; ``frozen`` reads a file that nobody can write.

    ``synchronous`` is SQLite's: without a write-ahead log only ``EXTRA`` survives a power cut right after a commit.
    """
    # An absolute path, so that no name, such as ':memory:', means anything else than a file.
    absolute = str(path.absolute())
    url = URL.create("sqlite+pysqlite", database=absolute)
    if frozen:
        address = f"file:{quote(os.fsencode(absolute))}"
        url = URL.create("sqlite+pysqlite", database=address, query={"immutable": "1", "uri": "true"})
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
        connection.execute(f"PRAGMA synchronous={synchronous}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A write transaction takes its lock at once: upgrading a read lock later cannot wait its turn.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def write_rows(engine: Engine) -> Iterator[sqlite3.Cursor]:
    """A transaction that writes, without SQLAlchemy's own work, which is half of the time of a small one."""
    connection = engine.raw_connection()
    try:
        cursor = connection.driver_connection.cursor()  # type: ignore[union-attr]  # there is one until it is closed
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
            cursor.execute("COMMIT")
        except BaseException:
            if cursor.connection.in_transaction:  # SQLite has ended it already after some errors
                cursor.execute("ROLLBACK")
            raise
    finally:
        connection.close()


_NETWORK_TYPES = (
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "davfs",
    "fuse.ceph-fuse",
    "fuse.davfs",
    "fuse.davfs2",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.juicefs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "smb3",
    "smbfs",
)


def network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """The type of the network file system that a path lies on, or ``None`` for a local or an unknown one.

    SQLite's locks and its log are not reliable there.

    Parameters
    ----------
    path
        A file or folder, which need not exist yet.
    mounts
        The system's list of what is mounted; where there is none, nothing is known.
    """
    try:
        lines = mounts.read_bytes().decode("utf-8", "surrogateescape").splitlines()
        real = path.resolve()
    except OSError:
        return None
    kind, depth = None, -1
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        place = Path(_unescape(fields[1]))
        # Of several mounts on one place the last is the one that is seen.
        if real.is_relative_to(place) and len(place.parts) >= depth:
            kind, depth = fields[2], len(place.parts)
    return kind if kind in _NETWORK_TYPES else None


def _unescape(field: str) -> str:
    """A path as ``/proc/mounts`` writes it: blanks and the like stand there in octal."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
