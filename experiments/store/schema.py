"""The tables of a database: recognised, made, and brought up to date by migrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, inspect, select

from experiments.errors import StoreError
from experiments.store import work_tables  # noqa: F401 - a store has these tables too
from experiments.store.database import Database
from experiments.store.tables import BASE_TABLES, SCHEMA, about, alembic_version, metadata

__all__ = ["BASE_REVISION", "REVISIONS", "create_schema", "has_column", "read_revision", "upgrade_schema"]

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
"""Of the migrations, oldest first: listed here so that an up-to-date store opens without their machinery."""

BASE_REVISION = REVISIONS[0]
"""Of a store that was made before there were migrations; whatever else it has, they find."""


def read_revision(database: Database) -> str | None:
    """The newest revision that a store has; ``None`` for an empty database.

    Raises
    ------
    StoreError
        If it is a database of something else, damaged, or of a newer version.
    """
    with database.reading() as connection:
        return _read_revision(database, connection)


def has_column(connection: Connection, column: Column[Any]) -> bool:
    """Whether a store, which may be of an earlier version, has a column."""
    assert column.table is not None  # it is one of a table's
    names = inspect(connection).get_columns(column.table.name)
    return any(found["name"] == column.name for found in names)


def create_schema(database: Database) -> None:
    """Make an empty database a store; another process may have been quicker."""
    database.prepare_new()

    def work(connection: Connection) -> None:
        database.hold_schema(connection)
        if inspect(connection).get_table_names():
            return
        metadata.create_all(connection)
        connection.execute(about.insert(), [{"key": "schema", "value": SCHEMA}])
        connection.execute(alembic_version.insert(), [{"version_num": REVISIONS[-1]}])

    database.write(work)


def upgrade_schema(database: Database) -> None:
    """Bring a store up to date in one transaction; another process may have been quicker."""
    # Imported where it is needed: it is slow, and most stores are up to date.
    from alembic import command
    from alembic.config import Config

    def work(connection: Connection) -> None:
        database.hold_schema(connection)
        if _read_revision(database, connection) == REVISIONS[-1]:
            return
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
        config.attributes["connection"] = connection
        if not inspect(connection).has_table(alembic_version.name):
            command.stamp(config, BASE_REVISION)
        command.upgrade(config, "head")

    database.write(work)


def _read_revision(database: Database, connection: Connection) -> str | None:
    tables = frozenset(inspect(connection).get_table_names())
    place, kind = database.place, database.kind
    if not tables:
        return None
    if not tables >= BASE_TABLES:
        raise StoreError(f"{place}: a database of something else; expected an autorater store, or a new {kind}")
    schemas = connection.execute(select(about.c.value).where(about.c.key == "schema")).scalars().all()
    if schemas != [SCHEMA]:
        raise StoreError(f"{place}: schema {', '.join(map(repr, schemas)) or 'missing'}; expected {SCHEMA!r}")
    if alembic_version.name not in tables:
        return BASE_REVISION
    versions = connection.execute(select(alembic_version.c.version_num)).scalars().all()
    if len(versions) != 1 or versions[0] not in REVISIONS:
        got = ", ".join(map(repr, versions)) or "missing"
        raise StoreError(
            f"{place}: revision {got}, of a newer version of autorater; expected at most {REVISIONS[-1]!r}: "
            "update autorater-calibration"
        )
    return str(versions[0])
