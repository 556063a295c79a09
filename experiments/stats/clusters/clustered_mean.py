"""The mean of any numbers over items that share questions: its cluster-robust covariance and interval.

With s_c the sum of a question's values, m_c its number of items and n all items, the covariance of the mean is
``sum_c (s_c - m_c mean)(s_c - m_c mean)' / (1 - m_c / n) / n**2``, the CR2 correction for few clusters [Bell and
McCaffrey 2002]. With one item a question this is the textbook ``S / n``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["check_values", "clustered_covariance", "clustered_mean"]

_ROUNDING = 1e-12
"""A standard error below this share of the largest value is rounding error."""


def clustered_mean(
    values: ArrayLike, clusters: Sequence[Hashable], *, repeats: int = 1, level: float = 0.95, bound: float = 1.0
) -> Estimate:
    """Mean of real values with Student's interval on the cluster-robust (CR2) standard error, G - 1 degrees of freedom.

    Parameters
    ----------
    values
        (n,) any finite numbers, such as differences of item means.
    clusters
        (n,) the question of each item.
    repeats
        The most verdicts that any item has; only carried along.
    level
        Confidence level.
    bound
        Largest distance from the mean that a question could have shown; used only where all are equal.

    Returns
    -------
    Estimate
        All ``None`` without items. Where all questions agree the variance says nothing: the interval is the mean
        plus and minus ``bound`` times Wilson's upper limit of 0 in G, method ``wilson-clustered``. With one
        question the interval is the whole of mean plus and minus ``bound``.

    Raises
    ------
    ValueError
        A value that is not finite, lengths that differ, a ``level`` not between 0 and 1.
    """
    check_level(level)
    numbers = check_values(values)
    codes = encode_clusters(clusters, n=len(numbers))
    n, n_clusters = len(numbers), int(codes.max(initial=-1)) + 1
    if not n:
        return Estimate(None, None, None, level, "student-clustered", 0, 0, 0)
    mean = float(np.sort(numbers).mean())
    variance = float(clustered_covariance(numbers[:, None], codes)[0, 0]) if n_clusters > 1 else 0.0
    if variance <= (_ROUNDING * max(float(np.abs(numbers).max()), 1.0)) ** 2:
        normal = float(special.ndtri((1 + level) / 2)) ** 2
        half = bound * (1.0 if n_clusters == 1 else normal / (n_clusters + normal))
        return Estimate(mean, mean - half, mean + half, level, "wilson-clustered", n, n_clusters, repeats)
    half = float(special.stdtrit(n_clusters - 1, (1 + level) / 2)) * variance**0.5
    return Estimate(mean, mean - half, mean + half, level, "student-clustered", n, n_clusters, repeats)


def clustered_covariance(values: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cluster-robust (CR2) covariance of column means.

    Parameters
    ----------
    values
        (n, D) a row an item.
    codes
        (n,) each item's cluster, 0..G-1, G >= 2.

    Returns
    -------
    (D, D) covariance of the D means.
    """
    n, depth = values.shape
    sums = sum_by_cluster(np.column_stack([values, np.ones(n)]), codes)
    sums, sizes = sums[:, :depth], sums[:, depth]
    residuals = sums - sizes[:, None] * (sums.sum(axis=0) / n)
    return np.asarray((residuals / (1 - sizes / n)[:, None]).T @ residuals / n**2, dtype=np.float64)


def check_values(values: ArrayLike, where: str = "values") -> NDArray[np.float64]:
    """Finite numbers as an array of shape (n,); ``ValueError`` otherwise."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{where}: wrong shape, got {numbers.shape}; expected (n,)")
    strange = np.flatnonzero(~np.isfinite(numbers))
    if len(strange):
        raise ValueError(f"{where}[{strange[0]}]: not a finite number, got {numbers[strange[0]]}; expected one")
    return numbers
