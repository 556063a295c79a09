"""The items of a review: the review queue of a run, or the items of a set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from experiments.analyses.queues.queueing import Queue
from experiments.errors import ReviewError
from experiments.review.review_record import Review, WorkItem

__all__ = ["ReviewPlan", "plan_run_review", "plan_set_review"]

_DOUBLED = 1
"""Keeps the choice of doubled items apart from the draws that the same seed makes elsewhere."""


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """A review, and what graders said of its items: digest to grader's name to its verdicts in words."""

    review: Review
    verdicts: Mapping[str, Mapping[str, str]]


def plan_run_review(queue: Queue, calibration_set: CalibrationSet, *, name: str, double_share: float) -> ReviewPlan:
    """The review of a run's queue.

    Parameters
    ----------
    queue
        As ``autorater queue`` draws it.
    calibration_set
        The run's set.
    name
        The experiment's.
    double_share
        Share of the items that two people should label, 0 to 1; the queue's seed says which.

    Raises
    ------
    ReviewError
        A share out of its range, an empty queue.
    """
    work = [
        WorkItem(
            row.item.item_id,
            row.item.digest,
            "ranked" if row.part == "ranked" else "random",
            row.probability,
            row.reason,
            1,
        )
        for row in queue.rows
    ]
    review = Review(
        name=name,
        source="run",
        run_id=queue.run_id,
        queue_id=queue.queue_id,
        calibration_set=_pick_items(calibration_set, [row.item for row in queue.rows]),
        work=_double(work, share=double_share, seed=queue.seed),
        double_share=double_share,
        seed=queue.seed,
    )
    return ReviewPlan(review, {row.item.digest: row.verdicts for row in queue.rows})


def plan_set_review(
    calibration_set: CalibrationSet,
    *,
    double_share: float,
    seed: int,
    unlabelled: bool = False,
    limit: int | None = None,
) -> ReviewPlan:
    """The review of a set's items in their order.

    Parameters
    ----------
    double_share, seed
        Share of the items that two people should label, 0 to 1, and the seed that says which.
    unlabelled
        Only items that nobody has labelled under the set's own rubric.
    limit
        Only the first so many.

    Raises
    ------
    ReviewError
        A share or a limit out of its range, or no item left.
    """
    if limit is not None and limit < 1:
        raise ReviewError(f"--limit: {limit}; expected 1 or more")
    items: Sequence[Item] = calibration_set.items
    if unlabelled:
        wanted = frozenset(calibration_set.consensus().unlabelled)
        items = [item for item in items if item.item_id in wanted]
    items = items[:limit]
    work = [WorkItem(item.item_id, item.digest, "set", None, "", 1) for item in items]
    review = Review(
        name=calibration_set.name,
        source="set",
        run_id=None,
        queue_id=None,
        calibration_set=_pick_items(calibration_set, items),
        work=_double(work, share=double_share, seed=seed),
        double_share=double_share,
        seed=seed,
    )
    return ReviewPlan(review, {})


def _pick_items(calibration_set: CalibrationSet, items: Sequence[Item]) -> CalibrationSet:
    """Content, scale and rubric, without the labels that a rater should not lean on."""
    if not items:
        raise ReviewError(f"set {calibration_set.name!r}: no item to label; expected one or more")
    return replace(calibration_set, items=tuple(items), human_labels=())


def _double(work: Sequence[WorkItem], *, share: float, seed: int) -> tuple[WorkItem, ...]:
    """Ask two people for a share of the contents, at least one where the share is above 0."""
    if not 0 <= share <= 1:
        raise ReviewError(f"--double: {share:g}; expected a share from 0 to 1")
    digests = list(dict.fromkeys(one.item_digest for one in work))
    rng = np.random.default_rng([seed, _DOUBLED])
    n_doubled = math.ceil(share * len(digests) - 1e-9)
    doubled = {digests[place] for place in rng.choice(len(digests), n_doubled, replace=False)}
    return tuple(replace(one, raters=2 if one.item_digest in doubled else 1) for one in work)
