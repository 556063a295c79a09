"""Scores of each model under each regime, question by question, as a grader gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from experiments.errors import SpecError
from experiments.regimes.label_scores import score_labels
from experiments.regimes.regime_names import REGIMES, RegimeName, regime_of
from experiments.reports.inputs import RunData
from experiments.respondents.grid import GridCell, read_grid

__all__ = ["RegimeCell", "RegimeScores", "read_regimes"]

Array = NDArray[np.float64]

COMPLETE = 1 - 1e-9
"""A question of which this part is there lacks nothing but a rounding error."""


@dataclass(frozen=True)
class RegimeCell:
    """One model under one regime.

    ``scores`` (n,) are means of a question's answers, NaN where no answer has a verdict; ``low`` and ``high`` (n,) are
    the same if all that is missing were 0, or 1. ``counts`` says what is missing and why.
    """

    scores: Array
    low: Array
    high: Array
    counts: GridCell

    @property
    def is_complete(self) -> bool:
        """Whether every answer that was asked for has every verdict."""
        return bool((self.high == self.low).all())


@dataclass(frozen=True)
class RegimeScores:
    """The cells of a run by (model, regime), over n questions; ``traits`` (n,) are NaN where one is not told.

    ``worth`` is the score of each of the grader's labels.
    """

    run_id: str
    grader: str
    repeats: int
    clusters: tuple[str, ...]
    models: tuple[str, ...]
    regimes: tuple[RegimeName, ...]
    cells: Mapping[tuple[str, RegimeName], RegimeCell]
    traits: Mapping[str, Array]
    worth: Mapping[str, float] = field(default_factory=dict)


def read_regimes(data: RunData, grader: str | None = None) -> RegimeScores:
    """Line up the scores of a run under regimes.

    Parameters
    ----------
    data
        The run.
    grader
        Which grader's verdicts, where it has several.

    Raises
    ------
    SpecError
        If the run is none under regimes, its labels are no scores, or ``grader`` is not one of its graders.
    """
    answering, scale = data.answering, data.calibration_set.scale
    values = score_labels(scale)
    if answering is None or not answering.has_regimes:
        raise SpecError(f"{data.run_id}: no [regimes] in its experiment; expected a run of one that has it")
    if values is None:
        raise SpecError(f"{data.run_id}: labels {list(scale.labels)}; expected numbers, or one that counts as right")
    grid = read_grid(data, grader)
    prompts = {regime_of(prompt): prompt for prompt in grid.prompts}
    regimes = tuple(regime for regime in REGIMES if regime in prompts)
    names = dict.fromkeys(name for question in answering.questions for name in question.traits)
    return RegimeScores(
        run_id=data.run_id,
        grader=grid.grader,
        repeats=answering.repeats,
        clusters=grid.clusters,
        models=grid.models,
        regimes=regimes,
        cells={
            (model, regime): _cell(grid.cells[model, prompts[regime]], np.array(values))
            for model in grid.models
            for regime in regimes
        },
        traits={
            name: np.array([question.traits.get(name, np.nan) for question in answering.questions], dtype=np.float64)
            for name in names
        },
        worth=dict(zip(scale.labels, values, strict=True)),
    )


def _cell(cell: GridCell, values: Array) -> RegimeCell:
    # A mean of numbers up to 1 may pass it by a rounding error.
    scores = np.clip(cell.shares @ values, 0.0, 1.0)
    present = np.where(cell.present >= COMPLETE, 1.0, cell.present)
    low = np.nan_to_num(scores) * present
    return RegimeCell(scores, low, np.clip(low + (1 - present), 0.0, 1.0), cell)
