"""Workers of a shared store, and what they have claimed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables of workers and claims."""
    op.create_table(
        "work_sessions",
        sa.Column("session_id", _Text, primary_key=True),
        sa.Column("run_id", _Text, nullable=False, index=True),
        sa.Column("begun_at", sa.Float, nullable=False),
        sa.Column("max_cost", sa.Float),
        sa.Column("paid_before", sa.Float),
        sa.Column("uncertain_before", sa.Float),
    )
    op.create_table(
        "workers",
        sa.Column("worker_id", _Text, primary_key=True),
        sa.Column("session_id", _Text, nullable=False, index=True),
        sa.Column("run_id", _Text, nullable=False),
        sa.Column("name", _Text, nullable=False),
        sa.Column("machine", _Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("joined_at", sa.Float, nullable=False),
        sa.Column("beat_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.Column("lost_at", sa.Float),
        sa.Column("ended_at", sa.Float),
        sa.Column("allotted", sa.Float, nullable=False),
        sa.Column("spent", sa.Float, nullable=False),
        sa.Column("uncertain", sa.Float, nullable=False),
    )
    op.create_table(
        "worker_shares",
        sa.Column("worker_id", _Text, primary_key=True),
        sa.Column("grader_id", _Text, primary_key=True),
        sa.Column("n_delivered", sa.Integer, nullable=False),
        sa.Column("n_failed", sa.Integer, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("grader_id", _Text, primary_key=True),
        sa.Column("item_digest", _Text, primary_key=True),
        sa.Column("worker_id", _Text, index=True),
        sa.Column("failed_in", _Text),
    )
