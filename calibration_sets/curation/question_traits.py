"""Metadata of questions: does an answer take reasoning, and several steps? A judge says, by a versioned prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calibration_sets.curation.judge import Judge, NoReply
from calibration_sets.curation.versioned_prompt import VersionedPrompt, load_prompt
from calibration_sets.question import Question

__all__ = ["QuestionTraits", "add_traits", "classify_questions", "load_traits_prompt"]

NAME, VERSION = "question_traits", "1.0.0"
_LINE = re.compile(r"^\W*(reasoning|multi_step)\W*:\W*(yes|no)\W*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class QuestionTraits:
    """What a judge says of a question: both flags, or a failure with its reason and neither."""

    question_id: str
    requires_reasoning: bool | None
    multi_step: bool | None
    failure: str | None = None


def load_traits_prompt() -> VersionedPrompt:
    """The shipped prompt."""
    return load_prompt(NAME, VERSION)


def classify_questions(
    questions: Sequence[Question], judge: Judge, prompt: VersionedPrompt
) -> tuple[QuestionTraits, ...]:
    """Ask the judge about every question; a reply that cannot be used is a failure, never a flag.

    Raises
    ------
    ValueError
        If the judge gives another number of replies than it had prompts.
    """
    replies = judge([prompt.render(question) for question in questions])
    return tuple(_parse(one.question_id, reply) for one, reply in zip(questions, replies, strict=True))


def _parse(question_id: str, reply: str | NoReply) -> QuestionTraits:
    if isinstance(reply, NoReply):
        return QuestionTraits(question_id, None, None, reply.failure)
    found = [(name.lower(), word.lower()) for name, word in _LINE.findall(reply)]
    flags = dict(found)
    if len(set(found)) > len(flags):
        return QuestionTraits(question_id, None, None, "contradicts itself")
    if flags.keys() != {"reasoning", "multi_step"}:
        return QuestionTraits(question_id, None, None, "not both lines")
    return QuestionTraits(question_id, flags["reasoning"] == "yes", flags["multi_step"] == "yes")


def add_traits(
    questions: Sequence[Question], traits: Sequence[QuestionTraits], prompt: VersionedPrompt
) -> Iterator[Question]:
    """The questions with the flags in their metadata, and by which prompt; a failure leaves a question as it was."""
    by_id = {one.question_id: one for one in traits if one.failure is None}
    for question in questions:
        found = by_id.get(question.question_id)
        if found is None:
            yield question
        else:
            flags = {"requires_reasoning": found.requires_reasoning, "multi_step": found.multi_step}
            yield replace(question, metadata={**question.metadata, **flags, "traits_prompt": prompt.title})
