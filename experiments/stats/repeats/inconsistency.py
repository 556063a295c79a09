"""How far a grader agrees with itself over repeats."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import ScaleLevel, as_clusters, check_counts, check_labels, check_level, encode_clusters
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.coefficients import alpha_disagreement
from experiments.stats.raters.krippendorff_alpha import alpha_of_counts
from experiments.stats.raters.resampled import coefficient_estimate

__all__ = [
    "alpha_estimate",
    "alpha_repeats",
    "flip_rate",
    "item_entropy",
    "mean_item_entropy",
    "pairwise_disagreement",
]


def flip_rate(counts: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    """Share of items that got at least two different labels, among items with two or more valid verdicts.

    It grows with the number of repeats, so ``repeats`` of the estimate belongs beside it.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label.
    clusters
        (n,) the question of each item.

    Raises
    ------
    ValueError
        A negative count, lengths that differ.
    """
    table, codes = _repeated(counts, clusters)
    flipped = (table > 0).sum(axis=1) > 1
    return clustered_wilson(flipped, as_clusters(codes), repeats=_most(table), level=level)


def pairwise_disagreement(counts: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    """Chance that two different repeats of an item disagree, the mean over items with two or more valid verdicts.

    An item with r verdicts adds ``1 - sum_l n_l (n_l - 1) / (r (r - 1))``, which is unbiased for any r.
    Parameters and errors as in :func:`flip_rate`.
    """
    table, codes = _repeated(counts, clusters)
    return clustered_wilson(item_disagreement(table), as_clusters(codes), repeats=_most(table), level=level)


def item_entropy(counts: ArrayLike) -> list[float | None]:
    """Entropy of each item's verdicts in bits, ``None`` for an item without a valid verdict.

    The plain plug-in entropy, for ranking items by inconsistency; it is biased downwards with few repeats.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label.
    """
    table = check_counts(counts)
    seen = table.sum(axis=1) > 0
    return [float(value) if any_ else None for value, any_ in zip(_entropy_bits(table), seen, strict=True)]


def mean_item_entropy(counts: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    """Mean of :func:`item_entropy` in bits, over items with two or more valid verdicts.

    An item with one verdict has entropy 0 whatever the grader does, so it is left out. The mean is of plug-in
    entropies and grows with the number of repeats [Miller 1955], so ``repeats`` belongs beside it; the headline is
    :func:`pairwise_disagreement`, which does not. The interval is :func:`experiments.stats.clustered_wilson` of the
    entropies as shares of ``log2(L)``, the most that L labels allow, in bits again: within 0 to log2(L).
    Parameters and errors as in :func:`flip_rate`.
    """
    table, codes = _repeated(counts, clusters)
    most = float(np.log2(max(table.shape[1], 1)))
    shares = np.minimum(_entropy_bits(table) / (most or 1.0), 1.0)
    share = clustered_wilson(shares, as_clusters(codes), repeats=_most(table), level=level)
    if share.value is None or share.low is None or share.high is None:
        return share
    return replace(share, value=share.value * most, low=share.low * most, high=share.high * most)


def alpha_repeats(
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Krippendorff's alpha with the repeats as raters, with a cluster-bootstrap interval.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label; items with fewer than two are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale, worst first.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``.
    rng
        Source of the resamples.

    Returns
    -------
    Estimate
        ``value`` is ``None`` with one label only or no item with two verdicts. Negative values are not clipped.

    Raises
    ------
    ValueError
        A negative count, lengths that differ, an unknown ``scale_level``.
    """
    check_labels(labels, scale_level=scale_level)
    table, codes = _repeated(check_counts(counts, n=len(clusters), n_labels=len(labels)), clusters)
    return alpha_estimate(table, codes, scale_level=scale_level, rng=rng, level=level, resamples=resamples)


def alpha_estimate(
    table: NDArray[np.int64],
    codes: NDArray[np.int64],
    *,
    scale_level: ScaleLevel,
    rng: np.random.Generator,
    level: float,
    resamples: int,
) -> Estimate:
    """Krippendorff's alpha of items with two or more labels each, shape (n, L), in clusters ``codes`` (n,)."""
    check_level(level)
    sums = sum_by_cluster(item_coincidences(table), codes)
    square = (-1, table.shape[1], table.shape[1])
    draws = bootstrap_sums(sums, rng=rng, resamples=resamples) if len(sums) else sums
    return coefficient_estimate(
        alpha_disagreement(sums.sum(axis=0).reshape(square), scale_level),
        alpha_disagreement(draws.reshape(square), scale_level).coefficient,
        codes,
        value=alpha_of_counts(table, scale_level=scale_level),
        repeats=_most(table),
        level=level,
    )


def item_disagreement(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of an item's pairs of labels that differ, shape (n,), for items with two or more."""
    valid = table.sum(axis=1)
    return np.asarray(1.0 - (table * (table - 1)).sum(axis=1) / (valid * (valid - 1)), dtype=np.float64)


def item_coincidences(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Coincidences of each item's labels, shape (n, L * L), for items with two or more labels."""
    n, n_labels = table.shape
    pairs = table[:, :, None] * table[:, None, :] - table[:, :, None] * np.eye(n_labels, dtype=np.int64)
    weights: NDArray[np.float64] = pairs.reshape(n, n_labels * n_labels) / (table.sum(axis=1) - 1)[:, None]
    return weights


def _entropy_bits(table: NDArray[np.int64]) -> NDArray[np.float64]:
    valid = table.sum(axis=1, keepdims=True)
    # The + 0.0 turns the -0.0 of an item whose verdicts all agree into 0.0.
    return np.asarray(entr(table / np.maximum(valid, 1)).sum(axis=1) / np.log(2) + 0.0, dtype=np.float64)


def _repeated(counts: ArrayLike, clusters: Sequence[Hashable]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = check_counts(counts, n=len(clusters))
    codes = encode_clusters(clusters, n=len(table))
    repeated = table.sum(axis=1) >= 2
    return table[repeated], codes[repeated]


def _most(table: NDArray[np.int64]) -> int:
    return int(table.sum(axis=1).max(initial=0))
