"""The rows of a set's files, checked, and their way to the types in memory and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from calibration_sets.calibration_set import CalibrationSet, LabelSource
from calibration_sets.item import HumanLabel, Item, content_digest
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SCALES, LabelScale, Level

__all__ = [
    "Filled",
    "ItemRecord",
    "Key",
    "LabelRecord",
    "ScaleRecord",
    "SetHeader",
    "SetRecord",
    "StrictRecord",
    "default_cluster",
    "item_data",
    "label_data",
    "set_data",
]

SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
NAME = r"[A-Za-z0-9][A-Za-z0-9_.\-]*"


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("expected text that is not blank")
    return text


def _trimmed(text: str) -> str:
    if not text or text != text.strip():
        raise ValueError("expected text, not empty, without outer white space")
    return text


Filled = Annotated[str, AfterValidator(_not_blank)]
"""Text that says something; outer white space is kept as published."""

Key = Annotated[str, AfterValidator(_trimmed)]
"""Text that things are joined by, so that white space nobody sees can never tell two apart."""


def _matching(pattern: str, wanted: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {wanted}")
        return text

    return check


Name = Annotated[str, AfterValidator(_matching(NAME, "letters, digits, '.', '_' or '-'"))]
Version = Annotated[str, AfterValidator(_matching(SEMVER, "a semantic version such as 1.0.0"))]
Rubric = Annotated[str, AfterValidator(_matching(f"{NAME}@{SEMVER}", "name@version such as simpleqa@1.0.0"))]
Digest = Annotated[str, AfterValidator(_matching("[0-9a-f]{64}", "64 hexadecimal digits"))]


class StrictRecord(BaseModel):
    """A row whose values are of the types they should be, without unknown keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ScaleRecord(StrictRecord):
    """A scale of a set's own."""

    labels: list[Key]
    name: Key = "custom"
    level: Level = "nominal"
    letters: dict[str, Key] = Field(default_factory=dict)
    words: dict[str, list[Key]] = Field(default_factory=dict)
    positive: str | None = None

    def to_scale(self) -> LabelScale:
        """The scale; ``ValueError`` where its parts contradict each other."""
        words = {label: tuple(phrases) for label, phrases in self.words.items()}
        return LabelScale(self.name, tuple(self.labels), self.level, self.letters, words, self.positive)


@dataclass(frozen=True, slots=True)
class SetHeader:
    """All of a calibration set but its items and labels; see :class:`CalibrationSet`."""

    name: str
    version: str
    rubric: str
    scale: LabelScale
    label_source: LabelSource
    licence: str
    source: str
    description: str

    def with_content(self, items: tuple[Item, ...], human_labels: tuple[HumanLabel, ...]) -> CalibrationSet:
        """A set of these items and labels."""
        return CalibrationSet(
            name=self.name,
            version=self.version,
            rubric=self.rubric,
            scale=self.scale,
            label_source=self.label_source,
            licence=self.licence,
            source=self.source,
            description=self.description,
            items=items,
            human_labels=human_labels,
        )


def _name_or_scale(value: object) -> object:
    if not isinstance(value, str | ScaleRecord):
        raise ValueError("expected the name of a scale, or a table with labels")
    return value


class SetRecord(StrictRecord):
    """The content of ``set.toml``; a table of a scale is parsed before, as :class:`ScaleRecord`."""

    name: Name
    version: Version
    rubric: Rubric
    scale: Annotated[str | ScaleRecord, BeforeValidator(_name_or_scale)]
    label_source: LabelSource
    licence: Filled
    source: Filled
    description: Filled
    labelled: bool = True

    def to_header(self) -> SetHeader:
        """The header; ``ValueError`` for an unknown or impossible scale."""
        return SetHeader(
            name=self.name,
            version=self.version,
            rubric=self.rubric,
            scale=self._scale(),
            label_source=self.label_source,
            licence=self.licence,
            source=self.source,
            description=self.description,
        )

    def _scale(self) -> LabelScale:
        if isinstance(self.scale, ScaleRecord):
            return self.scale.to_scale()
        if self.scale not in SCALES:
            raise ValueError(f"scale {self.scale!r}; expected one of {', '.join(SCALES)}, or a table with labels")
        return SCALES[self.scale]


class ItemRecord(StrictRecord):
    """One line of ``items.jsonl``."""

    id: Key
    question: Filled
    reference: Filled
    response: str
    aliases: list[Filled] = Field(default_factory=list)
    cluster: Key | None = None
    kind: Key | None = None
    topic: Key | None = None
    answer_type: Key | None = None
    respondent: Key | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def to_item(self) -> Item:
        """The item, its reference parsed."""
        return Item(
            item_id=self.id,
            question=self.question,
            reference=parse_reference(self.reference, self.aliases),
            response=self.response,
            cluster_id=self.cluster or default_cluster(self.question),
            kind=self.kind,
            topic=self.topic,
            answer_type=self.answer_type,
            respondent=self.respondent,
            metadata=self.metadata,
        )


class LabelRecord(StrictRecord):
    """One line of ``human_labels.jsonl``; only a file that is still to be stamped may lack digests."""

    item: Key
    digest: Digest | None = None
    rater: Key
    label: str
    rubric: Rubric | None = None


def default_cluster(question: str) -> str:
    """The cluster of an item that names none: one for each text of a question."""
    return f"question-{content_digest(question.strip())[:16]}"


def set_data(calibration_set: CalibrationSet) -> dict[str, Any]:
    """What ``set.toml`` says of a set; a scale of its own is a table."""
    data: dict[str, Any] = {
        key: getattr(calibration_set, key)
        for key in ("name", "version", "rubric", "label_source", "licence", "source", "description")
    }
    scale = calibration_set.scale
    data["scale"] = scale.name if SCALES.get(scale.name) == scale else _scale_data(scale)
    if not calibration_set.human_labels:
        data["labelled"] = False
    return data


def _scale_data(scale: LabelScale) -> dict[str, Any]:
    words = {label: list(phrases) for label, phrases in scale.words.items()}
    data = {"name": scale.name, "labels": list(scale.labels), "level": scale.level, "letters": dict(scale.letters)}
    return data | {"words": words} | ({"positive": scale.positive} if scale.positive else {})


def item_data(item: Item) -> dict[str, Any]:
    """The line of an item, without the keys that would say nothing."""
    cluster = None if item.cluster_id == default_cluster(item.question) else item.cluster_id
    wanted: Mapping[str, Any] = {
        "aliases": list(item.reference.extra_aliases),
        "cluster": cluster,
        "kind": item.kind,
        "topic": item.topic,
        "answer_type": item.answer_type,
        "respondent": item.respondent,
        "metadata": dict(item.metadata),
    }
    needed = {
        "id": item.item_id,
        "question": item.question,
        "reference": item.reference.text,
        "response": item.response,
    }
    return needed | {key: value for key, value in wanted.items() if value}


def label_data(label: HumanLabel, set_rubric: str) -> dict[str, Any]:
    """The line of a label; the rubric only where it is not the set's."""
    data = {"item": label.item_id, "digest": label.item_digest, "rater": label.rater, "label": label.label}
    return data if label.rubric == set_rubric else data | {"rubric": label.rubric}
