"""Precision, recall and F1 of lists: concepts that a response uses, held against those that it should.

With TP used ones of the reference, FP used ones beyond it and FN unused ones of it, precision is ``TP / (TP + FP)``,
recall ``TP / (TP + FN)`` and F1 their harmonic mean, ``2 TP / (2 TP + FP + FN)``. *Micro* adds the counts of all items
and divides once, so that items with many concepts weigh more; *macro* is the mean of the items' own values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level, encode_clusters
from experiments.stats.intervals.bounded_mean import bounded_mean
from experiments.stats.intervals.clustered_wilson import clustered_bounds

__all__ = ["ConceptScores", "concept_scores"]

Array = NDArray[np.float64]
_Parts = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class ConceptScores:
    """Each ``None`` where it is not defined: nothing used has no precision, nothing to be used no recall."""

    micro_precision: Estimate
    micro_recall: Estimate
    micro_f1: Estimate
    macro_precision: Estimate
    macro_recall: Estimate
    macro_f1: Estimate


def concept_scores(
    tallies: Sequence[Sequence[Sequence[int]]], clusters: Sequence[Hashable], *, level: float = 0.95
) -> ConceptScores:
    """Micro and macro precision, recall and F1 of one draw, with intervals by question.

    Parameters
    ----------
    tallies
        (n,) for each item a (TP, FP, FN) for each valid verdict; an item may have none, and is left out. An item with
        several verdicts counts once: its counts, and its own scores, are means over them.
    clusters
        (n,) the question of each item.
    level
        Confidence level.

    Returns
    -------
    ConceptScores
        ``n`` counts the items whose score is defined. Micro scores have the clustered Wilson interval,
        each question weighing by its counts, macro scores that of a bounded mean.

    Raises
    ------
    ValueError
        A tally that is not three counts, lengths that differ.
    """
    check_level(level)
    codes = encode_clusters(clusters, n=len(tallies))
    checked = [_check(verdicts, f"tallies[{row}]") for row, verdicts in enumerate(tallies)]
    repeats = max((len(verdicts) for verdicts in checked), default=0)
    ratios: tuple[_Parts, ...] = (_precision, _recall, _f1)
    micro = [_micro(checked, codes, ratio, repeats=repeats, level=level) for ratio in ratios]
    macro = [_macro(checked, codes, ratio, repeats=repeats, level=level) for ratio in ratios]
    return ConceptScores(*micro, *macro)


def _check(verdicts: Sequence[Sequence[int]], where: str) -> Array:
    of_three = all(len(tally) == 3 for tally in verdicts)
    if not of_three or any(count < 0 or count != int(count) for tally in verdicts for count in tally):
        raise ValueError(f"{where}: not tallies, got {list(verdicts)}; expected three counts a verdict, 0 or more")
    return np.array(verdicts, dtype=np.float64).reshape(-1, 3)


def _precision(tallies: Array) -> tuple[Array, Array]:
    return tallies[:, 0], tallies[:, 0] + tallies[:, 1]


def _recall(tallies: Array) -> tuple[Array, Array]:
    return tallies[:, 0], tallies[:, 0] + tallies[:, 2]


def _f1(tallies: Array) -> tuple[Array, Array]:
    return 2 * tallies[:, 0], 2 * tallies[:, 0] + tallies[:, 1] + tallies[:, 2]


def _micro(
    checked: Sequence[Array], codes: NDArray[np.int64], ratio: _Parts, *, repeats: int, level: float
) -> Estimate:
    means = np.array([_column_means(verdicts) for verdicts in checked]).reshape(-1, 3)
    upper, lower = ratio(means)
    counted = lower > 0
    if not counted.any():
        return Estimate(None, None, None, level, "wilson-clustered", 0, 0, 0)
    dense = np.unique(codes[counted], return_inverse=True)[1].astype(np.int64)
    sums, sizes = sum_by_cluster(np.column_stack([upper, lower])[counted], dense).T
    low, high = clustered_bounds(sums, sizes, n_verdicts=max(1, round(float(sizes.sum()))), level=level)
    value = float(sums.sum() / sizes.sum())
    return Estimate(value, low, high, level, "wilson-clustered", int(counted.sum()), len(sizes), repeats)


def _macro(
    checked: Sequence[Array], codes: NDArray[np.int64], ratio: _Parts, *, repeats: int, level: float
) -> Estimate:
    own = [_mean_ratio(*ratio(verdicts)) for verdicts in checked]
    kept = [(value, code) for value, code in zip(own, codes.tolist(), strict=True) if value is not None]
    values = [value for value, _ in kept]
    return bounded_mean(values, [code for _, code in kept], repeats=repeats if kept else 0, level=level)


def _column_means(verdicts: Array) -> Array:
    # Sorted, so that the order of verdicts cannot move the last bit of a sum.
    return np.sort(verdicts, axis=0).mean(axis=0) if len(verdicts) else np.zeros(3)


def _mean_ratio(upper: Array, lower: Array) -> float | None:
    defined = lower > 0
    return float(np.sort(upper[defined] / lower[defined]).mean()) if defined.any() else None
