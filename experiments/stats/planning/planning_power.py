"""The smallest difference that a comparison can be expected to find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from experiments.stats.inputs import check_level
from experiments.stats.planning.label_counts import design_effect

__all__ = ["detectable_difference", "detectable_difference_unpaired", "paired_power"]

FARTHEST = 1e6
"""Standard errors beyond which no difference is looked for."""


def paired_power(
    difference: float,
    deviation: float,
    n: int,
    *,
    items_per_question: float = 1.0,
    correlation: float = 0.0,
    level: float = 0.95,
) -> float:
    """Chance that the two-sided t-test over questions finds a paired difference, by the noncentral t distribution.

    Parameters
    ----------
    difference
        True difference of the two means, such as .03 for three points.
    deviation
        Standard deviation, over items, of the difference of an item's two means, above 0. For single labels it is
        ``sqrt(share of items on which the two differ - difference**2)``.
    n
        Items that both have.
    items_per_question
        Items of a question; where they differ, ``sum m**2 / sum m``.
    correlation
        Correlation of the differences of two items of one question, 0 to 1.
    level
        One minus the size of the test.

    Returns
    -------
    float
        At one item a question, the power of the paired t-test [Cohen 1988, chapter 2].

    Raises
    ------
    ValueError
        A deviation not above 0, fewer than two questions, as in :func:`experiments.stats.planning.design_effect`.
    """
    error, degrees = _standard_error(deviation, n, items_per_question=items_per_question, correlation=correlation)
    check_level(level)
    return _two_sided_power(abs(difference) / error, degrees, level)


def detectable_difference(
    deviation: float,
    n: int,
    *,
    items_per_question: float = 1.0,
    correlation: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Smallest paired difference that the t-test over questions finds with the wanted power.

    Parameters and errors as in :func:`paired_power`, which equals ``power`` at the value returned.
    ``power`` lies above the size of the test, 1 - level, and below 1.
    """
    check_level(level)
    _check_power(power, level)
    error, degrees = _standard_error(deviation, n, items_per_question=items_per_question, correlation=correlation)
    return error * _solve(lambda shift: _two_sided_power(shift, degrees, level) - power)


def detectable_difference_unpaired(
    rate: float,
    n: float,
    other_n: float,
    *,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Smallest difference of two rates of different questions that the two-sided z-test finds with the wanted power.

    Parameters
    ----------
    rate
        Common rate under which the standard error is taken, strictly between 0 and 1.
    n, other_n
        Effective numbers of items: items over their design effect, each above 0.
    power, level
        As in :func:`detectable_difference`.

    Raises
    ------
    ValueError
        A rate not between 0 and 1, a number not above 0, a power out of its range.

    Notes
    -----
    Variances are taken equal [Cohen 1988, chapter 6, without the arcsine]; near 0 and 1 it is a first guess.
    """
    check_level(level)
    _check_power(power, level)
    if not 0 < rate < 1:
        raise ValueError(f"rate: not a rate to plan for, got {rate}; expected a number between 0 and 1")
    if not (n > 0 and other_n > 0):
        raise ValueError(f"n, other_n: too few, got {n} and {other_n}; expected numbers above 0")
    error = float(np.sqrt(rate * (1 - rate) * (1 / n + 1 / other_n)))
    return error * _solve(lambda shift: _two_sided_power(shift, np.inf, level) - power)


def _standard_error(deviation: float, n: int, *, items_per_question: float, correlation: float) -> tuple[float, float]:
    """Standard error of the mean difference, and the degrees of freedom of its test."""
    effect = design_effect(items_per_question=items_per_question, correlation=correlation, repeats=1, repeat_share=0.0)
    if not 0 < deviation < np.inf:
        raise ValueError(f"deviation: not a standard deviation, got {deviation}; expected a number above 0")
    questions = n / items_per_question
    if questions < 2:
        raise ValueError(f"n: too few items, got {n} in {questions:g} questions; expected two or more questions")
    return deviation * float(np.sqrt(effect / n)), questions - 1


def _two_sided_power(shift: float, degrees: float, level: float) -> float:
    if np.isinf(degrees):
        quantile = float(special.ndtri((1 + level) / 2))
        return float(special.ndtr(shift - quantile) + special.ndtr(-shift - quantile))
    quantile = float(special.stdtrit(degrees, (1 + level) / 2))
    tails = special.nctdtr(degrees, shift, np.array([quantile, -quantile]))
    # SciPy answers NaN where a tail is below 1e-15.
    below, far = np.where(np.isnan(tails), 0.0, tails)
    return float(1 - below + far)


def _solve(gap: Callable[[float], float]) -> float:
    high = 1.0
    while gap(high) < 0:
        high *= 2
        if high > FARTHEST:
            raise ValueError(f"power: out of reach, got no shift below {FARTHEST:g} standard errors; expected one")
    return float(optimize.brentq(gap, 0.0, high, xtol=1e-13, rtol=1e-14))


def _check_power(power: float, level: float) -> None:
    if not 1 - level < power < 1:
        raise ValueError(f"power: out of range, got {power}; expected a number between {1 - level:g} and 1")
