"""Label scales: what a verdict can say, and in which order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

__all__ = [
    "BINARY",
    "DER2_CONCEPTS",
    "DER2_ERRORS",
    "DER2_RUBRIC",
    "OMNISCIENCE",
    "PART_SEPARATOR",
    "SCALES",
    "SIMPLEQA",
    "LabelScale",
    "Level",
]

Level = Literal["nominal", "ordinal", "interval"]
"""Level of measurement of a scale's labels."""

PART_SEPARATOR = " + "
"""Joins the parts of a label that is a set of labels, in the order of their scale."""


@dataclass(frozen=True, slots=True)
class LabelScale:
    """The labels of a judgement, worst first.

    Parameters
    ----------
    name
        Name of the scale, for messages and reports.
    labels
        At least two distinct labels, worst first.
    level
        Level of measurement; agreement statistics depend on it.
    letters
        Label to the single letter that a grader may answer with; may be empty.
    words
        Label to further words or phrases that mean it, such as those of another language;
        the label itself is always understood and need not be listed.
    positive
        The label that counts as right in false-negative and false-positive rates;
        ``None`` where the scale has no such label.

    Raises
    ------
    ValueError
        If labels repeat, are fewer than two, or a mapping names a label that is not on the scale,
        or one letter or word stands for two labels.
    """

    name: str
    labels: tuple[str, ...]
    level: Level = "nominal"
    letters: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    positive: str | None = None

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) != len(self.labels):
            raise ValueError(f"scale {self.name!r}: labels {list(self.labels)}; expected two or more, all different")
        strangers = sorted({*self.letters, *self.words, *([self.positive] if self.positive else [])} - set(self.labels))
        if strangers:
            raise ValueError(f"scale {self.name!r}: {strangers} not on the scale {list(self.labels)}")
        _check_unique(self.name, "letter", [letter.casefold() for letter in self.letters.values()])
        spoken = [*self.labels, *(word for words in self.words.values() for word in words)]
        _check_unique(self.name, "word", [word.casefold() for word in spoken])

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    def index(self, label: str) -> int:
        """Position of a label on the scale, 0 is worst; ``ValueError`` for a stranger."""
        return self.labels.index(label)

    @property
    def values(self) -> tuple[float, ...] | None:
        """The numbers that the labels are, where they are ascending numbers of an ordered scale; else ``None``."""
        numbers = [_number(label) for label in self.labels]
        known = tuple(number for number in numbers if number is not None)
        ascending = all(low < high for low, high in pairwise(known))
        return known if self.level != "nominal" and len(known) == len(numbers) and ascending else None

    @property
    def parts(self) -> tuple[str, ...] | None:
        """The labels that others are sets of, such as ``A`` and ``B`` where ``A + B`` is one; ``None`` without such."""
        sets = {frozenset(label.split(PART_SEPARATOR)) for label in self.labels}
        single = tuple(label for label in self.labels if PART_SEPARATOR not in label)
        is_of_sets = len(single) < len(self.labels) == len(sets) and frozenset().union(*sets) == frozenset(single)
        return single if is_of_sets else None


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_unique(scale: str, what: str, values: list[str]) -> None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise ValueError(f"scale {scale!r}: {what} {repeated} stands for more than one label")


SIMPLEQA = LabelScale(
    name="simpleqa",
    labels=("INCORRECT", "NOT_ATTEMPTED", "CORRECT"),
    letters={"INCORRECT": "B", "NOT_ATTEMPTED": "C", "CORRECT": "A"},
    positive="CORRECT",
)
"""The three labels of SimpleQA and SimpleQA Verified with the letters of their prompts."""

BINARY = LabelScale(
    name="binary",
    labels=("INCORRECT", "CORRECT"),
    letters={"INCORRECT": "B", "CORRECT": "A"},
    words={"INCORRECT": ("no",), "CORRECT": ("yes",)},
    positive="CORRECT",
)
"""Right or wrong, without a label for declining to answer."""

DER2_RUBRIC = LabelScale(name="der2_rubric", labels=("0", "0.25", "0.5", "0.75", "1"), level="ordinal")
"""How right a worked answer is, in five equal steps; no step counts as right by itself."""

DER2_CONCEPTS = LabelScale(name="der2_concepts", labels=("NONE", "SOME", "ALL"), level="ordinal")
"""How many of the reference's concepts a response uses; derived from the lists of a verdict."""

_REASONS = ("PROCESS", "FORMAL", "MISSING", "MISUSED")

DER2_ERRORS = LabelScale(
    name="der2_errors",
    labels=(
        *_REASONS,
        *(PART_SEPARATOR.join((one, two)) for place, one in enumerate(_REASONS) for two in _REASONS[place + 1 :]),
    ),
)
"""Why a response failed, one reason or two: its reasoning, its numbers or forms, a core concept that is missing, or one
that is misunderstood or misused."""

OMNISCIENCE = LabelScale(
    name="omniscience",
    labels=("INCORRECT", "NOT_ATTEMPTED", "PARTIAL_ANSWER", "CORRECT"),
    letters={"INCORRECT": "B", "NOT_ATTEMPTED": "D", "PARTIAL_ANSWER": "C", "CORRECT": "A"},
    positive="CORRECT",
)
"""SimpleQA's labels and one more, for an answer of which a part is right and nothing is wrong."""

SCALES: Mapping[str, LabelScale] = {
    scale.name: scale for scale in (SIMPLEQA, BINARY, OMNISCIENCE, DER2_RUBRIC, DER2_CONCEPTS, DER2_ERRORS)
}
"""The scales that a ``set.toml`` can name."""
