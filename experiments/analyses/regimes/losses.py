"""Losses between regimes: paired by question, adjusted for their number, and at the worst of what is missing.

Knowledge loss is what the concepts add to the bare question. Retrieval loss is published under two definitions: what is
lost where the concepts have to be found in the related documents, or in the full set. Noise loss is what distractors
cost. On questions with all regimes the retrieval loss on the full set is the one on the related documents plus the
noise loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.regimes.regime_scores import RegimeScores
from experiments.regimes.regime_names import RegimeName
from experiments.reports.plain import content_rng
from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.wording_effects import wording_effects
from experiments.stats.estimate import Difference, Estimate

__all__ = ["ALL_MODELS", "LOSSES", "Loss", "LossName", "measure_losses"]

Array = NDArray[np.float64]
LossName = Literal["knowledge", "retrieval, related", "retrieval, full set", "noise"]
"""What is lost between two regimes."""
Outcome = Literal["loss", "gain", "undecided"]

LOSSES: tuple[tuple[LossName, RegimeName, RegimeName], ...] = (
    ("knowledge", "concepts_only", "instruction_only"),
    ("retrieval, related", "concepts_only", "related_documents"),
    ("retrieval, full set", "concepts_only", "full_set"),
    ("noise", "related_documents", "full_set"),
)
"""Each is the mean score under the richer or easier regime less that under the other."""

ALL_MODELS = "average of these models"
"""Name of the average over models in a table."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss of one model, or of the average of all.

    ``difference`` has the raw p-value, ``adjusted`` is Holm's among all losses of a page. ``left_out`` counts questions
    without a score under either regime. ``worst`` are the differences if all that is missing made it smallest, or
    largest; ``None`` where nothing is missing. The outcome is ``loss`` or ``gain`` where the adjusted test shows it and
    the interval at the worst is on the same side of 0.
    """

    name: LossName
    first: RegimeName
    second: RegimeName
    model: str
    difference: Difference
    left_out: int
    worst: tuple[Estimate, Estimate] | None
    adjusted: float | None = None
    outcome: Outcome = "undecided"


def measure_losses(scores: RegimeScores, *, level: float) -> tuple[Loss, ...]:
    """Every loss whose two regimes were asked, of each model and, of several, their average.

    Parameters
    ----------
    scores
        The run.
    level
        Confidence level of each interval alone, and of the adjusted tests together.
    """
    found = [
        loss
        for name, first, second in LOSSES
        if first in scores.regimes and second in scores.regimes
        for loss in _measure(scores, name, first, second, level)
    ]
    family = adjust_p_values([loss.difference.p_value for loss in found], level=level)
    return tuple(
        replace(loss, adjusted=row.adjusted, outcome=_outcome(loss, significant=bool(row.significant)))
        for loss, row in zip(found, family.rows, strict=True)
    )


def _measure(
    scores: RegimeScores, name: LossName, first: RegimeName, second: RegimeName, level: float
) -> Iterator[Loss]:
    columns = [_column(scores, model, first) - _column(scores, model, second) for model in scores.models]
    table = np.column_stack(columns)
    differences = _differences(scores, name, table, level)
    single = [[model] for model in scores.models]
    for place, models in enumerate([*single, list(scores.models)] if len(single) > 1 else single):
        is_all = place == len(single)
        lacking = np.isnan(table).all(axis=1) if is_all else np.isnan(table[:, place])
        yield Loss(
            name=name,
            first=first,
            second=second,
            model=ALL_MODELS if is_all else models[0],
            difference=differences[place],
            left_out=int(lacking.sum()),
            worst=_worst(scores, models, first, second, level),
        )


def _column(scores: RegimeScores, model: str, regime: RegimeName) -> Array:
    return scores.cells[model, regime].scores


def _differences(scores: RegimeScores, name: str, table: Array, level: float) -> list[Difference]:
    """The difference of each model, and that of their average."""
    undefined = Difference(Estimate(None, None, None, level, "student-clustered", 0, 0, 0), None, "sign-flip")
    if np.isnan(table).all():
        return [undefined] * (len(scores.models) + 1)
    effects = wording_effects(
        np.zeros_like(table),
        table,
        scores.clusters,
        models=scores.models,
        rng=content_rng(scores.run_id, name),
        level=level,
        repeats=scores.repeats,
    )
    by_model = {model: one.difference for model, one in zip(effects.models, effects.effects, strict=True)}
    return [*(by_model.get(model, undefined) for model in scores.models), effects.fixed]


def _worst(
    scores: RegimeScores, models: Sequence[str], first: RegimeName, second: RegimeName, level: float
) -> tuple[Estimate, Estimate] | None:
    pairs = [(scores.cells[model, first], scores.cells[model, second]) for model in models]
    if all(one.is_complete and other.is_complete for one, other in pairs):
        return None
    smallest = np.mean([one.low - other.high for one, other in pairs], axis=0)
    largest = np.mean([one.high - other.low for one, other in pairs], axis=0)
    low, high = (
        clustered_mean(values, scores.clusters, repeats=scores.repeats, level=level) for values in (smallest, largest)
    )
    return low, high


def _outcome(loss: Loss, *, significant: bool) -> Outcome:
    value = loss.difference.estimate.value
    if not significant or value is None:
        return "undecided"
    if loss.worst is None:
        return "loss" if value > 0 else "gain"
    smallest, largest = loss.worst
    if value > 0 and smallest.low is not None and smallest.low > 0:
        return "loss"
    return "gain" if value < 0 and largest.high is not None and largest.high < 0 else "undecided"
