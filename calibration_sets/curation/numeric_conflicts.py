"""Stage 7: numeric questions with a source that is too far from the reference are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from calibration_sets.curation.number_classes import names_something
from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.curation.single_number import read_single_number
from calibration_sets.curation.source_answers import (
    UNDECIDED,
    SourceAnswers,
    SourceRow,
    settle_conflicts,
    source_review,
)
from calibration_sets.curation.source_urls import source_urls
from calibration_sets.curation.stage_result import Drop, StageResult
from calibration_sets.question import Question
from calibration_sets.references.units import convert

__all__ = ["drop_numeric_conflicts", "numeric_review", "relative_distance"]


def numeric_review(folder: Path) -> ReviewFile:
    """The file in which people can overrule the comparison of numbers."""
    return source_review(folder / "numeric_sources.csv")


def relative_distance(reference: str, source: str) -> Fraction | None:
    """``|source - reference| / |reference|``, exactly; ``None`` where the two are not certainly comparable.

    A number without a unit takes the other's. Beside a reference of 0 another number is infinitely far, which has no
    fraction: it counts as 1.
    """
    ours, theirs = read_single_number(reference), read_single_number(source)
    if ours is None or theirs is None:
        return None
    value = convert(theirs.value, theirs.unit or ours.unit, ours.unit or theirs.unit)
    if value is None:
        return None
    distance = abs(value - Fraction(ours.value))
    return distance / abs(Fraction(ours.value)) if ours.value else Fraction(bool(distance))


def drop_numeric_conflicts(
    questions: Sequence[Question],
    answers: SourceAnswers,
    review: ReviewFile,
    *,
    tolerance: float,
    numeric_types: Sequence[str],
) -> StageResult:
    """Drop questions with a source further than ``tolerance`` from the reference, unless a person says otherwise.

    What is not plainly one number with a unit that converts stays undecided, and its question stays; so does another
    number where the reference names something, such as a year, which has no neighbourhood.
    """
    limit = Fraction(str(tolerance))
    rows = [
        answers.compare(question, url, lambda one, answer: _compare(one, answer, limit))
        for question in questions
        if question.answer_type in numeric_types
        for url in source_urls(question)
    ]
    return settle_conflicts(questions, rows, review, _drop)


def _compare(question: Question, answer: str, limit: Fraction) -> str:
    distance = relative_distance(question.reference.answer, answer) if answer else None
    number = read_single_number(question.reference.answer)
    if distance is None or number is None or (distance and names_something(question.question, number)):
        return UNDECIDED
    return f"{'too far' if distance > limit else 'agrees'}, {float(distance):.1%} away"


def _drop(row: SourceRow) -> Drop | None:
    if not row.compared.startswith("too far"):
        return None
    detail = f"{row.answer} against {row.question.reference.answer}, {row.url}"
    return Drop(row.question.question_id, "a source is too far away", detail)
