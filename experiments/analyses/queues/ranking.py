"""Which items of a run deserve a person's look first, by a fixed rule.

Where labels have no order: items on which a grader contradicts itself, the highest entropy first; then items on which
the majorities of graders differ, the most divided first; then items on which a grader's majority contradicts the
deterministic range check; then those on which it contradicts people's label.

Where labels have an order, a miss by one step is less than a miss by four: all reasons are measured in shares of the
scale from end to end, by the numbers that the labels are or else by their steps, and the largest comes first, whatever
its reason. A grader that contradicts itself counts by the mean distance of two of its verdicts, graders that differ by
that of two majorities, and one against people by its majority's distance from their label. Only of equal distances the
order above decides, and at last the lower id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.analyses.graded_samples import GradedSample
from experiments.reports.exact_sample import ExactSample
from experiments.reports.item_listings import range_outcomes
from experiments.reports.sample import Sample
from experiments.stats.repeats import exact_entropy, item_entropy

__all__ = ["TIERS", "Suspicion", "rank_items"]

TIERS = ("inconsistent", "graders disagree", "against the range check", "against people")
"""Reasons to look at an item, in the order of their tiers."""
"""Reasons to label an item, the most urgent first."""

_NEARLY_SURE = 1e-3
"""Bits below which a computed distribution is as good as one label; it is never quite."""

Distances = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why an item should be looked at: its tier (0 is first), how strongly, and the reason in words."""

    item: Item
    tier: int
    strength: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Said:
    """What the graders said of one item: a majority each, ``None`` without one, and how far each contradicts itself."""

    item: Item
    row: int
    majorities: tuple[str | None, ...]
    entropies: tuple[float, ...]
    outcome: str | None


def rank_items(graded: Sequence[GradedSample]) -> list[Suspicion]:
    """The items that any grader gives a reason to look at, the first to be looked at first."""
    items, scale = graded[0].sample.items, graded[0].sample.scale
    distances = _distances(scale)
    outcomes = range_outcomes(items)
    entropies = [_entropies(one.sample) for one in graded]
    majorities = [_majorities(one.sample) for one in graded]
    found = []
    for row, item in enumerate(items):
        said = _Said(
            item,
            row,
            tuple(column[row] for column in majorities),
            tuple(column[row] for column in entropies),
            outcomes.get(item.item_id),
        )
        reasons = list(_reasons(graded, said, distances))
        if reasons:
            found.append(min(reasons, key=_place) if distances is not None else reasons[0])
    if distances is not None:
        return sorted(found, key=lambda one: (*_place(one), one.item.item_id))
    return sorted(found, key=lambda one: (one.tier, -one.strength, one.item.item_id))


def _place(one: Suspicion) -> tuple[float, int]:
    return -one.strength, one.tier


def _distances(scale: LabelScale) -> Distances | None:
    """Distances of labels, the ends of the scale being 1 apart; ``None`` where labels have no order."""
    if scale.level == "nominal":
        return None
    places = np.array(scale.values or range(len(scale.labels)), dtype=np.float64)
    return np.asarray(np.abs(np.subtract.outer(places, places)) / np.ptp(places), dtype=np.float64)


def _reasons(graded: Sequence[GradedSample], said: _Said, distances: Distances | None) -> Iterator[Suspicion]:
    for find in (_inconsistent, _divided, _against_range, _against_people):
        suspicion = find(graded, said, distances)
        if suspicion is not None:
            yield suspicion


def _suspect(said: _Said, tier: int, strength: float, reason: str) -> Suspicion:
    # Rounded: the order must not hang on the last bit.
    return Suspicion(said.item, tier, round(float(strength), 9), reason)


def _inconsistent(graded: Sequence[GradedSample], said: _Said, distances: Distances | None) -> Suspicion | None:
    if max(said.entropies) <= 0:
        return None
    if distances is None:
        place = int(np.argmax(said.entropies))
        strength = said.entropies[place]
        return _suspect(said, 0, strength, f"{graded[place].name} contradicts itself, entropy {strength:.2f} bits")
    spreads = [
        _spread(one.sample, said.row, distances) if entropy > 0 else 0.0
        for one, entropy in zip(graded, said.entropies, strict=True)
    ]
    place = int(np.argmax(spreads))
    by = f"{100 * spreads[place]:.0f}% of the scale on average"
    return _suspect(said, 0, spreads[place], f"{graded[place].name} contradicts itself, by {by}")


def _divided(graded: Sequence[GradedSample], said: _Said, distances: Distances | None) -> Suspicion | None:
    given = [label for label in said.majorities if label is not None]
    if len(set(given)) < 2:
        return None
    strength = 1 - max(map(given.count, given)) / len(given)
    if distances is not None:
        index = graded[0].sample.scale.index
        strength = float(np.mean([distances[index(one), index(two)] for one, two in combinations(given, 2)]))
    words = ", ".join(
        f"{one.name} {label}" for one, label in zip(graded, said.majorities, strict=True) if label is not None
    )
    return _suspect(said, 1, strength, f"graders disagree: {words}")


def _against_range(graded: Sequence[GradedSample], said: _Said, _: Distances | None) -> Suspicion | None:
    positive = graded[0].sample.scale.positive
    if positive is None or said.outcome not in ("in", "out"):
        return None
    against = [
        one.name
        for one, label in zip(graded, said.majorities, strict=True)
        if label is not None and (label == positive) != (said.outcome == "in")
    ]
    if not against:
        return None
    where = "within" if said.outcome == "in" else "outside"
    reason = f"the range check finds the number {where} the range, against {against[0]}"
    return _suspect(said, 2, len(against) / len(graded), reason)


def _against_people(graded: Sequence[GradedSample], said: _Said, distances: Distances | None) -> Suspicion | None:
    index = graded[0].sample.scale.index
    against = []
    for one, label in zip(graded, said.majorities, strict=True):
        given = one.sample.reference[said.row]
        if label is not None and given is not None and given != label:
            far = 1.0 if distances is None else float(distances[index(given), index(label)])
            against.append((far, one.name, label, given))
    if not against:
        return None
    _, name, label, given = max(against, key=lambda one: one[0])
    strength = sum(far for far, *_ in against) / len(graded)
    return _suspect(said, 3, strength, f"people say {given}, {name} {label}")


def _spread(sample: Sample, row: int, distances: Distances) -> float:
    """Mean distance of two verdicts on an item: of two draws that were made, or of two that a distribution gives."""
    if isinstance(sample, ExactSample):
        return _mean_distance(sample.shares[row], distances)
    counts = sample.counts[row]
    n = int(counts.sum())
    return _mean_distance(counts, distances) / (n * (n - 1)) if n > 1 else 0.0


def _mean_distance(weights: ArrayLike, distances: Distances) -> float:
    row = np.asarray(weights, dtype=np.float64)
    return float(row @ distances @ row)


def _entropies(sample: Sample) -> list[float]:
    if isinstance(sample, ExactSample):
        found = exact_entropy(sample.shares)
        return [entropy if entropy is not None and entropy > _NEARLY_SURE else 0.0 for entropy in found]
    return [entropy or 0.0 for entropy in item_entropy(sample.counts)]


def _majorities(sample: Sample) -> list[str | None]:
    """The most frequent label of each item, ``None`` for a tie or without a verdict."""
    labels = []
    for counts in sample.counts:
        top = np.flatnonzero(counts == counts.max())
        labels.append(sample.scale.labels[int(top[0])] if counts.any() and len(top) == 1 else None)
    return labels
