"""A grader's error rates against people's labels: single-draw rates, their bounds, and coverage."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.estimate import Estimate
from experiments.stats.inputs import (
    as_clusters,
    check_counts,
    check_expected,
    check_labels,
    encode_clusters,
    encode_labels,
)
from experiments.stats.intervals.clustered_wilson import clustered_wilson

__all__ = ["ErrorRateBounds", "coverage", "error_rate_bounds", "false_negative_rate", "false_positive_rate"]


@dataclass(frozen=True, slots=True)
class ErrorRateBounds:
    """Lowest and highest error rates that the missing verdicts allow.

    Each is ``(all missing right, all missing wrong)``, or ``None`` where people gave no such label.
    """

    false_negative: tuple[float, float] | None
    false_positive: tuple[float, float] | None


def false_negative_rate(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> Estimate:
    """Share of one draw's verdicts that refuse what people called ``positive``.

    The mean, over items with the reference label ``positive`` and a valid verdict, of the share of the item's
    valid verdicts that are another label: a mean of item means, so an item with more verdicts weighs no more.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; a row may be all zero.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    positive
        The label that counts as right.
    level
        Confidence level of the interval (:func:`experiments.stats.clustered_wilson`).

    Returns
    -------
    Estimate
        ``value`` is ``None`` where no such item has a valid verdict.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    share, is_positive, valid = _positive_shares(reference, counts, labels=labels, positive=positive)
    return _row_rate(1.0 - share, is_positive, valid, clusters, level)


def false_positive_rate(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> Estimate:
    """Share of one draw's verdicts that pass what people called anything but ``positive``.

    The mean, over items with another reference label and a valid verdict, of the share of the item's valid
    verdicts that are ``positive``. Parameters, returns and errors as in :func:`false_negative_rate`.
    """
    share, is_positive, valid = _positive_shares(reference, counts, labels=labels, positive=positive)
    return _row_rate(share, ~is_positive, valid, clusters, level)


def error_rate_bounds(
    reference: Sequence[str],
    counts: ArrayLike,
    expected: int | Sequence[int],
    *,
    labels: Sequence[str],
    positive: str,
) -> ErrorRateBounds:
    """Error rates if every missing verdict had been right, and if every one had been wrong.

    Parameters
    ----------
    reference, counts, labels, positive
        As in :func:`false_negative_rate`; items without any valid verdict count here.
    expected
        Verdicts asked for, of every item or of each one.

    Raises
    ------
    ValueError
        As in :func:`false_negative_rate`; or an item has more verdicts than were expected.
    """
    table, codes = _check(reference, counts, labels=labels, positive=positive)
    asked = check_expected(expected, table)
    is_positive = codes == list(labels).index(positive)
    passed = table[:, list(labels).index(positive)]
    wrong = np.where(is_positive, table.sum(axis=1) - passed, passed)
    missing = asked - table.sum(axis=1)
    best, worst = wrong / asked, (wrong + missing) / asked
    return ErrorRateBounds(_row_bounds(best, worst, is_positive), _row_bounds(best, worst, ~is_positive))


def coverage(counts: ArrayLike, expected: int | Sequence[int]) -> float | None:
    """Valid verdicts as a share of those expected; ``None`` without items.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label.
    expected
        Verdicts asked for, of every item or of each one.
    """
    table = check_counts(counts)
    asked = check_expected(expected, table)
    return float(table.sum() / asked.sum()) if len(table) else None


def _check(
    reference: Sequence[str], counts: ArrayLike, *, labels: Sequence[str], positive: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    check_labels(labels, positive)
    codes = encode_labels(reference, labels)
    return check_counts(counts, n=len(codes), n_labels=len(labels)), codes


def _positive_shares(
    reference: Sequence[str], counts: ArrayLike, *, labels: Sequence[str], positive: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    table, codes = _check(reference, counts, labels=labels, positive=positive)
    valid = table.sum(axis=1)
    position = list(labels).index(positive)
    return table[:, position] / np.maximum(valid, 1), codes == position, valid


def _row_rate(
    wrong: NDArray[np.float64],
    row: NDArray[np.bool_],
    valid: NDArray[np.int64],
    clusters: Sequence[Hashable],
    level: float,
) -> Estimate:
    used = row & (valid > 0)
    groups = encode_clusters(clusters, n=len(wrong))[used]
    return clustered_wilson(wrong[used], as_clusters(groups), repeats=int(valid[used].max(initial=0)), level=level)


def _row_bounds(
    best: NDArray[np.float64], worst: NDArray[np.float64], row: NDArray[np.bool_]
) -> tuple[float, float] | None:
    # Sorted, so that the order of items cannot move the last bit of a sum.
    return (float(np.sort(best[row]).mean()), float(np.sort(worst[row]).mean())) if row.any() else None
