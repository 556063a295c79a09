"""The cluster bootstrap, through sums by cluster.

A statistic that is a function of sums over items needs no resampled items: drawing G clusters with
replacement only changes how often each cluster's sums are added. Clusters are sorted by their sums before
any is drawn, so neither the order of items nor the names of clusters can change a result, and no Python
loop runs over resamples (only over blocks of them, which bound the memory).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap_sums", "percentile_interval", "sum_by_cluster"]

BLOCK = 100


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
        (G, D) from :func:`sum_by_cluster`, G >= 1.
    rng
        The only source of randomness.
    """
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    sizes = [min(BLOCK, resamples - start) for start in range(0, resamples, BLOCK)]
    return np.concatenate([_draw_weights(len(sums), rng=rng, size=size) @ sums for size in sizes])


def percentile_interval(draws: NDArray[np.float64], *, level: float) -> tuple[float, float] | None:
    """Percentile interval of bootstrap draws, or ``None`` where they say nothing.

    Draws on which the statistic is not defined (NaN: for instance, one class only) are left out. ``None``
    when they are more than half of all, or when all the others are equal: a width of zero would read as
    certainty.
    """
    defined = draws[~np.isnan(draws)]
    if len(defined) * 2 < len(draws) or not len(defined) or np.ptp(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _draw_weights(n_clusters: int, *, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """How often each cluster is drawn, shape (size, G)."""
    drawn = rng.integers(n_clusters, size=(size, n_clusters))
    cells = drawn + np.arange(size)[:, None] * n_clusters
    return np.bincount(cells.ravel(), minlength=size * n_clusters).reshape(size, n_clusters).astype(np.float64)
