"""A calibration set in memory: scale, items, people's labels, provenance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from calibration_sets.item import HumanLabel, Item, content_digest
from calibration_sets.scale import LabelScale

__all__ = ["CalibrationSet", "Consensus", "LabelSource", "strict_majority"]

LabelSource = Literal["human", "published", "construction"]
"""Where labels come from: people, a publication, or the way in which an item was built."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """The reference label of each item, by strict majority of its raters.

    ``labels`` maps item id to label. ``tied`` and ``unlabelled`` are ids of items without one;
    ``disputed`` are ids of items whose raters were not unanimous, tied ones included.
    """

    labels: Mapping[str, str]
    tied: tuple[str, ...]
    unlabelled: tuple[str, ...]
    disputed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """Scale, items and labels with where they come from.

    ``rubric`` (``name@version``) is the set's own; labels may carry others, and
    :meth:`rubrics` lists all that occur. ``digest`` covers scale, rubric, items and labels, not their order.
    """

    name: str
    version: str
    rubric: str
    scale: LabelScale
    label_source: LabelSource
    licence: str
    source: str
    description: str
    items: tuple[Item, ...]
    human_labels: tuple[HumanLabel, ...]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "scale": [list(self.scale.labels), self.scale.level, self.scale.positive or ""],
            "rubric": self.rubric,
            "items": sorted([item.item_id, item.digest, item.cluster_id, item.kind or ""] for item in self.items),
            "labels": sorted(
                [label.item_id, label.item_digest, label.rater, label.label, label.rubric]
                for label in self.human_labels
            ),
        }
        object.__setattr__(self, "digest", content_digest(content))

    @property
    def rubrics(self) -> tuple[str, ...]:
        """The rubrics that labels were given under, the set's own first."""
        others = sorted({label.rubric for label in self.human_labels} - {self.rubric})
        return (self.rubric, *others)

    def consensus(self, rubric: str | None = None) -> Consensus:
        """Reference labels under one rubric (default: the set's own)."""
        votes: dict[str, list[str]] = defaultdict(list)
        for given in self.human_labels:
            if given.rubric == (rubric or self.rubric):
                votes[given.item_id].append(given.label)
        majority = {item_id: strict_majority(labels) for item_id, labels in votes.items()}
        order = [item.item_id for item in self.items]
        return Consensus(
            labels={i: label for i in order if (label := majority.get(i)) is not None},
            tied=tuple(i for i in order if i in votes and majority[i] is None),
            unlabelled=tuple(i for i in order if i not in votes),
            disputed=tuple(i for i in order if len(set(votes.get(i, ()))) > 1),
        )


def strict_majority(labels: Sequence[str]) -> str | None:
    """The label that more than half of the raters gave, or ``None``."""
    if not labels:
        return None
    label, count = Counter(labels).most_common(1)[0]
    return label if 2 * count > len(labels) else None
