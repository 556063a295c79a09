"""What holds now: events of raters folded into the standing of each item and rater."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.review.events import UNDOABLE, Event, EventKind

__all__ = ["ItemKey", "Standing", "fold_events", "last_undoable"]


@dataclass(frozen=True, slots=True)
class ItemKey:
    """Whose standing it is, of which content, and whether as one of the raters or between them."""

    item_digest: str
    rater: str
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What a rater says of an item now; ``event_id`` and ``at`` are of the label, else of the newest event."""

    label: str | None = None
    note: str = ""
    disputed: bool = False
    skipped: bool = False
    blind: bool = True
    revealed: bool = False
    event_id: int = 0
    at: str = ""


@dataclass(slots=True)
class _Draft:
    label: Event | None = None
    label_blind: bool = True
    note: str = ""
    disputed: bool = False
    skipped: bool = False
    revealed: bool = False
    newest: Event | None = None


def fold_events(events: Iterable[Event]) -> Mapping[ItemKey, Standing]:
    """The standing of each item and rater, from all their events, oldest first.

    The newest label, skip and flag that were not undone count. Undoing takes back a decision and never a note. A label
    is blind if verdicts were hidden when it was given and the rater had not looked at them before, whether or not that
    rater had labelled the item before and undone it.
    """
    listed = list(events)
    undone = {event.undoes for event in listed if event.kind == "undo"}
    drafts: dict[ItemKey, _Draft] = {}
    for event in listed:
        if event.kind == "undo":
            continue
        draft = drafts.setdefault(_key(event), _Draft())
        _apply(draft, event, counts=event.event_id not in undone, revealed=_revealed(drafts, event))
    return {key: _finish(draft) for key, draft in drafts.items()}


def _key(event: Event) -> ItemKey:
    return ItemKey(event.item_digest, event.rater, event.kind == "adjudicate")


def _revealed(drafts: Mapping[ItemKey, _Draft], event: Event) -> bool:
    """Verdicts that a rater has seen are seen in either role."""
    own = drafts.get(ItemKey(event.item_digest, event.rater))
    return own is not None and own.revealed


def _apply(draft: _Draft, event: Event, *, counts: bool, revealed: bool) -> None:
    if event.note is not None:
        draft.note = event.note
    if event.kind == "reveal":
        draft.revealed = True
    if counts and event.kind in ("label", "adjudicate"):
        draft.label, draft.label_blind, draft.skipped = event, bool(event.blind) and not revealed, False
    if counts and event.kind == "skip":
        draft.skipped = draft.label is None
    if counts and event.kind == "flag":
        draft.disputed = bool(event.disputed)
    draft.newest = event


def _finish(draft: _Draft) -> Standing:
    shown = draft.label or draft.newest
    return Standing(
        label=draft.label.label if draft.label else None,
        note=draft.note,
        disputed=draft.disputed,
        skipped=draft.skipped,
        blind=draft.label_blind if draft.label else True,
        revealed=draft.revealed,
        event_id=shown.event_id if shown else 0,
        at=shown.created_at if shown else "",
    )


def last_undoable(
    events: Iterable[Event], rater: str, digests: Iterable[str], kinds: tuple[EventKind, ...] = UNDOABLE
) -> Event | None:
    """The newest decision of a rater on some items that was not undone."""
    listed, wanted = list(events), frozenset(digests)
    undone = {event.undoes for event in listed if event.kind == "undo"}
    own = [event for event in listed if event.rater == rater and event.kind in kinds and event.item_digest in wanted]
    return max((event for event in own if event.event_id not in undone), key=lambda one: one.event_id, default=None)
