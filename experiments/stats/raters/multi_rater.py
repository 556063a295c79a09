"""Agreement of several raters by Fleiss' kappa and Gwet's coefficient, any number of raters an item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel, check_counts, check_labels, check_level, encode_clusters
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.coefficients import Disagreement, distances, fleiss_expected, gwet_expected
from experiments.stats.raters.rater_agreement import KAPPA_WEIGHTS
from experiments.stats.raters.resampled import coefficient_estimate

__all__ = ["MultiRaterAgreement", "multi_rater_agreement"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MultiRaterAgreement:
    """Agreement of raters with each other.

    ``raw`` is the mean over items of the weighted agreement of its pairs of raters. ``gwet_ac`` is AC1 without
    weights and AC2 with them; ``weights`` is ``none``, ``linear`` or ``quadratic``. ``repeats`` of the estimates is the
    most raters of an item. ``n_single`` counts items with one rater, which say how often labels occur and nothing of
    agreement; they are not in ``n``.
    """

    raw: Estimate
    fleiss_kappa: Estimate
    gwet_ac: Estimate
    weights: str
    n_single: int


def multi_rater_agreement(
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> MultiRaterAgreement:
    """Fleiss' kappa [Fleiss 1971] and Gwet's AC1 or AC2 [Gwet 2008, 2014], with cluster-bootstrap intervals.

    Unequal numbers of raters are allowed, as Gwet (2014) generalises both: observed agreement is the mean over items
    with two or more raters, and a label's share is the mean over all rated items of its share in the item. With equal
    numbers these are the textbook coefficients. Kappa and AC are weighted linearly on an ordinal scale, quadratically
    on an interval scale.

    Parameters
    ----------
    counts
        (n, L) how many raters gave each item each label; not the ratings themselves.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``.
    rng
        Source of the resamples, which the two coefficients share.

    Returns
    -------
    MultiRaterAgreement
        ``None`` where no item has two raters; the coefficients also where one label only occurs. Negative values are
        not clipped.

    Raises
    ------
    ValueError
        A negative or fractional count, lengths that differ, an unknown ``scale_level``.
    """
    check_labels(labels, scale_level=scale_level)
    check_level(level)
    table = check_counts(counts, n=len(clusters), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(table))
    raters = table.sum(axis=1)
    rated, paired = raters > 0, raters >= 2
    disagreement = _pair_disagreement(table, scale_level)
    added = np.column_stack(
        [np.where(paired, disagreement, 0.0), paired, table / np.maximum(raters, 1)[:, None], rated]
    )
    sums = sum_by_cluster(added[rated], codes[rated])
    most = int(raters.max(initial=0)) if paired.any() else 0
    kappa, ac = _estimates(sums, codes[paired], scale_level, rng=rng, repeats=most, level=level, resamples=resamples)
    return MultiRaterAgreement(
        raw=clustered_wilson(1.0 - disagreement[paired], codes[paired].tolist(), repeats=most, level=level),
        fleiss_kappa=kappa,
        gwet_ac=ac,
        weights=KAPPA_WEIGHTS[scale_level],
        n_single=int((raters == 1).sum()),
    )


def _pair_disagreement(table: NDArray[np.int64], scale_level: ScaleLevel) -> Array:
    """Mean distance of an item's pairs of labels, shape (n,); 0 for items without a pair."""
    raters = table.sum(axis=1)
    apart = (table * (table @ distances(table.shape[1], scale_level))).sum(axis=1)
    return np.asarray(np.clip(apart / np.maximum(raters * (raters - 1), 1), 0.0, 1.0), dtype=np.float64)


def _estimates(
    sums: Array,
    codes: NDArray[np.int64],
    scale_level: ScaleLevel,
    *,
    rng: np.random.Generator,
    repeats: int,
    level: float,
    resamples: int,
) -> list[Estimate]:
    draws = bootstrap_sums(sums, rng=rng, resamples=resamples) if len(sums) else sums
    whole = _disagreements(sums.sum(axis=0, keepdims=True), scale_level)
    drawn = _disagreements(draws, scale_level)
    return [
        coefficient_estimate(one, many.coefficient, codes, value=_defined(one), repeats=repeats, level=level)
        for one, many in zip(whole, drawn, strict=True)
    ]


def _disagreements(sums: Array, scale_level: ScaleLevel) -> list[Disagreement]:
    paired, rated = sums[..., 1], sums[..., -1]
    observed = sums[..., 0] / np.where(paired > 0, paired, 1.0)
    margins = sums[..., 2:-1] / np.where(rated > 0, rated, 1.0)[..., None]
    return [
        Disagreement(observed, np.where(paired > 0, expected(margins, scale_level), 0.0))
        for expected in (fleiss_expected, gwet_expected)
    ]


def _defined(disagreement: Disagreement) -> float | None:
    value = float(disagreement.coefficient[0])
    return None if np.isnan(value) else value
