"""One score's difference between two models, from the class sums of their questions."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import percentile_interval
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.scores.score_functions import Score
from experiments.stats.scores.score_influence import Linearised, is_certain, linearise, normal_quantile, unseen_bounds
from experiments.stats.scores.score_swaps import swap_p_value

__all__ = ["Contrast", "score_difference"]

_ROUNDING = 1e-10
"""A difference or standard error below this share of a score's span is rounding error."""

_NAMES = {
    "student": ("student-clustered", "student-clustered"),
    "swap": ("student-clustered", "swap-permutation"),
    "welch": ("welch-clustered", "welch-clustered"),
    "bootstrap": ("cluster-bootstrap", "cluster-bootstrap"),
}
"""Names of the interval and of the test."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """How two models are compared, the same for all scores.

    ``n`` counts items. ``test`` is ``student``, ``swap``, ``welch`` or ``bootstrap``; ``complete`` says that the draws
    are all swaps.
    """

    penalty: float
    level: float
    repeats: int
    n: int
    test: str
    paired: bool
    complete: bool = False


@dataclass(frozen=True, slots=True)
class _Moments:
    """Standard error of a difference, its degrees of freedom, and the questions that it rests on."""

    error: float
    degrees: float
    clusters: int


def score_difference(
    score: Score,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    draws: NDArray[np.float64] | None,
    contrast: Contrast,
) -> Difference:
    """Difference of a score, first model minus second, with interval and p-value.

    Parameters
    ----------
    first, second
        (G, 3) and (H, 3) class sums of each question; row by row the same questions where the contrast is paired.
    draws
        (B, 6) totals of both models in each swap or resample, ``None`` for a test that does not draw.
    """
    totals = np.concatenate([first.sum(axis=0), second.sum(axis=0)])
    value = float(_value(score, totals, contrast.penalty))
    if np.isnan(value):
        return _undefined(None, None, 0, contrast)
    one, two = (linearise(sums, score, penalty=contrast.penalty) for sums in (first, second))
    moved = None if draws is None else _value(score, draws, contrast.penalty)
    if min(one.clusters, two.clusters) < 2:
        return _undefined(value, moved, _clusters(one, two, contrast), contrast)
    moments = _paired_moments(one, two) if contrast.paired else _welch_moments(score, first, second, contrast)
    low, high = score.span(contrast.penalty)
    if moments.error <= _ROUNDING * (high - low):
        return _certain(value, score, totals, (one.clusters, two.clusters), moved, moments.clusters, contrast)
    if contrast.test == "bootstrap" and moved is not None:
        return _bootstrapped(value, moved, moments, contrast)
    return _tested(value, high - low, moved, moments, contrast)


def _value(score: Score, totals: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    return np.asarray(score.value(totals[..., :3], penalty) - score.value(totals[..., 3:], penalty))


def _paired_moments(one: Linearised, two: Linearised) -> _Moments:
    weights = (one.weights + two.weights) / 2
    n_clusters = int((weights > 0).sum())
    variance = ((one.influences - two.influences) ** 2 / (1 - weights)).sum()
    return _Moments(float(np.sqrt(variance)), n_clusters - 1, n_clusters)


def _welch_moments(
    score: Score, first: NDArray[np.float64], second: NDArray[np.float64], contrast: Contrast
) -> _Moments:
    parts = [linearise(sums, score, penalty=contrast.penalty) for sums in (first, second)]
    certain = [is_certain(sums, score, penalty=contrast.penalty) for sums in (first, second)]
    if all(certain):
        return _Moments(0.0, 1.0, parts[0].clusters + parts[1].clusters)
    errors = [
        _unseen_error(sums, score, part.clusters, contrast) if none else (part.variance or 0.0) ** 0.5
        for sums, part, none in zip((first, second), parts, certain, strict=True)
    ]
    variances = np.array(errors) ** 2
    # What was not seen is a normal limit, and no estimate that would cost degrees of freedom.
    freedom = np.array([np.inf if none else part.clusters - 1 for part, none in zip(parts, certain, strict=True)])
    degrees = float(variances.sum() ** 2 / (variances**2 / freedom).sum())
    return _Moments(float(np.sqrt(variances.sum())), degrees, parts[0].clusters + parts[1].clusters)


def _unseen_error(sums: NDArray[np.float64], score: Score, n_clusters: int, contrast: Contrast) -> float:
    """Standard error whose normal interval reaches as far as what a set without variation has not shown."""
    totals = sums.sum(axis=0)
    low, high = unseen_bounds(totals, score, penalty=contrast.penalty, n_clusters=n_clusters, level=contrast.level)
    value = float(score.value(totals, contrast.penalty))
    return max(value - low, high - value) / normal_quantile(contrast.level)


def _tested(
    value: float, reach: float, moved: NDArray[np.float64] | None, moments: _Moments, contrast: Contrast
) -> Difference:
    half = moments.error * float(special.stdtrit(moments.degrees, (1 + contrast.level) / 2))
    method, test = _NAMES[contrast.test]
    bounds = max(-reach, value - half), min(reach, value + half)
    if contrast.test == "swap" and moved is not None:
        p_value = swap_p_value(moved, value, complete=contrast.complete)
    else:
        p_value = 2 * float(special.stdtr(moments.degrees, -abs(value) / moments.error))
    return Difference(_estimate(value, bounds, method, moments.clusters, contrast), p_value, test)


def _bootstrapped(value: float, moved: NDArray[np.float64], moments: _Moments, contrast: Contrast) -> Difference:
    """Percentile interval, and twice the smaller share of resamples on either side of 0 as the p-value."""
    bounds, p_value = percentile_interval(moved, level=contrast.level), None
    if bounds is not None:
        defined = moved[~np.isnan(moved)]
        rarer = min(int((defined <= _ROUNDING).sum()), int((defined >= -_ROUNDING).sum()))
        p_value = min(1.0, 2 * (rarer + 1) / (len(defined) + 1))
    method, test = _NAMES[contrast.test]
    return Difference(_estimate(value, bounds, method, moments.clusters, contrast), p_value, test)


def _certain(
    value: float,
    score: Score,
    totals: NDArray[np.float64],
    sizes: tuple[int, int],
    moved: NDArray[np.float64] | None,
    n_clusters: int,
    contrast: Contrast,
) -> Difference:
    """The difference where no question varies: bounds from what was not seen, p-value of the permutation."""
    one, two = (
        unseen_bounds(part, score, penalty=contrast.penalty, n_clusters=size, level=contrast.level)
        for part, size in zip(np.split(totals, 2), sizes, strict=True)
    )
    estimate = _estimate(value, (one[0] - two[1], one[1] - two[0]), "wilson-clustered", n_clusters, contrast)
    if contrast.test == "swap" and moved is not None:
        p_value = swap_p_value(moved, value, complete=contrast.complete)
    elif abs(value) <= _ROUNDING * (score.span(contrast.penalty)[1] - score.span(contrast.penalty)[0]):
        p_value = 1.0
    elif contrast.paired:
        p_value = 0.5 ** (n_clusters - 1)
    else:
        p_value = (1 + (sizes[0] == sizes[1])) / comb(sum(sizes), sizes[0])
    return Difference(estimate, p_value, "swap-permutation" if contrast.paired else "permutation")


def _undefined(
    value: float | None, moved: NDArray[np.float64] | None, n_clusters: int, contrast: Contrast
) -> Difference:
    """A difference without an interval; swapping questions needs no variance, so that its p-value remains."""
    method, test = _NAMES[contrast.test]
    p_value = None
    if contrast.test == "swap" and value is not None and moved is not None:
        p_value = swap_p_value(moved, value, complete=contrast.complete)
    return Difference(_estimate(value, None, method, n_clusters, contrast), p_value, test)


def _estimate(
    value: float | None, bounds: tuple[float, float] | None, method: str, n_clusters: int, contrast: Contrast
) -> Estimate:
    low, high = bounds or (None, None)
    return Estimate(value, low, high, contrast.level, method, contrast.n, n_clusters, contrast.repeats)


def _clusters(one: Linearised, two: Linearised, contrast: Contrast) -> int:
    if contrast.paired:
        return int(((one.weights > 0) | (two.weights > 0)).sum())
    return one.clusters + two.clusters
