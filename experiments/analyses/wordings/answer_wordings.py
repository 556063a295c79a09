"""Wordings of an answer prompt x models: each model's scores on the same questions, as a grader judged them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.partial_answers import PARTIAL_NOTE, THREE_CLASSES, merge_partial_answers
from experiments.analyses.right_label import right_label
from experiments.analyses.wordings.wording_grid import Bounds, QuestionTable, WordingCell, WordingFacts, WordingPairs
from experiments.analyses.wordings.worst_cases import fill_shares
from experiments.errors import SpecError
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.plain import content_rng
from experiments.respondents.grid import Grid, GridCell, find_grader, read_grid
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
    """An answering run's grid, as cells (wording, model); ``rows`` are its questions that are looked at.

    ``merged`` says that its scale had partial answers, which count as not attempted.
    """

    grid: Grid
    repeats: int
    pending: frozenset[str]
    rows: tuple[int, ...]
    merged: bool = False

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
                *self.class_notes,
            ),
        )

    @property
    def class_notes(self) -> tuple[str, ...]:
        """What is to be known of its classes."""
        return (PARTIAL_NOTE,) if self.merged else ()

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
        given = self._given(model, wording)
        complete = bool((self.present(model, wording) == 1).all())
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
        both = ([self.shares(model, one) for model in models] for one in (control, wording))
        return self._compare(wording, control, models, *both, level=level, resamples=resamples)

    def worst(
        self, wording: str, control: str, quantities: Sequence[str], *, level: float
    ) -> Mapping[str, WordingEffects]:
        """Effects on some scores if all that is missing went against the wording."""
        models, found = self.shared(wording, control), {}
        for name in quantities:
            before = [self.filled(model, control, name, best=True) for model in models]
            after = [self.filled(model, wording, name, best=False) for model in models]
            # Only intervals are used, which rest on no draw.
            found[name] = self._compare(wording, control, models, before, after, level=level, resamples=1)[name]
        return found

    def pairs(self, wording: str, control: str) -> WordingPairs:
        """Questions with a class under both wordings, and answers that are missing under either."""
        models = self.shared(wording, control)
        given = {model: int((self._given(model, wording) & self._given(model, control)).sum()) for model in models}
        lost = sum(float((1 - self.present(model, one)).sum()) for model in models for one in (wording, control))
        return WordingPairs(given, len(self.rows), ceil(self.repeats * lost - 1e-6))

    def table(self, wording: str, control: str, quantity: str, *, worst: bool = False) -> QuestionTable | None:
        """Paired differences of a score that is a mean of the questions; ``None`` for a ratio."""
        score, models = SCORES[quantity], self.shared(wording, control)
        if score.denominator != (1.0, 1.0, 1.0):
            return None
        weights = score.numerator_weights(PENALTY)

        def points(model: str, one: str) -> NDArray[np.float64]:
            shares = self.filled(model, one, quantity, best=one == control) if worst else self.shares(model, one)
            return self._points(shares, weights)

        columns = [points(model, wording) - points(model, control) for model in models]
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
        """(n,) the part of each question's verdicts that is there; a rounding error is none."""
        present = self.grid.cells[model, wording].present[list(self.rows)]
        return np.where(present >= COMPLETE, 1.0, present)

    def _given(self, model: str, wording: str) -> NDArray[np.bool_]:
        """(n,) the questions with a class."""
        return np.asarray(self.shares(model, wording).sum(axis=1) > 0)

    def filled(self, model: str, wording: str, quantity: str, *, best: bool) -> NDArray[np.float64]:
        """(n, L) shares if all that questions lack were of the class that makes a score highest, or lowest."""
        shares, present = self.shares(model, wording), self.present(model, wording)
        filled, _ = fill_shares(shares, present, quantity, best=best, penalty=PENALTY, **self._roles())
        return filled

    def _compare(
        self,
        wording: str,
        control: str,
        models: Sequence[str],
        before: Sequence[NDArray[np.float64]],
        after: Sequence[NDArray[np.float64]],
        *,
        level: float,
        resamples: int,
    ) -> Mapping[str, WordingEffects]:
        shape = (len(models), len(self.rows), len(self.grid.labels))
        return score_effects(
            np.array(before).reshape(shape),
            np.array(after).reshape(shape),
            self.clusters,
            models=models,
            rng=content_rng(self.grid.run_id, wording, control),
            penalty=PENALTY,
            level=level,
            resamples=resamples,
            repeats=self.repeats,
            **self._roles(),
        )

    def _roles(self) -> dict[str, Any]:
        grid = self.grid
        return {"labels": grid.labels, "correct": grid.correct, "not_attempted": grid.not_attempted}

    def _points(self, shares: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) what each question adds to a mean score; NaN where it has no class."""
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
        If no label counts as right, it has no answering part or fewer than two answer prompts; as in
        :func:`read_grid`.
    """
    right_label(data.calibration_set.scale, f"run {data.run_id}")
    data = merge_partial_answers(data)
    grid = read_grid(data, grader)
    if len(grid.prompts) < 2:
        raise SpecError(
            f"{data.run_id}: the answer prompts are {list(grid.prompts)}; expected two or more, the control among them"
        )
    repeats = data.answering.repeats if data.answering is not None else 1
    merged = data.calibration_set.scale.name == THREE_CLASSES.name
    return AnswerWordings(grid, repeats, _pending(data, grid, grader), tuple(range(len(grid.questions))), merged)


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
    return frozenset(found | _unjudged(data, by_id, find_grader(data, grader)[0]))


def _unjudged(data: RunData, clusters: Mapping[str, str], results: GraderResults) -> set[str]:
    digests = {
        verdict.item_digest
        for verdict in results.verdicts
        if verdict.failure == "not_answered" and verdict.detail == "not_asked"
    }
    return {clusters[item.metadata["question"]] for item in data.calibration_set.items if item.digest in digests}


def _failures(cell: GridCell) -> Mapping[str, int]:
    """Why questions have no class: no response of such a reason, or no verdict."""
    missing: Sequence[tuple[str, int]] = [(f"no response, {reason}", n) for reason, n in cell.missing.items()]
    verdicts = [(f"no verdict, {reason}", n) for reason, n in cell.verdict_failures.items()]
    return {reason: n for reason, n in (*missing, *verdicts) if n}


def _of_part(missing: int) -> Mapping[str, int]:
    return {"without a class": missing} if missing else {}
