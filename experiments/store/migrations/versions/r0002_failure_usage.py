"""What failed calls cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tokens of failed calls; those of earlier ones are not known."""
    columns = sa.inspect(op.get_bind()).get_columns("call_failures")
    if not any(column["name"] == "usage" for column in columns):
        op.add_column("call_failures", sa.Column("usage", _Text))
