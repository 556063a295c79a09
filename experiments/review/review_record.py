"""A review: the items that people work through, fixed when it begins, with all that their labels need later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item, content_digest
from calibration_sets.scale import LabelScale
from experiments.review.label_row import Part
from experiments.store.set_snapshot import dump_set, load_set

__all__ = ["Review", "WorkItem", "dump_review", "load_review", "protocol_of"]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One place of a review. ``raters`` is how many people should label it, 1 or 2; ``reason`` why it is there."""

    item_id: str
    item_digest: str
    part: Part
    probability: float | None
    reason: str
    raters: int


@dataclass(frozen=True)
class Review:
    """What is worked through.

    Parameters
    ----------
    name
        Of the run or set.
    source
        ``run``, ``set``, or ``audit``: questions without a response.
    run_id, queue_id
        Of a run's review queue, else ``None``.
    calibration_set
        The set with the review's items alone and without labels: content, scale and rubric as people see them.
    work
        The items in the order in which they are asked.
    double_share, seed
        How many of the items two people should label, and the seed that says which; ``work`` holds the outcome.
    """

    name: str
    source: Literal["run", "set", "audit"]
    run_id: str | None
    queue_id: str | None
    calibration_set: CalibrationSet
    work: tuple[WorkItem, ...]
    double_share: float
    seed: int
    review_id: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "source": [self.source, self.run_id or "", self.queue_id or "", f"{self.double_share:.10g}", self.seed],
            "set": self.calibration_set.digest,
            "work": [[one.item_id, one.item_digest, one.raters] for one in self.work],
        }
        object.__setattr__(self, "review_id", f"{self.name}-{content_digest(content)[:8]}")

    @property
    def scale(self) -> LabelScale:
        """The labels that can be given."""
        return self.calibration_set.scale

    @property
    def protocol(self) -> str:
        """What a label belongs to beside its item: reviews of one rubric and scale share their labels."""
        return protocol_of(self.calibration_set)

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """Digest to item."""
        return {item.digest: item for item in self.calibration_set.items}


def protocol_of(calibration_set: CalibrationSet) -> str:
    """A digest of the rubric and of the labels that it knows."""
    scale = calibration_set.scale
    return content_digest([calibration_set.rubric, list(scale.labels), scale.level])[:16]


def dump_review(review: Review) -> str:
    """The review as JSON in ASCII."""
    payload = {
        "name": review.name,
        "source": review.source,
        "run_id": review.run_id,
        "queue_id": review.queue_id,
        "set": dump_set(review.calibration_set),
        "work": [asdict(one) for one in review.work],
        "double_share": review.double_share,
        "seed": review.seed,
    }
    return json.dumps(payload, ensure_ascii=True, sort_keys=True)


def load_review(text: str) -> Review:
    """The review of :func:`dump_review`; ``ValueError``, ``KeyError`` or ``TypeError`` for anything else."""
    payload: dict[str, Any] = json.loads(text)
    calibration_set = load_set(payload.pop("set"))
    work = tuple(WorkItem(**one) for one in payload.pop("work"))
    return Review(**payload, calibration_set=calibration_set, work=work)
