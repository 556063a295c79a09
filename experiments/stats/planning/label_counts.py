"""How many labels an interval of a wanted width takes.

Planning puts expected values where an interval has measured ones. Of the variance ``p (1 - p)`` of one verdict, let
``correlation`` lie between questions, ``repeat_share`` between the repeats of an item, and the rest between the items
of a question. The mean of n items with m items a question and R repeats an item then has the variance
``p (1 - p) d / n`` with the design effect ``d = 1 + (m - 1) correlation - repeat_share (1 - 1 / R)`` [Kish 1965,
with the repeats of Cochran 1977, chapter 10].
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy import special

from experiments.stats.inputs import check_level

__all__ = ["HalfWidthMethod", "design_effect", "labels_for_half_width", "planned_bounds", "planned_half_width"]

HalfWidthMethod = Literal["wilson-clustered", "normal"]
"""The default interval of a rate, or the textbook's plus and minus z standard errors."""

MOST_LABELS = 10**12


def design_effect(*, items_per_question: float, correlation: float, repeats: int, repeat_share: float) -> float:
    """How many times the variance of a mean exceeds that of as many independent single verdicts [Kish 1965].

    Parameters
    ----------
    items_per_question
        Items of a question; where they differ, ``sum m**2 / sum m``, which is above the mean.
    correlation
        Correlation between single verdicts on two items of one question, 0 to 1.
    repeats
        Verdicts an item.
    repeat_share
        Share of the variance of a verdict that lies between the repeats of an item, 0 to 1 - correlation.

    Returns
    -------
    float
        1 for one item a question and one repeat; below 1 where repeats are worth more than clusters cost.

    Raises
    ------
    ValueError
        Fewer than one item a question or repeat; shares outside 0 to 1, or with a sum above 1.
    """
    if not 1 <= items_per_question < np.inf:
        raise ValueError(f"items_per_question: too few, got {items_per_question}; expected 1 or more")
    if repeats < 1:
        raise ValueError(f"repeats: too few, got {repeats}; expected 1 or more")
    if not (correlation >= 0 and repeat_share >= 0 and correlation + repeat_share <= 1 + 1e-12):
        raise ValueError(
            f"correlation, repeat_share: not shares of one variance, got {correlation} and {repeat_share};"
            " expected numbers from 0 with a sum of at most 1"
        )
    return 1 + (items_per_question - 1) * correlation - repeat_share * (1 - 1 / repeats)


def planned_half_width(
    rate: float,
    n: int,
    *,
    level: float = 0.95,
    items_per_question: float = 1.0,
    correlation: float = 0.0,
    repeats: int = 1,
    repeat_share: float = 0.0,
    method: HalfWidthMethod = "wilson-clustered",
) -> float:
    """Half the width that the interval of a rate is expected to have with ``n`` labelled items.

    Parameters
    ----------
    rate
        The rate that is expected, strictly between 0 and 1.
    n
        Labelled items: for a false negative rate only those that people call correct.
    level
        Confidence level.
    items_per_question, correlation, repeats, repeat_share
        As in :func:`design_effect`.
    method
        ``wilson-clustered``: :func:`experiments.stats.clustered_wilson` with its effective sample size, its degrees
        of freedom and its limits at their expected values; with single verdicts on n questions it is Wilson's
        interval [Wilson 1927]. ``normal``: z standard errors [Cochran 1977, section 4.4].

    Raises
    ------
    ValueError
        A rate not between 0 and 1, no label, an unknown method; as in :func:`design_effect`.
    """
    low, high = planned_bounds(
        rate,
        n,
        level=level,
        items_per_question=items_per_question,
        correlation=correlation,
        repeats=repeats,
        repeat_share=repeat_share,
        method=method,
    )
    return (high - low) / 2


def planned_bounds(
    rate: float,
    n: int,
    *,
    level: float = 0.95,
    items_per_question: float = 1.0,
    correlation: float = 0.0,
    repeats: int = 1,
    repeat_share: float = 0.0,
    method: HalfWidthMethod = "wilson-clustered",
) -> tuple[float, float]:
    """Low and high end that the interval of a rate is expected to have with ``n`` labelled items.

    Wilson's interval is not symmetric about the rate: it reaches further towards 50%.

    Parameters and errors (``ValueError``) are those of :func:`planned_half_width`.
    """
    check_level(level)
    if not 0 < rate < 1:
        raise ValueError(f"rate: not a rate to plan for, got {rate}; expected a number between 0 and 1")
    if n < 1:
        raise ValueError(f"n: too few labels, got {n}; expected 1 or more")
    if method not in get_args(HalfWidthMethod):
        raise ValueError(f"method: unknown, got {method!r}; expected one of {list(get_args(HalfWidthMethod))}")
    effect = design_effect(
        items_per_question=items_per_question, correlation=correlation, repeats=repeats, repeat_share=repeat_share
    )
    if method == "normal":
        half = float(special.ndtri((1 + level) / 2) * np.sqrt(rate * (1 - rate) * effect / n))
        return rate - half, rate + half
    ratio = _expected_ratio(rate, n, level=level, items_per_question=items_per_question, effect=effect, repeats=repeats)
    half = float(np.sqrt(ratio * rate * (1 - rate) + ratio**2 / 4)) / (1 + ratio)
    middle = (rate + ratio / 2) / (1 + ratio)
    return middle - half, middle + half


def labels_for_half_width(
    rate: float,
    half_width: float,
    *,
    level: float = 0.95,
    items_per_question: float = 1.0,
    correlation: float = 0.0,
    repeats: int = 1,
    repeat_share: float = 0.0,
    method: HalfWidthMethod = "wilson-clustered",
) -> int:
    """Fewest labelled items whose interval is expected to have at most this half-width.

    Parameters
    ----------
    rate
        The rate that is expected, strictly between 0 and 1; the interval is widest at .5.
    half_width
        Half the wanted width, above 0 and below .5.
    level, items_per_question, correlation, repeats, repeat_share, method
        As in :func:`planned_half_width`.

    Raises
    ------
    ValueError
        A half-width outside its range, or so small that it takes more than 10**12 labels; as in
        :func:`planned_half_width`.
    """
    if not 0 < half_width < 0.5:
        raise ValueError(f"half_width: cannot be planned for, got {half_width}; expected a number between 0 and .5")

    def suffices(n: int) -> bool:
        expected = planned_half_width(
            rate,
            n,
            level=level,
            items_per_question=items_per_question,
            correlation=correlation,
            repeats=repeats,
            repeat_share=repeat_share,
            method=method,
        )
        return expected <= half_width

    high = 1
    while not suffices(high):
        high *= 2
        if high > MOST_LABELS:
            raise ValueError(f"half_width: out of reach, got {half_width}; expected one that 10**12 labels can give")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _expected_ratio(
    rate: float, n: int, *, level: float, items_per_question: float, effect: float, repeats: int
) -> float:
    """Squared quantile over sample size, as ``intervals`` has it, of the expected data.

    A question's sum s of the rarer outcome has the mean m p and the variance m p (1 - p) d, so its effective number
    of questions is about ``G (m p)**2 / E s**2``.
    """
    questions = n / items_per_question
    normal = float(special.ndtri((1 + level) / 2)) ** 2 / questions
    rarer = min(rate, 1 - rate)
    spread = questions / (1 + (1 - rarer) / rarer * effect / items_per_question)
    if spread <= 1:
        return normal
    student = float(special.stdtrit(spread - 1, (1 + level) / 2)) ** 2
    return min(student / min(n / effect, n * repeats), normal)
