"""One-sided tests that a mean loss is below a bound, and p-values adjusted for any dependence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.clustered_mean import clustered_covariance

__all__ = ["benjamini_yekutieli", "student_below", "wilcoxon_below"]

Array = NDArray[np.float64]

_ROUNDING = 1e-12


def benjamini_yekutieli(p_values: Sequence[float]) -> Array:
    """P-values adjusted for the false discovery rate under any dependence [Benjamini and Yekutieli 2001].

    Parameters
    ----------
    p_values
        (m,) raw p-values.

    Returns
    -------
    (m,) adjusted p-values, in the order given: the smallest rates at which each is rejected.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw)[::-1]
    ranks = np.arange(len(raw), 0, -1)
    penalty = (1.0 / np.arange(1, len(raw) + 1)).sum()
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raw[order] * len(raw) * penalty / ranks))
    return adjusted


def student_below(losses: Array, groups: NDArray[np.int64], epsilon: float) -> tuple[float, str]:
    """One-sided p-value of a mean of ``epsilon`` or more by Student's test, cluster-robust, and the name of the test.

    Parameters
    ----------
    losses
        (n,) numbers of at most 1, n >= 1.
    groups
        (n,) the question of each, as whole numbers.

    Returns
    -------
    ``student-clustered``, with as many degrees of freedom as questions less one; where no question differs from another
    an exact ``bound``: the largest chance that all questions show their mean although the expectation is ``epsilon``.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    n_clusters = int(codes.max()) + 1
    mean = float(np.sort(losses).mean())
    variance = float(clustered_covariance(losses[:, None], codes)[0, 0]) if n_clusters > 1 else 0.0
    if variance <= _ROUNDING:
        return _bound(mean, epsilon, n_clusters), "bound"
    return float(special.stdtr(n_clusters - 1, (mean - epsilon) / variance**0.5)), "student-clustered"


def _bound(mean: float, epsilon: float, n_clusters: int) -> float:
    # A loss is at most 1: one of expectation epsilon is at the mean with a chance of at most this ratio.
    if mean >= epsilon:
        return 1.0
    return float(((1 - epsilon) / (1 - mean)) ** n_clusters)


def wilcoxon_below(losses: Array, epsilon: float) -> float:
    """One-sided p-value of a centre of ``epsilon`` or more by signed ranks [Wilcoxon 1945], through scipy."""
    # Here alone, since importing scipy.stats takes longer than all else that this package imports.
    from scipy.stats import wilcoxon

    shifted = np.round(np.sort(losses) - epsilon, 12)
    return float(wilcoxon(shifted, alternative="less").pvalue) if shifted.any() else 1.0
