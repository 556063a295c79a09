"""Two graders or wordings on the same items: the paired difference, its interval and its two p-values.

The unit is the difference of item means, so an item weighs the same whatever its repeats. The interval and Student's
p-value rest on the cluster-robust variance; the permutation p-value turns whole questions around. An item that
either of two lacks is left out of that pair alone, and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.clusters.sign_flip import SignFlip, sign_flip_tests
from experiments.stats.clusters.student_tests import student_p_value
from experiments.stats.estimate import Difference
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["PairedComparison", "check_means", "compare_all", "compare_columns", "paired_comparison"]


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The difference ``first - second`` on the items that both have.

    ``difference.p_value`` is the sign-flip test's, ``None`` without items; ``student_p_value`` is Student's on the
    cluster-robust standard error, ``None`` where that is not defined. ``left_out`` counts items that either lacks.
    """

    first: str
    second: str
    difference: Difference
    student_p_value: float | None
    left_out: int


def paired_comparison(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.95,
    resamples: int = 10_000,
    bound: float = 1.0,
    repeats: int = 1,
) -> PairedComparison:
    """Difference ``first - second`` of the mean of item means.

    Parameters
    ----------
    first, second
        (n,) a number an item, such as its share of wrong verdicts; ``None`` or NaN where there is none.
    clusters
        (n,) the question of each item.
    rng
        Source of the permutation draws; not used where all can be enumerated.
    names
        What the two are called.
    level
        Confidence level of the interval.
    resamples
        Permutation draws where not all can be enumerated.
    bound
        The largest difference that an item can show; 1 for shares. The interval keeps within it.
    repeats
        The most verdicts that any item has; only carried along.

    Raises
    ------
    ValueError
        Lengths that differ, a number that is infinite, a ``level`` not between 0 and 1, fewer than one draw.
    """
    columns = [np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)]
    for where, column in zip(("first", "second"), columns, strict=True):
        if column.shape != (len(clusters),):
            raise ValueError(f"{where}: wrong shape, got {column.shape}; expected ({len(clusters)},), one an item")
    return compare_all(
        np.column_stack(columns),
        clusters,
        names=names,
        rng=rng,
        level=level,
        resamples=resamples,
        bound=bound,
        repeats=repeats,
    )[0]


def compare_all(
    means: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    names: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
    bound: float = 1.0,
    repeats: int = 1,
) -> tuple[PairedComparison, ...]:
    """Compare every pair of graders.

    The p-values are raw; :func:`adjust_p_values` adjusts them for their number. A drawn
    p-value is never below ``1 / (1 + resamples)``: for Holm's method among P pairs, draw well over P / (1 - level).

    Parameters
    ----------
    means
        (n, K) a number for each item and grader; ``None`` or NaN where there is none.
    names
        (K,) the graders.
    clusters, rng, level, resamples, bound, repeats
        As in :func:`paired_comparison`.

    Returns
    -------
    K (K - 1) / 2 comparisons, ordered as the graders are.

    Raises
    ------
    ValueError
        As in :func:`paired_comparison`; names that are not distinct or not as many as graders.
    """
    table = check_means(means, names)
    pairs = list(combinations(range(len(names)), 2))
    return compare_columns(
        table[:, [pair[0] for pair in pairs]] - table[:, [pair[1] for pair in pairs]],
        clusters,
        names=[(names[first], names[second]) for first, second in pairs],
        rng=rng,
        level=level,
        resamples=resamples,
        bound=bound,
        repeats=repeats,
    )


def compare_columns(
    differences: NDArray[np.float64],
    clusters: Sequence[Hashable],
    *,
    names: Sequence[tuple[str, str]],
    rng: np.random.Generator,
    level: float,
    resamples: int,
    bound: float,
    repeats: int,
) -> tuple[PairedComparison, ...]:
    """Comparisons from their differences, shape (n, P) with NaN where either side lacks the item.

    Other parameters and errors as in :func:`compare_all`; ``names`` (P,) are the two sides of each.
    """
    check_level(level)
    codes = encode_clusters(clusters, n=len(differences))
    if not len(names):
        return ()
    sums = sum_by_cluster(np.nan_to_num(differences), codes)
    flips = sign_flip_tests(sums, rng=rng, resamples=resamples)
    return tuple(
        _compare(column, codes, pair, flip, level, bound, repeats)
        for column, pair, flip in zip(differences.T, names, flips, strict=True)
    )


def check_means(means: ArrayLike, names: Sequence[str]) -> NDArray[np.float64]:
    """Numbers of shape (n, K) with NaN where there is none, for K distinct names; ``ValueError`` otherwise."""
    if len(set(names)) != len(names):
        raise ValueError(f"names: a name stands twice, got {list(names)}; expected distinct names")
    table = np.asarray(means, dtype=np.float64)
    if table.shape == (0,):
        table = table.reshape(0, len(names))
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ValueError(f"means: wrong shape, got {table.shape}; expected (n, {len(names)}), a column a name")
    infinite = np.argwhere(np.isinf(table))
    if len(infinite):
        row, column = infinite[0]
        raise ValueError(f"means[{row}]: not a number, got {table[row, column]}; expected finite numbers or None")
    return table


def _compare(
    differences: NDArray[np.float64],
    codes: NDArray[np.int64],
    names: tuple[str, str],
    flip: SignFlip,
    level: float,
    bound: float,
    repeats: int,
) -> PairedComparison:
    used = ~np.isnan(differences)
    estimate = clustered_mean(differences[used], codes[used].tolist(), repeats=repeats, level=level, bound=bound)
    if estimate.low is not None and estimate.high is not None and np.abs(differences[used]).max() <= bound:
        estimate = replace(estimate, low=max(-bound, estimate.low), high=min(bound, estimate.high))
    test = "sign-flip-exact" if flip.exact else "sign-flip-monte-carlo"
    difference = Difference(estimate, flip.p_value if estimate.n else None, test)
    return PairedComparison(*names, difference, student_p_value(estimate), int((~used).sum()))
