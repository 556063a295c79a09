"""The slope of a least-squares line over items that share questions, with its cluster-robust interval and test."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.clustered_mean import check_values
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["clustered_slope", "slope_bounds"]

_ROUNDING = 1e-9
"""A slope, or its error, below this share of the largest value over the spread of the numbers is rounding error."""

_METHOD = "ols-clustered"


def clustered_slope(
    numbers: ArrayLike,
    values: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    repeats: int = 1,
    level: float = 0.95,
) -> Difference:
    """What a value gains with one more: ordinary least squares, Student's interval and two-sided test of no slope.

    The standard error is the sandwich with residuals summed by cluster and the factor ``G / (G - 1) (n - 1) / (n - 2)``
    [Liang and Zeger 1986; Cameron and Miller 2015], as statsmodels has it, with G - 1 degrees of freedom.

    Parameters
    ----------
    numbers
        (n,) how many an item has.
    values
        (n,) its value, such as a score.
    clusters
        (n,) the question of each item.
    repeats
        The most verdicts that any item has; only carried along.
    level
        Confidence level.

    Returns
    -------
    Difference
        ``None`` throughout where all numbers are the same. No interval and no test where the numbers would be the
        same without one of the questions, whose own error cannot be told then, or where all values lie on a line.

    Raises
    ------
    ValueError
        A value that is not finite, lengths that differ, a ``level`` not between 0 and 1.
    """
    check_level(level)
    xs, ys = check_values(numbers, "numbers"), check_values(values)
    if len(xs) != len(ys):
        raise ValueError(f"values: wrong length, got {len(ys)}; expected {len(xs)}, one a number")
    codes = encode_clusters(clusters, n=len(xs))
    n, n_clusters = len(xs), int(codes.max(initial=-1)) + 1

    def told(value: float | None, low: float | None, high: float | None, p_value: float | None) -> Difference:
        estimate = Estimate(value, low, high, level, _METHOD, n, n_clusters, repeats)
        return Difference(estimate, p_value, "student-clustered")

    if len(np.unique(xs)) < 2:
        return told(None, None, None, None)
    # statsmodels takes a moment to be there, and most pages have no slope.
    from statsmodels.regression.linear_model import OLS

    design = np.column_stack([np.ones(n), xs])
    rounding = _ROUNDING * max(float(np.abs(ys).max()), 1.0) / float(np.ptp(xs))
    if not _is_estimable(xs, codes):
        return told(_clean(float(OLS(ys, design).fit().params[1]), rounding), None, None, None)
    fit = OLS(ys, design).fit(cov_type="cluster", cov_kwds={"groups": codes, "df_correction": True}, use_t=True)
    slope = _clean(float(fit.params[1]), rounding)
    if float(fit.bse[1]) <= rounding:
        return told(slope, None, None, None)
    low, high = (float(bound) for bound in fit.conf_int(alpha=1 - level)[1])
    return told(slope, low, high, float(fit.pvalues[1]))


def slope_bounds(numbers: ArrayLike, low: ArrayLike, high: ArrayLike) -> tuple[float, float] | None:
    """The smallest and the largest slope of a line through values that lie between ``low`` and ``high``, item by item.

    Parameters
    ----------
    numbers, low, high
        (n,) each.

    Returns
    -------
    ``None`` where all numbers are the same. A slope is a sum of values with the weights ``(x - mean) / S``: it is
    smallest with the lowest value where the weight is above 0 and the highest where it is below.
    """
    xs, least, most = (check_values(one, name) for one, name in ((numbers, "numbers"), (low, "low"), (high, "high")))
    if len(np.unique(xs)) < 2:
        return None
    away = xs - xs.mean()
    weights = away / (away @ away)
    smallest = float(weights @ np.where(weights > 0, least, most))
    return smallest, float(weights @ np.where(weights > 0, most, least))


def _clean(slope: float, rounding: float) -> float:
    """A slope of rounding errors is none, and has no sign."""
    return 0.0 if abs(slope) <= rounding else slope


def _is_estimable(xs: NDArray[np.float64], codes: NDArray[np.int64]) -> bool:
    """Whether there is a slope without any one cluster: else that cluster's own error is no part of the residuals."""
    return all(len(np.unique(xs[codes != code])) > 1 for code in range(int(codes.max()) + 1))
