"""What a scoring is asked for, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from experiments.analyses.scores.ranking import Ranking, Standing
from experiments.analyses.scores.score_table import ScoreContrast
from experiments.analyses.scores.scoring_inputs import Benchmark, Calibration, Respondent
from experiments.analyses.scores.scoring_raters import RaterAgreement
from experiments.analyses.scores.strata_reweighting import FIELDS, FieldStrata, StratumField
from experiments.reports.label_words import PEOPLE, LabelWords
from experiments.stats.correction import ErrorBudget, PoweredScore, ScoreCorrection, ScoreRange
from experiments.stats.errors import ConfusionMatrix
from experiments.stats.estimate import Estimate

__all__ = ["GraderErrors", "RespondentScore", "Scoring", "ScoringChoice"]


@dataclass(frozen=True)
class ScoringChoice:
    """How scores are corrected and compared.

    Attributes
    ----------
    level
        Confidence level, of intervals and of the family of pairs.
    method
        Interval of a corrected score or difference: ``delta``, or ``bootstrap`` of questions.
    rank_by
        The score of the ranking.
    fields
        Whose strata are looked at.
    reweight
        The field to whose shares on the benchmark the error rates are reweighted throughout; ``None`` for no field.
    labelled_at_random
        Whether the labelled items of the benchmark are a random part of it, so that PPI++ may be used.
    box
        How far the chance of a right verdict may be off on each class, where that is looked at.
    penalty
        Cost of a wrong answer in ``penalised``.
    """

    level: float = 0.95
    method: Literal["delta", "bootstrap"] = "delta"
    rank_by: str = "f1"
    fields: tuple[StratumField, ...] = FIELDS
    reweight: StratumField | None = None
    labelled_at_random: bool = False
    box: float = 0.02
    penalty: float = 1.0
    resamples: int = 10_000


@dataclass(frozen=True)
class GraderErrors:
    """Errors of the grader on the labelled items."""

    false_negative_rate: Estimate
    false_positive_rate: Estimate
    confusion: ConfusionMatrix
    n_items: int
    n_questions: int


@dataclass(frozen=True)
class RespondentScore:
    """One respondent's scores, all by their name.

    Attributes
    ----------
    bounds
        What missing verdicts allow of each score as graded; ``None`` where none is missing.
    corrected_bounds
        What items without any verdict allow of each corrected score; ``None`` where there is no such item or score.
    without_verdict
        Items without any verdict.
    correction
        As graded, and corrected or the reason why not.
    budgets
        Where the variance of each corrected score comes from; empty where there is none.
    box
        Each corrected score's range if the error rates were off; empty where there is none.
    powered
        Prediction-powered scores; ``None`` with ``powered_reason`` where they may not be used.
    strata
        Strata of the benchmark beside those of the calibration.
    by_rater
        The correction with each rater's labels by themselves; empty where one person labelled, or nobody.
    shared_questions
        Its questions that have a labelled item.
    """

    respondent: Respondent
    bounds: Mapping[str, tuple[float, float] | None] | None
    corrected_bounds: Mapping[str, tuple[float, float] | None] | None
    without_verdict: int
    correction: ScoreCorrection
    budgets: Mapping[str, ErrorBudget | None]
    box: Mapping[str, ScoreRange]
    powered: Mapping[str, PoweredScore] | None
    powered_reason: str
    strata: tuple[FieldStrata, ...]
    by_rater: Mapping[str, ScoreCorrection]
    shared_questions: int

    def standing(self, score: str) -> Standing:
        """What it is ranked by."""
        corrected = self.correction.corrected
        graded = self.correction.uncorrected[score]
        return Standing(self.respondent.name, graded, None if corrected is None else corrected[score])


@dataclass(frozen=True)
class Scoring:
    """All of it. ``labels`` are those that occur at all; a label that is nowhere is left off, and in ``unused``.

    ``against`` is another set on which the respondents are compared with themselves; ``agreement`` is that of several
    raters; ``shared`` says whether benchmark and calibration share questions.
    """

    benchmark: Benchmark
    calibration: Calibration | None
    choice: ScoringChoice
    labels: tuple[str, ...]
    unused: tuple[str, ...]
    errors: GraderErrors | None
    agreement: RaterAgreement | None
    shared: bool
    respondents: tuple[RespondentScore, ...]
    contrasts: tuple[ScoreContrast, ...]
    set_contrasts: tuple[ScoreContrast, ...]
    ranking: Ranking | None
    against: Benchmark | None = None

    @property
    def has_attempts(self) -> bool:
        """Whether an answer can be no attempt."""
        return self.benchmark.not_attempted in self.labels

    @property
    def words(self) -> LabelWords:
        """Whose labels the grader is held against."""
        return PEOPLE if self.calibration is None else self.calibration.words
