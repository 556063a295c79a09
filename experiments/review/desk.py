"""The desk that raters work at: it hands out items and takes what they say of them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from experiments.errors import ReviewError
from experiments.review.events import Event, NewEvent, Recorded
from experiments.review.label_state import last_undoable
from experiments.review.label_store import LabelStore
from experiments.review.progress import RaterAgreement, measure_agreement
from experiments.review.review_record import Review
from experiments.review.review_state import ReviewState, read_state
from experiments.review.work_list import ReviewPlan

__all__ = ["LONGEST_NAME", "LONGEST_NOTE", "Desk", "clean_name"]

LONGEST_NAME, LONGEST_NOTE = 80, 4000
"""Characters of a rater's name and of a note."""
_LEASE_SECONDS = 600.0
"""So long an item that enough raters look at is offered to others only after all else."""


class Desk:
    """One review, open for labelling; safe to use from several threads.

    Parameters
    ----------
    store
        Where labels go.
    plan
        The review, which is recorded in the store, and graders' verdicts of its items.
    show_verdicts
        Show verdicts and reasons from the start; labels are then recorded as not blind.
    clock
        Seconds, growing.
    """

    def __init__(
        self,
        store: LabelStore,
        plan: ReviewPlan,
        *,
        show_verdicts: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.review: Review = plan.review
        self.show_verdicts = show_verdicts
        self._store, self._verdicts, self._clock = store, plan.verdicts, clock
        self._lock = Lock()
        self._events: list[Event] = []
        self._leases: dict[str, dict[str, float]] = {}
        self._agreement: tuple[int, RaterAgreement] | None = None
        store.create_review(plan.review)

    def read(self) -> ReviewState:
        """The state now, what other processes added included."""
        with self._lock:
            newest = self._events[-1].event_id if self._events else 0
            self._events.extend(self._store.events(self.review, after=newest))
            return read_state(self.review, self._events)

    def record(self, new: NewEvent) -> Recorded:
        """Make an event durable; ``ReviewError`` for a note that is too long."""
        if new.note is not None and len(new.note) > LONGEST_NOTE:
            raise ReviewError(f"note: {len(new.note):,} characters; expected at most {LONGEST_NOTE:,}")
        return self._store.append(self.review, new)

    def hand_out(self, state: ReviewState, rater: str) -> str | None:
        """The next item for a rater, or ``None``: one that wants a rater beside those who look at it, if any does.

        That somebody looks at an item is only remembered here. It spares people doubled work and decides nothing:
        whatever two people say of one item is kept.
        """
        opened = state.open_to(rater)
        with self._lock:
            now = self._clock()
            free = [digest for digest in opened if self._is_free(state, digest, rater, now)]
            chosen = next(iter(free or opened), None)
            if chosen is not None:
                self._leases.setdefault(chosen, {})[rater] = now + _LEASE_SECONDS
            return chosen

    def _is_free(self, state: ReviewState, digest: str, rater: str, now: float) -> bool:
        """Whether the labels that are there and those that others are about to give leave one to be given."""
        holders = [one for one, until in self._leases.get(digest, {}).items() if until > now and one != rater]
        n_coming = sum(state.is_open_to(digest, one) for one in holders)
        return len(state.labels.get(digest, ())) + n_coming < state.raters_wanted(digest)

    def last_decision(self, state: ReviewState, rater: str) -> Event | None:
        """What ``undo`` would take back."""
        return last_undoable(state.events, rater, state.places)

    def verdicts_for(self, state: ReviewState, digest: str, rater: str) -> Mapping[str, str] | None:
        """What graders said of an item, ``None`` as long as the rater should not see it."""
        return self._verdicts.get(digest, {}) if self.may_see(state, digest, rater) else None

    def may_see(self, state: ReviewState, digest: str, rater: str) -> bool:
        """Whether a rater sees verdicts: always, or having asked for them after labelling."""
        return self.show_verdicts or state.standing(digest, rater).revealed

    @property
    def has_verdicts(self) -> bool:
        """Whether there is anything to hide."""
        return any(self._verdicts.values())

    def agreement(self, state: ReviewState) -> RaterAgreement:
        """Agreement of the raters, computed anew only where something has happened."""
        newest = state.events[-1].event_id if state.events else 0
        known = self._agreement
        if known is None or known[0] != newest:
            known = (newest, measure_agreement(state))
            self._agreement = known
        return known[1]


def clean_name(text: str, known: Iterable[str] = ()) -> str:
    """A rater's name as it is recorded: one line, and spelt as it was before if only its capitals differ.

    Raises
    ------
    ReviewError
        An empty or too long name, or one with characters that do not print.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ReviewError(
            f"name: {len(name)} characters; expected 1 to {LONGEST_NAME} printable ones, such as your first name"
        )
    return next((other for other in known if other.casefold() == name.casefold()), name)
