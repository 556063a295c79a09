"""When a grader's completions were stored."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select

from experiments.store.run_store import RunStore
from experiments.store.tables import completions

__all__ = ["completion_dates"]


def completion_dates(
    store: RunStore, grader_id: str, item_digests: Collection[str], *, repeats: int
) -> tuple[str, str] | None:
    """First and last time, ISO 8601 in UTC, at which a completion of these items was stored; ``None`` without any."""
    table, wanted = completions.c, frozenset(item_digests)
    query = (
        select(table.item_digest, func.min(table.created_at), func.max(table.created_at))
        .where(table.grader_id == grader_id, table.repeat < repeats)
        .group_by(table.item_digest)
    )
    with store.reading() as connection:
        rows = [(first, last) for digest, first, last in connection.execute(query) if digest in wanted]
    return (min(first for first, _ in rows), max(last for _, last in rows)) if rows else None
