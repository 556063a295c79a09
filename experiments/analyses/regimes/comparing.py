"""A run under regimes as a whole: means, losses, groups of questions, slopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.analyses.regimes.losses import Loss, measure_losses
from experiments.analyses.regimes.regime_scores import RegimeCell, RegimeScores, read_regimes
from experiments.analyses.regimes.trait_groups import TraitGroup, group_by_traits
from experiments.analyses.regimes.trait_slopes import TraitSlope, measure_slopes
from experiments.regimes.regime_names import RegimeName
from experiments.reports.inputs import RunData
from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.intervals.bounded_mean import bounded_mean

__all__ = ["RegimeComparison", "RegimeMean", "compare_regimes"]


@dataclass(frozen=True, slots=True)
class RegimeMean:
    """A model's mean score under a regime over the questions with one; ``bounds`` if all that is missing were 0, or 1.

    ``bounds`` is ``None`` where nothing is missing; what is missing is counted in ``cell``.
    """

    model: str
    regime: RegimeName
    estimate: Estimate
    bounds: tuple[float | None, float | None] | None
    cell: RegimeCell


@dataclass(frozen=True, slots=True)
class RegimeComparison:
    """All that the page shows."""

    scores: RegimeScores
    level: float
    means: tuple[RegimeMean, ...]
    losses: tuple[Loss, ...]
    groups: tuple[TraitGroup, ...]
    slopes: tuple[TraitSlope, ...] = ()


def compare_regimes(data: RunData, grader: str | None = None, *, level: float) -> RegimeComparison:
    """Means by model and regime, losses between regimes, and scores by traits of the questions.

    Parameters
    ----------
    data
        A run under regimes.
    grader
        Which grader's verdicts, where it has several.
    level
        Confidence level.

    Raises
    ------
    SpecError
        As :func:`experiments.analyses.regimes.regime_scores.read_regimes`.
    """
    scores = read_regimes(data, grader)
    means = tuple(_mean(scores, model, regime, level=level) for model in scores.models for regime in scores.regimes)
    return RegimeComparison(
        scores=scores,
        level=level,
        means=means,
        losses=measure_losses(scores, level=level),
        groups=group_by_traits(scores, level=level),
        slopes=measure_slopes(scores, level=level),
    )


def _mean(scores: RegimeScores, model: str, regime: RegimeName, *, level: float) -> RegimeMean:
    cell = scores.cells[model, regime]
    kept = np.flatnonzero(~np.isnan(cell.scores))
    clusters = [scores.clusters[place] for place in kept]
    estimate = bounded_mean(cell.scores[kept], clusters, repeats=scores.repeats, level=level)
    bounds = None
    if not cell.is_complete:
        low, high = (clustered_mean(values, scores.clusters, level=level).value for values in (cell.low, cell.high))
        bounds = (low, high)
    return RegimeMean(model, regime, estimate, bounds, cell)
