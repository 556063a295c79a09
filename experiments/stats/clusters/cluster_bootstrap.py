"""The cluster bootstrap, through sums by cluster.

A statistic that is a function of sums over items needs no resampled items: drawing G clusters with
replacement only changes how often each cluster's sums are added. Clusters are sorted by their sums before
any is drawn, so neither the order of items nor the names of clusters can change a result, and no Python
loop runs over resamples (only over blocks of them, which bound the memory).

Clusters whose sums are equal are one row that stands for several. How often each row is drawn is multinomial,
which costs about 90 ns a row and resample; drawing the clusters one by one costs about 5 ns a cluster and
resample, its share of the product with the sums included. So rows are drawn where a row stands for
``CLUSTERS_A_ROW`` clusters or more on average, and clusters elsewhere; the distribution is the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.stats.inputs import check_level

__all__ = ["bootstrap_sums", "percentile_interval", "sum_by_cluster"]

CLUSTERS_A_ROW = 16
"""Drawing rows pays from here on (measured: 14 to 20)."""

BLOCK = 2**17
"""Weights in a block of resamples, 1 MiB: measured fastest between 2**15 and 2**18, where they stay in the cache."""

LEAST, LARGEST = 16, 2**22
"""A block has ``LEAST`` resamples, so that the sums are not read anew for each, or ``LARGEST`` weights: 32 MiB."""

_ROUNDING = 2.0**-44
"""Sums that are closer than this share of their column's largest are equal: .1 + .2 and .3."""


def sum_by_cluster(contributions: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum the rows of each cluster.

    Parameters
    ----------
    contributions
        (n, D) what each item adds.
    codes
        (n,) each item's cluster, 0..G-1.

    Returns
    -------
    (G, D) sums, the clusters sorted by their sums. Items are added in an order that depends on their values
    alone, so that permuting them cannot move even the last bit.
    """
    if not len(codes):
        return np.zeros((0, contributions.shape[1]))
    order = np.lexsort((*contributions.T, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(contributions[order], starts, axis=0)
    return np.asarray(sums[np.lexsort(sums.T)], dtype=np.float64)


def bootstrap_sums(sums: NDArray[np.float64], *, rng: np.random.Generator, resamples: int) -> NDArray[np.float64]:
    """Totals of ``resamples`` draws of G clusters with replacement, shape (resamples, D).

    Parameters
    ----------
    sums
        (G, D) from :func:`sum_by_cluster`, G >= 1. Statistics that share their clusters are best drawn
        together, as columns: then the clusters are drawn once for all of them.
    rng
        The only source of randomness.

    Raises
    ------
    ValueError
        Fewer than one resample.

    Notes
    -----
    Beside the result and a copy of the sums it needs memory for one block: some MiB, and no more than 100 MiB
    up to four million clusters.
    """
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    rows, multiplicities = _distinct_rows(sums)
    draw_rows = len(rows) * CLUSTERS_A_ROW <= len(sums)
    drawn = rows if draw_rows else sums
    totals = np.empty((resamples, sums.shape[1]))
    step = max(1, BLOCK // len(drawn), min(LEAST, LARGEST // len(drawn)))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = _draw_rows(multiplicities, rng, size) if draw_rows else _draw_clusters(len(sums), rng, size)
        np.matmul(weights, drawn, out=totals[start : start + size])
    return totals


def percentile_interval(draws: NDArray[np.float64], *, level: float) -> tuple[float, float] | None:
    """Percentile interval of bootstrap draws, shape (B,), or ``None`` where they say nothing.

    Draws on which the statistic is not defined (NaN: for instance, one class only) are left out. ``None``
    when they are more than half of all, or when all the others are equal: a width of zero would read as
    certainty.

    Raises
    ------
    ValueError
        A ``level`` not between 0 and 1.
    """
    check_level(level)
    defined = draws[~np.isnan(draws)]
    if len(defined) * 2 < len(draws) or not len(defined) or np.ptp(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _distinct_rows(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows that differ from the one above, and how many follow each that do not; rows are sorted."""
    largest = np.abs(sums).max(axis=0)
    keys = np.rint(sums / (np.where(largest > 0, largest, 1.0) * _ROUNDING))
    starts = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    return sums[starts], np.diff(starts, append=len(sums))


def _draw_rows(multiplicities: NDArray[np.int64], rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """How often each distinct row is drawn, shape (size, rows)."""
    n_clusters = int(multiplicities.sum())
    return rng.multinomial(n_clusters, multiplicities / n_clusters, size=size).astype(np.float64)


def _draw_clusters(n_clusters: int, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """How often each cluster is drawn, shape (size, G)."""
    cells = rng.integers(n_clusters, size=(size, n_clusters))
    if n_clusters >= BLOCK:  # the counts of one resample fit into the cache, those of all do not
        return np.array([np.bincount(row, minlength=n_clusters) for row in cells], dtype=np.float64)
    cells += np.arange(size)[:, None] * n_clusters
    return np.bincount(cells.ravel(), minlength=size * n_clusters).reshape(size, n_clusters).astype(np.float64)
