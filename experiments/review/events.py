"""What happens to an item under a rater's hands. Events are only ever added; what holds now is read out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["UNDOABLE", "Event", "EventKind", "NewEvent", "Recorded"]

EventKind = Literal["label", "note", "flag", "skip", "undo", "reveal", "adjudicate"]
"""What a labelling event does."""
UNDOABLE: tuple[EventKind, ...] = ("label", "skip", "flag", "adjudicate")
"""What ``undo`` takes back: a note is changed by writing another one, and what was revealed has been seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event before it is stored.

    ``token`` names the page or the row of a file that it comes from: the same event sent again is kept once.
    ``label`` is that of ``label`` and ``adjudicate``; ``note`` may come with any event; ``disputed`` is what ``flag``
    sets; ``blind`` says whether verdicts were hidden; ``undoes`` is the id of the event that ``undo`` takes back.
    ``created_at`` is now unless it is given, as an import does.
    """

    token: str
    rater: str
    item_digest: str
    kind: EventKind
    label: str | None = None
    note: str | None = None
    disputed: bool | None = None
    blind: bool | None = None
    undoes: int | None = None
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A stored event; ``event_id`` grows with time."""

    event_id: int
    review_id: str
    rater: str
    item_digest: str
    kind: EventKind
    label: str | None
    note: str | None
    disputed: bool | None
    blind: bool | None
    undoes: int | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """The event that now stands for a new one; ``repeated`` where it had been stored before."""

    event: Event
    repeated: bool
