"""How the labelled items of a review came to be those: whether a set made of them is a sample of anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from experiments.review.events import Event
from experiments.review.review_record import Review

__all__ = ["Selection", "read_selection"]


@dataclass(frozen=True, slots=True)
class Selection:
    """``is_biased`` where items are in because graders were unsure of them; ``text`` says how they were chosen."""

    is_biased: bool
    text: str


def read_selection(
    review: Review, labelled: Collection[str], events: Iterable[Event], reviews: Iterable[Review]
) -> Selection:
    """How the labelled items were chosen.

    A queue is fair where all of it was drawn at random, or where all of it has one probability and a label. The
    labelled part of a set is not, if labels come from a queue: reviews of one rubric share their labels.

    Parameters
    ----------
    labelled
        Digests of the items with a label.
    events, reviews
        All of the store on the review's rubric and scale.
    """
    n_items = len({one.item_digest for one in review.work})
    share = f"{len(labelled):,} of the {n_items:,} items"
    missing = "" if len(labelled) == n_items else f"; left out, without a label: {n_items - len(labelled):,}"
    if review.source == "run":
        return _of_queue(review, f"{share} of {review.queue_id} of run {review.run_id}", missing)
    queues = {one.review_id for one in reviews if one.source == "run" and not _is_random(one)}
    drawn = {
        event.item_digest
        for event in events
        if event.kind in ("label", "adjudicate") and event.review_id in queues and event.item_digest in labelled
    }
    if missing and drawn:
        return Selection(True, f"{share} of the review, {len(drawn):,} of them labelled in a review queue{missing}")
    return Selection(False, f"{share} of the review{missing}")


def _of_queue(review: Review, text: str, missing: str) -> Selection:
    chances = {one.probability for one in review.work}
    if _is_random(review):
        return Selection(False, f"{text}, all drawn at random{missing}")
    if len(chances) == 1 and not missing:
        return Selection(False, f"{text}, all with one probability")
    n_ranked = sum(one.part == "ranked" for one in review.work)
    return Selection(True, f"{text}, {n_ranked:,} of which are there because graders were unsure of them{missing}")


def _is_random(review: Review) -> bool:
    return all(one.part == "random" for one in review.work)
