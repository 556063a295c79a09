"""Scores of each model under each regime, question by question, as a grader gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.errors import SpecError
from experiments.regimes.regime_names import REGIMES, RegimeName
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
    """The cells of a run by (model, regime), over n questions; ``traits`` (n,) are NaN where one is not told."""

    run_id: str
    grader: str
    repeats: int
    clusters: tuple[str, ...]
    models: tuple[str, ...]
    regimes: tuple[RegimeName, ...]
    cells: Mapping[tuple[str, RegimeName], RegimeCell]
    traits: Mapping[str, Array]


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
        If the run is none under regimes, its labels are no scores from 0 to 1, or ``grader`` is not one of its graders.
    """
    answering, values = data.answering, data.calibration_set.scale.values
    if answering is None or not answering.has_regimes:
        raise SpecError(f"{data.run_id}: no [regimes] in its experiment; expected a run of one that has it")
    if values is None or values[0] != 0 or values[-1] != 1:
        labels = list(data.calibration_set.scale.labels)
        raise SpecError(f"{data.run_id}: labels {labels}; expected scores from 0 to 1, as of der2_rubric")
    grid = read_grid(data, grader)
    prompts = {prompt.partition("@")[0]: prompt for prompt in grid.prompts}
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
    )


def _cell(cell: GridCell, values: Array) -> RegimeCell:
    # A mean of numbers up to 1 may pass it by a rounding error.
    scores = np.clip(cell.shares @ values, 0.0, 1.0)
    present = np.where(cell.present >= COMPLETE, 1.0, cell.present)
    low = np.nan_to_num(scores) * present
    return RegimeCell(scores, low, np.clip(low + (1 - present), 0.0, 1.0), cell)
