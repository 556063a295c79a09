"""A rate in a set of known size, from a random sample of it without replacement: exact, and how much more decides.

The interval turns the hypergeometric test round [Buonaccorsi 1987]: it holds every number of marked members of the set
with which so few, and so many, in the sample are no rarer than half of one minus the level. Where all are in the
sample nothing is left to infer, and the interval is the rate; in a very large set it is that of Clopper and Pearson.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level

__all__ = ["FiniteSample", "finite_rate_interval", "further_labels"]


@dataclass(frozen=True, slots=True)
class FiniteSample:
    """``marked`` of ``n`` members that were drawn from ``n_population`` without replacement.

    Raises
    ------
    ValueError
        If the counts do not fit together.
    """

    marked: int
    n: int
    n_population: int

    def __post_init__(self) -> None:
        if not 0 <= self.marked <= self.n <= self.n_population:
            raise ValueError(
                f"counts: {self.marked} of {self.n} of {self.n_population}; expected each no larger than the next"
            )


def finite_rate_interval(sample: FiniteSample, *, level: float = 0.95) -> Estimate:
    """The share of marked members in the set, with its exact interval; all ``None`` where nothing was drawn.

    Each side errs with a chance of at most half of one minus the level, whatever the share is.

    Raises
    ------
    ValueError
        For a level that is not between 0 and 1.
    """
    check_level(level)
    if not sample.n:
        return Estimate(None, None, None, level, "hypergeometric", 0, 0, 0)
    tail = (1 - level) / 2
    k, n, total = sample.marked, sample.n, sample.n_population
    possible = range(k, total - n + k + 1)
    first = bisect_left(possible, True, key=lambda marked: bool(hypergeom.sf(k - 1, total, marked, n) > tail))
    behind = bisect_left(possible, True, key=lambda marked: bool(hypergeom.cdf(k, total, marked, n) <= tail))
    low, high = possible[first] / total, possible[behind - 1] / total
    return Estimate(k / n, low, high, level, "hypergeometric", n, n, 1)


def further_labels(
    sample: FiniteSample, *, threshold: float, level: float = 0.95, chance: float = 0.8, at_least: int = 1
) -> int:
    """About how many more members let the interval leave the threshold on one side, with a given chance.

    The set is taken to have the sample's share, and the sample is kept and added to. The chance goes up and down by a
    little from one number to the next; this is one from which on it is near ``chance`` or above. All that are left
    always decide.

    Parameters
    ----------
    threshold
        The share to be told from; a set that has it exactly is below.
    chance
        Of the decision, between 0 and 1.
    at_least
        The answer is no smaller, such as where so many must be added anyhow.

    Raises
    ------
    ValueError
        Where nothing was drawn, or nothing is left.
    """
    left = sample.n_population - sample.n
    if not sample.n or not left:
        raise ValueError(f"sample: {sample.n} of {sample.n_population}; expected some, and some left")
    sizes = range(min(at_least, left), left)
    found = bisect_left(sizes, True, key=lambda more: _chance(sample, more, threshold=threshold, level=level) >= chance)
    return sizes[found] if found < len(sizes) else left


def _chance(sample: FiniteSample, more: int, *, threshold: float, level: float) -> float:
    """Of the decision by so many more, if the set has the sample's share."""
    n, total = sample.n, sample.n_population
    marked = round(sample.marked / n * total)
    marked = min(max(marked, sample.marked), total - n + sample.marked)
    left, marked_left = total - n, marked - sample.marked
    mean = more * marked_left / left
    spread = 10 * math.sqrt(mean * (1 - marked_left / left)) + 1
    low, high = max(0, more - (left - marked_left)), min(more, marked_left)
    added = np.arange(max(low, math.floor(mean - spread)), min(high, math.ceil(mean + spread)) + 1)
    passing, failing = _limits(n + more, total, threshold=threshold, level=level)
    seen = sample.marked + added
    decided = (seen <= passing) | (seen >= failing)
    return float(hypergeom.pmf(added, left, marked_left, more) @ decided)


def _limits(n: int, total: int, *, threshold: float, level: float) -> tuple[int, int]:
    """The largest count with an interval that is no larger than the threshold, and the least with one above it."""
    tail, counts = (1 - level) / 2, range(n + 1)
    allowed = bisect_left(range(total + 1), True, key=lambda marked: marked / total > threshold) - 1
    failing = bisect_left(counts, True, key=lambda seen: bool(hypergeom.sf(seen - 1, total, allowed, n) <= tail))
    if allowed == total:
        return n, failing
    passing = bisect_left(counts, True, key=lambda seen: bool(hypergeom.cdf(seen, total, allowed + 1, n) > tail))
    return passing - 1, failing
