"""What all raters of an item come to together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from calibration_sets.calibration_set import strict_majority
from experiments.review.label_row import LabelRow

__all__ = ["ItemDecision", "decide_items"]


@dataclass(frozen=True, slots=True)
class ItemDecision:
    """``given`` are the labels of raters by themselves, in time; ``adjudication`` is the decision between them."""

    given: tuple[LabelRow, ...]
    adjudication: LabelRow | None
    is_disputed: bool

    @property
    def is_labelled(self) -> bool:
        """Whether anybody said anything that counts."""
        return bool(self.given) or self.adjudication is not None

    @property
    def differs(self) -> bool:
        """Whether two raters gave different labels."""
        return len({row.label for row in self.given}) > 1

    @property
    def label(self) -> str | None:
        """The adjudicated label, else that of more than half of the raters, else ``None``."""
        if self.adjudication is not None:
            return self.adjudication.label
        return strict_majority([str(row.label) for row in self.given])


def decide_items(rows: Iterable[LabelRow]) -> Mapping[str, ItemDecision]:
    """Item id to what came of it; of several adjudications the last one stands."""
    by_item: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_item.setdefault(row.item_id, []).append(row)
    return {item_id: _decide(said) for item_id, said in by_item.items()}


def _decide(rows: list[LabelRow]) -> ItemDecision:
    decisions = [row for row in rows if row.role == "adjudication" and row.label is not None]
    return ItemDecision(
        given=tuple(row for row in rows if row.role == "label" and row.label is not None),
        adjudication=decisions[-1] if decisions else None,
        is_disputed=any(row.disputed for row in rows),
    )
