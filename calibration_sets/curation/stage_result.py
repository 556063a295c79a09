"""What a stage hands on: the questions left, what it dropped and why, what it changed, what it could not decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from calibration_sets.question import Question

__all__ = ["Change", "Drop", "StageResult", "keep_chosen"]


@dataclass(frozen=True, slots=True)
class Drop:
    """A question that a stage took out: ``reason`` is one of a few, ``detail`` is about this question."""

    question_id: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A reference that a stage replaced, and on whose word."""

    question_id: str
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class StageResult:
    """``kept`` in the order in which the questions came in; ``notes`` say what was left undecided."""

    kept: tuple[Question, ...]
    drops: tuple[Drop, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


def keep_chosen(
    questions: Iterable[Question],
    drops: Mapping[str, Drop],
    *,
    changes: Iterable[Change] = (),
    notes: Iterable[str] = (),
) -> StageResult:
    """The questions that are not among the dropped ones."""
    questions = tuple(questions)
    kept = tuple(question for question in questions if question.question_id not in drops)
    in_order = tuple(drops[one.question_id] for one in questions if one.question_id in drops)
    return StageResult(kept, in_order, tuple(changes), tuple(notes))
