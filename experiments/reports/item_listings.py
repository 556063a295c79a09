"""Single items that deserve a person's look: the most inconsistent, and those that a range check contradicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibration_sets.item import Item
from calibration_sets.references.range_check import check_range
from experiments.reports.exact_sample import ExactSample
from experiments.reports.sample import Sample
from experiments.stats.repeats.exact import exact_entropy
from experiments.stats.repeats.inconsistency import item_entropy

__all__ = [
    "MOST_INCONSISTENT",
    "human_range_disagreements",
    "most_inconsistent",
    "range_disagreements",
    "range_outcomes",
]

_NEARLY_SURE = 1e-3
"""Bits below which a computed distribution is as good as one label; it is never quite."""

MOST_INCONSISTENT = 10
"""How many of the most inconsistent items a report shows."""

Entry = dict[str, Any]


def most_inconsistent(sample: Sample) -> list[Entry]:
    """The items whose verdicts differ most, by entropy in bits; items with one label throughout are not listed.

    Of equal entropies the item with more valid verdicts comes first, then the lower item id.
    """
    exact = isinstance(sample, ExactSample)
    entropies = exact_entropy(sample.shares) if isinstance(sample, ExactSample) else item_entropy(sample.counts)
    ranked = sorted(
        (-entropy, -int(sample.valid[row]), sample.items[row].item_id, row)
        for row, entropy in enumerate(entropies)
        if entropy is not None and entropy > (_NEARLY_SURE if exact else 0)
    )
    return [_judged_entry(sample, row) | {"entropy": -negative} for negative, _, _, row in ranked[:MOST_INCONSISTENT]]


def range_outcomes(items: Sequence[Item]) -> dict[str, str]:
    """Item id to ``in``, ``out`` or ``undecided``, for items whose reference gives a range."""
    return {
        item.item_id: str(check_range(item.reference, item.response).outcome) for item in items if item.reference.ranges
    }


def range_disagreements(sample: Sample, outcomes: Mapping[str, str]) -> list[Entry]:
    """Items where the range check contradicts the label that the grader gave most often (a tie contradicts nothing)."""
    entries = []
    for row, item in enumerate(sample.items):
        outcome, label = outcomes.get(item.item_id), _most_frequent(sample, row)
        if outcome is not None and _contradicts(outcome, label, sample.scale.positive):
            entries.append(_judged_entry(sample, row) | {"outcome": outcome, "majority": label})
    return entries


def human_range_disagreements(
    items: Sequence[Item], labels: Mapping[str, str], outcomes: Mapping[str, str], *, positive: str | None
) -> list[Entry]:
    """Items where the range check contradicts people's label."""
    return [
        _item_entry(item, labels[item.item_id]) | {"outcome": outcomes[item.item_id]}
        for item in sorted(items, key=lambda item: item.item_id)
        if item.item_id in outcomes and _contradicts(outcomes[item.item_id], labels.get(item.item_id), positive)
    ]


def _contradicts(outcome: str, label: str | None, positive: str | None) -> bool:
    """Whether a range check says the opposite of a label; never where either of them abstains."""
    if label is None or positive is None:
        return False
    return (outcome == "in" and label != positive) or (outcome == "out" and label == positive)


def _most_frequent(sample: Sample, row: int) -> str | None:
    """The label that an item got most often; ``None`` for a tie and where there is none."""
    most = int(sample.counts[row].max(initial=0))
    winners = [label for label, count in zip(sample.scale.labels, sample.counts[row], strict=True) if count == most]
    return winners[0] if most and len(winners) == 1 else None


def _item_entry(item: Item, human_label: str | None) -> Entry:
    return {
        "item_id": item.item_id,
        "kind": item.kind,
        "question": item.question,
        "reference": item.reference.text,
        "response": item.response,
        "human_label": human_label,
    }


def _judged_entry(sample: Sample, row: int) -> Entry:
    drawn = zip(sample.scale.labels, sample.counts[row], strict=True)
    shares = sample.shares[row] if isinstance(sample, ExactSample) and not np.isnan(sample.shares[row]).any() else None
    chances = {} if shares is None else {"shares": dict(zip(sample.scale.labels, map(float, shares), strict=True))}
    return _item_entry(sample.items[row], sample.reference[row]) | {
        "verdicts": {label: int(count) for label, count in drawn},
        **chances,
        "failures": dict(sorted(sample.failures[row].items())),
    }
