"""Agreement of a grader with people, and of people with each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import (
    ScaleLevel,
    as_clusters,
    check_counts,
    check_labels,
    check_level,
    encode_clusters,
    encode_labels,
)
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.coefficients import Disagreement, ac1_disagreement, alpha_disagreement, kappa_disagreement
from experiments.stats.raters.resampled import coefficient_estimate
from experiments.stats.repeats.inconsistency import alpha_estimate, item_disagreement

__all__ = [
    "Agreement",
    "HumanAgreement",
    "agreement",
    "code_ratings",
    "count_ratings",
    "human_agreement",
    "table_coefficients",
]

KAPPA_WEIGHTS = {"nominal": "none", "ordinal": "linear", "interval": "quadratic"}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of one draw of a grader with the reference labels.

    ``gwet_ac1`` is unweighted; ``gwet_ac2`` has kappa's weights, and is AC1 on a nominal scale.
    ``prevalence`` is the share of each label among the reference labels of the items that count, empty without
    items. ``kappa_weights`` is ``none``, ``linear`` or ``quadratic``.
    """

    raw: Estimate
    cohen_kappa: Estimate
    gwet_ac1: Estimate
    gwet_ac2: Estimate
    krippendorff_alpha: Estimate
    prevalence: dict[str, float]
    kappa_weights: str


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """Agreement of people with each other: the ceiling for a grader. Values are ``None`` with one rater."""

    alpha: Estimate
    pairwise_raw: Estimate
    n_raters: int


