"""Wordings of an answer prompt x models, with every score corrected for the errors of the grader that judged them.

The grader's error rates come from items that people labelled, and are taken to be the same for every model and every
wording: what the labelled items leave open is open for all cells alike, and the effects' covariance says so
(:mod:`experiments.stats.comparisons.corrected_effects`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration, GraderChoice, read_scoring
from experiments.analyses.wordings.answer_wordings import PENALTY, AnswerWordings, read_answer_wordings
from experiments.analyses.wordings.wording_comparison import RESAMPLES, WordingResult, compare_wordings
from experiments.analyses.wordings.wording_grid import QuestionTable, WordingCell, WordingFacts, WordingPairs
from experiments.analyses.wordings.worst_cases import fill_shares
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.specs.decisions import AbSpec
from experiments.stats.comparisons import CorrectedEffects, WordingEffects, correct_effects
from experiments.stats.correction import LabelledItems, NotIdentifiedError, SharedCalibration, share_calibration

__all__ = ["CorrectedWordings", "compare_corrected_wordings", "read_corrected_wordings"]


@dataclass(frozen=True)
class CorrectedWordings:
    """The grid as graded, and the labelled items of its grader, described in ``source``.

    ``questions`` gives the name that a cluster of the grid has among the labelled questions where it is one of them;
    ``level`` is that of the check that the error rates identify true scores.
    """

    graded: AnswerWordings
    labelled: LabelledItems
    questions: Mapping[str, str]
    source: str
    level: float

    @cached_property
    def facts(self) -> WordingFacts:
        """What the page says first."""
        return replace(
            self.graded.facts,
            corrected_by=self.source,
            notes=(
                f"Scores are corrected for the grader's errors by {self.source}; what these leave open is in every "
                "interval, once for all models and wordings.",
                "It is taken for granted that the grader errs as often on each class of these responses, under every "
                "wording, as on the labelled ones.",
                *self.graded.class_notes,
            ),
        )

    @property
    def pending(self) -> frozenset[str]:
        """Questions for which something has been asked of nobody yet."""
        return self.graded.pending

    @property
    def clusters(self) -> tuple[str, ...]:
        """(n,) the question of each row."""
        return self.graded.clusters

    @cached_property
    def places(self) -> list[int]:
        """Places on the scale of the labels that occur; the others are nobody's verdict."""
        grid = self.graded.grid
        used = np.sum([np.nan_to_num(cell.shares).sum(axis=0) for cell in grid.cells.values()], axis=0)
        used = used + np.asarray(self.labelled.counts).sum(axis=0)
        given = {grid.correct, *self.labelled.reference}
        return [place for place, label in enumerate(grid.labels) if used[place] or label in given]

    @cached_property
    def calibration(self) -> SharedCalibration:
        """The labelled items beside the grid's questions; raises ``SpecError`` where they cannot correct it."""
        grid = self.graded.grid
        assert grid.correct is not None  # such grids are refused where they are read
        labels = tuple(grid.labels[place] for place in self.places)
        known = set(self.questions.values()) & set(self.labelled.clusters)
        counts = np.asarray(self.labelled.counts)[:, self.places]
        try:
            return share_calibration(
                [self.questions.get(name, f"unlabelled:{name}") for name in self.clusters],
                LabelledItems(self.labelled.reference, counts, self.labelled.clusters),
                labels=labels,
                correct=grid.correct,
                not_attempted=grid.not_attempted if grid.not_attempted in labels else None,
                penalty=PENALTY,
                level=self.level,
                shared_clusters=bool(known),
            )
        except NotIdentifiedError as error:
            raise SpecError(
                f"--calibration: {self.source}: {error}; expected labelled items that tell the grader's errors, or no "
                "--calibration (scores as graded)"
            ) from error

    def cell(self, wording: str, model: str, *, level: float) -> WordingCell | None:
        """A model's corrected scores under a wording."""
        if (model, wording) not in self.graded.grid.cells:
            return None
        shares = self._shares(model, wording)
        scores = self.calibration.scores(shares, level=level, repeats=self.graded.repeats)
        bounds = self.calibration.bounds(shares, self.graded.present(model, wording))
        return self.graded.describe(wording, model, scores, bounds)

    def effects(self, wording: str, control: str, *, level: float, resamples: int) -> Mapping[str, WordingEffects]:  # noqa: ARG002
        """Effects on every corrected score, with their joint covariance over models; nothing is drawn."""
        if (wording, control) not in self._joint:
            self._joint[wording, control] = self._correct(wording, control)
        return self._joint[wording, control].at(level=level)

    @cached_property
    def _joint(self) -> dict[tuple[str, str], CorrectedEffects]:
        """Effects without their level, for the rule asks for several."""
        return {}

    def _correct(self, wording: str, control: str) -> CorrectedEffects:
        models = self.shared(wording, control)
        shape = (len(models), len(self.clusters), len(self.places))
        baseline, changed = (
            np.array([self._shares(model, one) for model in models]).reshape(shape) for one in (control, wording)
        )
        return correct_effects(baseline, changed, self.calibration, models=models, repeats=self.graded.repeats)

    def worst(
        self, wording: str, control: str, quantities: Sequence[str], *, level: float
    ) -> Mapping[str, WordingEffects]:
        """Effects on some scores if all that is missing truly went against the wording, whatever its verdict."""
        found = {}
        for name in quantities:
            if (wording, control, name) not in self._worst:
                self._worst[wording, control, name] = self._correct_worst(wording, control, name)
            found[name] = self._worst[wording, control, name].at(level=level)[name]
        return found

    @cached_property
    def _worst(self) -> dict[tuple[str, str, str], CorrectedEffects]:
        """Effects at their worst without their level."""
        return {}

    def _correct_worst(self, wording: str, control: str, quantity: str) -> CorrectedEffects:
        """What is missing gets the verdicts that a response of that true class would have got on average."""
        models, n = self.shared(wording, control), len(self.clusters)
        matrix, tables, assumed = self.calibration.known.totals().matrix, [], []
        for one in (control, wording):
            layers = [self._fill(model, one, quantity, best=one == control) for model in models]
            tables.append(np.array([known + truth @ matrix for known, truth in layers]).reshape(len(models), n, -1))
            assumed.append([truth.sum(axis=0) / n for _, truth in layers])
        return correct_effects(
            tables[0],
            tables[1],
            self.calibration,
            models=models,
            repeats=self.graded.repeats,
            assumed=np.array(assumed).reshape(2, len(models), len(self.places)),
        )

    def _fill(
        self, model: str, wording: str, quantity: str, *, best: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n, L) shares as judged at their own weight, and (n, L) the true classes of what is missing."""
        shares, present = self._shares(model, wording), self.graded.present(model, wording)
        parts = np.where(shares.sum(axis=1) > 0, present, 0.0)
        true = np.zeros_like(shares)
        if parts.any():
            true[:] = self.calibration.solve(self.calibration.join(shares))
        choice = self.calibration.choice
        _, missing = fill_shares(
            true,
            parts,
            quantity,
            best=best,
            labels=choice.labels,
            correct=choice.correct,
            not_attempted=choice.not_attempted,
            penalty=PENALTY,
        )
        return shares * parts[:, None], missing

    def pairs(self, wording: str, control: str) -> WordingPairs:
        """Questions with a class under both wordings, and answers that are missing under either."""
        return self.graded.pairs(wording, control)

    def table(self, wording: str, control: str, quantity: str, *, worst: bool = False) -> QuestionTable | None:  # noqa: ARG002
        """None: a corrected score is no mean of the questions alone."""
        return None

    def shared(self, wording: str, control: str) -> list[str]:
        """Models that have both wordings."""
        return self.graded.shared(wording, control)

    def take(self, questions: frozenset[str]) -> CorrectedWordings:
        """The grid of some questions alone."""
        return replace(self, graded=self.graded.take(questions))

    def _shares(self, model: str, wording: str) -> NDArray[np.float64]:
        return self.graded.shares(model, wording)[:, self.places]


def read_corrected_wordings(
    data: RunData, calibration: RunData, choice: GraderChoice, *, level: float
) -> CorrectedWordings:
    """Read an answering run as wordings x models, and the labelled items by which its scores are corrected.

    Parameters
    ----------
    data, calibration
        A run with an answering part; a run in which the same grader judged items that people labelled.
    choice
        Which grader is meant, as for :func:`experiments.analyses.scores.scoring_inputs.read_scoring`.
    level
        Of the check that the error rates identify true scores.

    Raises
    ------
    SpecError
        As in :func:`read_answer_wordings` and :func:`read_scoring`; the error rates do not identify true scores.
    """
    (benchmark,), known = read_scoring([data], calibration, choice)
    if known is None:
        raise SpecError(f"--calibration: {calibration.run_id}, no grader; expected a run with the grader's verdicts")
    grid = CorrectedWordings(
        graded=read_answer_wordings(data, benchmark.grader_id),
        labelled=known.labelled,
        questions=_question_names(benchmark),
        source=_describe(known),
        level=level,
    )
    # What cannot be corrected is said before anything is computed.
    _ = grid.calibration
    return grid


def compare_corrected_wordings(
    grid: CorrectedWordings,
    spec: AbSpec | None,
    *,
    level: float,
    control: str | None = None,
    resamples: int = RESAMPLES,
) -> WordingResult:
    """Compare by corrected scores and apply the rule to them, with the same comparison as graded beside it.

    Parameters and errors as in :func:`experiments.analyses.wordings.wording_comparison.compare_wordings`.
    """
    corrected, graded = (
        compare_wordings(one, spec, level=level, control=control, resamples=resamples) for one in (grid, grid.graded)
    )
    return replace(corrected, as_graded=graded)


def _question_names(benchmark: Benchmark) -> Mapping[str, str]:
    return {
        item.cluster_id: name
        for one in benchmark.respondents
        for item, name in zip(one.sample.items, one.questions, strict=True)
    }


def _describe(known: Calibration) -> str:
    n, questions = known.sample.n_items, len(set(known.questions))
    text = f"{n:,} labelled items of {questions:,} questions ({known.set_title}, run {known.run_id})"
    return text if known.same_grader else f"{text}, judged by {known.grader}, whose errors are assumed to be alike"
