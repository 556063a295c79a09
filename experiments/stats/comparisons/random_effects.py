"""Effects of several models that share their items: heterogeneity, and the mean with models as a sample.

The estimated effects y of K models have the covariance S, not a diagonal: the same questions stand behind all. The
model is ``y = mu + u + e`` with ``u ~ N(0, tau**2)`` independent and ``e ~ N(0, S)``. Everything rests on the K - 1
contrasts between models, in which mu cancels. With D an orthonormal basis of them, ``D S D'`` has eigenvalues m_j and
axes on which the contrasts are z_j; then

    Q(t) = sum_j z_j**2 / (m_j + t)

is the generalised Cochran's Q at ``tau**2 = t``, and Q(0) is Cochran's Q [1954], the same as with weights ``1 / S``
where S is diagonal. DerSimonian and Laird [1986] solve its expectation, ``K - 1 + tau**2 sum_j 1 / m_j``; Paule and
Mandel [1982] solve ``Q(tau**2) = K - 1``; the interval of tau**2 solves Q for its quantiles [Viechtbauer 2007].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize, special

from experiments.stats.inputs import check_level

__all__ = ["Heterogeneity", "RandomEffects", "TauMethod", "heterogeneity", "random_effects"]

Array = NDArray[np.float64]
TauMethod = Literal["paule-mandel", "dersimonian-laird"]
"""Estimator of the variance between models."""

_SINGULAR = 1e-12


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How far effects differ between models beyond chance.

    ``q`` is Cochran's Q with ``degrees`` degrees of freedom and ``p_value``; ``tau_squared`` the variance between
    models (DerSimonian and Laird) with its Q-profile interval; ``i_squared`` the share of the variation of effects
    that is between models, ``max(0, (Q - degrees) / Q)`` [Higgins and Thompson 2002], with the interval that tau's
    gives. All are ``None`` with one model, or where the effects' errors are too few or too alike to invert.
    """

    q: float | None
    degrees: int
    p_value: float | None
    tau_squared: float | None
    tau_squared_low: float | None
    tau_squared_high: float | None
    i_squared: float | None
    i_squared_low: float | None
    i_squared_high: float | None
    level: float


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The mean effect over a population of models, weighted by the inverse of the full covariance.

    ``standard_error`` is the plain one; ``scale`` is Hartung and Knapp's, by whose root it is multiplied where it is
    above 1. ``low``, ``high`` and ``p_value`` use Student's t with K - 1 degrees of freedom.
    """

    value: float
    low: float
    high: float
    level: float
    p_value: float
    standard_error: float
    scale: float
    tau_squared: float
    method: str


def heterogeneity(
    effects: ArrayLike, covariance: ArrayLike, *, clusters: int | None = None, level: float = 0.95
) -> Heterogeneity:
    """Cochran's Q, tau squared and I squared of effects with any covariance.

    Parameters
    ----------
    effects
        (K,) estimated effects.
    covariance
        (K, K) covariance of their errors.
    clusters
        Number of questions that the covariance was estimated from. Q is then referred to Hotelling's distribution,
        ``(G - 1)(K - 1) / (G - K + 1)`` times F, and not to chi-square, which few questions make too small; and
        tau squared and I squared rest on ``Q (G - K - 1) / (G - 1)``, whose mean is then K - 1 where nothing
        differs. ``None`` where the covariance is known.
    level
        Confidence level of the intervals.

    Raises
    ------
    ValueError
        Shapes that do not fit, numbers that are not finite, a ``level`` not between 0 and 1.
    """
    check_level(level)
    y, s = _check(effects, covariance)
    degrees = len(y) - 1
    spread = _spread(y, s)
    share = 1.0 if clusters is None else (clusters - len(y) - 1) / max(clusters - 1, 1)
    if spread is None or share <= 0:
        return Heterogeneity(None, max(degrees, 0), None, None, None, None, None, None, None, level)
    q = _q(0.0, *spread)
    fair = q * share
    low, high = (_solve(_quantile(chance, degrees, clusters), *spread) for chance in ((1 + level) / 2, (1 - level) / 2))
    typical = degrees / float((1 / spread[1]).sum())
    return Heterogeneity(
        q=q,
        degrees=degrees,
        p_value=_tail(q, degrees, clusters),
        tau_squared=_dersimonian_laird(spread[0] * share**0.5, spread[1]),
        tau_squared_low=low,
        tau_squared_high=high,
        i_squared=max(0.0, (fair - degrees) / fair) if fair > 0 else 0.0,
        i_squared_low=low / (low + typical),
        i_squared_high=high / (high + typical),
        level=level,
    )


def random_effects(
    effects: ArrayLike, covariance: ArrayLike, *, method: TauMethod = "paule-mandel", level: float = 0.95
) -> RandomEffects:
    """Mean effect with models as a sample: generalised least squares with Hartung and Knapp's t.

    With ``V = S + tau**2 I`` the mean is ``1' V^-1 y / 1' V^-1 1`` with the variance ``1 / 1' V^-1 1`` times the
    scale ``(y - mu)' V^-1 (y - mu) / (K - 1)`` [Hartung and Knapp 2001], not below 1 [Röver, Knapp and Friede 2015].
    Weights can be negative where effects are strongly correlated; :mod:`wording_effects` weighs
    models equally for that reason.

    Parameters
    ----------
    effects, covariance, level
        As in :func:`heterogeneity`.
    method
        Estimator of tau squared, by default Paule and Mandel's [Veroniki et al. 2016].

    Raises
    ------
    ValueError
        As in :func:`heterogeneity`; fewer than two models, a covariance that cannot be inverted, an unknown method.
    """
    check_level(level)
    y, s = _check(effects, covariance)
    spread = _spread(y, s)
    if method not in get_args(TauMethod):
        raise ValueError(f"method: unknown, got {method!r}; expected one of {list(get_args(TauMethod))}")
    if spread is None:
        raise ValueError(f"covariance: cannot be inverted, got {len(y)} effects; expected two or more that differ")
    degrees = len(y) - 1
    tau_squared = _solve(degrees, *spread) if method == "paule-mandel" else _dersimonian_laird(*spread)
    weights = np.linalg.inv(s + tau_squared * np.eye(len(y)))
    value, variance = float(weights.sum(axis=0) @ y / weights.sum()), float(1 / weights.sum())
    scale = float((y - value) @ weights @ (y - value)) / degrees
    error = (variance * max(1.0, scale)) ** 0.5
    half = float(special.stdtrit(degrees, (1 + level) / 2)) * error
    p_value = min(1.0, 2 * float(special.stdtr(degrees, -abs(value) / error)))
    return RandomEffects(
        value, value - half, value + half, level, p_value, variance**0.5, scale, tau_squared, f"{method}-hartung-knapp"
    )


def _check(effects: ArrayLike, covariance: ArrayLike) -> tuple[Array, Array]:
    y, s = np.asarray(effects, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if y.ndim != 1 or s.shape != (len(y), len(y)):
        raise ValueError(f"covariance: wrong shape, got {s.shape} for effects {y.shape}; expected (K, K) for (K,)")
    if not (np.isfinite(y).all() and np.isfinite(s).all()):
        raise ValueError(f"effects: not finite, got {y.tolist()}; expected finite effects and covariances")
    return y, s


def _spread(y: Array, s: Array) -> tuple[Array, Array] | None:
    """Contrasts between models on the axes of their covariance, and its eigenvalues; ``None`` where it is singular."""
    if len(y) < 2:
        return None
    basis = linalg.null_space(np.ones((1, len(y)))).T
    variances, axes = np.linalg.eigh(basis @ s @ basis.T)
    if variances[0] <= _SINGULAR * max(float(variances[-1]), _SINGULAR):
        return None
    return np.asarray(axes.T @ (basis @ y), dtype=np.float64), np.asarray(variances, dtype=np.float64)


def _q(tau_squared: float, contrasts: Array, variances: Array) -> float:
    return float((contrasts**2 / (variances + tau_squared)).sum())


def _dersimonian_laird(contrasts: Array, variances: Array) -> float:
    return max(0.0, (_q(0.0, contrasts, variances) - len(contrasts)) / float((1 / variances).sum()))


def _solve(target: float, contrasts: Array, variances: Array) -> float:
    """The tau squared at which Q falls to ``target``; 0 where it is not above it to begin with."""
    if _q(0.0, contrasts, variances) <= target:
        return 0.0
    top = float((contrasts**2).sum()) / target
    return float(optimize.brentq(lambda t: _q(t, contrasts, variances) - target, 0.0, top, xtol=1e-15, rtol=1e-12))


def _quantile(chance: float, degrees: int, clusters: int | None) -> float:
    if clusters is None:
        return float(special.chdtri(degrees, 1 - chance))
    rest = clusters - degrees
    return float(special.fdtri(degrees, rest, chance)) * (clusters - 1) * degrees / rest


def _tail(q: float, degrees: int, clusters: int | None) -> float:
    if clusters is None:
        return float(special.chdtrc(degrees, q))
    rest = clusters - degrees
    return float(special.fdtrc(degrees, rest, q * rest / ((clusters - 1) * degrees)))
