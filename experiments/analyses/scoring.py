"""A benchmark's scores as graded and corrected for the grader's errors, with all that their uncertainty comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from experiments.analyses.ranking import Ranking, Standing, rank_respondents
from experiments.analyses.score_table import ScoreContrast, Side, compare_respondents, compare_sets, correct_sides
from experiments.analyses.scoring_inputs import Benchmark, Calibration, Respondent, narrow_sample
from experiments.analyses.scoring_results import GraderErrors, RespondentScore, Scoring, ScoringChoice
from experiments.analyses.strata_reweighting import FieldStrata, compare_strata, reweight, strata_of
from experiments.stats.correction import (
    CorrectedDifferences,
    ErrorBudget,
    GradedItems,
    LabelledItems,
    MissingStrataError,
    NotIdentifiedError,
    PoweredScore,
    ScoreCorrection,
    ScoreRange,
    box_ranges,
    correct_scores,
    error_budget,
    powered_scores,
)
from experiments.stats.errors import confusion_matrix, false_negative_rate, false_positive_rate
from experiments.stats.scores import SCORES, score_bounds

__all__ = ["score_benchmark"]

SEED = 20261130


def score_benchmark(
    benchmark: Benchmark,
    calibration: Calibration | None,
    choice: ScoringChoice | None = None,
    *,
    against: Benchmark | None = None,
) -> Scoring:
    """Score every respondent, compare them, and rank them where there are several.

    Parameters
    ----------
    benchmark, calibration
        From :func:`experiments.analyses.scoring_inputs.read_scoring`; no calibration leaves every score uncorrected.
    choice
        How; by default everything as :class:`ScoringChoice` has it.
    against
        Another set, on which the same respondents are compared with themselves.

    Raises
    ------
    ValueError
        An unknown score, a level, box or penalty that is none.
    """
    desk = _Desk(benchmark, calibration, choice or ScoringChoice(), against)
    sides = desk.sides(benchmark)
    scores = tuple(desk.score(side) for side in sides)
    compared = compare_respondents(sides, desk.roles, level=desk.choice.level, shared=desk.shared)
    others = (
        ()
        if against is None
        else compare_sets(sides, desk.sides(against), desk.roles, level=desk.choice.level, shared=desk.shared)
    )
    return Scoring(
        benchmark=benchmark,
        calibration=calibration,
        choice=desk.choice,
        labels=desk.labels,
        unused=tuple(label for label in benchmark.scale.labels if label not in desk.labels),
        errors=desk.errors(),
        respondents=scores,
        contrasts=compared,
        set_contrasts=others,
        ranking=_rank(scores, compared, desk.own_differences(sides), desk.choice),
    )


class _Desk:
    """One scoring: the scale without labels that are nowhere, and how each respondent is corrected."""

    def __init__(
        self, benchmark: Benchmark, calibration: Calibration | None, choice: ScoringChoice, against: Benchmark | None
    ) -> None:
        if choice.rank_by not in SCORES:
            raise ValueError(f"rank_by: no score, got {choice.rank_by!r}; expected one of {list(SCORES)}")
        self.benchmark, self.calibration, self.choice = benchmark, calibration, choice
        everyone = [*benchmark.respondents, *(against.respondents if against else ())]
        self.places = _used_places(benchmark, everyone, calibration)
        self.labels = tuple(benchmark.scale.labels[place] for place in self.places)
        not_attempted = benchmark.not_attempted if benchmark.not_attempted in self.labels else None
        self.roles: dict[str, Any] = {
            "labels": self.labels,
            "correct": benchmark.correct,
            "not_attempted": not_attempted,
            "penalty": choice.penalty,
        }
        labelled = None if calibration is None else calibration.labelled
        self.labelled = (
            None
            if labelled is None
            else LabelledItems(labelled.reference, np.asarray(labelled.counts)[:, self.places], labelled.clusters)
        )
        self.known = set(calibration.questions) if calibration else set()
        self.shared = any(question in self.known for one in everyone for question in one.questions)

    def sides(self, benchmark: Benchmark) -> list[Side]:
        return [self._side(one, benchmark.set_title) for one in benchmark.respondents]

    def _side(self, respondent: Respondent, title: str) -> Side:
        cut = Respondent(respondent.name, narrow_sample(respondent.sample, self.places), respondent.questions)
        if self.labelled is None or self.calibration is None or not len(self.labelled.reference):
            return Side(cut, title, None)
        if self.choice.reweight is None:
            return Side(cut, title, self.labelled)
        field = self.choice.reweight
        own = strata_of(self.calibration.sample.items, field)
        try:
            return Side(cut, title, reweight(self.labelled, own, strata_of(respondent.sample.items, field)))
        except MissingStrataError as error:
            missing = ", ".join(map(str, error.strata))
            return Side(cut, title, None, f"uncorrected: no labelled item with {field} {missing}")

    def own_differences(self, sides: Sequence[Side]) -> list[CorrectedDifferences] | None:
        """Every pair, each side corrected by its own respondent's labelled items; ``None`` where there are none."""
        if self.labelled is None or self.calibration is None or self.choice.reweight is not None:
            return None
        owners = strata_of(self.calibration.sample.items, "respondent")
        if not {side.respondent.name for side in sides} & set(owners):
            return None
        own = [self._own_side(side, owners) for side in sides]
        return [
            correct_sides(first, second, self.roles, level=self.choice.level, shared=self.shared)
            for first, second in combinations(own, 2)
        ]

    def _own_side(self, side: Side, owners: Sequence[str]) -> Side:
        assert self.labelled is not None
        try:
            return replace(side, calibration=reweight(self.labelled, owners, [side.respondent.name]))
        except MissingStrataError:
            return replace(side, calibration=None)

    def score(self, side: Side) -> RespondentScore:
        sample = side.respondent.sample
        correction = self._correct(side)
        corrected = correction.corrected is not None
        powered, reason = self._powered(side.respondent)
        return RespondentScore(
            respondent=side.respondent,
            bounds=score_bounds(sample.counts, sample.expected, **self.roles) if sample.failure_counts else None,
            correction=correction,
            budgets={name: self._budget(side, name) for name in SCORES} if corrected else {},
            box=self._box(side) if corrected else {},
            powered=powered,
            powered_reason=reason,
            strata=self._strata(side.respondent),
            shared_questions=len(self.known & set(side.respondent.questions)),
        )

    def errors(self) -> GraderErrors | None:
        if self.labelled is None or not len(self.labelled.reference):
            return None
        reference, counts, questions = self.labelled.reference, np.asarray(self.labelled.counts), self.labelled.clusters
        given: dict[str, Any] = {"labels": self.labels, "positive": self.benchmark.correct, "level": self.choice.level}
        judged = counts.sum(axis=1) > 0
        return GraderErrors(
            false_negative_rate=false_negative_rate(reference, counts, questions, **given),
            false_positive_rate=false_positive_rate(reference, counts, questions, **given),
            confusion=confusion_matrix(reference, counts, labels=self.labels),
            n_items=int(judged.sum()),
            n_questions=len({name for name, kept in zip(questions, judged, strict=True) if kept}),
        )

    def _correct(self, side: Side) -> ScoreCorrection:
        found = correct_scores(
            side.respondent.graded,
            side.calibration,
            level=self.choice.level,
            method=self.choice.method,
            rng=np.random.default_rng(SEED),
            resamples=self.choice.resamples,
            shared_clusters=self.shared,
            **self.roles,
        )
        if side.calibration is not None:
            return found
        return ScoreCorrection("uncorrected", side.reason, found.uncorrected, None, None, None)

    def _budget(self, side: Side, name: str) -> ErrorBudget | None:
        assert side.calibration is not None
        try:
            return error_budget(side.respondent.graded, side.calibration, name, **self.roles)
        except NotIdentifiedError:  # at another level than the one asked for
            return None

    def _box(self, side: Side) -> Mapping[str, ScoreRange]:
        assert side.calibration is not None
        return box_ranges(side.respondent.graded, side.calibration, delta=self.choice.box, **self.roles)

    def _powered(self, respondent: Respondent) -> tuple[Mapping[str, PoweredScore] | None, str]:
        if not self.choice.labelled_at_random:
            return None, "not stated that the labelled items are a random part of the benchmark"
        label_of = self.calibration.label_of if self.calibration else {}
        sample = respondent.sample
        given = [label_of.get(item.digest) for item in sample.items]
        labelled = [row for row, label in enumerate(given) if label is not None and sample.valid[row]]
        others = [row for row, label in enumerate(given) if label is None and sample.valid[row]]
        if not labelled or not others:
            return None, f"{len(labelled)} of the benchmark's items labelled and {len(others)} not: some of both needed"
        names = respondent.questions
        known = LabelledItems(
            [str(given[row]) for row in labelled], sample.counts[labelled], [names[row] for row in labelled]
        )
        rest = GradedItems(sample.counts[others], [names[row] for row in others])
        return powered_scores(known, rest, labelled_at_random=True, level=self.choice.level, **self.roles), ""

    def _strata(self, respondent: Respondent) -> tuple[FieldStrata, ...]:
        if self.labelled is None or self.calibration is None or not len(self.labelled.reference):
            return ()
        found = [
            compare_strata(
                field,
                respondent.graded,
                strata_of(respondent.sample.items, field),
                self.labelled,
                strata_of(self.calibration.sample.items, field),
                self.roles,
                level=self.choice.level,
                shared=self.shared,
            )
            for field in self.choice.fields
        ]
        return tuple(one for one in found if one is not None)


def _rank(
    scores: Sequence[RespondentScore],
    contrasts: Sequence[ScoreContrast],
    own: Sequence[CorrectedDifferences] | None,
    choice: ScoringChoice,
) -> Ranking | None:
    if len(scores) < 2:
        return None
    standings = [
        Standing(
            one.respondent.name,
            one.correction.uncorrected[choice.rank_by],
            None if one.correction.corrected is None else one.correction.corrected[choice.rank_by],
        )
        for one in scores
    ]
    return rank_respondents(standings, contrasts, own, score=choice.rank_by, level=choice.level)


def _used_places(benchmark: Benchmark, respondents: Sequence[Respondent], calibration: Calibration | None) -> list[int]:
    """Places of the labels that any verdict or person gave; the whole scale where fewer than two are left."""
    scale = benchmark.scale.labels
    tables = [one.sample.counts for one in respondents]
    given: set[str] = set()
    if calibration is not None:
        tables.append(calibration.sample.counts)
        given = set(calibration.sample.labels_given)
    used = np.sum([table.sum(axis=0) for table in tables], axis=0) > 0
    places = [place for place, label in enumerate(scale) if used[place] or label in given or label == benchmark.correct]
    return places if len(places) > 1 else list(range(len(scale)))
