"""How long graders were at work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table of sessions."""
    if sa.inspect(op.get_bind()).has_table("sessions"):
        return
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Integer, primary_key=True),
        sa.Column("grader_id", _Text, nullable=False, index=True),
        sa.Column("ended_at", _Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("n_completions", sa.Integer, nullable=False),
    )
