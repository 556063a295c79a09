"""Tables of a store, the same in every kind of database; what is added here comes with a migration that adds it."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table

__all__ = [
    "BASE_TABLES",
    "SCHEMA",
    "about",
    "alembic_version",
    "batch_calls",
    "batch_completions",
    "batch_jobs",
    "call_failures",
    "completions",
    "metadata",
    "runs",
    "sessions",
    "set_snapshots",
]

SCHEMA = "autorater.store/1"
"""Name of the form of a store, which says that a database is one."""

# By bytes on every server, as SQLite has it: reports come in the same order from both.
_Text = String().with_variant(String(collation="C"), "postgresql")

metadata = MetaData()
about = Table("about", metadata, Column("key", _Text, primary_key=True), Column("value", _Text, nullable=False))
set_snapshots = Table(
    "set_snapshots",
    metadata,
    Column("digest", _Text, primary_key=True),
    Column("payload", _Text, nullable=False),
)
runs = Table(
    "runs",
    metadata,
    Column("run_id", _Text, primary_key=True),
    Column("snapshot", _Text, nullable=False),
    Column("payload", _Text, nullable=False),
    Column("created_at", _Text, nullable=False),
)
completions = Table(
    "completions",
    metadata,
    Column("grader_id", _Text, primary_key=True),
    Column("item_digest", _Text, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("payload", _Text, nullable=False),
    Column("created_at", _Text, nullable=False),
    sqlite_with_rowid=False,
)
call_failures = Table(
    "call_failures",
    metadata,
    Column("failure_id", Integer, primary_key=True),
    Column("grader_id", _Text, nullable=False, index=True),
    Column("item_digest", _Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("reason", _Text, nullable=False),
    Column("message", _Text, nullable=False),
    Column("created_at", _Text, nullable=False),
    Column("usage", _Text),
    # Made by who writes the row: writing it again after a cut connection, or copying it again, adds none.
    Column("failure_key", _Text),
    Index("ix_call_failures_failure_key", "failure_key", unique=True),
)
sessions = Table(
    "sessions",
    metadata,
    Column("session_id", Integer, primary_key=True),
    Column("grader_id", _Text, nullable=False, index=True),
    Column("ended_at", _Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("n_completions", Integer, nullable=False),
    Column("session_key", _Text),
    Index("ix_sessions_session_key", "session_key", unique=True),
)
batch_jobs = Table(
    "batch_jobs",
    metadata,
    Column("label", _Text, primary_key=True),
    Column("grader_id", _Text, nullable=False, index=True),
    Column("run_id", _Text, nullable=False),
    Column("service", _Text, nullable=False),
    Column("job_id", _Text),
    Column("state", _Text, nullable=False),
    Column("message", _Text, nullable=False),
    Column("n_calls", Integer, nullable=False),
    Column("created_at", _Text, nullable=False),
    Column("changed_at", _Text, nullable=False),
)
batch_calls = Table(
    "batch_calls",
    metadata,
    Column("label", _Text, primary_key=True),
    Column("custom_id", _Text, primary_key=True),
    Column("item_digest", _Text, nullable=False),
    Column("repeats", _Text, nullable=False),
    sqlite_with_rowid=False,
)
batch_completions = Table(
    "batch_completions",
    metadata,
    Column("grader_id", _Text, primary_key=True),
    Column("item_digest", _Text, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("label", _Text, nullable=False),
    sqlite_with_rowid=False,
)
# The migrations' own: one row, the newest revision that the store has.
alembic_version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))

BASE_TABLES = frozenset({"about", "set_snapshots", "runs", "completions", "call_failures"})
"""What every store has, whichever version made it."""
