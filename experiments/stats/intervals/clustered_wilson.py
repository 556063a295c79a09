"""Intervals for a rate: Wilson's, and Wilson's on an effective sample size where items share questions.

The unit is the item mean, the variance is clustered by question. Write r for the rate, m_c for the items of
question c and s_c for their sum of item means, n for all items. Then, with Wilson's interval of r written through
``q = quantile**2 / sample size``, q is the smaller of

1. ``t**2 / n_eff`` with ``n_eff = r (1 - r) / v``. Here v is the cluster-robust variance with the CR2 correction
   for few clusters [Bell and McCaffrey 2002], ``sum_c (s_c - r m_c)**2 / (1 - m_c / n) / n**2``, n_eff is at most the
   number of verdicts, and t is Student's quantile with ``k - 1`` degrees of freedom, where k is the number of
   questions over which the rarer outcome is spread: the smaller of ``(sum s)**2 / sum(s**2)`` and the same with
   ``m_c - s_c`` [the effective number of Kish 1965]. v is only as well known as the questions that err are many;
   k is never above G, so the degrees of freedom are never above G - 1.
2. ``z**2 / (n**2 / sum_c m_c**2)``: the items of a question, and the repeats of an item, all say the same. No
   positive correlation can make the variance larger, so there is nothing to estimate and z holds. With one item a
   question and one verdict an item this is always the smaller, and the interval is plain Wilson.

Where v is 0, v says nothing, and ``q = z**2 / G``.

Why these: n_eff needs a limit, since with few errors v is often far too small. ``benchmarks/validity.py`` compares
limits over rates of .01 to .5, 20 to 1,000 questions, 1 and 10 repeats, one, five or 1 to 20 items a question, and
weak and strong correlations. Coverage of 95% intervals, 2,000 data sets a cell, over the 294 cells in which five or
more questions are expected to err and over the 147 others (there the interval should be conservative):

=================================  =====  ======  ======  =====  =====  ======  ======  =====
interval                            mean  lowest  < .93   width   mean  lowest  < .93   width
=================================  =====  ======  ======  =====  =====  ======  ======  =====
plain Wilson, pooled verdicts       .564    .170     252   .036   .570    .145     130   .046
n_eff up to verdicts, t(G - 1)      .944    .869      32   .085   .918    .744      76   .114
n_eff up to items, t(G - 1)         .955    .869      31   .092   .951    .801      32   .127
n_eff up to sqrt(G x verdicts)      .956    .869      27   .090   .948    .760      35   .125
n_eff up to G                       .988    .932       0   .131   .987    .914       1   .201
this one                            .953    .927       1   .091   .975    .914       2   .169
=================================  =====  ======  ======  =====  =====  ======  ======  =====

A cap alone is either too wide with repeats or too narrow where questions are unequal or errors few. This interval
is as short as the items cap and keeps its level to within .02, except in one cell: 100 questions of 1 to 20 items with
strong correlation at a rate of .05, which amounts to about two questions that err (.928 with 20,000 data sets).
Below .93 among the others are two cells of single verdicts, where it is plain Wilson, whose coverage is discrete.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = [
    "clustered_bounds",
    "clustered_sample_size",
    "clustered_standard_error",
    "clustered_wilson",
    "few_clusters",
    "share_sums",
    "wilson",
]

FEW_CLUSTERS = 10
LARGEST_SAMPLE = 1e12  # an effective size above it is rounding error: the variance is zero


def wilson(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """Wilson's score interval [Wilson 1927] for ``successes`` of ``n`` single labels, one an item and question.

    Returns
    -------
    Estimate
        All ``None`` where ``n`` is 0.

    Raises
    ------
    ValueError
        ``successes`` below 0 or above ``n``; a ``level`` not between 0 and 1.
    """
    check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"wilson: impossible count, got {successes} of {n}; expected 0 <= successes <= n")
    if n == 0:
        return _nothing("wilson", level)
    low, high = _bounds(successes / n, _normal_quantile(level) ** 2 / n)
    return Estimate(successes / n, low, high, level, "wilson", n, n, 1)


def clustered_wilson(
    item_means: ArrayLike, clusters: Sequence[Hashable], *, repeats: int, level: float = 0.95
) -> Estimate:
    """Mean of item means with Wilson's interval on the effective sample size, clustered by question.

    Parameters
    ----------
    item_means
        (n,) each item's share of verdicts, in [0, 1].
    clusters
        (n,) the question of each item.
    repeats
        The most verdicts that any item has.
    level
        Confidence level.

    Returns
    -------
    Estimate
        All ``None`` without items. The width is never zero. One item is one item, whatever its repeats.

    Raises
    ------
    ValueError
        A mean outside [0, 1] or not a number; lengths that differ; a ``level`` not between 0 and 1.

    Notes
    -----
    The head of this module gives the formula, its sources and its measured coverage.
    """
    check_level(level)
    sums, sizes = share_sums(item_means, clusters)
    if not len(sums):
        return _nothing("wilson-clustered", level)
    n = int(sizes.sum())
    low, high = clustered_bounds(sums, sizes, n_verdicts=n * max(repeats, 1), level=level)
    return Estimate(_rate(sums, sizes), low, high, level, "wilson-clustered", n, len(sums), repeats)


def clustered_standard_error(item_means: ArrayLike, clusters: Sequence[Hashable]) -> float | None:
    """Cluster-robust standard error (CR2) of the mean of item means; ``None`` with fewer than two clusters.

    With one item a cluster it is the textbook ``s / sqrt(n)``. Parameters and errors as in
    :func:`clustered_wilson`.
    """
    sums, sizes = share_sums(item_means, clusters)
    return None if len(sums) < 2 else float(np.sqrt(_variance(sums, sizes)))


def few_clusters(estimate: Estimate) -> bool:
    """Whether an estimate rests on so few questions (under ten) that its interval deserves a warning."""
    return estimate.value is not None and estimate.clusters < FEW_CLUSTERS


def clustered_bounds(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], *, n_verdicts: int, level: float
) -> tuple[float, float]:
    """Bounds of :func:`clustered_wilson` from the sums of item means (G,) and the numbers of items (G,)."""
    return _bounds(_rate(sums, sizes), _ratio(sums, sizes, n_verdicts=n_verdicts, level=level))


def clustered_sample_size(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], *, n_verdicts: int, level: float
) -> float:
    """Number of single labels that would give Wilson's interval of :func:`clustered_wilson`, ``z**2 / q``.

    This is the effective sample size with its degrees of freedom adjusted, ``n_eff (z / t)**2``, in the manner of
    Korn and Graubard [1998], and with the limits that the head of this module gives. With one item a question and
    one verdict an item it is the number of items. Parameters as in :func:`clustered_bounds`.
    """
    return _normal_quantile(level) ** 2 / _ratio(sums, sizes, n_verdicts=n_verdicts, level=level)


def share_sums(item_means: ArrayLike, clusters: Sequence[Hashable]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of item means and numbers of items by question, two arrays of shape (G,).

    Raises
    ------
    ValueError
        An item mean outside [0, 1] or not a number; lengths that differ.
    """
    means = np.asarray(item_means, dtype=np.float64)
    if means.ndim != 1:
        raise ValueError(f"item_means: wrong shape, got {means.shape}; expected (n,)")
    outside = ~((means >= 0) & (means <= 1))
    if np.any(outside):
        row = int(np.flatnonzero(outside)[0])
        raise ValueError(f"item_means[{row}]: not a share, got {means[row]}; expected a number from 0 to 1")
    codes = encode_clusters(clusters, n=len(means))
    sums, sizes = sum_by_cluster(np.column_stack([means, np.ones_like(means)]), codes).T
    return sums, sizes


