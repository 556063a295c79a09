"""Completions, failed calls, runs and their sets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables that every store has."""
    op.create_table("about", sa.Column("key", _Text, primary_key=True), sa.Column("value", _Text, nullable=False))
    op.create_table(
        "set_snapshots", sa.Column("digest", _Text, primary_key=True), sa.Column("payload", _Text, nullable=False)
    )
    op.create_table(
        "runs",
        sa.Column("run_id", _Text, primary_key=True),
        sa.Column("snapshot", _Text, nullable=False),
        sa.Column("payload", _Text, nullable=False),
        sa.Column("created_at", _Text, nullable=False),
    )
    op.create_table(
        "completions",
        sa.Column("grader_id", _Text, primary_key=True),
        sa.Column("item_digest", _Text, primary_key=True),
        sa.Column("repeat", sa.Integer, primary_key=True),
        sa.Column("payload", _Text, nullable=False),
        sa.Column("created_at", _Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "call_failures",
        sa.Column("failure_id", sa.Integer, primary_key=True),
        sa.Column("grader_id", _Text, nullable=False, index=True),
        sa.Column("item_digest", _Text, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("reason", _Text, nullable=False),
        sa.Column("message", _Text, nullable=False),
        sa.Column("created_at", _Text, nullable=False),
    )
