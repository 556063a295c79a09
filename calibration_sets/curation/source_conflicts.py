"""Stage 6: questions whose sources answer in other words than the reference go to people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.curation.source_answers import UNDECIDED, SourceAnswers, settle_conflicts, source_review
from calibration_sets.curation.source_urls import source_urls
from calibration_sets.curation.stage_result import StageResult
from calibration_sets.question import Question

__all__ = ["conflict_review", "settle_source_conflicts"]


def conflict_review(folder: Path) -> ReviewFile:
    """The file in which people judge the sources of questions without numbers."""
    return source_review(folder / "sources.csv")


def settle_source_conflicts(
    questions: Sequence[Question], answers: SourceAnswers, review: ReviewFile, *, numeric_types: Sequence[str]
) -> StageResult:
    """Drop what people called ambiguous and correct what they corrected.

    A source that answers in the reference's own words agrees. Any other answer is a person's to judge: whether two
    spellings are one name is not decided here, so a question is never dropped by this stage alone.
    """
    rows = [
        answers.compare(question, url, _compare)
        for question in questions
        if question.answer_type not in numeric_types
        for url in source_urls(question)
    ]
    return settle_conflicts(questions, rows, review, lambda _: None)


def _compare(question: Question, answer: str) -> str:
    aliases = (*question.reference.aliases, question.reference.answer)
    same = bool(answer) and _plain(answer) in {_plain(alias) for alias in aliases}
    return "agrees" if same else UNDECIDED


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
