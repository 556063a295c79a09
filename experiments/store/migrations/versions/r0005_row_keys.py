"""Keys of failed calls and of sessions, so that writing one again adds none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from experiments.store.row_keys import derive_key

revision = "0005"
down_revision = "0004"

_Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_ROWS_AT_A_TIME = 1000


def upgrade() -> None:
    """Add the keys, and give one to each row that is there."""
    for table, number, key in (
        ("call_failures", "failure_id", "failure_key"),
        ("sessions", "session_id", "session_key"),
    ):
        op.add_column(table, sa.Column(key, _Text))
        _fill(table, number, key)
        op.create_index(f"ix_{table}_{key}", table, [key], unique=True)


def _fill(table: str, number: str, key: str) -> None:
    connection, last = op.get_bind(), -1
    query = sa.text(f"SELECT * FROM {table} WHERE {number} > :last ORDER BY {number} LIMIT {_ROWS_AT_A_TIME}")
    change = sa.text(f"UPDATE {table} SET {key} = :derived WHERE {number} = :number")
    while rows := connection.execute(query, {"last": last}).mappings().all():
        connection.execute(change, [{"derived": derive_key(dict(row), key), "number": row[number]} for row in rows])
        last = rows[-1][number]
