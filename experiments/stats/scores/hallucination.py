"""Of the answers that are not right, the share that is wrong: how often a model claims what it does not know.

With c correct, i incorrect, p partial and a not attempted, the rate is ``i / (i + p + a)``. A model that always answers
and is never partly right has a rate of 1 whatever its accuracy; one that only declines what it does not know has 0. It
is read beside the index ``100 (c - i) / N`` of :data:`experiments.stats.scores.SCORES`, in which partial answers count
as not attempted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_expected, check_labels, check_level, encode_clusters
from experiments.stats.intervals.clustered_wilson import clustered_bounds
from experiments.stats.scores.benchmark_scores import check_item_shares

__all__ = ["hallucination_bounds", "hallucination_rate"]


def hallucination_rate(
    shares: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    correct: str,
    incorrect: str,
    repeats: int = 1,
    level: float = 0.95,
) -> Estimate:
    """Share of incorrect answers among those that are not correct.

    Parameters
    ----------
    shares
        (n, L) each item's shares of valid verdicts on the scale, or its single label as 0 and 1; a row of zeros is an
        item without a valid verdict, and is left out.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    correct, incorrect
        The labels of a right and of a wrong answer.
    repeats
        The most verdicts that any item has.
    level
        Confidence level.

    Returns
    -------
    Estimate
        The ratio with the clustered Wilson interval, each question weighing by how much of it is not correct; ``n``
        and ``clusters`` count items and questions of which something is not. ``None`` where all is correct.

    Raises
    ------
    ValueError
        Shares that are negative or do not sum to one, a label off the scale, lengths that differ.
    """
    check_level(level)
    right, wrong = _positions(labels, correct, incorrect)
    rows, _ = check_item_shares(shares, n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(rows))
    failed = _row_sums(np.delete(rows, right, axis=1))
    n = int((failed > 0).sum())
    if not n:
        return Estimate(None, None, None, level, "wilson-clustered", 0, 0, 0)
    invented, sizes = sum_by_cluster(np.column_stack([rows[:, wrong], failed])[failed > 0], _dense(codes[failed > 0])).T
    verdicts = max(1, round(float(sizes.sum()) * max(repeats, 1)))
    low, high = clustered_bounds(invented, sizes, n_verdicts=verdicts, level=level)
    value = float(invented.sum() / sizes.sum())
    return Estimate(value, low, high, level, "wilson-clustered", n, len(sizes), repeats)


def hallucination_bounds(
    counts: ArrayLike, expected: int | Sequence[int], *, labels: Sequence[str], correct: str, incorrect: str
) -> tuple[float, float] | None:
    """Lowest and highest rate that the missing verdicts allow: all not attempted, and all incorrect.

    Parameters
    ----------
    counts
        (n, L) valid verdicts of each item with each label; items without any count here.
    expected
        Verdicts asked for, of every item or of each one.
    labels, correct, incorrect
        As in :func:`hallucination_rate`.

    Returns
    -------
    ``None`` where nothing is missing or not correct.

    Raises
    ------
    ValueError
        As in :func:`hallucination_rate`; or an item has more verdicts than were expected.
    """
    right, wrong = _positions(labels, correct, incorrect)
    table = check_counts(counts, n_labels=len(labels))
    asked = check_expected(expected, table)
    # Sorted, so that the order of items cannot move the last bit of a sum.
    invented = float(np.sort(table[:, wrong] / asked).sum())
    missing = float(np.sort(1 - table.sum(axis=1) / asked).sum())
    failed = float(np.sort(np.delete(table, right, axis=1).sum(axis=1) / asked).sum()) + missing
    return (invented / failed, (invented + missing) / failed) if failed > 0 else None


def _positions(labels: Sequence[str], correct: str, incorrect: str) -> tuple[int, int]:
    check_labels(labels)
    for role, label in (("correct", correct), ("incorrect", incorrect)):
        if label not in labels:
            raise ValueError(f"{role}: label not on the scale, got {label!r}; expected one of {list(labels)}")
    if correct == incorrect:
        raise ValueError(f"incorrect: {incorrect!r} is the label of a right answer too; expected another")
    return list(labels).index(correct), list(labels).index(incorrect)


def _row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sorted, so that the order of labels cannot move the last bit of a sum.
    return np.asarray(np.sort(table, axis=1).sum(axis=1), dtype=np.float64)


def _dense(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
