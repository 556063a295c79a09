"""Labels as they stand, read out of the events of a review."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.review.events import Event
from experiments.review.label_row import LabelRow
from experiments.review.label_state import ItemKey, Standing, fold_events
from experiments.review.label_store import LabelStore
from experiments.review.review_record import Review, WorkItem

__all__ = ["label_rows", "load_labels"]


def load_labels(store: LabelStore, name: str | None = None) -> list[LabelRow]:
    """What each rater says of each item of a review, in the order of the review, then of the labels.

    Parameters
    ----------
    name
        Of the review (:meth:`~experiments.review.label_store.LabelStore.find_review`); ``None`` for the only one.

    Returns
    -------
    list of LabelRow
        Items that nobody touched have no row. Where several people adjudicated an item, each has a row and the last
        one stands.

    Raises
    ------
    ReviewError
        No review of that name, or several.
    """
    review = store.find_review(name)
    return label_rows(review, store.events(review))


def label_rows(review: Review, events: Iterable[Event]) -> list[LabelRow]:
    """The rows of :func:`load_labels` from events."""
    by_digest: dict[str, list[tuple[ItemKey, Standing]]] = {}
    for key, standing in fold_events(events).items():
        if standing.label is not None or standing.note or standing.disputed or standing.skipped:
            by_digest.setdefault(key.item_digest, []).append((key, standing))
    return [
        _row(one, key, standing)
        for one in review.work
        for key, standing in sorted(by_digest.get(one.item_digest, ()), key=lambda pair: pair[1].event_id)
    ]


def _row(one: WorkItem, key: ItemKey, standing: Standing) -> LabelRow:
    return LabelRow(
        item_id=one.item_id,
        item_digest=one.item_digest,
        rater=key.rater,
        label=standing.label,
        note=standing.note,
        disputed=standing.disputed,
        blind=standing.blind,
        labelled_at=standing.at,
        role="adjudication" if key.adjudicates else "label",
        probability=one.probability,
        part=one.part,
    )
