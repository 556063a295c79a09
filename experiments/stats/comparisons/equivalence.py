"""Equivalence and non-inferiority against a margin that is stated before looking, by one-sided tests.

Two graders are equivalent where both one-sided tests reject: that the difference is at or below ``-margin``, and that
it is at or above ``margin`` [Schuirmann 1987]. At the significance ``1 - level`` this is the same as the interval of
level ``2 level - 1`` lying wholly within the margin, and the decision is made on that interval, which is also defined
where all questions agree and no test is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.clusters.student_tests import student_p_value
from experiments.stats.comparisons.paired_comparison import check_means
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import encode_clusters

__all__ = ["MarginTest", "equivalence_test", "non_inferiority_test"]


@dataclass(frozen=True, slots=True)
class MarginTest:
    """A difference ``first - second`` held against a margin.

    ``estimate`` carries the interval of level ``2 level - 1``. ``passed`` says whether it keeps within the margin,
    ``None`` without items. ``p_value`` is ``None`` where no standard error is defined. ``left_out`` counts items
    that either lacks.
    """

    estimate: Estimate
    margin: float
    p_value: float | None
    passed: bool | None
    left_out: int


def equivalence_test(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    margin: float,
    level: float = 0.95,
    bound: float = 1.0,
    repeats: int = 1,
) -> MarginTest:
    """Whether two means differ by less than ``margin`` either way: two one-sided cluster-robust t-tests.

    Parameters
    ----------
    first, second
        (n,) a number an item; ``None`` or NaN where there is none.
    clusters
        (n,) the question of each item.
    margin
        The largest difference that does not matter, above 0, in the units of the numbers.
    level
        Each one-sided test is made at ``1 - level``; above 0.5.
    bound, repeats
        As in :func:`experiments.stats.comparisons.paired_comparison.paired_comparison`.

    Returns
    -------
    MarginTest
        ``p_value`` is the larger of the two.

    Raises
    ------
    ValueError
        A margin that is not above 0, a ``level`` not between 0.5 and 1, lengths that differ, an infinite number.
    """
    estimate, left_out = _estimate(first, second, clusters, margin, level, bound, repeats)
    above = student_p_value(estimate, null=-margin, alternative="greater")
    below = student_p_value(estimate, null=margin, alternative="less")
    passed = None
    if estimate.low is not None and estimate.high is not None:
        passed = -margin < estimate.low and estimate.high < margin
    return MarginTest(estimate, margin, None if above is None or below is None else max(above, below), passed, left_out)


def non_inferiority_test(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    margin: float,
    lower_is_better: bool,
    level: float = 0.95,
    bound: float = 1.0,
    repeats: int = 1,
) -> MarginTest:
    """Whether ``first`` is worse than ``second`` by less than ``margin``: one one-sided cluster-robust t-test.

    Parameters
    ----------
    lower_is_better
        ``True`` for numbers such as errors, ``False`` for numbers such as accuracy.
    first, second, clusters, margin, level, bound, repeats
        As in :func:`equivalence_test`, as are returns and errors; only the end of the interval on the worse side
        is held against the margin.
    """
    estimate, left_out = _estimate(first, second, clusters, margin, level, bound, repeats)
    if lower_is_better:
        passed = None if estimate.high is None else estimate.high < margin
        p_value = student_p_value(estimate, null=margin, alternative="less")
    else:
        passed = None if estimate.low is None else estimate.low > -margin
        p_value = student_p_value(estimate, null=-margin, alternative="greater")
    return MarginTest(estimate, margin, p_value, passed, left_out)


def _estimate(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Sequence[Hashable],
    margin: float,
    level: float,
    bound: float,
    repeats: int,
) -> tuple[Estimate, int]:
    if not (isfinite(margin) and margin > 0):
        raise ValueError(f"margin: not a margin, got {margin!r}; expected a number above 0")
    if not 0.5 < level < 1:
        raise ValueError(f"level: not a level of one-sided tests, got {level!r}; expected a number from 0.5 to 1")
    columns = [np.asarray(values, dtype=np.float64) for values in (first, second)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise ValueError(f"second: wrong shape, got {columns[1].shape}; expected (n,) as first: {columns[0].shape}")
    table = check_means(np.column_stack(columns), ("first", "second"))
    codes = encode_clusters(clusters, n=len(table))
    used = ~np.isnan(table).any(axis=1)
    values = table[used, 0] - table[used, 1]
    estimate = clustered_mean(values, codes[used].tolist(), repeats=repeats, level=2 * level - 1, bound=bound)
    return estimate, int((~used).sum())
