"""Scores by what a question comes with: the number of its distractors, concepts, steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.regimes.regime_scores import RegimeScores
from experiments.regimes.regime_names import RegimeName
from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.estimate import Estimate
from experiments.stats.intervals.bounded_mean import bounded_mean

__all__ = ["TRAITS", "TraitGroup", "group_by_traits"]

Array = NDArray[np.float64]

TRAITS = ("distractors", "concepts", "steps")
"""Traits of a question that losses are split by."""
MOST_GROUPS = 4
"""With more different numbers than this, questions are taken together in thirds."""


@dataclass(frozen=True, slots=True)
class TraitGroup:
    """Questions with so many of a trait, as one model answered them; ``noise`` is their noise loss, where asked."""

    trait: str
    low: int
    high: int
    n_questions: int
    model: str
    means: Mapping[RegimeName, Estimate]
    noise: Estimate | None


def group_by_traits(scores: RegimeScores, *, level: float) -> tuple[TraitGroup, ...]:
    """Means of each group of questions, by trait, group and model; none for a trait that is the same everywhere."""
    return tuple(
        _group(scores, trait, rows, model, level)
        for trait in TRAITS
        if trait in scores.traits
        for rows in _split(scores.traits[trait])
        for model in scores.models
    )


def _split(values: Array) -> Iterator[NDArray[np.bool_]]:
    """Rows of each group, the lowest first; none where there would be one group only."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if len(distinct) < 2:
        return
    tops = distinct if len(distinct) <= MOST_GROUPS else np.unique([*np.quantile(known, [1 / 3, 2 / 3]), distinct[-1]])
    bottom = -np.inf
    for top in tops:
        rows = (values > bottom) & (values <= top)
        bottom = top
        if rows.any():
            yield rows


def _group(scores: RegimeScores, trait: str, rows: NDArray[np.bool_], model: str, level: float) -> TraitGroup:
    values = scores.traits[trait][rows]
    columns = {regime: scores.cells[model, regime].scores for regime in scores.regimes}
    noise = None
    if "related_documents" in columns and "full_set" in columns:
        noise = _mean(scores, columns["related_documents"] - columns["full_set"], rows, level, is_score=False)
    return TraitGroup(
        trait=trait,
        low=int(values.min()),
        high=int(values.max()),
        n_questions=int(rows.sum()),
        model=model,
        means={regime: _mean(scores, column, rows, level, is_score=True) for regime, column in columns.items()},
        noise=noise,
    )


def _mean(scores: RegimeScores, column: Array, rows: NDArray[np.bool_], level: float, *, is_score: bool) -> Estimate:
    """The mean over the group's questions that have a value."""
    kept = np.flatnonzero(rows & ~np.isnan(column))
    clusters = [scores.clusters[place] for place in kept]
    mean = bounded_mean if is_score else clustered_mean
    return mean(column[kept], clusters, repeats=scores.repeats, level=level)
