"""A calibration set as a run keeps it: plain data, so that a report needs no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import LabelScale

__all__ = ["dump_set", "identify_set", "load_scale", "load_set"]

_PLAIN_FIELDS = ("name", "version", "rubric", "label_source", "licence", "source", "description")
_ITEM_FIELDS = (
    "item_id", "question", "response", "cluster_id", "kind", "topic", "answer_type", "respondent", "metadata",
)  # fmt: skip


def dump_set(calibration_set: CalibrationSet) -> Mapping[str, Any]:
    """The set as plain data."""
    return {
        **{name: getattr(calibration_set, name) for name in _PLAIN_FIELDS},
        "scale": asdict(calibration_set.scale),
        "items": [_dump_item(item) for item in calibration_set.items],
        "human_labels": [asdict(label) for label in calibration_set.human_labels],
    }


def identify_set(calibration_set: CalibrationSet) -> Mapping[str, Any]:
    """What a report can depend on: the set's digest, and what is told of the set, or read by, beside it."""
    return {
        "digest": calibration_set.digest,
        "told": [calibration_set.name, calibration_set.version, calibration_set.label_source],
        "scale": {
            "name": calibration_set.scale.name,
            "letters": dict(calibration_set.scale.letters),
            "words": {label: list(words) for label, words in calibration_set.scale.words.items()},
        },
    }


def _dump_item(item: Item) -> Mapping[str, Any]:
    fields = {name: getattr(item, name) for name in _ITEM_FIELDS}
    return {**fields, "reference": item.reference.text, "aliases": list(item.reference.extra_aliases)}


def load_set(payload: Mapping[str, Any]) -> CalibrationSet:
    """The set from plain data; references are parsed again from their text."""
    return CalibrationSet(
        **{name: payload[name] for name in _PLAIN_FIELDS},
        scale=load_scale(payload["scale"]),
        items=tuple(_load_item(fields) for fields in payload["items"]),
        human_labels=tuple(HumanLabel(**fields) for fields in payload["human_labels"]),
    )


def _load_item(fields: Mapping[str, Any]) -> Item:
    plain = {name: fields[name] for name in _ITEM_FIELDS}
    return Item(**plain, reference=parse_reference(fields["reference"], fields["aliases"]))


def load_scale(fields: Mapping[str, Any]) -> LabelScale:
    """A label scale from plain data."""
    words = {label: tuple(words) for label, words in fields["words"].items()}
    return LabelScale(**{**fields, "labels": tuple(fields["labels"]), "words": words})
