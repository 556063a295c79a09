"""Wordings of an answer prompt x models: each model's scores on the same questions, as a grader judged them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.wording_grid import Bounds, QuestionTable, WordingCell, WordingFacts
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.plain import content_rng
from experiments.respondents.grid import Grid, GridCell, read_grid
from experiments.stats.comparisons.score_effects import score_effects
from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.estimate import Estimate
from experiments.stats.scores import SCORES, benchmark_scores
from experiments.stats.scores.score_covariance import missing_question_bounds
from experiments.stats.scores.score_functions import class_shares

__all__ = ["PENALTY", "AnswerWordings", "read_answer_wordings"]

PENALTY = 1.0
"""Cost of a wrong answer in ``penalised``."""

COMPLETE = 1 - 1e-9
"""A question of which this part is there lacks nothing but a rounding error."""


@dataclass(frozen=True)
class AnswerWordings:
    """An answering run's grid, as cells (wording, model); ``rows`` are its questions that are looked at."""

    grid: Grid
    repeats: int
    pending: frozenset[str]
    rows: tuple[int, ...]

    @cached_property
    def facts(self) -> WordingFacts:
        """What the page says first."""
        return WordingFacts(
            run_id=self.grid.run_id,
            kind="answer",
            about=f"responses as {self.grid.grader} judged them",
            wordings=self.grid.prompts,
            models=self.grid.models,
            quantities=tuple(SCORES),
            n_items=len(self.rows),
            n_questions=len(set(self.clusters)),
            notes=(
                "Scores are as graded: the grader's own errors are not corrected, and a wording that changes how "
                "answers read may change how often the grader errs.",
            ),
        )

    @property
    def clusters(self) -> tuple[str, ...]:
        """(n,) what questions depend on each other."""
        return tuple(self.grid.clusters[row] for row in self.rows)

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell | None:
        """A model's scores under a wording, over the questions with a class."""
        if (model, wording) not in self.grid.cells:
            return None
        shares, present = self.shares(model, wording), self.present(model, wording)
        scores = benchmark_scores(
            shares, self.clusters, penalty=PENALTY, repeats=self.repeats, level=level, **self._roles()
        )
        bounds = missing_question_bounds(shares, present=present, penalty=PENALTY, **self._roles())
        return self.describe(wording, model, scores, bounds)

    def describe(
        self, wording: str, model: str, scores: Mapping[str, Estimate], bounds: Mapping[str, Bounds]
    ) -> WordingCell:
        """A cell with its scores, and their bounds where anything is missing."""
        given = self.shares(model, wording).sum(axis=1) > 0
        complete = bool((self.present(model, wording) >= COMPLETE).all())
        missing = int((~given).sum())
        whole = len(self.rows) == len(self.grid.questions)
        return WordingCell(
            wording=wording,
            model=model,
            quantities=scores,
            bounds={name: None if complete else bounds[name] for name in SCORES},
            expected=len(self.rows),
            valid=int(given.sum()),
            failures=_failures(self.grid.cells[model, wording]) if whole else _of_part(missing),
        )

    def effects(self, wording: str, control: str, *, level: float, resamples: int) -> Mapping[str, WordingEffects]:
        """Effects on every score, paired by question, with their joint covariance over models."""
        models = self.shared(wording, control)
        baseline, changed = (
            np.array([self.shares(model, one) for model in models]).reshape(len(models), len(self.rows), -1)
            for one in (control, wording)
        )
        return score_effects(
            baseline,
            changed,
            self.clusters,
            models=models,
            rng=content_rng(self.grid.run_id, wording, control),
            penalty=PENALTY,
            level=level,
            resamples=resamples,
            repeats=self.repeats,
            **self._roles(),
        )

    def table(self, wording: str, control: str, quantity: str) -> QuestionTable | None:
        """Paired differences of a score that is a mean of the questions; ``None`` for a ratio."""
        score, models = SCORES[quantity], self.shared(wording, control)
        if score.denominator != (1.0, 1.0, 1.0):
            return None
        weights = score.numerator_weights(PENALTY)
        columns = [self._points(model, wording, weights) - self._points(model, control, weights) for model in models]
        low, high = score.span(PENALTY)
        values = np.array(columns, dtype=np.float64).reshape(len(models), len(self.rows)).T
        return QuestionTable(values, self.clusters, (low - high, high - low))

    def shared(self, wording: str, control: str) -> list[str]:
        """Models that have both wordings."""
        has = self.grid.cells
        return [model for model in self.grid.models if (model, wording) in has and (model, control) in has]

    def take(self, questions: frozenset[str]) -> AnswerWordings:
        """The grid of some questions alone."""
        kept = tuple(row for row in self.rows if self.grid.clusters[row] in questions)
        return replace(self, rows=kept, pending=self.pending & questions)

    def shares(self, model: str, wording: str) -> NDArray[np.float64]:
        """(n, L) shares of each question's labels, a row of zeros where it has none."""
        return np.nan_to_num(self.grid.cells[model, wording].shares[list(self.rows)])

    def present(self, model: str, wording: str) -> NDArray[np.float64]:
        """(n,) the part of each question's verdicts that is there."""
        return self.grid.cells[model, wording].present[list(self.rows)]

    def _roles(self) -> dict[str, Any]:
        grid = self.grid
        return {"labels": grid.labels, "correct": grid.correct, "not_attempted": grid.not_attempted}

    def _points(self, model: str, wording: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) what each question adds to a mean score; NaN where it has no class."""
        shares = self.shares(model, wording)
        points = class_shares(shares, **self._roles()) @ weights
        return np.where(shares.sum(axis=1) > 0, points, np.nan)


def read_answer_wordings(data: RunData, grader: str | None = None) -> AnswerWordings:
    """Read an answering run as wordings x models.

    Parameters
    ----------
    data
        A run with an answering part.
    grader
        Which grader's verdicts, where it has several.

    Raises
    ------
    SpecError
        If it has no answering part or fewer than two answer prompts; as in :func:`read_grid`.
    """
    grid = read_grid(data, grader)
    if len(grid.prompts) < 2:
        raise SpecError(
            f"{data.run_id}: {len(grid.prompts)} answer prompts; expected two or more, the control among them"
        )
    repeats = data.answering.repeats if data.answering is not None else 1
    return AnswerWordings(grid, repeats, _pending(data, grid, grader), tuple(range(len(grid.questions))))


def _pending(data: RunData, grid: Grid, grader: str | None) -> frozenset[str]:
    """Clusters with a response that was not asked for, or one that the grader was not asked to judge.

    A response that is missing is counted by cell and not by question: where any was never asked for, every question
    without one in that cell may be the one.
    """
    by_id = dict(zip(grid.questions, grid.clusters, strict=True))
    found: set[str] = set()
    respondents = data.answering.respondents if data.answering is not None else ()
    answered: dict[str, dict[str, int]] = {}
    for item in data.calibration_set.items:
        counts = answered.setdefault(str(item.respondent), {})
        counts[item.metadata["question"]] = counts.get(item.metadata["question"], 0) + 1
    repeats = data.answering.repeats if data.answering is not None else 1
    for respondent in respondents:
        if respondent.missing.get("not_asked"):
            counts = answered.get(respondent.name, {})
            found |= {cluster for name, cluster in by_id.items() if counts.get(name, 0) < repeats}
    return frozenset(found | _unjudged(data, by_id, grid, grader))


def _unjudged(data: RunData, clusters: Mapping[str, str], grid: Grid, grader: str | None) -> set[str]:
    digests = {
        verdict.item_digest
        for results in data.graders
        if results.grader_id == grader or _title(results) == grid.grader
        for verdict in results.verdicts
        if verdict.failure == "not_answered" and verdict.detail == "not_asked"
    }
    return {clusters[item.metadata["question"]] for item in data.calibration_set.items if item.digest in digests}


def _title(results: GraderResults) -> str:
    """As the grid names its grader."""
    return f"{results.prompt.partition('#')[0]} {results.model}" if results.prompt else results.model


def _failures(cell: GridCell) -> Mapping[str, int]:
    """Why questions have no class: no response of such a reason, or no verdict."""
    missing: Sequence[tuple[str, int]] = [(f"no response, {reason}", n) for reason, n in cell.missing.items()]
    verdicts = [(f"no verdict, {reason}", n) for reason, n in cell.verdict_failures.items()]
    return {reason: n for reason, n in (*missing, *verdicts) if n}


def _of_part(missing: int) -> Mapping[str, int]:
    return {"without a class": missing} if missing else {}
