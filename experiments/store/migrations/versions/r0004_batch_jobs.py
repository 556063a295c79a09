"""Batch jobs, their calls, and the completions that came through them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables of batch jobs."""
    if sa.inspect(op.get_bind()).has_table("batch_jobs"):
        return
    op.create_table(
        "batch_jobs",
        sa.Column("label", _Text, primary_key=True),
        sa.Column("grader_id", _Text, nullable=False, index=True),
        sa.Column("run_id", _Text, nullable=False),
        sa.Column("service", _Text, nullable=False),
        sa.Column("job_id", _Text),
        sa.Column("state", _Text, nullable=False),
        sa.Column("message", _Text, nullable=False),
        sa.Column("n_calls", sa.Integer, nullable=False),
        sa.Column("created_at", _Text, nullable=False),
        sa.Column("changed_at", _Text, nullable=False),
    )
    op.create_table(
        "batch_calls",
        sa.Column("label", _Text, primary_key=True),
        sa.Column("custom_id", _Text, primary_key=True),
        sa.Column("item_digest", _Text, nullable=False),
        sa.Column("repeats", _Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "batch_completions",
        sa.Column("grader_id", _Text, primary_key=True),
        sa.Column("item_digest", _Text, primary_key=True),
        sa.Column("repeat", sa.Integer, primary_key=True),
        sa.Column("label", _Text, nullable=False),
        sqlite_with_rowid=False,
    )