def _ratio(sums: NDArray[np.float64], sizes: NDArray[np.float64], *, n_verdicts: int, level: float) -> float:
    normal = _normal_quantile(level) ** 2
    effective = _effective_size(_rate(sums, sizes), sums, sizes)
    if effective is None:
        return normal / len(sums)
    student = _student_quantile(level, _spread(sums, sizes) - 1) ** 2
    return min(student / min(effective, n_verdicts), normal / _kish(sizes))


def _effective_size(rate: float, sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float | None:
    if len(sums) < 2 or rate in (0.0, 1.0):
        return None
    variance, binomial = _variance(sums, sizes), rate * (1 - rate)
    return binomial / variance if variance * LARGEST_SAMPLE > binomial else None


def _variance(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    n = sizes.sum()
    residuals = sums - _rate(sums, sizes) * sizes
    return float((residuals**2 / (1 - sizes / n)).sum() / n**2)


def _spread(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    return min(_kish(sums), _kish(sizes - sums))


def _kish(weights: NDArray[np.float64]) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _bounds(rate: float, ratio: float) -> tuple[float, float]:
    middle = (rate + ratio / 2) / (1 + ratio)
    half = float(np.sqrt(ratio * rate * (1 - rate) + ratio**2 / 4)) / (1 + ratio)
    return (0.0 if rate == 0 else max(0.0, middle - half)), (1.0 if rate == 1 else min(1.0, middle + half))


def _normal_quantile(level: float) -> float:
    return float(special.ndtri((1 + level) / 2))


def _student_quantile(level: float, degrees: float) -> float:
    return float(special.stdtrit(degrees, (1 + level) / 2)) if degrees > 0 else float("inf")


def _rate(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    return float(sums.sum() / sizes.sum())


def _nothing(method: str, level: float) -> Estimate:
    return Estimate(None, None, None, level, method, 0, 0, 0)
