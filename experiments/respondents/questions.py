"""The questions of a set, each once, ready to be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.importers.simpleqa_verified import load_simpleqa_verified
from calibration_sets.item import Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA

__all__ = ["build_questions", "load_question_file", "strip_reference"]

_NOTHING = Reference("", "")


def build_questions(calibration_set: CalibrationSet) -> CalibrationSet:
    """One item without a response for each question of a set: distinct clusters and texts, in the set's order.

    A question keeps the id of its first item. Where its items differ in reference, the commonest is
    taken (of several the first); what else they do not have in common is left out. Labels stay behind: they are
    about responses.
    """
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in calibration_set.items:
        groups.setdefault((item.cluster_id, item.question), []).append(item)
    return replace(calibration_set, items=tuple(map(_as_question, groups.values())), human_labels=())


def load_question_file(path: Path) -> CalibrationSet:
    """The questions of SimpleQA Verified, or of an excerpt of its CSV, as a set without responses.

    Raises
    ------
    calibration_sets.errors.SetFileError
        If the file is malformed.
    """
    items = tuple(
        Item(
            item_id=question.question_id,
            question=question.question,
            reference=question.reference,
            response="",
            cluster_id=question.question_id,
            topic=question.topic,
            answer_type=question.answer_type,
        )
        for question in load_simpleqa_verified(path, n_questions=None)
    )
    return CalibrationSet(
        name="simpleqa_verified",
        version="1.0.0",
        rubric="simpleqa_verified@1.0.0",
        scale=SIMPLEQA,
        label_source="published",
        licence="MIT",
        source="https://huggingface.co/datasets/google/simpleqa-verified",
        description="Questions of SimpleQA Verified.",
        items=items,
        human_labels=(),
    )


def strip_reference(question: Item) -> Item:
    """The question, with what a regime may give beside it: its digest does not depend on the reference."""
    return replace(question, reference=_NOTHING)


def _as_question(items: Sequence[Item]) -> Item:
    texts = Counter((item.reference.text, item.reference.extra_aliases) for item in items)
    commonest = texts.most_common(1)[0][0]
    reference = next(
        item.reference for item in items if (item.reference.text, item.reference.extra_aliases) == commonest
    )
    return replace(
        items[0],
        reference=reference,
        response="",
        kind=_shared([item.kind for item in items]),
        topic=_shared([item.topic for item in items]),
        answer_type=_shared([item.answer_type for item in items]),
        respondent=None,
        metadata={},
    )


def _shared(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
