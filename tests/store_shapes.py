"""Stores as earlier versions of the program made them, out of one of today."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

__all__ = ["columns_of", "make_old", "tables_of"]

_LATER_TABLES = ("alembic_version", "work_sessions", "workers", "worker_shares", "claims")
_LATER_COLUMNS = (("call_failures", "failure_key"), ("sessions", "session_key"))


def make_old(path: Path, *, without: tuple[str, ...] = ()) -> None:
    """Take away what came with migrations, and of what came before them the tables and ``table.column`` named."""
    columns = [*_LATER_COLUMNS, *(tuple(name.split(".")) for name in without if "." in name)]
    tables = [*_LATER_TABLES, *(name for name in without if "." not in name)]
    with closing(sqlite3.connect(path)) as connection:
        for table, column in columns:
            connection.execute(f"DROP INDEX IF EXISTS ix_{table}_{column}")
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in tables:
            connection.execute(f"DROP TABLE {table}")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def tables_of(path: Path) -> set[str]:
    """Names of a file's tables."""
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns_of(path: Path, table: str) -> list[str]:
    """Names of a table's columns."""
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
