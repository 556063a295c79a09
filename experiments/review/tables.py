"""Tables of a label store: reviews, and the events in them, which nothing can change or delete."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, String, Table, insert

__all__ = ["SCHEMA", "about", "create_tables", "events", "reviews", "table_names"]

SCHEMA = "autorater.labels/1"
"""Name and version of a label store's tables."""

_metadata = MetaData()
about = Table("about", _metadata, Column("key", String, primary_key=True), Column("value", String, nullable=False))
reviews = Table(
    "reviews",
    _metadata,
    Column("review_id", String, primary_key=True),
    Column("protocol", String, nullable=False),
    Column("payload", String, nullable=False),
    Column("created_at", String, nullable=False),
)
events = Table(
    "events",
    _metadata,
    Column("event_id", Integer, primary_key=True),
    Column("token", String, nullable=False, unique=True),
    Column("review_id", String, nullable=False),
    Column("protocol", String, nullable=False, index=True),
    Column("rater", String, nullable=False),
    Column("item_digest", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("label", String),
    Column("note", String),
    Column("disputed", Boolean),
    Column("blind", Boolean),
    Column("undoes", Integer, unique=True),
    Column("created_at", String, nullable=False),
    sqlite_autoincrement=True,
)


def table_names() -> frozenset[str]:
    """Tables that every label store has."""
    return frozenset(_metadata.tables)


def create_tables(connection: Connection) -> None:
    """Make a new label store, in a transaction that writes and has seen that there is none."""
    _metadata.create_all(connection)
    connection.execute(insert(about), [{"key": "schema", "value": SCHEMA}])
    if connection.dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER no_{change.lower()} BEFORE {change} ON events "
                "BEGIN SELECT RAISE(ABORT, 'labels are only ever added'); END"
            )
