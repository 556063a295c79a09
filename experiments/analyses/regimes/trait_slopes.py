"""What a score gains or loses with one more distractor, concept or step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.regimes.regime_scores import RegimeScores
from experiments.analyses.regimes.trait_groups import TRAITS
from experiments.regimes.regime_names import RegimeName
from experiments.stats.clusters.clustered_slope import clustered_slope, slope_bounds
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.estimate import Difference

__all__ = ["TraitSlope", "measure_slopes"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TraitSlope:
    """The slope of one model's scores under a regime, or of its noise loss, over the number of a trait.

    ``adjusted`` is Holm's p-value among all slopes of a page. ``left_out`` counts questions with the number told and
    without a score, ``bounds`` is where the slope could lie with all that is missing, ``None`` where nothing is.
    """

    trait: str
    model: str
    of: RegimeName | Literal["noise loss"]
    slope: Difference
    left_out: int
    bounds: tuple[float, float] | None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class _Column:
    of: RegimeName | Literal["noise loss"]
    values: Array
    low: Array
    high: Array


def measure_slopes(scores: RegimeScores, *, level: float) -> tuple[TraitSlope, ...]:
    """Slopes by trait, model and regime; none for a trait that is the same everywhere.

    Parameters
    ----------
    scores
        The run.
    level
        Confidence level of each interval alone.
    """
    found = [
        _measure(scores, trait, model, column, level)
        for trait in TRAITS
        if len(np.unique(_known(scores, trait))) > 1
        for model in scores.models
        for column in _columns(scores, trait, model)
    ]
    family = adjust_p_values([one.slope.p_value for one in found], level=level)
    return tuple(replace(one, adjusted=row.adjusted) for one, row in zip(found, family.rows, strict=True))


def _known(scores: RegimeScores, trait: str) -> Array:
    values = scores.traits.get(trait, np.zeros(0))
    return values[~np.isnan(values)]


def _columns(scores: RegimeScores, trait: str, model: str) -> Iterator[_Column]:
    for regime in scores.regimes:
        cell = scores.cells[model, regime]
        yield _Column(regime, cell.scores, cell.low, cell.high)
    if trait == "distractors" and {"related_documents", "full_set"} <= set(scores.regimes):
        clean, noisy = scores.cells[model, "related_documents"], scores.cells[model, "full_set"]
        yield _Column("noise loss", clean.scores - noisy.scores, clean.low - noisy.high, clean.high - noisy.low)


def _measure(scores: RegimeScores, trait: str, model: str, column: _Column, level: float) -> TraitSlope:
    numbers = scores.traits[trait]
    told = ~np.isnan(numbers)
    kept = np.flatnonzero(told & ~np.isnan(column.values))
    slope = clustered_slope(
        numbers[kept],
        column.values[kept],
        [scores.clusters[place] for place in kept],
        repeats=scores.repeats,
        level=level,
    )
    lacks = bool((column.high[told] > column.low[told]).any())
    bounds = slope_bounds(numbers[told], column.low[told], column.high[told]) if lacks else None
    return TraitSlope(trait, model, column.of, slope, int(told.sum()) - len(kept), bounds)
