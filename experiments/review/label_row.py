"""One person's label of one item as it stands: what exports, agreement and frozen sets are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LabelRow", "Part", "Role"]

Role = Literal["label", "adjudication"]
"""Whether a label is one rater's, or decides between raters."""
Part = Literal["ranked", "random", "set"]
"""How an item came into the queue."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What one rater says of one item now.

    Parameters
    ----------
    item_id, item_digest
        The item, and the content of it that the rater saw.
    rater
        Who labelled, or adjudicated.
    label
        ``None`` where the item was only skipped, noted or flagged.
    note
        May be empty.
    disputed
        Whether the rater holds the reference to be wrong or doubtful.
    blind
        Whether the graders' verdicts were hidden from the rater until the label was given.
    labelled_at
        Time of the label in ISO 8601, UTC; of the newest event where there is no label.
    role
        ``label``, or ``adjudication`` for a decision between labels that differ.
    probability
        Chance of the item to be in the review queue; ``None`` where a whole set is labelled.
    part
        ``ranked`` or ``random`` part of the queue, or ``set``.
    """

    item_id: str
    item_digest: str
    rater: str
    label: str | None
    note: str
    disputed: bool
    blind: bool
    labelled_at: str
    role: Role
    probability: float | None
    part: Part