def agreement(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> Agreement:
    """Raw agreement, Cohen's kappa, Gwet's AC1 and Krippendorff's alpha of one draw with the reference.

    Each item weighs 1, split over its valid verdicts: the table is what one verdict an item gives on average.
    With one verdict an item these are the textbook coefficients. Kappa is weighted linearly on an ordinal scale
    and quadratically on an interval scale, and so is AC2; alpha takes the distance of the scale's level; AC1 is
    unweighted.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; items without one are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``.
    rng
        Source of the resamples; the coefficients share them.

    Returns
    -------
    Agreement
        Where people and the grader used one label only, the coefficients are ``None`` and ``raw`` stands.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ, an unknown ``scale_level``.
    """
    check_labels(labels, scale_level=scale_level)
    check_level(level)
    people, table, codes = _used_items(reference, counts, clusters, labels)
    shares = table / table.sum(axis=1, keepdims=True)
    repeats = int(table.sum(axis=1).max(initial=0))
    right = shares[np.arange(len(people)), people]
    tables = np.eye(len(labels))[people][:, :, None] * shares[:, None, :]
    kappa, ac1, ac2, alpha = table_coefficients(
        tables, codes, scale_level=scale_level, rng=rng, repeats=repeats, level=level, resamples=resamples
    )
    return Agreement(
        raw=clustered_wilson(right, as_clusters(codes), repeats=repeats, level=level),
        cohen_kappa=kappa,
        gwet_ac1=ac1,
        gwet_ac2=ac2,
        krippendorff_alpha=alpha,
        prevalence=_prevalence(people, labels),
        kappa_weights=KAPPA_WEIGHTS[scale_level],
    )


def human_agreement(
    ratings: Sequence[Sequence[str | None]],
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> HumanAgreement:
    """Krippendorff's alpha and the raw agreement of pairs of people.

    Parameters
    ----------
    ratings
        (raters, n) each rater's label of each item, ``None`` where there is none.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``.
    rng
        Source of alpha's resamples.

    Returns
    -------
    HumanAgreement
        Over items that two or more people labelled. ``pairwise_raw`` is the mean over items of the share of
        pairs of people that agree. ``n_raters`` counts raters with at least one label.

    Raises
    ------
    ValueError
        A label off the scale, a rater with too few or too many entries, an unknown ``scale_level``.
    """
    check_labels(labels, scale_level=scale_level)
    check_level(level)
    counts = count_ratings(code_ratings(ratings, labels, n=len(clusters)), n_labels=len(labels))
    shared = counts.sum(axis=1) >= 2
    table, codes = counts[shared], encode_clusters(clusters, n=len(counts))[shared]
    most = int(table.sum(axis=1).max(initial=0))
    alpha = alpha_estimate(table, codes, scale_level=scale_level, rng=rng, level=level, resamples=resamples)
    raw = clustered_wilson(1.0 - item_disagreement(table), as_clusters(codes), repeats=most, level=level)
    n_raters = sum(any(label is not None for label in rater) for rater in ratings)
    return HumanAgreement(alpha=alpha, pairwise_raw=raw, n_raters=n_raters)


def _used_items(
    reference: Sequence[str], counts: ArrayLike, clusters: Sequence[Hashable], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(people))
    used = table.sum(axis=1) > 0
    return people[used], table[used], codes[used]


def table_coefficients(
    tables: NDArray[np.float64],
    codes: NDArray[np.int64],
    *,
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    repeats: int,
    level: float,
    resamples: int,
) -> list[Estimate]:
    """Kappa, AC1, AC2 and alpha of tables of shape (n, L, L), people in rows, to which each item adds 1.

    ``repeats`` is only carried along. The coefficients share the resamples.
    """
    n, n_labels, _ = tables.shape
    sums = sum_by_cluster(tables.reshape(n, n_labels * n_labels), codes)
    draws = bootstrap_sums(sums, rng=rng, resamples=resamples) if n else sums
    whole = _disagreements(sums.sum(axis=0).reshape(1, n_labels, n_labels), scale_level)
    drawn = _disagreements(draws.reshape(-1, n_labels, n_labels), scale_level)
    return [
        coefficient_estimate(one, many.coefficient, codes, value=_defined(one), repeats=repeats, level=level)
        for one, many in zip(whole, drawn, strict=True)
    ]


def _disagreements(tables: NDArray[np.float64], scale_level: ScaleLevel) -> list[Disagreement]:
    both_ways = tables + np.swapaxes(tables, -2, -1)
    return [
        kappa_disagreement(tables, scale_level),
        ac1_disagreement(tables),
        ac1_disagreement(tables, scale_level),
        alpha_disagreement(both_ways, scale_level),
    ]


def _defined(disagreement: Disagreement) -> float | None:
    value = float(disagreement.coefficient[0])
    return None if np.isnan(value) else value


def _prevalence(people: NDArray[np.int64], labels: Sequence[str]) -> dict[str, float]:
    if not len(people):
        return {}
    shares = np.bincount(people, minlength=len(labels)) / len(people)
    return {label: float(share) for label, share in zip(labels, shares, strict=True)}


def code_ratings(ratings: Sequence[Sequence[str | None]], labels: Sequence[str], *, n: int) -> NDArray[np.int64]:
    """Position on the scale of each rater's label of each item, shape (raters, n), -1 where there is none.

    Raises
    ------
    ValueError
        A label off the scale, a rater with too few or too many entries; the message names rater and item.
    """
    codes = np.full((len(ratings), n), -1, dtype=np.int64)
    for number, rater in enumerate(ratings):
        if isinstance(rater, str) or len(rater) != n:
            what = "a text" if isinstance(rater, str) else str(len(rater))
            raise ValueError(f"ratings[{number}]: wrong length, got {what}; expected {n}, one an item")
        given = [(row, label) for row, label in enumerate(rater) if label is not None]
        positions = encode_labels([label for _, label in given], labels, where=f"ratings[{number}]")
        codes[number, [row for row, _ in given]] = positions
    return codes


def count_ratings(codes: NDArray[np.int64], *, n_labels: int) -> NDArray[np.int64]:
    """How many raters gave each item each label, shape (n, L), from the positions of :func:`code_ratings`."""
    counts = np.zeros((codes.shape[1], n_labels), dtype=np.int64)
    for rater in codes:
        rated = np.flatnonzero(rater >= 0)
        counts[rated, rater[rated]] += 1
    return counts
