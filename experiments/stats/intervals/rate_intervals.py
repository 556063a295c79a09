"""Every interval for a rate, on one call signature.

``wilson-clustered``
    The default, :func:`experiments.stats.clustered_wilson`.
``wilson``
    Plain Wilson [1927]. Only for single labels: one verdict an item, one item a question.
``clopper-pearson``
    Exact tails [Clopper and Pearson 1934] of the effective sample size with its degrees of freedom adjusted, in the
    manner of Korn and Graubard [1998]. The size is that of :func:`clustered_sample_size`,
    so that all intervals take the same view of repeats and questions; where labels are single it is the number of
    items. Their own size, at most the items and with ``G - 1`` degrees of freedom, is at times far too large: over 96
    designs of 20 or 100 questions, 95% intervals covered .78 at worst with it and .935 with this one (Jeffreys' .75
    and .925; 400 data sets each).
``jeffreys``
    The equal-tailed posterior under Jeffreys' prior, of the same effective sample size [compared with others by Franco,
    Little, Louis and Slud 2019]. The lower bound is 0 at a rate of 0 and the upper bound 1 at a rate of 1 [Brown, Cai
    and DasGupta 2001], so that the interval always holds the rate; elsewhere it is that of statsmodels.
``bootstrap-percentile``, ``bootstrap-bca``
    Questions are drawn with replacement; percentiles of the rate [Efron 1979], and bias-corrected and accelerated ones
    [Efron 1987] with the acceleration from leaving out each question in turn.

The bootstrap says nothing where all questions have one rate (0/n and n/n among them) or its bounds fall together, and
BCa nothing where every draw lies on one side of the rate: there the interval is ``wilson-clustered``, and says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.bca_interval import bca_interval
from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level
from experiments.stats.intervals.clustered_wilson import clustered_bounds, clustered_sample_size, share_sums, wilson

__all__ = ["METHODS", "RateMethod", "rate_interval"]

RateMethod = Literal[
    "wilson-clustered", "wilson", "clopper-pearson", "jeffreys", "bootstrap-percentile", "bootstrap-bca"
]
"""Name of an interval for a rate."""

METHODS: tuple[RateMethod, ...] = get_args(RateMethod)
"""All intervals for a rate; the first is the default."""

BOOTSTRAPS = ("bootstrap-percentile", "bootstrap-bca")

Bounds = tuple[float, float]
Vector = NDArray[np.float64]


def rate_interval(
    item_means: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    repeats: int,
    level: float = 0.95,
    method: RateMethod = "wilson-clustered",
    rng: np.random.Generator | None = None,
    resamples: int = 10_000,
) -> Estimate:
    """Mean of item means with the interval that ``method`` names, clustered by question.

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
    method
        One of ``METHODS``; the head of this module describes them.
    rng
        The source of the resamples; the bootstrap needs it.
    resamples
        Draws of the bootstrap.

    Returns
    -------
    Estimate
        All ``None`` without items. ``method`` is the interval that was made: ``wilson-clustered`` where a bootstrap
        has none. The width is never zero.

    Raises
    ------
    ValueError
        A mean outside [0, 1] or not a number; lengths that differ; a ``level`` not between 0 and 1; an unknown
        ``method``; ``wilson`` with repeats, with several items a question or with a mean that is no label; a
        bootstrap without ``rng`` or without resamples.
    """
    check_level(level)
    _check_method(method, rng)
    sums, sizes = share_sums(item_means, clusters)
    if not len(sums):
        return Estimate(None, None, None, level, method, 0, 0, 0)
    if method == "wilson":
        return wilson(_single_successes(sums, sizes, repeats), len(sums), level=level)
    n = int(sizes.sum())
    bounds = _analytic(sums, sizes, method, n_verdicts=n * max(repeats, 1), level=level)
    if rng is not None and method in BOOTSTRAPS:
        drawn = _bootstrap(sums, sizes, method, rng=rng, resamples=resamples, level=level)
        method, bounds = ("wilson-clustered", bounds) if drawn is None else (method, drawn)
    return Estimate(_rate(sums, sizes), *bounds, level, method, n, len(sums), repeats)


def _check_method(method: RateMethod, rng: np.random.Generator | None) -> None:
    if method not in METHODS:
        raise ValueError(f"method: unknown, got {method!r}; expected one of {list(METHODS)}")
    if method in BOOTSTRAPS and rng is None:
        raise ValueError(f"rng: missing, got None; expected a numpy.random.Generator for {method}")


def _single_successes(sums: Vector, sizes: Vector, repeats: int) -> int:
    if repeats > 1:
        raise ValueError(f"repeats: too many for plain Wilson, got {repeats}; expected 1, or wilson-clustered")
    if sizes.max() > 1:
        raise ValueError(
            f"clusters: {sizes.max():.0f} items share a question, got method wilson; expected wilson-clustered"
        )
    if np.any((sums != 0) & (sums != 1)):
        raise ValueError("item_means: not single labels, got a mean between 0 and 1; expected 0 or 1 for wilson")
    return int(sums.sum())


def _analytic(sums: Vector, sizes: Vector, method: RateMethod, *, n_verdicts: int, level: float) -> Bounds:
    """Bounds without resamples: of the method, or of the default where the method needs resamples."""
    if method not in ("clopper-pearson", "jeffreys"):
        return clustered_bounds(sums, sizes, n_verdicts=n_verdicts, level=level)
    size = clustered_sample_size(sums, sizes, n_verdicts=n_verdicts, level=level)
    return (_clopper_pearson if method == "clopper-pearson" else _jeffreys)(_rate(sums, sizes), size, level)


def _clopper_pearson(rate: float, size: float, level: float) -> Bounds:
    successes, tail = rate * size, (1 - level) / 2
    low = 0.0 if rate == 0 else special.betaincinv(successes, size - successes + 1, tail)
    high = 1.0 if rate == 1 else special.betainccinv(successes + 1, size - successes, tail)
    return float(low), float(high)


def _jeffreys(rate: float, size: float, level: float) -> Bounds:
    successes, tail = rate * size, (1 - level) / 2
    shape = successes + 0.5, size - successes + 0.5
    low = 0.0 if rate == 0 else special.betaincinv(*shape, tail)
    high = 1.0 if rate == 1 else special.betainccinv(*shape, tail)
    return float(low), float(high)


def _bootstrap(
    sums: Vector, sizes: Vector, method: RateMethod, *, rng: np.random.Generator, resamples: int, level: float
) -> Bounds | None:
    totals = bootstrap_sums(np.column_stack([sums, sizes]), rng=rng, resamples=resamples)
    draws = totals[:, 0] / totals[:, 1]
    if method == "bootstrap-bca":
        return bca_interval(draws, value=_rate(sums, sizes), jackknife=_without_each(sums, sizes), level=level)
    bounds = percentile_interval(draws, level=level)
    return bounds if bounds is not None and bounds[1] - bounds[0] > 1e-12 else None


def _without_each(sums: Vector, sizes: Vector) -> Vector:
    """The rate without each question in turn, shape (G,); empty with fewer than two questions."""
    return (sums.sum() - sums) / (sizes.sum() - sizes) if len(sums) > 1 else np.empty(0)


def _rate(sums: Vector, sizes: Vector) -> float:
    return float(sums.sum() / sizes.sum())
