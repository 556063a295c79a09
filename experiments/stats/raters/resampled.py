"""The estimate of a chance-corrected coefficient from its resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import percentile_interval
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import as_clusters
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.coefficients import Disagreement

__all__ = ["coefficient_estimate"]


def coefficient_estimate(
    whole: Disagreement,
    draws: NDArray[np.float64],
    codes: NDArray[np.int64],
    *,
    value: float | None,
    repeats: int,
    level: float,
) -> Estimate:
    """Coefficient with its percentile interval.

    Parameters
    ----------
    whole
        Disagreement of the whole data, of shape (1,).
    draws
        (B,) the coefficient in each resample, NaN where it is not defined.
    codes
        (n,) cluster of each item.
    value
        The coefficient, ``None`` where it is not defined.

    Notes
    -----
    Without a single disagreement every resample gives 1, and a width of zero would read as certainty. There
    the interval is Wilson's for no disagreement among the clusters, divided by the expected disagreement,
    which is held fixed; method ``wilson-clustered``.
    """
    n, n_clusters = len(codes), int(np.count_nonzero(np.bincount(codes)))
    method, interval = "cluster-bootstrap", None
    if value is not None and whole.observed[0] <= 0:
        method, interval = "wilson-clustered", _perfect_interval(float(whole.expected[0]), codes, level)
    elif value is not None:
        interval = percentile_interval(draws, level=level)
    low, high = interval or (None, None)
    return Estimate(value, low, high, level, method, n, n_clusters, repeats)


def _perfect_interval(expected: float, codes: NDArray[np.int64], level: float) -> tuple[float, float]:
    most = clustered_wilson(np.zeros(len(codes)), as_clusters(codes), repeats=1, level=level).high
    return max(-1.0, 1.0 - (most or 0.0) / expected), 1.0
