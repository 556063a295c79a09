"""A benchmark's scores as graded and corrected for the grader's errors, with all that their uncertainty comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.analyses.scores.ranking import Ranking, rank_respondents
from experiments.analyses.scores.score_table import (
    Intervals,
    ScoreContrast,
    Side,
    compare_respondents,
    compare_sets,
    correct_pairs,
)
from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration, Respondent
from experiments.analyses.scores.scoring_raters import agree, labelled_by
from experiments.analyses.scores.scoring_results import GraderErrors, RespondentScore, Scoring, ScoringChoice
from experiments.analyses.scores.scoring_scale import narrow_sample, used_places
from experiments.analyses.scores.strata_reweighting import (
    FieldStrata,
    check_reweight,
    compare_strata,
    reweight,
    strata_of,
)
from experiments.reports.sample import Sample
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
    missing_item_bounds,
    powered_scores,
)
from experiments.stats.errors import confusion_matrix, false_negative_rate, false_positive_rate
from experiments.stats.scores import SCORES, score_bounds

__all__ = ["score_benchmark"]


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
        From ``scoring_inputs.read_scoring``; no calibration leaves every score uncorrected.
    choice
        How; by default everything as :class:`ScoringChoice` has it.
    against
        Another set, on which the same respondents are compared with themselves.

    Raises
    ------
    SpecError
        A field to reweight by in which no items differ.
    ValueError
        An unknown score, a level, box or penalty that is none.
    """
    desk = _Desk(benchmark, calibration, choice or ScoringChoice(), against)
    sides = desk.sides(benchmark)
    scores = tuple(desk.score(side) for side in sides)
    compared = compare_respondents(sides, desk.roles, desk.intervals)
    others = () if against is None else compare_sets(sides, desk.sides(against), desk.roles, desk.intervals)
    return Scoring(
        benchmark=benchmark,
        calibration=calibration,
        choice=desk.choice,
        labels=desk.labels,
        unused=tuple(label for label in benchmark.scale.labels if label not in desk.labels),
        errors=desk.errors(),
        agreement=None if calibration is None else agree(calibration.raters, level=desk.choice.level),
        shared=desk.intervals.shared,
        respondents=scores,
        contrasts=compared,
        set_contrasts=others,
        ranking=_rank(scores, compared, desk.own_differences(sides, compared), desk.choice),
        against=against,
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
        if self.choice.reweight is not None:
            known = calibration.sample.items if calibration else ()
            check_reweight(self.choice.reweight, known, [item for one in everyone for item in one.sample.items])
        self.places = used_places(benchmark, everyone, calibration)
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
        shared = any(question in self.known for one in everyone for question in one.questions)
        self.intervals = Intervals(choice.level, shared, choice.method, choice.resamples)

    def sides(self, benchmark: Benchmark) -> list[Side]:
        return [self._side(one, benchmark.set_title) for one in benchmark.respondents]

    def _side(self, respondent: Respondent, title: str) -> Side:
        cut = Respondent(respondent.name, narrow_sample(respondent.sample, self.places), respondent.questions)
        if self.labelled is None or self.calibration is None or not len(self.labelled.reference):
            return Side(cut, title, None)
        if self.choice.reweight is None:
            return Side(cut, title, self.labelled)
        own, wanted = (
            strata_of(sample.items, self.choice.reweight) for sample in (self.calibration.sample, respondent.sample)
        )
        return self._reweighted(Side(cut, title, self.labelled), own, wanted)

    def _reweighted(self, side: Side, own: Sequence[str], wanted: Sequence[str]) -> Side:
        """The side with the strata of its labelled items, ``own``, brought to the shares of ``wanted``."""
        assert side.calibration is not None
        try:
            return replace(side, calibration=reweight(side.calibration, own, wanted))
        except MissingStrataError as error:
            missing = ", ".join(map(str, error.strata))
            reason = f"uncorrected: no labelled item with {self.choice.reweight} {missing}"
            return replace(side, calibration=None, reason=reason)

    def own_differences(
        self, sides: Sequence[Side], compared: Sequence[ScoreContrast]
    ) -> list[CorrectedDifferences] | None:
        """Every pair, each side corrected by its own respondent's labelled items; ``None`` where there are none.

        Not reweighted, for few of them would be spread over all strata. Reweighted by respondent, ``compared`` are it.
        """
        if self.labelled is None or self.calibration is None:
            return None
        if self.choice.reweight == "respondent":
            return [contrast.corrected for contrast in compared]
        owners = strata_of(self.calibration.sample.items, "respondent")
        if not {side.respondent.name for side in sides} & set(owners):
            return None
        return correct_pairs([self._own_side(side, owners) for side in sides], self.roles, self.intervals)

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
            corrected_bounds=self._missing(sample, correction),
            without_verdict=int((sample.valid == 0).sum()),
            correction=correction,
            budgets={name: self._budget(side, name) for name in SCORES} if corrected else {},
            box=self._box(side) if corrected else {},
            powered=powered,
            powered_reason=reason,
            strata=self._strata(side.respondent),
            by_rater=self._by_rater(side.respondent),
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
        found = correct_scores(side.respondent.graded, side.calibration, **self.intervals.options, **self.roles)
        if side.calibration is None:
            return ScoreCorrection("uncorrected", side.reason, found.uncorrected, None, None, None)
        assert self.calibration is not None
        return replace(found, reason=self.calibration.words.retold(found.reason) or "")

    def _missing(self, sample: Sample, found: ScoreCorrection) -> Mapping[str, tuple[float, float] | None] | None:
        """What the items without any verdict allow of the corrected scores."""
        absent = int((sample.valid == 0).sum())
        if found.shares is None or not absent:
            return None
        return missing_item_bounds(found.shares, absent / sample.n_items, **self.roles)

    def _by_rater(self, respondent: Respondent) -> Mapping[str, ScoreCorrection]:
        """The correction with each rater's labels as the reference, on the items that this one labelled."""
        if self.calibration is None:
            return {}
        return {rater: self._as_rated(respondent, rater) for rater in self.calibration.raters.in_turn}

    def _as_rated(self, respondent: Respondent, rater: str) -> ScoreCorrection:
        assert self.calibration is not None
        raters = self.calibration.raters
        labelled, rows = labelled_by(raters, rater, self.places)
        side, strange = Side(respondent, "", labelled), sorted(set(labelled.reference) - set(self.labels))
        if strange:
            return self._correct(replace(side, calibration=None, reason=f"not identified: no verdict is {strange[0]}"))
        if self.choice.reweight is not None:
            own = strata_of([raters.sample.items[row] for row in rows], self.choice.reweight)
            side = self._reweighted(side, own, strata_of(respondent.sample.items, self.choice.reweight))
        return self._correct(side)

    def _budget(self, side: Side, name: str) -> ErrorBudget | None:
        assert side.calibration is not None
        try:
            shared = self.intervals.shared
            return error_budget(side.respondent.graded, side.calibration, name, shared_clusters=shared, **self.roles)
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
                self.intervals,
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
    standings = [one.standing(choice.rank_by) for one in scores]
    return rank_respondents(standings, contrasts, own, score=choice.rank_by, level=choice.level)
