"""Each stage with its settings and evidence: what it is made from, as a digest, and how it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calibration_sets.curation.balance import balance_questions
from calibration_sets.curation.embedders import Embedder
from calibration_sets.curation.hardest import keep_hardest
from calibration_sets.curation.lexical_duplicates import drop_lexical_duplicates, lexical_review
from calibration_sets.curation.numeric_conflicts import drop_numeric_conflicts, numeric_review
from calibration_sets.curation.proposed_ranges import apply_confirmed_ranges, range_review
from calibration_sets.curation.publishers import drop_excluded_sources
from calibration_sets.curation.question_file import questions_digest
from calibration_sets.curation.reference_responses import ReferenceResponses
from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.curation.robots_files import RobotsRules
from calibration_sets.curation.semantic_duplicates import drop_semantic_duplicates
from calibration_sets.curation.settings import STAGES, CurationSettings, StageName
from calibration_sets.curation.source_answers import SourceAnswers
from calibration_sets.curation.source_conflicts import conflict_review, settle_source_conflicts
from calibration_sets.curation.stage_result import StageResult
from calibration_sets.curation.unique_urls import keep_unique_urls
from calibration_sets.question import Question

__all__ = ["Evidence", "Step", "find_step"]

VERSION = 2
"""Of the stages' code: raised when one of them would come to something else from the same inputs."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the stages go by, beside the questions. ``reviews`` is the folder of the files that people fill in."""

    settings: CurationSettings
    reviews: Path
    embedder: Embedder
    responses: ReferenceResponses = field(default_factory=ReferenceResponses)
    robots: RobotsRules = field(default_factory=lambda: RobotsRules({}))
    sources: SourceAnswers = field(default_factory=SourceAnswers)


@dataclass(frozen=True, slots=True)
class Step:
    """One stage: how it is done, and the digests of what it goes by beside questions, settings and responses."""

    name: StageName
    run: Callable[[tuple[Question, ...], Evidence], StageResult]
    evidence: Callable[[Evidence], Mapping[str, str]] = lambda _: {}
    review: Callable[[Path], ReviewFile] | None = None

    @property
    def number(self) -> int:
        """The place of the stage, counted from 1."""
        return STAGES.index(self.name) + 1

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.number}_{self.name}"

    def key(self, questions: tuple[Question, ...], evidence: Evidence) -> str:
        """SHA-256 of all that the stage's outcome depends on."""
        settings = evidence.settings
        parts = {
            "version": VERSION,
            "stage": self.name,
            "seed": settings.seed,
            "settings": getattr(settings, self.name).model_dump(mode="json"),
            "questions": [questions_digest(questions), [question.question_id for question in questions]],
            "responses": evidence.responses.digest,
            "evidence": dict(self.evidence(evidence)),
            "review": self.review(evidence.reviews).digest() if self.review else "",
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def has_review(self, evidence: Evidence) -> bool:
        """Whether the file that people fill in is where it should be, or none is needed."""
        return self.review is None or self.review(evidence.reviews).path.exists()


def _unique_urls(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    return keep_unique_urls(questions, by.responses, match=by.settings.unique_urls.match, seed=by.settings.seed)


def _semantic_duplicates(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    threshold = by.settings.semantic_duplicates.threshold
    return drop_semantic_duplicates(questions, by.responses, by.embedder, threshold=threshold, seed=by.settings.seed)


def _lexical_duplicates(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    settings = by.settings.lexical_duplicates
    return drop_lexical_duplicates(
        questions,
        by.responses,
        lexical_review(by.reviews),
        threshold=settings.threshold,
        most_pairs=settings.most_pairs,
        undecided=settings.undecided,
        seed=by.settings.seed,
    )


def _publishers(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    settings = by.settings.publishers
    return drop_excluded_sources(
        questions, by.robots, agents=settings.agents, match=settings.match, unknown=settings.unknown
    )


def _balance(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    settings = by.settings.balance
    return balance_questions(
        questions,
        by.responses,
        size=settings.size,
        share=settings.share,
        answer_types=settings.answer_types,
        topics=settings.topics,
        seed=by.settings.seed,
    )


def _source_conflicts(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    numeric_types = by.settings.source_conflicts.numeric_types
    return settle_source_conflicts(questions, by.sources, conflict_review(by.reviews), numeric_types=numeric_types)


def _numeric_conflicts(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    return drop_numeric_conflicts(
        questions,
        by.sources,
        numeric_review(by.reviews),
        tolerance=by.settings.numeric_conflicts.tolerance,
        numeric_types=by.settings.source_conflicts.numeric_types,
    )


def _ranges(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    numeric_types = by.settings.source_conflicts.numeric_types
    return apply_confirmed_ranges(questions, range_review(by.reviews), by.settings.ranges, numeric_types=numeric_types)


def _hardest(questions: tuple[Question, ...], by: Evidence) -> StageResult:
    return keep_hardest(questions, by.responses, size=by.settings.hardest.size, seed=by.settings.seed)


def _numeric_types(by: Evidence) -> dict[str, str]:
    """Answer types that are numbers are a setting of stage 6, by which stages 7 and 8 go too."""
    return {"numeric_types": json.dumps(by.settings.source_conflicts.numeric_types)}


_STEPS: Mapping[StageName, Step] = {
    step.name: step
    for step in (
        Step("unique_urls", _unique_urls),
        Step("semantic_duplicates", _semantic_duplicates, lambda by: {"embedder": by.embedder.name}),
        Step("lexical_duplicates", _lexical_duplicates, review=lexical_review),
        Step("publishers", _publishers, lambda by: {"robots": by.robots.digest}),
        Step("balance", _balance),
        Step("source_conflicts", _source_conflicts, lambda by: {"sources": by.sources.digest}, conflict_review),
        Step(
            "numeric_conflicts",
            _numeric_conflicts,
            lambda by: {"sources": by.sources.digest, **_numeric_types(by)},
            numeric_review,
        ),
        Step("ranges", _ranges, _numeric_types, range_review),
        Step("hardest", _hardest),
    )
}


def find_step(name: StageName) -> Step:
    """The step of that name."""
    return _STEPS[name]
