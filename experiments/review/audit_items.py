"""Questions of an audit as items that the labelling page can show: no response is labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration_sets.audit.audit_folder import AUDIT_LABELS
from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.curation.question_file import question_digest
from calibration_sets.item import Item
from calibration_sets.question import Question
from calibration_sets.records import default_cluster
from calibration_sets.scale import LabelScale

__all__ = ["AUDIT_RULES", "RESPONSES", "SOURCES", "Responses", "audit_set"]

Responses = Mapping[str, Sequence[tuple[str, str]]]
"""Question id to the models that answered and what they said."""

SOURCES, RESPONSES = "sources", "responses"
"""Keys of an item's metadata: addresses, and pairs of model and text."""

AUDIT_SCALE = LabelScale("audit", AUDIT_LABELS)
"""Nominal: these labels have no order, and the sound one has the first key."""

AUDIT_RULES = """OK: the question has one right answer, and the reference says it.
unanswerable: it has no right answer, or more than one, or it changes with time.
false_negative_possible: a right answer would be marked wrong, as by a reference that is too narrow or outdated.
false_positive_possible: a wrong answer would be marked right, as by a range that is too wide.

Write into the note why, with the addresses (https://...) that show it."""
"""What each label of an audit means, for those who label."""


def audit_set(questions: Sequence[Question], responses: Responses, *, name: str) -> CalibrationSet:
    """The questions as a set of items; ids are digests of what the questions say.

    The same label belongs to the question whatever responses are shown beside it.
    """
    return CalibrationSet(
        name=name,
        version="1.0.0",
        rubric="audit@1.0.0",
        scale=AUDIT_SCALE,
        label_source="human",
        licence="not given",
        source=name,
        description="Questions of an audit, each without a response.",
        items=tuple(_item(question, responses.get(question.question_id, ())) for question in questions),
        human_labels=(),
    )


def _item(question: Question, responses: Sequence[tuple[str, str]]) -> Item:
    return Item(
        item_id=question_digest(question),
        question=question.question,
        reference=question.reference,
        response="",
        cluster_id=default_cluster(question.question),
        topic=question.topic,
        answer_type=question.answer_type,
        metadata={SOURCES: list(question.urls), RESPONSES: [list(pair) for pair in responses]},
    )
