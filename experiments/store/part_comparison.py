"""The rows of a part in two stores side by side: counted, and their digests taken, whatever their number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from experiments.store.copied_tables import CopiedTable, Part

__all__ = ["PartComparison", "compare_part"]

MOST_NAMED = 5

Row = tuple[Any, ...]


@dataclass(slots=True)
class PartComparison:
    """A part of a store after it was copied.

    Attributes
    ----------
    table, grader_id
        Which rows; ``grader_id`` is ``None`` for sets and runs.
    n_source, n_target
        Rows of the source, and how many of their keys the target has.
    n_besides
        Rows of the target under other keys.
    n_other_times
        Rows that differ in their times alone: the target had come to them by itself, or has a newer state.
    n_others
        Rows whose key holds something else in the target: what was there first stands.
    others
        Keys of the first few of these.
    source_digest, target_digest
        SHA-256 over the rows of the source, and of those under their keys in the target, sorted by key.
    """

    table: str
    grader_id: str | None
    n_source: int = 0
    n_target: int = 0
    n_besides: int = 0
    n_other_times: int = 0
    n_others: int = 0
    others: list[str] = field(default_factory=list)
    source_digest: str = ""
    target_digest: str = ""

    @property
    def n_missing(self) -> int:
        """Rows that the target lacks."""
        return self.n_source - self.n_target


def compare_part(part: Part, ours: Iterator[Row], theirs: Iterator[Row]) -> PartComparison:
    """Compare rows of a source with those of a target, both sorted by key."""
    found = PartComparison(part.copied.table.name, part.grader_id)
    places = [part.copied.columns.index(name) for name in part.copied.key]
    digests = hashlib.sha256(), hashlib.sha256()
    other = next(theirs, None)
    for row in ours:
        found.n_source += 1
        _add(digests[0], row)
        while other is not None and _pick(other, places) < _pick(row, places):
            found.n_besides += 1
            other = next(theirs, None)
        if other is not None and _pick(other, places) == _pick(row, places):
            found.n_target += 1
            _add(digests[1], other)
            _tell_apart(found, part.copied, row, other)
            other = next(theirs, None)
    found.n_besides += (other is not None) + sum(1 for _ in theirs)
    found.source_digest, found.target_digest = (digest.hexdigest() for digest in digests)
    return found


def _tell_apart(found: PartComparison, copied: CopiedTable, row: Row, other: Row) -> None:
    if row == other:
        return
    lasting = [place for place, name in enumerate(copied.columns) if name not in copied.times]
    if _pick(row, lasting) == _pick(other, lasting):
        found.n_other_times += 1
        return
    found.n_others += 1
    if len(found.others) < MOST_NAMED:
        found.others.append(" ".join(str(row[copied.columns.index(name)]) for name in copied.key))


def _pick(row: Row, places: list[int]) -> Row:
    return tuple(row[place] for place in places)


def _add(digest: Any, row: Row) -> None:
    digest.update(json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n")
