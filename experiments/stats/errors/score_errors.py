"""Errors of a grader whose labels are numbers: how far off it is, and to which side.

On a scale without a label that counts as right there are no false negatives and positives. In their place stand
under-grading and over-grading, the shares of one draw's verdicts below and above people's score; the bias, the mean of
verdict less score; and the mean absolute error. As everywhere, an item counts once, split over its valid verdicts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.clustered_mean import check_values, clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import (
    as_clusters,
    check_counts,
    check_expected,
    check_labels,
    check_level,
    encode_clusters,
    encode_labels,
)
from experiments.stats.intervals.bounded_mean import bounded_mean
from experiments.stats.intervals.clustered_wilson import clustered_wilson

__all__ = ["ScoreErrorBounds", "ScoreErrors", "score_error_bounds", "score_errors"]


@dataclass(frozen=True, slots=True)
class ScoreErrors:
    """Under-grading and over-grading are shares; bias and mean absolute error are in the units of the scale."""

    under_grading: Estimate
    over_grading: Estimate
    bias: Estimate
    mean_absolute_error: Estimate


@dataclass(frozen=True, slots=True)
class ScoreErrorBounds:
    """Lowest and highest value of each that the missing verdicts allow; ``None`` without items.

    What makes one of them lowest makes another highest: the bounds are not reached together.
    """

    under_grading: tuple[float, float] | None
    over_grading: tuple[float, float] | None
    bias: tuple[float, float] | None
    mean_absolute_error: tuple[float, float] | None


def score_errors(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    values: ArrayLike,
    level: float = 0.95,
) -> ScoreErrors:
    """Under-grading, over-grading, bias and mean absolute error of one draw, over items with a valid verdict.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; items without one are left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    values
        (L,) the number that each label stands for, all different.
    level
        Confidence level.

    Returns
    -------
    ScoreErrors
        The shares have the clustered Wilson interval, the mean absolute error that of a bounded mean, the bias
        Student's on the cluster-robust standard error, cut off at plus and minus the span of the scale. All ``None``
        without a valid verdict.

    Raises
    ------
    ValueError
        A label off the scale, values that are not numbers or not all different, a negative count, lengths that differ.
    """
    check_level(level)
    table, people, numbers = _check(reference, counts, labels=labels, values=values)
    errors = numbers[None, :] - numbers[people][:, None]
    used = table.sum(axis=1) > 0
    shares = table[used] / table[used].sum(axis=1, keepdims=True)
    errors, span = errors[used], float(np.ptp(numbers))
    groups = as_clusters(encode_clusters(clusters, n=len(used))[used])
    most = int(table.sum(axis=1).max(initial=0))

    def rate(item_means: NDArray[np.float64]) -> Estimate:
        return clustered_wilson(np.minimum(item_means, 1.0), groups, repeats=most, level=level)

    distances = np.minimum(_row_sums(shares * np.abs(errors)) / span, 1.0)
    bias = clustered_mean(_row_sums(shares * errors), groups, repeats=most, level=level, bound=span)
    return ScoreErrors(
        under_grading=rate(_row_sums(shares * (errors < 0))),
        over_grading=rate(_row_sums(shares * (errors > 0))),
        bias=_within(bias, -span, span),
        mean_absolute_error=_stretched(bounded_mean(distances, groups, repeats=most, level=level), span),
    )


def score_error_bounds(
    reference: Sequence[str],
    counts: ArrayLike,
    expected: int | Sequence[int],
    *,
    labels: Sequence[str],
    values: ArrayLike,
) -> ScoreErrorBounds:
    """What each error could be if the missing verdicts had been given, each to the lowest and to the highest.

    Parameters
    ----------
    reference, counts, labels, values
        As in :func:`score_errors`; items without any valid verdict count here.
    expected
        Verdicts asked for, of every item or of each one.

    Raises
    ------
    ValueError
        As in :func:`score_errors`; or an item has more verdicts than were expected.
    """
    table, people, numbers = _check(reference, counts, labels=labels, values=values)
    asked = check_expected(expected, table)[:, None]
    if not len(table):
        return ScoreErrorBounds(None, None, None, None)
    errors = numbers[None, :] - numbers[people][:, None]
    missing = (asked - table.sum(axis=1, keepdims=True)) / asked

    def bounds(of_label: NDArray[np.float64]) -> tuple[float, float]:
        known = _row_sums(table / asked * of_label)
        low, high = (known + missing[:, 0] * extreme for extreme in (of_label.min(axis=1), of_label.max(axis=1)))
        # Sorted, so that the order of items cannot move the last bit of a sum.
        return float(np.sort(low).mean()), float(np.sort(high).mean())

    return ScoreErrorBounds(
        under_grading=bounds((errors < 0).astype(np.float64)),
        over_grading=bounds((errors > 0).astype(np.float64)),
        bias=bounds(errors),
        mean_absolute_error=bounds(np.abs(errors)),
    )


def _check(
    reference: Sequence[str], counts: ArrayLike, *, labels: Sequence[str], values: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    check_labels(labels)
    numbers = check_values(values)
    if len(numbers) != len(labels) or len(np.unique(numbers)) != len(numbers) or len(numbers) < 2:
        got = numbers.tolist()
        raise ValueError(f"values: not those of a scale, got {got}; expected {len(labels)} different numbers")
    people = encode_labels(reference, labels)
    return check_counts(counts, n=len(people), n_labels=len(labels)), people, numbers


def _row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sorted, so that a scale turned round cannot move the last bit of a sum.
    return np.asarray(np.sort(table, axis=1).sum(axis=1), dtype=np.float64)


def _within(estimate: Estimate, lowest: float, highest: float) -> Estimate:
    if estimate.low is None or estimate.high is None:
        return estimate
    return _with(estimate, estimate.value, max(lowest, estimate.low), min(highest, estimate.high))


def _stretched(estimate: Estimate, factor: float) -> Estimate:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    return _with(estimate, factor * estimate.value, factor * estimate.low, factor * estimate.high)


def _with(estimate: Estimate, value: float | None, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, estimate.level, estimate.method, estimate.n, estimate.clusters, estimate.repeats)
