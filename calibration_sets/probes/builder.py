"""The set of probes, built by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.probes.attacks import attacks
from calibration_sets.probes.declines import declines
from calibration_sets.probes.empty_answers import empty_answers
from calibration_sets.probes.foreign_marks import foreign_marks
from calibration_sets.probes.hedges import hedges
from calibration_sets.probes.kinds import KINDS
from calibration_sets.probes.long_answers import long_answers
from calibration_sets.probes.plain_answers import plain_answers
from calibration_sets.probes.premises import premises
from calibration_sets.probes.probe import FIRST_RUBRIC, RUBRIC, Probe
from calibration_sets.probes.quantities_told import quantities_told
from calibration_sets.probes.spellings import spellings
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA

__all__ = ["build_probes"]

_RATER = "construction"

_DESCRIPTION = (
    "Responses whose labels follow from how they were made, in kinds that graders are known to get wrong. "
    "docs/probes.md has the rule of each kind."
)


def build_probes() -> CalibrationSet:
    """Build the set that ships as ``probes``; the same one every time.

    Items come by kind, in the order of :data:`calibration_sets.probes.kinds.KINDS`, and are
    numbered within it. Each has one label under the newer rubric, and one under the first rubric
    where that decides.
    """
    probes = sorted(_all_probes(), key=lambda probe: list(KINDS).index(probe.kind))
    items = _number(probes)
    return CalibrationSet(
        name="probes",
        version="1.0.0",
        rubric=RUBRIC,
        scale=SIMPLEQA,
        label_source="construction",
        licence="Apache-2.0",
        source="Written for this project; built by calibration_sets.probes.",
        description=_DESCRIPTION,
        items=items,
        human_labels=tuple(label for item, probe in zip(items, probes, strict=True) for label in _labels(item, probe)),
    )


def _all_probes() -> list[Probe]:
    return [
        *plain_answers(),
        *quantities_told(),
        *hedges(),
        *declines(),
        *empty_answers(),
        *attacks(),
        *foreign_marks(),
        *spellings(),
        *premises(),
        *long_answers(),
    ]


def _number(probes: list[Probe]) -> tuple[Item, ...]:
    counts: Counter[str] = Counter()
    items = []
    for probe in probes:
        counts[probe.kind] += 1
        items.append(_item(probe, f"{probe.kind}-{counts[probe.kind]:03d}"))
    return tuple(items)


def _item(probe: Probe, item_id: str) -> Item:
    question = probe.question
    metadata: Mapping[str, Any] = {"invented": True} if question.invented else {}
    return Item(
        item_id=item_id,
        question=question.text,
        reference=parse_reference(question.reference, question.aliases),
        response=probe.response,
        cluster_id=question.key,
        kind=probe.kind,
        topic=question.topic,
        answer_type=question.answer_type,
        metadata=metadata,
    )


def _labels(item: Item, probe: Probe) -> list[HumanLabel]:
    given = {RUBRIC: probe.label, FIRST_RUBRIC: probe.first_label}
    return [
        HumanLabel(item.item_id, item.digest, _RATER, label, rubric)
        for rubric, label in given.items()
        if label is not None
    ]
