"""A review at one moment: who said what of which item, and which items lie with whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.review.events import Event
from experiments.review.label_state import ItemKey, Standing, fold_events
from experiments.review.review_record import Review

__all__ = ["ReviewState", "read_state"]

_NOTHING = Standing()


@dataclass(frozen=True, slots=True)
class ReviewState:
    """Standings by item content.

    ``places`` are those of the contents of the review, each once: an item whose content stands twice is asked once.
    ``labels`` and ``adjudications`` map digest to rater to a standing with a label, the newest last.
    """

    review: Review
    events: Sequence[Event]
    places: Mapping[str, int]
    standings: Mapping[ItemKey, Standing]
    labels: Mapping[str, Mapping[str, Standing]]
    adjudications: Mapping[str, Mapping[str, Standing]]

    def standing(self, digest: str, rater: str) -> Standing:
        """What a rater says of an item as one of its raters."""
        return self.standings.get(ItemKey(digest, rater), _NOTHING)

    @property
    def raters(self) -> Sequence[str]:
        """All who did anything, in the order in which they came."""
        return list(dict.fromkeys(event.rater for event in self.events))

    def open_to(self, rater: str) -> Sequence[str]:
        """Contents that a rater may be asked to label, in the review's order.

        Left out are those that the rater has labelled, skipped or adjudicated, that anybody has adjudicated, or that
        have the labels they need from others.
        """
        return [digest for digest in self.places if self.is_open_to(digest, rater)]

    def is_open_to(self, digest: str, rater: str) -> bool:
        """Whether a rater may be asked to label one of them."""
        own, given = self.standing(digest, rater), self.labels.get(digest, {})
        if own.label is not None or own.skipped or digest in self.adjudications:
            return False
        return len(given) < self.raters_wanted(digest)

    def raters_wanted(self, digest: str) -> int:
        """How many people should label an item."""
        return self.review.work[self.places[digest]].raters

    def disagreements(self) -> Sequence[str]:
        """Contents whose raters differ and that nobody has adjudicated, in the review's order."""
        return [digest for digest in self.places if self.differs(digest) and digest not in self.adjudications]

    def differs(self, digest: str) -> bool:
        """Whether two raters gave an item different labels."""
        return len({standing.label for standing in self.labels.get(digest, {}).values()}) > 1


def read_state(review: Review, events: Iterable[Event]) -> ReviewState:
    """The state that events lead to; those on other items than the review's count for nothing here."""
    listed = [event for event in events if event.item_digest in review.items]
    standings = fold_events(listed)
    ordered = sorted(standings.items(), key=lambda pair: pair[1].event_id)
    labels: dict[str, dict[str, Standing]] = {}
    adjudications: dict[str, dict[str, Standing]] = {}
    for key, standing in ordered:
        if standing.label is not None:
            side = adjudications if key.adjudicates else labels
            side.setdefault(key.item_digest, {})[key.rater] = standing
    places: dict[str, int] = {}
    for place, one in enumerate(review.work):
        places.setdefault(one.item_digest, place)
    return ReviewState(review, listed, places, standings, labels, adjudications)
