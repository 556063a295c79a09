"""Two classes in closed form: the estimator of Rogan and Gladen 1978 and its intervals.

With p the apparent rate, ``rate = (p + specificity - 1) / (sensitivity + specificity - 1)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from experiments.stats.correction.confusion_inversion import NotIdentifiedError
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level

__all__ = ["RoganGladen", "rogan_gladen", "rogan_gladen_interval"]


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """A corrected rate: ``raw`` from the formula, ``value`` clipped to [0, 1], and what is amiss, if anything."""

    value: float
    raw: float
    message: str


def rogan_gladen(apparent: float, sensitivity: float, specificity: float) -> RoganGladen:
    """True rate from an apparent rate [Rogan and Gladen 1978].

    Raises
    ------
    NotIdentifiedError
        ``sensitivity + specificity`` is 1 or less.
    ValueError
        A number outside [0, 1].
    """
    for name, rate in (("apparent", apparent), ("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"{name}: not a rate, got {rate!r}; expected a number from 0 to 1")
    youden = sensitivity + specificity - 1.0
    if youden <= 1e-12:
        raise NotIdentifiedError(
            f"not identified: sensitivity + specificity is {sensitivity + specificity:.4g}; expected more than 1"
        )
    raw = (apparent + specificity - 1.0) / youden
    message = ""
    if raw < 0:
        message = "apparent rate is below 1 - specificity"
    elif raw > 1:
        message = "apparent rate is above sensitivity"
    return RoganGladen(min(max(raw, 0.0), 1.0), raw, message)


def rogan_gladen_interval(
    counts: tuple[int, int],
    sensitivity_counts: tuple[int, int],
    specificity_counts: tuple[int, int],
    *,
    level: float = 0.95,
    method: Literal["rogan-gladen", "lang-reiczigel"] = "lang-reiczigel",
) -> Estimate:
    """Corrected rate with its interval, for single verdicts and independent items alone.

    Parameters
    ----------
    counts
        Positive verdicts, and all, of the benchmark.
    sensitivity_counts
        Positive verdicts, and all, among items that people called positive.
    specificity_counts
        Negative verdicts, and all, among the others.
    level
        Confidence level.
    method
        ``rogan-gladen``: the delta method of 1978. ``lang-reiczigel`` [2014]: the same from
        ``(k + z**2 / 2) / (n + z**2)`` and, for the error rates, ``(k + 1) / (n + 2)``, moved by
        ``2 z**2 (P Se (1 - Se) / n_Se - (1 - P) Sp (1 - Sp) / n_Sp)``. Its level holds in small samples.

    Returns
    -------
    Estimate
        Value clipped to [0, 1], interval cut there, never a single point: where it would be one, the formula of 2014
        is used, and its interval is laid around the clipped value if it lies outside [0, 1]. ``n`` is the benchmark's.

    Raises
    ------
    NotIdentifiedError
        ``sensitivity + specificity`` is 1 or less.
    ValueError
        Impossible counts, an unknown ``method``.
    """
    check_level(level)
    if method not in ("rogan-gladen", "lang-reiczigel"):
        raise ValueError(f"method: unknown, got {method!r}; expected 'rogan-gladen' or 'lang-reiczigel'")
    rates = [_rate(*pair) for pair in (counts, sensitivity_counts, specificity_counts)]
    point = rogan_gladen(*rates)
    z = float(special.ndtri((1 + level) / 2))
    centre, half = 0.0, 0.0
    if method == "rogan-gladen":
        centre, half = point.value, z * _standard_error(counts, sensitivity_counts, specificity_counts)
    if method == "lang-reiczigel" or half == 0.0:
        method = "lang-reiczigel"
        centre, half = _lang_reiczigel(counts, sensitivity_counts, specificity_counts, z)
    if centre + half <= 0.0 or centre - half >= 1.0:
        centre = point.value
    low, high = max(0.0, min(centre - half, point.value)), min(1.0, max(centre + half, point.value))
    return Estimate(point.value, low, high, level, method, counts[1], counts[1], 1)


def _rate(successes: int, n: int) -> float:
    if not 0 <= successes <= n or n == 0:
        raise ValueError(
            f"counts: impossible count, got {successes} of {n}; expected 0 <= successes <= n, n of 1 or more"
        )
    return successes / n


def _standard_error(
    counts: tuple[float, float], sensitivity: tuple[float, float], specificity: tuple[float, float]
) -> float:
    apparent, sens, spec = (hits / n for hits, n in (counts, sensitivity, specificity))
    youden = sens + spec - 1.0
    rate = (apparent + spec - 1.0) / youden
    variance = (
        apparent * (1 - apparent) / counts[1]
        + rate**2 * sens * (1 - sens) / sensitivity[1]
        + (1 - rate) ** 2 * spec * (1 - spec) / specificity[1]
    )
    return float(np.sqrt(variance)) / youden


def _lang_reiczigel(
    counts: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int], z: float
) -> tuple[float, float]:
    added = (counts[0] + z**2 / 2, counts[1] + z**2)
    sens, spec = (sensitivity[0] + 1, sensitivity[1] + 2), (specificity[0] + 1, specificity[1] + 2)
    apparent, right, refused = (hits / n for hits, n in (added, sens, spec))
    if right + refused <= 1.0:
        raise NotIdentifiedError("not identified: sensitivity + specificity is 1 or less; expected more than 1")
    rate = (apparent + refused - 1.0) / (right + refused - 1.0)
    shift = 2 * z**2 * (rate * right * (1 - right) / sens[1] - (1 - rate) * refused * (1 - refused) / spec[1])
    return rate + shift, z * _standard_error(added, sens, spec)
