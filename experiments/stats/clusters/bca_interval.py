"""The bias-corrected and accelerated bootstrap interval [Efron 1987], with scipy's conventions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import percentile_interval

__all__ = ["bca_interval"]

_SAME = 1e-12
"""Draws that are closer to the value than this equal it: they are sums of the same numbers in another order."""


def bca_interval(
    draws: NDArray[np.float64], *, value: float, jackknife: NDArray[np.float64], level: float
) -> tuple[float, float] | None:
    """BCa interval of bootstrap draws, or ``None`` where it is not defined.

    Parameters
    ----------
    draws
        (B,) the statistic in each resample; NaN where it is not defined, which is left out.
    value
        The statistic of the whole data.
    jackknife
        (G,) the statistic without each cluster in turn.
    level
        Confidence level.

    Returns
    -------
    Bounds; ``None`` where :func:`percentile_interval` has none, where every draw
    lies on one side of the value, where the jackknife does not vary or is not defined, and where the bounds are equal.

    Notes
    -----
    As in ``scipy.stats.bootstrap``: the bias correction counts draws that equal the value as one half, and the
    acceleration is ``sum(u**3) / (6 sum(u**2)**1.5)`` over deviations u of the jackknife from its mean.
    """
    if percentile_interval(draws, level=level) is None:
        return None
    defined = draws[~np.isnan(draws)]
    bias, acceleration = _bias(defined, value), _acceleration(jackknife)
    if acceleration is None or not np.isfinite(bias):
        return None
    shifted = bias + special.ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    scale = 1 - acceleration * shifted
    if np.any(scale <= 0):
        return None
    low, high = np.quantile(defined, special.ndtr(bias + shifted / scale))
    return (float(low), float(high)) if high - low > _SAME else None


def _bias(draws: NDArray[np.float64], value: float) -> float:
    below, upto = np.mean(draws < value - _SAME), np.mean(draws <= value + _SAME)
    return float(special.ndtri((below + upto) / 2))


def _acceleration(jackknife: NDArray[np.float64]) -> float | None:
    if len(jackknife) < 2 or not np.all(np.isfinite(jackknife)):
        return None
    deviations = np.sort(jackknife.mean() - jackknife)
    squares = float((deviations**2).sum())
    return float((deviations**3).sum() / (6 * squares**1.5)) if squares > _SAME**2 else None
