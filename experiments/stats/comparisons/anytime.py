"""A comparison that may be looked at after every question: a confidence sequence for the mean of paired differences.

Question by question, in an order that was fixed before any was seen, a difference ``d`` between two known ends is
observed. With ``x`` its place between the ends, 0 to 1, a gambler who bets against the hypothesis that the mean of x
is m has, after t questions, the capital

    K_t(m) = prod_i (1 + b_i(m) (x_i - m)),     b_i(m) between -1 / (1 - m) and 1 / m, chosen before x_i is seen.

If m is the mean, K is a martingale that starts at 1, so that it *ever* reaches ``1 / a`` with a probability of at
most a [Ville 1939]. One gambler bets that the mean is larger and one that it is smaller, each with half the stake; the
confidence sequence holds every m against which neither has won ``2 / (1 - level)`` up to now. It covers the mean at all
looks together with the probability ``level``, whenever and why ever the looking stops [the hedged capital of
Waudby-Smith and Ramdas 2024]. The stake is their predictable plug-in,

    b_t = sqrt(2 log(2 / a) / (v_{t-1} t log(t + 1))),   at most 1 / (2 m) and 1 / (2 (1 - m)),

v_{t-1} the regularised variance of the first t - 1 questions; whatever the stake, the guarantee holds. The first
gambler's capital falls in m and the second's rises, and so do the largest that either has had, so that both limits
are found by bisection, and rounded outward.

The guarantee is for questions that are a random sample, as that of every interval here; the mean is that of the
population of questions, each of equal weight whatever its number of items. The price of looking is power: at the last
question the sequence is wider than the interval of one look.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.clustered_mean import check_values
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["confidence_sequence", "first_look_above", "question_means", "random_order"]

Array = NDArray[np.float64]

METHOD = "betting-sequence"
_STEPS = 40
"""Halvings of the span: the limits are off by less than 1e-12 of it, outward."""


def confidence_sequence(
    values: ArrayLike, *, span: tuple[float, float] = (-1.0, 1.0), null: float = 0.0, level: float = 0.95
) -> Difference:
    """The mean after the last of the questions so far, with limits that are valid at all looks together.

    Parameters
    ----------
    values
        (G,) one number a question, in an order that does not depend on the numbers: a difference of shares.
    span
        The ends that no number can lie outside of.
    null
        The mean that the p-value is about, strictly between the ends.
    level
        Chance that the limits hold the mean at every look.

    Returns
    -------
    Difference
        The limits are the closest so far: more questions can only bring them closer. The p-value is the smallest so
        far, valid whenever one stops. Where the limits cross no mean fits, which has at most the chance ``1 - level``.
        All ``None`` without questions.

    Raises
    ------
    ValueError
        A number outside the span, a span without width, a null outside it, a ``level`` not between 0 and 1.
    """
    numbers, places, stakes = _read(values, span, null, level)
    n, (low, high) = len(numbers), span
    if not n:
        return Difference(Estimate(None, None, None, level, METHOD, 0, 0, 0), None, METHOD)
    needed = float(np.log(2 / (1 - level)))
    bottom = low + (high - low) * _lower_limit(places, stakes, needed)
    top = high - (high - low) * _lower_limit(1 - places, stakes, needed)
    at = (null - low) / (high - low)
    largest = max(float(_log_capital(places, stakes, at).max()), float(_log_capital(1 - places, stakes, 1 - at).max()))
    estimate = Estimate(float(np.sort(numbers).mean()), bottom, top, level, METHOD, n, n, 1)
    return Difference(estimate, min(1.0, 2 * float(np.exp(-max(largest, 0.0)))), METHOD)


def first_look_above(
    values: ArrayLike, threshold: float, *, span: tuple[float, float] = (-1.0, 1.0), level: float = 0.95
) -> int | None:
    """Questions at the first look at which the lower limit lay above ``threshold``; ``None`` if at none.

    Other parameters and errors as in :func:`confidence_sequence`, the threshold in the place of the null.
    """
    _, places, stakes = _read(values, span, threshold, level)
    grown = _log_capital(places, stakes, (threshold - span[0]) / (span[1] - span[0]))
    won = np.flatnonzero(grown >= np.log(2 / (1 - level)))
    return int(won[0]) + 1 if len(won) else None


def question_means(values: ArrayLike, clusters: Sequence[Hashable], order: Sequence[Hashable]) -> Array:
    """Mean of each question's numbers, in the order given; questions without any number are passed over.

    Parameters
    ----------
    values
        (n,) a number an item; NaN where there is none.
    clusters
        (n,) the question of each item.
    order
        The questions to be looked at, the first first; others are left out.

    Raises
    ------
    ValueError
        Lengths that differ, or a question that stands twice in the order.
    """
    numbers = np.asarray(values, dtype=np.float64)
    encode_clusters(clusters, n=len(numbers))
    if len(set(order)) != len(order):
        raise ValueError(f"order: a question stands twice, got {len(order)}; expected {len(set(order))} distinct ones")
    found: dict[Hashable, list[float]] = {question: [] for question in order}
    for question, number in zip(clusters, numbers.tolist(), strict=True):
        if question in found and not np.isnan(number):
            found[question].append(number)
    return np.array([float(np.sort(given).mean()) for given in found.values() if given], dtype=np.float64)


def random_order(questions: Sequence[str], *, seed: int = 0) -> list[str]:
    """The distinct questions in an order that a digest of seed and name fixes before anything is asked."""
    return sorted(set(questions), key=lambda name: (hashlib.sha256(f"{seed}\0{name}".encode()).digest(), name))


def _stakes(places: Array, level: float) -> Array:
    """(G,) the predictable plug-in: each rests on the questions before it alone."""
    t = np.arange(1, len(places) + 1)
    means = (0.5 + np.cumsum(places)) / (t + 1)
    variances = (0.25 + np.cumsum((places - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variances[:-1]])[: len(places)]
    return np.asarray(np.sqrt(2 * np.log(2 / (1 - level)) / (before * t * np.log(t + 1))), dtype=np.float64)


def _read(values: ArrayLike, span: tuple[float, float], null: float, level: float) -> tuple[Array, Array, Array]:
    """The numbers, their places between the ends, and the stakes."""
    check_level(level)
    low, high = span
    if not low < null < high:
        raise ValueError(f"null: not inside the span, got {null}; expected a number between {low} and {high}")
    numbers = check_values(values)
    strange = np.flatnonzero((numbers < low) | (numbers > high))
    if len(strange):
        raise ValueError(f"values[{strange[0]}]: outside, got {numbers[strange[0]]}; expected {low} to {high}")
    places = (numbers - low) / (high - low)
    return numbers, places, _stakes(places, level)


def _log_capital(places: Array, stakes: Array, mean: float) -> Array:
    """(G,) log capital after each question of the gambler on a mean larger than ``mean``, above 0."""
    return np.asarray(np.cumsum(np.log1p(np.minimum(stakes, 0.5 / mean) * (places - mean))), dtype=np.float64)


def _lower_limit(places: Array, stakes: Array, needed: float) -> float:
    """The largest mean, of those tried, against which the first gambler has ever won; 0 if there is none."""
    inside, outside = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if float(_log_capital(places, stakes, middle).max()) >= needed:
            inside = middle
        else:
            outside = middle
    return inside
