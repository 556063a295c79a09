"""The items whose verdict moved between two graders: that is how a wording is understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from experiments.analyses.choice.candidates import Candidate
from experiments.analyses.choice.entrants import Contest
from experiments.stats.comparisons import PairedComparison, paired_comparison

__all__ = ["DIRECTIONS", "Direction", "MovedItem", "MovedItems", "find_moved"]

Direction = Literal["right to wrong", "wrong to right", "wrong to wrong"]
"""How another wording moved a verdict, held against people's label."""
DIRECTIONS: tuple[Direction, ...] = ("right to wrong", "wrong to right", "wrong to wrong")
"""All of :data:`Direction`, in the order of tables."""

SEED = 20261130


@dataclass(frozen=True, slots=True)
class MovedItem:
    """An item whose most frequent label differs between two graders.

    ``certainty`` is the chance that one verdict of each shows the two labels, so 1 where all repeats do.
    """

    item: Item
    label: str
    direction: Direction
    before: str
    after: str
    before_counts: Mapping[str, int]
    after_counts: Mapping[str, int]
    certainty: float


@dataclass(frozen=True, slots=True)
class MovedItems:
    """What moved from ``first`` to ``second``.

    Attributes
    ----------
    items
        The most certain first.
    by_kind
        Kind (``None`` where an item has none) to number of items in each direction.
    n_compared
        Items on which both have a most frequent label.
    first_without, second_without
        Items on which one has none: no verdict, or a tie.
    difference
        Error rate of ``first`` less that of ``second``, single-draw, over the items that both have a verdict on.
    """

    first: str
    second: str
    items: tuple[MovedItem, ...]
    by_kind: Mapping[str | None, Mapping[Direction, int]]
    n_items: int
    n_compared: int
    first_without: int
    second_without: int
    difference: PairedComparison

    def count(self, direction: Direction) -> int:
        """Items that moved in a direction."""
        return sum(moved.direction == direction for moved in self.items)


def find_moved(first: Candidate, second: Candidate, contest: Contest, *, level: float) -> MovedItems:
    """Compare the most frequent labels of two candidates, item by item, with people's label.

    Right is people's label and every other is wrong, so from one label to another that is wrong too is a move as well.
    """
    ours, theirs = _majority(first), _majority(second)
    labels = contest.scale.labels
    moved = []
    for row, (before, after) in enumerate(zip(ours, theirs, strict=True)):
        if before >= 0 and after >= 0 and before != after:
            moved.append(_moved(first, second, contest, row, labels[before], labels[after]))
    difference = paired_comparison(
        first.wrong(contest, "error_rate"),
        second.wrong(contest, "error_rate"),
        contest.clusters,
        rng=np.random.default_rng(SEED),
        names=(first.name, second.name),
        level=level,
    )
    return MovedItems(
        first=first.name,
        second=second.name,
        items=tuple(sorted(moved, key=_order)),
        by_kind=_by_kind(moved),
        n_items=len(contest.items),
        n_compared=int(((ours >= 0) & (theirs >= 0)).sum()),
        first_without=int((ours < 0).sum()),
        second_without=int((theirs < 0).sum()),
        difference=difference,
    )


def _majority(candidate: Candidate) -> NDArray[np.int64]:
    """(n,) position of the most frequent label, -1 for a tie or without a verdict."""
    if not len(candidate.shares):
        return np.zeros(0, dtype=np.int64)
    shares = np.nan_to_num(candidate.shares)
    most = shares.max(axis=1, keepdims=True)
    single = ((shares == most) & (most > 0)).sum(axis=1) == 1
    return np.where(single, shares.argmax(axis=1), -1).astype(np.int64)


def _moved(first: Candidate, second: Candidate, contest: Contest, row: int, before: str, after: str) -> MovedItem:
    labels, people = contest.scale.labels, contest.reference[row]
    direction: Direction = "wrong to wrong"
    if before == people:
        direction = "right to wrong"
    elif after == people:
        direction = "wrong to right"
    certainty = first.shares[row, labels.index(before)] * second.shares[row, labels.index(after)]
    return MovedItem(
        item=contest.items[row],
        label=people,
        direction=direction,
        before=before,
        after=after,
        before_counts=_counts(first, labels, row),
        after_counts=_counts(second, labels, row),
        certainty=float(certainty),
    )


def _counts(candidate: Candidate, labels: tuple[str, ...], row: int) -> dict[str, int]:
    return dict(zip(labels, map(int, candidate.counts[row]), strict=True))


def _order(moved: MovedItem) -> tuple[float, int, str]:
    """Most certain first; of these the one with more verdicts, then the lower id."""
    weakest = min(sum(moved.before_counts.values()), sum(moved.after_counts.values()))
    return (-moved.certainty, -weakest, moved.item.item_id)


def _by_kind(moved: list[MovedItem]) -> dict[str | None, dict[Direction, int]]:
    counts = Counter((one.item.kind, one.direction) for one in moved)
    kinds = sorted({one.item.kind for one in moved}, key=lambda kind: (kind is None, kind))
    return {kind: {direction: counts[kind, direction] for direction in DIRECTIONS} for kind in kinds}
