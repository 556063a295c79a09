"""The average of correlated effects with models as a sample; :mod:`wording_effects` says how and why."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.estimate import Difference, Estimate

__all__ = ["over_models", "sampled_average"]

Array = NDArray[np.float64]


def sampled_average(
    effects: Array,
    covariance: Array | None,
    fixed: Estimate,
    *,
    bound: float,
    shared_degrees: float | None = None,
) -> Difference:
    """The average with models as a sample; where nothing varies, Wilson's limit of 0 in K models as for questions.

    Parameters
    ----------
    effects, covariance
        (K,) effects and their (K, K) covariance, ``None`` with fewer than two questions.
    fixed
        The average with models fixed, whose value and questions are the same.
    bound
        Largest distance from the average that a model or question could have shown.
    shared_degrees
        Degrees of freedom of what the models share; one fewer than the questions by default.
    """
    n_models, method = len(effects), "student-models-questions"
    if n_models < 2 or covariance is None or fixed.value is None:
        return Difference(over_models(fixed, None, method), None, method)
    shared = max(0.0, float(covariance.sum() - np.trace(covariance)) / (n_models * (n_models - 1)))
    own = max(float(np.var(effects, ddof=1)), float(np.trace(covariance)) / n_models - shared) / n_models
    variance = own + shared
    if variance <= 1e-12 * max(float(np.abs(effects).max()) ** 2, 1e-12):
        normal = float(special.ndtri((1 + fixed.level) / 2)) ** 2
        half = bound * normal / (min(n_models, fixed.clusters) + normal)
        return Difference(over_models(fixed, half, "wilson-clustered"), None, method)
    most = fixed.clusters - 1 if shared_degrees is None else shared_degrees
    parts = own**2 / (n_models - 1) + shared**2 / most
    degrees = min(variance**2 / parts, most)
    half = float(special.stdtrit(degrees, (1 + fixed.level) / 2)) * variance**0.5
    p_value = min(1.0, 2 * float(special.stdtr(degrees, -abs(fixed.value) / variance**0.5)))
    return Difference(over_models(fixed, half, method), p_value, method)


def over_models(fixed: Estimate, half: float | None, method: str) -> Estimate:
    """The average with an interval of the given half-width, or none."""
    low, high = (None, None) if fixed.value is None or half is None else (fixed.value - half, fixed.value + half)
    return Estimate(fixed.value, low, high, fixed.level, method, fixed.n, fixed.clusters, fixed.repeats)
