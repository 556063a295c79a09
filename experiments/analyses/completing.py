"""A sample with its missing verdicts made up, for the better or for the worse: how far they could move a measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.graded_samples import positive_of
from experiments.analyses.score_values import SCORE_MEASURES, score_worst_places
from experiments.reports.exact_sample import ExactSample
from experiments.reports.sample import Sample

__all__ = ["SELF_CONSISTENCY", "complete_sample"]

SELF_CONSISTENCY = ("flip_rate", "pairwise_disagreement", "alpha_repeats")
"""The measures that people's labels have no part in."""


def complete_sample(sample: Sample, reference: Sequence[str | None], name: str, *, worse: bool) -> Sample:
    """The sample as if every verdict had come.

    Parameters
    ----------
    sample
        Items with what came.
    reference
        (n,) people's label of each item; items without one are not in a measure that labels have a part in.
    name
        The measure that is to be as good or as bad as the missing verdicts allow.
    worse
        Whether as bad. Error rates: on the wrong side of the label that counts as right. Kappa: another label than
        people's, the most frequent one (the farthest where labels have an order), which is its least value as long
        as it is above 0. Self-consistency: as unlike the item's other verdicts as can be, which is exact for
        ``flip_rate`` and ``pairwise_disagreement`` and near it for ``alpha_repeats``. Errors of scores: at the end
        of the scale that makes them largest. As good: people's label, or the item's most frequent one; of the bias
        the lowest score.

    Raises
    ------
    SpecError
        For an error rate where the scale names no label as right, an error of scores where labels are no numbers.
    """
    missing = np.asarray(sample.expected - sample.valid, dtype=np.int64)
    if name in SELF_CONSISTENCY and worse:
        return _spread(sample, missing)
    own = name in SELF_CONSISTENCY
    labels = sample.counts.argmax(axis=1) if own else _labels(sample, reference, name, worse=worse)
    added = np.zeros_like(sample.counts)
    added[np.arange(sample.n_items), labels] = missing
    return _add(sample, added, added.astype(np.float64))


def _labels(sample: Sample, reference: Sequence[str | None], name: str, *, worse: bool) -> NDArray[np.int64]:
    """(n,) the label that an item's missing verdicts get, by its place on the scale; 0 where people gave none."""
    if name in SCORE_MEASURES:
        return score_worst_places(sample, reference, name, worse=worse)
    n_labels = len(sample.scale.labels)
    places = [None if label is None else sample.scale.index(label) for label in reference]
    if not worse or n_labels < 2:
        return np.array([place or 0 for place in places], dtype=np.int64)
    if name != "kappa":
        positive = sample.scale.index(positive_of(sample))
        other = next(place for place in range(n_labels) if place != positive)
        return np.array([other if place == positive else positive for place in places], dtype=np.int64)
    often = Counter(place for place in places if place is not None)
    nominal = sample.scale.level == "nominal"

    def weigh(own: int, place: int) -> tuple[bool, int, int]:
        return place != own, 0 if nominal else abs(place - own), often[place]

    worst = {own: max(range(n_labels), key=lambda place: weigh(own, place)) for own in range(n_labels)}
    return np.array([worst[place or 0] for place in places], dtype=np.int64)


def _spread(sample: Sample, missing: NDArray[np.int64]) -> Sample:
    """Each missing verdict in turn gets the label that the item has fewest of."""
    counts = sample.counts.copy()
    for turn in range(int(missing.max(initial=0))):
        rows = np.flatnonzero(missing > turn)
        counts[rows, counts[rows].argmin(axis=1)] += 1
    return _add(sample, counts - sample.counts, np.full(counts.shape, 1 / max(len(sample.scale.labels), 1)))


def _add(sample: Sample, added: NDArray[np.int64], shares: NDArray[np.float64]) -> Sample:
    counts = sample.counts + added
    if not isinstance(sample, ExactSample):
        return replace(sample, counts=counts)
    unknown = np.asarray(np.isnan(sample.shares).any(axis=1), dtype=np.bool_)
    return replace(
        sample,
        counts=counts,
        shares=np.where(unknown[:, None], shares, sample.shares),
        outside=np.where(unknown, 0.0, sample.outside),
    )
