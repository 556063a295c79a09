"""Label scales: what a verdict can say, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["BINARY", "SCALES", "SIMPLEQA", "LabelScale", "Level"]

Level = Literal["nominal", "ordinal", "interval"]


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

SCALES: Mapping[str, LabelScale] = {scale.name: scale for scale in (SIMPLEQA, BINARY)}
"""The scales that a ``set.toml`` can name."""
