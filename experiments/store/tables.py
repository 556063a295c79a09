"""Tables of a store, and how one of an earlier version gets what it lacks."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, inspect
from sqlalchemy.dialects.sqlite import insert

__all__ = [
    "SCHEMA",
    "about",
    "add_missing_columns",
    "call_failures",
    "completions",
    "create_tables",
    "has_failure_usage",
    "runs",
    "set_snapshots",
    "table_names",
]

SCHEMA = "autorater.store/1"

_metadata = MetaData()
about = Table("about", _metadata, Column("key", String, primary_key=True), Column("value", String, nullable=False))
set_snapshots = Table(
    "set_snapshots",
    _metadata,
    Column("digest", String, primary_key=True),
    Column("payload", String, nullable=False),
)
runs = Table(
    "runs",
    _metadata,
    Column("run_id", String, primary_key=True),
    Column("snapshot", String, nullable=False),
    Column("payload", String, nullable=False),
    Column("created_at", String, nullable=False),
)
completions = Table(
    "completions",
    _metadata,
    Column("grader_id", String, primary_key=True),
    Column("item_digest", String, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("payload", String, nullable=False),
    Column("created_at", String, nullable=False),
    sqlite_with_rowid=False,
)
call_failures = Table(
    "call_failures",
    _metadata,
    Column("failure_id", Integer, primary_key=True),
    Column("grader_id", String, nullable=False, index=True),
    Column("item_digest", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("reason", String, nullable=False),
    Column("message", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("usage", String),
)


def table_names() -> frozenset[str]:
    """Tables that every store has."""
    return frozenset(_metadata.tables)


def create_tables(connection: Connection) -> None:
    """Make a new store, in a transaction that writes; another process may have been quicker."""
    _metadata.create_all(connection)
    connection.execute(insert(about).on_conflict_do_nothing(), [{"key": "schema", "value": SCHEMA}])


def has_failure_usage(connection: Connection) -> bool:
    """Whether the costs of failed calls can be kept: stores of the first version had no place for them."""
    return any(column["name"] == "usage" for column in inspect(connection).get_columns(call_failures.name))


def add_missing_columns(connection: Connection) -> None:
    """Add what a store of an earlier version lacks, in a transaction that writes; nothing else is changed."""
    if not has_failure_usage(connection):
        connection.exec_driver_sql("ALTER TABLE call_failures ADD COLUMN usage VARCHAR")
