"""Whether a grader is right as often as it says that it is: reliability curve, Brier score, calibration error.

An item counts once, split over its valid verdicts. With p the confidence in a verdict and r whether people share it:

* over-confidence: the mean of ``p - r``, above 0 where the grader claims more than it keeps;
* the Brier score [Brier 1950]: the mean of ``(p - r)**2``. With two labels it is that of the chance of either label;
* the expected calibration error [Naeini et al. 2015]: the mean, over bins of p weighted by their verdicts, of the
  distance between mean p and mean r. It is never below 0 and, with few verdicts in a bin, well above 0 for a grader
  that is perfectly calibrated; its interval is about that same plug-in value, and shares its bias;
* the error by chance: the mean of that error where each verdict is right with the chance that it states. It is what
  a perfectly calibrated grader that is as sure would show on as many items, and what the error is to be read beside.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level, encode_clusters
from experiments.stats.intervals.bounded_mean import bounded_mean
from experiments.stats.intervals.clustered_wilson import clustered_bounds, clustered_wilson

__all__ = ["ConfidenceCalibration", "ReliabilityBin", "confidence_calibration"]

Array = NDArray[np.float64]

_CHANCE_DRAWS = 500
"""Draws behind the error by chance."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Verdicts with a confidence from ``low`` up to ``high``, of which only the last bin holds its upper end.

    ``mean_confidence`` is ``None`` without verdicts, as is the value of ``accuracy``, the share of them that is right.
    """

    low: float
    high: float
    n_verdicts: int
    mean_confidence: float | None
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class ConfidenceCalibration:
    """Calibration of one draw's confidence; ``curve`` is in the order of its bins, empty ones included.

    ``error_by_chance`` is ``None`` without verdicts.
    """

    accuracy: Estimate
    over_confidence: Estimate
    brier: Estimate
    calibration_error: Estimate
    error_by_chance: float | None
    curve: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """All verdicts in a row each: 1 or 0 for right, confidence, weight in the item, item and question."""

    right: Array
    confidence: Array
    weight: Array
    item: NDArray[np.int64]
    question: NDArray[np.int64]

    def take(self, rows: NDArray[np.bool_]) -> _Verdicts:
        return _Verdicts(
            self.right[rows], self.confidence[rows], self.weight[rows], self.item[rows], self.question[rows]
        )


def confidence_calibration(
    right: Sequence[Sequence[bool]],
    confidence: Sequence[Sequence[float]],
    clusters: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    bins: int = 10,
    level: float = 0.95,
    resamples: int = 1000,
) -> ConfidenceCalibration:
    """Calibration of the confidence that comes with verdicts.

    Parameters
    ----------
    right
        (n,) for each item, whether each of its valid verdicts is what people said; an item may have none.
    confidence
        (n,) for each item the confidence in each of these verdicts, from 0 to 1.
    clusters
        (n,) the question of each item.
    rng
        Source of the resamples of the calibration error, and of the draws behind the error by chance.
    bins
        Number of bins of equal width.

    Returns
    -------
    ConfidenceCalibration
        Intervals by question: clustered Wilson for shares, that of a bounded mean for the Brier score, Student's for
        over-confidence, the percentile bootstrap for the calibration error. All ``None`` without verdicts.

    Raises
    ------
    ValueError
        A confidence outside 0 to 1, as many of them as verdicts not given, lengths that differ, no bin.
    """
    check_level(level)
    if bins < 1:
        raise ValueError(f"bins: got {bins}; expected 1 or more")
    verdicts = _flatten(right, confidence, clusters)
    repeats = max((len(row) for row in right), default=0)
    items = np.unique(verdicts.item)
    groups = _item_means(verdicts, verdicts.question.astype(np.float64), items).astype(int).tolist()

    def means(values: Array) -> Array:
        return _item_means(verdicts, values, items)

    gaps = verdicts.confidence - verdicts.right
    return ConfidenceCalibration(
        accuracy=clustered_wilson(means(verdicts.right), groups, repeats=repeats, level=level),
        over_confidence=clustered_mean(means(gaps), groups, repeats=repeats, level=level),
        brier=bounded_mean(means(gaps**2), groups, repeats=repeats, level=level),
        calibration_error=_calibration_error(verdicts, bins, rng, repeats=repeats, level=level, resamples=resamples),
        error_by_chance=_error_by_chance(verdicts, bins, rng),
        curve=tuple(_bin(verdicts, place, bins, repeats=repeats, level=level) for place in range(bins)),
    )


def _flatten(
    right: Sequence[Sequence[bool]], confidence: Sequence[Sequence[float]], clusters: Sequence[Hashable]
) -> _Verdicts:
    codes = encode_clusters(clusters, n=len(right))
    if len(confidence) != len(right):
        raise ValueError(f"confidence: wrong length, got {len(confidence)}; expected {len(right)}, one an item")
    for row, (flags, sure) in enumerate(zip(right, confidence, strict=True)):
        if len(flags) != len(sure) or not all(0.0 <= one <= 1.0 for one in sure):
            raise ValueError(f"confidence[{row}]: got {list(sure)}; expected {len(flags)} numbers from 0 to 1")
    sizes = [len(row) for row in right]
    item = np.repeat(np.arange(len(right)), sizes)
    return _Verdicts(
        right=np.array([flag for row in right for flag in row], dtype=np.float64),
        confidence=np.array([one for row in confidence for one in row], dtype=np.float64),
        weight=1.0 / np.repeat(np.array(sizes, dtype=np.float64), sizes),
        item=item,
        question=codes[item],
    )


def _item_means(verdicts: _Verdicts, values: Array, items: NDArray[np.int64]) -> Array:
    # Sorted within an item, so that the order of its verdicts cannot move the last bit of a sum.
    order = np.lexsort((values, verdicts.item))
    sums = np.bincount(np.searchsorted(items, verdicts.item[order]), values[order], minlength=len(items))
    return np.asarray(sums / np.bincount(np.searchsorted(items, verdicts.item), minlength=len(items)), dtype=np.float64)


def _bin_of(confidence: Array, bins: int) -> NDArray[np.int64]:
    return np.minimum((confidence * bins + 1e-9).astype(np.int64), bins - 1)


def _bin(verdicts: _Verdicts, place: int, bins: int, *, repeats: int, level: float) -> ReliabilityBin:
    inside = verdicts.take(_bin_of(verdicts.confidence, bins) == place)
    ends, n = (place / bins, (place + 1) / bins), len(inside.right)
    if not n:
        nothing = Estimate(None, None, None, level, "wilson-clustered", 0, 0, 0)
        return ReliabilityBin(*ends, 0, None, nothing)
    dense = np.unique(inside.question, return_inverse=True)[1].astype(np.int64)
    columns = np.column_stack([inside.weight * inside.right, inside.weight, inside.weight * inside.confidence])
    sums, sizes, sure = sum_by_cluster(columns, dense).T
    low, high = clustered_bounds(sums, sizes, n_verdicts=n, level=level)
    value, n_items = float(sums.sum() / sizes.sum()), len(np.unique(inside.item))
    accuracy = Estimate(value, low, high, level, "wilson-clustered", n_items, len(sums), repeats)
    return ReliabilityBin(*ends, n, float(sure.sum() / sizes.sum()), accuracy)


def _calibration_error(
    verdicts: _Verdicts, bins: int, rng: np.random.Generator, *, repeats: int, level: float, resamples: int
) -> Estimate:
    method = "cluster-bootstrap"
    if not len(verdicts.right):
        return Estimate(None, None, None, level, method, 0, 0, 0)
    gaps = np.zeros((len(verdicts.right), bins + 1))
    rows = np.arange(len(gaps))
    gaps[rows, _bin_of(verdicts.confidence, bins)] = verdicts.weight * (verdicts.right - verdicts.confidence)
    gaps[:, bins] = verdicts.weight
    sums = sum_by_cluster(gaps, np.unique(verdicts.question, return_inverse=True)[1].astype(np.int64))
    value = float(_error_of(sums.sum(axis=0)))
    interval = percentile_interval(_error_of(bootstrap_sums(sums, rng=rng, resamples=resamples)), level=level)
    if interval is None:
        method, interval = "wilson-clustered", _no_variation(value, len(sums), level)
    return Estimate(value, *interval, level, method, len(np.unique(verdicts.item)), len(sums), repeats)


def _error_by_chance(verdicts: _Verdicts, bins: int, rng: np.random.Generator) -> float | None:
    """Mean error of perfectly calibrated graders; verdicts of an item are right together, as repeats mostly are."""
    if not len(verdicts.right):
        return None
    stated = _stated_by_item(verdicts)
    items = np.repeat(np.arange(len(stated)), [len(one) for one in stated])
    confidence, weight = np.array([pair for one in stated for pair in one]).T
    in_bin = np.eye(bins)[_bin_of(confidence, bins)]
    errors = []
    for _ in range(_CHANCE_DRAWS):
        right = rng.random(len(stated))[items] < confidence
        errors.append(float(np.abs((weight * (right - confidence)) @ in_bin).sum() / weight.sum()))
    return float(np.mean(errors))


def _stated_by_item(verdicts: _Verdicts) -> list[list[tuple[float, float]]]:
    """Confidence and weight of each item's verdicts, in an order that is not that of the items."""
    stated: dict[int, list[tuple[float, float]]] = {}
    rows = zip(verdicts.item.tolist(), verdicts.confidence.tolist(), verdicts.weight.tolist(), strict=True)
    for item, confidence, weight in rows:
        stated.setdefault(item, []).append((confidence, weight))
    return sorted(sorted(one) for one in stated.values())


def _error_of(sums: Array) -> Array:
    return np.asarray(np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1], dtype=np.float64)


def _no_variation(value: float, n_clusters: int, level: float) -> tuple[float, float]:
    """Where all questions agree: as far off as Wilson's upper limit of 0 in G; all there is with one question."""
    normal = float(special.ndtri((1 + level) / 2)) ** 2
    half = 1.0 if n_clusters == 1 else normal / (n_clusters + normal)
    return max(0.0, value - half), min(1.0, value + half)
