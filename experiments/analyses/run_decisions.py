"""The decisions that a run has data for, of whatever kind it is: what a reader of its figures wants first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from experiments.analyses.choice.candidates import read_labelled
from experiments.analyses.choice.choosing import Choice, choose_grader
from experiments.analyses.wordings.answer_wordings import read_answer_wordings
from experiments.analyses.wordings.grader_wordings import read_grader_wordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.analyses.wordings.wording_grid import WordingGrid
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.specs.decisions import DecisionSpecs

__all__ = ["RunDecisions", "decide_run"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RunDecisions:
    """A choice of graders and a comparison of wordings; ``None`` where the run is about neither.

    ``notes`` says why a decision that the run is about cannot be made.
    """

    choice: Choice | None
    wordings: WordingResult | None
    notes: tuple[str, ...]


def decide_run(data: RunData, specs: DecisionSpecs, *, level: float) -> RunDecisions:
    """Choose between the graders of a labelled run, and compare wordings where prompts meet in a model.

    Parameters
    ----------
    data
        The run.
    specs
        The rules that its experiment states.
    level
        Confidence level.
    """
    notes: list[str] = []
    choice = None
    if _is_choice(data):
        choice = _try(lambda: choose_grader(data, specs.choose, level=level), notes)
    grid = _try(lambda: _read_grid(data), notes)
    wordings = None
    if grid is not None and (specs.ab is not None or _all_meet(grid)):
        wordings = _try(lambda: compare_wordings(grid, specs.ab, level=level), notes)
    return RunDecisions(choice, wordings, tuple(notes))


def _try(decide: Callable[[], _T], notes: list[str]) -> _T | None:
    """A rule that does not fit its run stops ``choose`` and ``ab``, and here is told beside all that can be shown."""
    try:
        return decide()
    except SpecError as error:
        notes.append(str(error))
        return None


def _is_choice(data: RunData) -> bool:
    is_labelled = data.answering is None and data.calibration_set.scale.positive is not None
    return is_labelled and bool(data.graders) and bool(read_labelled(data).contest.items)


def _read_grid(data: RunData) -> WordingGrid | None:
    if data.answering is not None:
        prompts = {respondent.prompt for respondent in data.answering.respondents}
        is_comparison = len(prompts) > 1 and not data.answering.has_regimes
        return read_answer_wordings(data) if is_comparison else None
    prompts = {grader.prompt for grader in data.graders if grader.prompt}
    return read_grader_wordings(data) if len(prompts) > 1 and _is_choice(data) else None


def _all_meet(grid: WordingGrid) -> bool:
    """Whether every wording has a model in common with the first: else a run of several prompts compares none."""
    first, *others = grid.facts.wordings
    return all(grid.shared(other, first) for other in others)
