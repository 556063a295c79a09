"""Whether verdicts moved between two rounds of the same items by more than repeats move them anyway.

The chance that a verdict of one round differs from one of the other, less the chance that two of the same round do
(the mean of both rounds), is zero for an item whose verdicts come from one distribution, and else half the squared
distance of its two distributions: an energy distance [Szekely and Rizzo 2013]. All three chances are estimated from
pairs, without bias whatever the number of repeats, if each round has two of an item.

If nothing had changed, which verdicts of an item came in which round would be chance. So they are dealt out anew, as
many to each round as it had, and how often the sum over items reaches the one observed is a permutation test's p-value
[Fisher 1935; drawn as in Davison and Hinkley 1997, section 4.3]. Items are dealt out on their own, so neither unequal
repeats nor items of one question harm it. (Counting moved majorities would not do for a test: however three CORRECT
and three INCORRECT are dealt out to two rounds of three, the majority moves.)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.repeats.inconsistency import item_disagreement

__all__ = ["Movement", "movement_test"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Movement:
    """How verdicts moved between two rounds.

    ``moved`` is the share of items whose majority differs, among those with a majority in both rounds; ``n_moved``
    their number, ``without_majority`` the number of items that have a tie or no verdict in either. ``between`` is the
    chance that verdicts of different rounds differ, ``within`` that verdicts of one round do, over the items with two
    verdicts or more in both; ``excess`` is the first less the second. ``p_value`` is one-sided: more excess than
    repeats explain. The last four are ``None`` without such items, as single verdicts show no noise.
    """

    moved: Estimate
    n_moved: int
    without_majority: int
    between: float | None
    within: float | None
    excess: Estimate
    p_value: float | None


def movement_test(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> Movement:
    """Majorities that moved, the movement of verdicts beyond that of repeats, and the test of it.

    Parameters
    ----------
    first, second
        (n, L) valid verdicts of each item with each label, in the first and in the second round.
    clusters
        (n,) the question of each item; for the intervals alone.
    rng
        Source of the deals.
    level
        Confidence level of the intervals.
    resamples
        Deals; the p-value is never below ``1 / (1 + resamples)``.

    Raises
    ------
    ValueError
        A negative count, shapes or lengths that differ, fewer than one deal.
    """
    old = check_counts(first, n=len(clusters))
    new = check_counts(second, n=len(clusters), n_labels=old.shape[1])
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    tops = _majority(old), _majority(new)
    decided = (tops[0] >= 0) & (tops[1] >= 0)
    moved = decided & (tops[0] != tops[1])
    most = int(max(old.sum(axis=1).max(initial=0), new.sum(axis=1).max(initial=0)))
    repeated = (old.sum(axis=1) >= 2) & (new.sum(axis=1) >= 2)
    between, within = _disagreements(old[repeated], new[repeated])
    excess = clustered_mean(between - within, _kept(clusters, repeated), repeats=most, level=level)
    return Movement(
        moved=clustered_wilson(moved[decided], _kept(clusters, decided), repeats=most, level=level),
        n_moved=int(moved.sum()),
        without_majority=len(old) - int(decided.sum()),
        between=_mean(between),
        within=_mean(within),
        excess=excess,
        p_value=_p_value(old[repeated], new[repeated], rng, resamples) if repeated.any() else None,
    )


def _disagreements(old: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chances (n,) that two verdicts of different rounds differ, and of the same round, for two or more in each."""
    pairs = old.sum(axis=1) * new.sum(axis=1)
    return 1.0 - (old * new).sum(axis=1) / pairs, (item_disagreement(old) + item_disagreement(new)) / 2


def _p_value(old: NDArray[np.int64], new: NDArray[np.int64], rng: np.random.Generator, resamples: int) -> float:
    varying = ((old + new) > 0).sum(axis=1) > 1
    rows = np.column_stack([old + new, old])[varying]
    rows = rows[np.lexsort(rows.T)]  # The order of items moves no digit.
    observed, dealt = 0.0, np.zeros(resamples)
    for pooled, mine in (np.split(row, 2) for row in rows):
        between, within = _disagreements(mine[None], (pooled - mine)[None])
        observed += float(between[0] - within[0])
        deals = rng.multivariate_hypergeometric(pooled, int(mine.sum()), size=resamples)
        between, within = _disagreements(deals, pooled - deals)
        dealt += between - within
    return float((1 + (dealt >= observed - _ROUNDING).sum()) / (1 + resamples))


def _kept(clusters: Sequence[Hashable], flags: NDArray[np.bool_]) -> list[Hashable]:
    return [name for name, kept in zip(clusters, flags, strict=True) if kept]


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(np.sort(values).mean()) if len(values) else None


def _majority(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Place of the most frequent label, -1 for a tie or without a verdict."""
    if not counts.shape[1]:
        return np.full(len(counts), -1)
    most = counts.max(axis=1)
    alone = ((counts == most[:, None]).sum(axis=1) == 1) & (most > 0)
    return np.where(alone, counts.argmax(axis=1), -1)
