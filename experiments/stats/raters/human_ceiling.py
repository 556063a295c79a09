"""People against people, by the measures that a grader is held to: the ceiling for a grader.

Each rater is left out in turn and measured against the strict majority of the others. With two raters that is the
other one; where the others are tied, or nobody else labelled the item, it does not count for that rater. Nobody is
measured against a reference that holds the own label: a rater against a consensus that includes that rater looks
better than a grader can, most of all with few raters.

Over all raters, each label of a person that faces a majority of others weighs 1. Items must not weigh alike here: where
two of three agree, only the third faces a majority, and always misses it; were such an item to weigh as much as a
unanimous one, on which all three face one, people would look worse than one more person of their kind would. The
variance is clustered by question, so labels of one item need not be independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.stats.errors.rates import false_negative_rate, false_positive_rate
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel, check_labels, check_level, encode_clusters
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.rater_agreement import (
    Agreement,
    agreement,
    code_ratings,
    count_ratings,
    table_coefficients,
)

__all__ = [
    "HumanCeiling",
    "LabelMeasures",
    "RaterCeiling",
    "human_ceiling",
    "label_measures",
    "leave_one_out_references",
]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RaterCeiling:
    """One rater, by row, against the majority of the others: the measures of a grader, by the same functions."""

    rater: int
    agreement: Agreement
    false_negative_rate: Estimate
    false_positive_rate: Estimate


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """People against people: the ceiling for a grader.

    ``kappa`` treats the raters as one kind, so that with two it is Scott's pi [1955]; each rater's own is Cohen's.

    ``n`` of an estimate counts items, ``repeats`` the most labels of an item that count. Values are ``None`` where no
    item has a rater and a majority of others. ``n_raters`` counts those compared.
    """

    raw: Estimate
    kappa: Estimate
    false_negative_rate: Estimate
    false_positive_rate: Estimate
    raters: tuple[RaterCeiling, ...]
    n_raters: int


def human_ceiling(
    ratings: Sequence[Sequence[str | None]],
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> HumanCeiling:
    """Agreement and error rates of people against the majority of the other people.

    Parameters
    ----------
    ratings
        (raters, n) each rater's label of each item, ``None`` where there is none.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    positive
        The label that counts as right.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``: the weights of kappa.
    rng
        Source of the resamples of the coefficients.

    Returns
    -------
    HumanCeiling
        With fewer than two raters all is ``None``.

    Raises
    ------
    ValueError
        A label off the scale, a rater with too few or too many entries, an unknown ``scale_level``.
    """
    check_labels(labels, positive, scale_level)
    check_level(level)
    codes = code_ratings(ratings, labels, n=len(clusters))
    groups = encode_clusters(clusters, n=len(clusters))
    references = leave_one_out_references(codes, n_labels=len(labels))
    settings = _Settings(tuple(labels), positive, scale_level, rng, level, resamples)
    raters = [_rater_ceiling(row, codes[row], references[row], groups, settings) for row in range(len(codes))]
    compared = tuple(one for one in raters if one.agreement.raw.n)
    people = np.eye(len(labels))[codes]
    measures = label_measures(people, references, positive=list(labels).index(positive))
    return HumanCeiling(
        raw=_rate(measures.right, measures.items, groups, level=level),
        kappa=_kappa(people, references, groups, settings),
        false_negative_rate=_rate(measures.missed, measures.items, groups, level=level),
        false_positive_rate=_rate(measures.passed, measures.items, groups, level=level),
        raters=compared,
        n_raters=len(compared),
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    labels: tuple[str, ...]
    positive: str
    scale_level: ScaleLevel
    rng: np.random.Generator
    level: float
    resamples: int


def leave_one_out_references(codes: Codes, *, n_labels: int) -> Codes:
    """Majority of the others for each rater and item, shape (raters, n); -1 where there is none, or no own label.

    Parameters
    ----------
    codes
        (raters, n) positions of labels on the scale, -1 where there is none.
    """
    votes = count_ratings(codes, n_labels=n_labels)
    references = np.full(codes.shape, -1, dtype=np.int64)
    for row, own in enumerate(codes):
        others = votes - (own[:, None] == np.arange(n_labels))
        resolved = (2 * others.max(axis=1, initial=0) > others.sum(axis=1)) & (own >= 0)
        references[row, resolved] = others[resolved].argmax(axis=1)
    return references


def _rater_ceiling(row: int, own: Codes, references: Codes, groups: Codes, settings: _Settings) -> RaterCeiling:
    used = references >= 0
    labels, positive, level = settings.labels, settings.positive, settings.level
    reference = [labels[code] for code in references[used]]
    counts = np.eye(len(labels), dtype=np.int64)[own[used]]
    clusters = groups[used].tolist()
    matched = agreement(
        reference,
        counts,
        clusters,
        labels=labels,
        scale_level=settings.scale_level,
        rng=settings.rng,
        level=level,
        resamples=settings.resamples,
    )
    missed, passed = (
        rate(reference, counts, clusters, labels=labels, positive=positive, level=level)
        for rate in (false_negative_rate, false_positive_rate)
    )
    return RaterCeiling(row, matched, missed, passed)


@dataclass(frozen=True, slots=True)
class LabelMeasures:
    """What is measured of each label that faces a majority of the others, all (pairs,).

    ``items`` are rows of items. ``right``, ``missed`` and ``passed`` are the shares that equal the reference, that
    refuse a reference called positive, and that pass another; NaN where they do not apply.
    """

    items: Codes
    right: Array
    missed: Array
    passed: Array


def label_measures(shares: Array, references: Codes, *, positive: int) -> LabelMeasures:
    """Measures of whatever is held against the references of the raters left out.

    Parameters
    ----------
    shares
        (raters, n, L) shares of labels: of a rater's own label, or of a grader's verdicts.
    references
        (raters, n) from :func:`leave_one_out_references`.
    positive
        Position of the label that counts as right.
    """
    raters, items = np.nonzero(references >= 0)
    held, reference = shares[raters, items], references[raters, items]
    passed, is_positive = held[:, positive], reference == positive
    return LabelMeasures(
        items=items,
        right=held[np.arange(len(items)), reference],
        missed=np.where(is_positive, 1.0 - passed, np.nan),
        passed=np.where(is_positive, np.nan, passed),
    )


def _rate(values: Array, items: Codes, groups: Codes, *, level: float) -> Estimate:
    used = ~np.isnan(values)
    kept = items[used]
    found = clustered_wilson(values[used], groups[kept].tolist(), repeats=1, level=level)
    return replace(found, n=len(np.unique(kept)), repeats=int(np.bincount(kept).max(initial=0)))


def _kappa(people: Array, references: Codes, groups: Codes, settings: _Settings) -> Estimate:
    """Kappa of the table of all labels that face a majority of the others."""
    used = references >= 0
    expected = np.where(used[:, :, None], np.eye(people.shape[2])[references], 0.0)
    counted = used.sum(axis=0)
    return table_coefficients(
        np.einsum("rik,ril->ikl", expected, people)[counted > 0],
        groups[counted > 0],
        scale_level=settings.scale_level,
        rng=settings.rng,
        repeats=int(counted.max(initial=0)),
        level=settings.level,
        resamples=settings.resamples,
    )[0]
