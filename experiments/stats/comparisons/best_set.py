"""The graders that are not distinguishable from the best.

Grader k stays in the set unless the data reject that it is the best, that is, that its true mean is no worse than any
other's. This is multiple comparison with the best [Hsu 1984; Edwards and Hsu 1983 for unequal and correlated means]:
each grader in turn is held against all others. Its statistic is the largest of the cluster-robust t-statistics by
which another grader beats it, and the p-value refers it to the largest of as many correlated Student's t with G - 1
degrees of freedom, their correlation that of the graders' differences on these questions.

The level is the family's. A set misses the best only where the hypothesis about that one grader, which is true, is
rejected; so the best is in the set with probability ``level`` or more (up to the normal approximation of means), and
no further adjustment is due. Several graders that share the best mean are each in it with that probability. The
model confidence set [Hansen, Lunde and Nason 2011] answers the same question by elimination; it aims at holding all
that are equally best at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.clustered_mean import clustered_covariance
from experiments.stats.comparisons.paired_comparison import check_means
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["BestSet", "RankedGrader", "best_set"]

Array = NDArray[np.float64]

_ROUNDING = 1e-12
"""A standard error below this share of the largest value is rounding error, and so is a variance below this share of
those that it is the difference of."""


@dataclass(frozen=True, slots=True)
class RankedGrader:
    """A grader's mean, how far it lies behind the best observed mean, and the p-value that it is the best.

    ``p_value`` is ``None`` with fewer than two questions, where nobody can be told apart.
    """

    name: str
    mean: float
    behind: float
    p_value: float | None
    in_set: bool


@dataclass(frozen=True, slots=True)
class BestSet:
    """The set, its members and all graders in the order given.

    ``n`` items in ``clusters`` questions were compared; ``left_out`` are those that any grader lacks. Without items
    there are no graders and no members.
    """

    members: tuple[str, ...]
    graders: tuple[RankedGrader, ...]
    level: float
    method: str
    n: int
    clusters: int
    left_out: int


def best_set(
    means: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    names: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
    higher_is_better: bool = False,
) -> BestSet:
    """Graders not distinguishable from the best at the family's level.

    Parameters
    ----------
    means
        (n, K) a number for each item and grader, such as its share of wrong verdicts; ``None`` or NaN where there is
        none. Only items that all graders have are compared.
    clusters
        (n,) the question of each item.
    names
        (K,) the graders.
    rng
        Source of the draws that the largest statistics are referred to.
    level
        Probability with which the true best is in the set.
    resamples
        Draws.
    higher_is_better
        ``False`` for errors, ``True`` for accuracy.

    Returns
    -------
    BestSet
        The grader with the best observed mean is always a member.

    Raises
    ------
    ValueError
        Names that are not distinct or not as many as graders, lengths that differ, an infinite number, a ``level``
        not between 0 and 1, fewer than one draw.
    """
    check_level(level)
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    table = check_means(means, names)
    codes = encode_clusters(clusters, n=len(table))
    used = ~np.isnan(table).any(axis=1)
    left_out = int((~used).sum())
    if not used.any() or not len(names):
        return BestSet((), (), level, "best-max-t", 0, 0, left_out)
    # Codes without gaps: the covariance counts clusters by them.
    values, codes = table[used], encode_clusters(codes[used].tolist(), n=int(used.sum()))
    graders = _rank(values, codes, names, higher_is_better, rng=rng, level=level, resamples=resamples)
    members = tuple(grader.name for grader in graders if grader.in_set)
    return BestSet(members, graders, level, "best-max-t", len(values), int(codes.max()) + 1, left_out)


def _rank(
    values: Array,
    codes: NDArray[np.int64],
    names: Sequence[str],
    higher_is_better: bool,
    *,
    rng: np.random.Generator,
    level: float,
    resamples: int,
) -> tuple[RankedGrader, ...]:
    averages = np.sort(values, axis=0).mean(axis=0)
    behind = averages.max() - averages if higher_is_better else averages - averages.min()
    p_values = _p_values(values, codes, behind, rng=rng, resamples=resamples)
    return tuple(
        RankedGrader(name, float(mean), float(gap), p_value, p_value is None or bool(gap == 0) or p_value > 1 - level)
        for name, mean, gap, p_value in zip(names, averages, behind, p_values, strict=True)
    )


def _p_values(
    values: Array, codes: NDArray[np.int64], behind: Array, *, rng: np.random.Generator, resamples: int
) -> list[float | None]:
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        return [None] * len(behind)
    covariance = clustered_covariance(values, codes)
    variances = np.diag(covariance)
    squared = variances[:, None] + variances[None, :] - 2 * covariance
    # A single verdict among millions is a difference, and no rounding error.
    least = (_ROUNDING * max(float(np.abs(values).max()), 1.0)) ** 2
    squared[squared <= _ROUNDING * (variances[:, None] + variances[None, :]) + least] = 0.0
    draws = _draw_means(covariance, n_clusters - 1, rng=rng, resamples=resamples)
    return [_p_value(place, behind, np.sqrt(squared[place]), draws, n_clusters) for place in range(len(behind))]


def _draw_means(covariance: Array, degrees: int, *, rng: np.random.Generator, resamples: int) -> Array:
    """Draws of K means around their truth, each divided by the root of chi-square over its degrees of freedom."""
    roots, axes = np.linalg.eigh(covariance)
    normal = rng.standard_normal((resamples, len(roots))) @ (axes * np.sqrt(np.maximum(roots, 0.0))).T
    return np.asarray(normal / np.sqrt(rng.chisquare(degrees, size=(resamples, 1)) / degrees), dtype=np.float64)


def _p_value(place: int, behind: Array, errors: Array, draws: Array, n_clusters: int) -> float:
    """P-value of the hypothesis that the grader at ``place`` is the best.

    Where another's differences from it are the same in all questions they have no standard error. A grader that is
    behind by them is so in every question, which by the sign test has probability ``2**-G``; there the rivals are
    adjusted for by Bonferroni instead.
    """
    gaps = behind[place] - behind
    regular = errors > 0
    rivals = len(gaps) - 1
    if np.any(~regular & (gaps > _ROUNDING)):
        single = special.stdtr(n_clusters - 1, -gaps[regular] / errors[regular]).min(initial=1.0)
        return float(min(1.0, rivals * min(float(single), 0.5**n_clusters)))
    if not regular.any():
        return 1.0
    statistic = (gaps[regular] / errors[regular]).max()
    largest = ((draws[:, [place]] - draws[:, regular]) / errors[regular]).max(axis=1)
    return (1 + int((largest >= statistic).sum())) / (1 + len(draws))
