"""Labels of a file into a review: what is new is added, what is there stays, and what contradicts is a choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from calibration_sets.item import content_digest
from calibration_sets.strict import raise_problems
from experiments.errors import ReviewError
from experiments.review.events import Event, NewEvent
from experiments.review.exchange.file_row import FileLabels, FileRow
from experiments.review.exchange.row_matching import MatchedRow, match_rows
from experiments.review.label_state import ItemKey, Standing, fold_events
from experiments.review.label_store import LabelStore
from experiments.review.review_record import Review

__all__ = ["ImportCounts", "OnConflict", "import_labels"]

OnConflict = Literal["refuse", "keep", "replace"]
"""What happens to a label that differs from the one that is there."""
_NOTHING = Standing()
_TRIES = 20
"""So often an import looks again, because somebody labelled while it compared."""


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """What became of a file's rows; ``conflicts`` are those that contradicted the store, in words."""

    n_rows: int
    n_empty: int
    n_added: int
    n_known: int
    conflicts: tuple[str, ...]
    notes: tuple[str, ...]


def import_labels(
    store: LabelStore,
    review: Review,
    labels: FileLabels,
    *,
    rater: str | None = None,
    blind: bool = False,
    on_conflict: OnConflict = "refuse",
) -> ImportCounts:
    """Add the labels of a file to a review, all in one transaction, or with an error none.

    Nothing in the store is changed or taken back: a file that says less than the store, or the same, adds nothing. A
    label or note that contradicts the rater's own is a conflict; one that replaces it is a newer event beside it.

    Parameters
    ----------
    rater, blind
        For rows that do not say who labelled, and whether verdicts were hidden.
    on_conflict
        ``refuse`` the whole file, ``keep`` what the store says, or ``replace`` it by what the file says.

    Raises
    ------
    ReviewError
        A row that does not fit the review, a conflict that is refused, labels of a queue for a set.
    """
    said = [row for row in labels.rows if not row.says_nothing]
    _refuse_queue(review, said)
    for _ in range(_TRIES):
        events = store.events(review)
        matched = match_rows(review, said, known_raters=_raters(events), rater=rater, blind=blind)
        plan = _plan(matched, events, on_conflict)
        if store.append_unless_newer(review, plan.events, newest=events[-1].event_id if events else 0):
            break
    else:
        raise ReviewError(f"{review.review_id}: labels come in all the time; expected a moment in which none does")
    lost = (f"left out, notes of adjudications that were taken back: {plan.n_lost}",) if plan.n_lost else ()
    return ImportCounts(
        n_rows=len(labels.rows),
        n_empty=len(labels.rows) - len(said),
        n_added=plan.n_added,
        n_known=plan.n_known,
        conflicts=plan.conflicts,
        notes=(*labels.notes, *lost),
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    events: Sequence[NewEvent]
    conflicts: tuple[str, ...]
    n_added: int
    n_known: int
    n_lost: int


def _plan(matched: Sequence[MatchedRow], events: Sequence[Event], on_conflict: OnConflict) -> _Plan:
    """What is to be added to what was said so far."""
    standings = fold_events(events)
    # A decision that was taken back has no label, and no event says a note of it alone.
    kept = [row for row in matched if row.role == "label" or row.label is not None]
    clashing = {row.key: text for row in kept if (text := _conflict(row, standings.get(row.key, _NOTHING)))}
    if on_conflict == "refuse":
        choice = "--on-conflict keep or replace"
        raise_problems([f"{text}; expected the same, or {choice}" for text in clashing.values()], ReviewError)
    passed = [row for row in kept if on_conflict == "replace" or row.key not in clashing]
    newest = {(event.item_digest, event.rater): event.event_id for event in events}
    additions = [_events_of(row, standings, newest.get((row.item.digest, row.rater), 0)) for row in passed]
    return _Plan(
        events=[event for group in additions for event in group],
        conflicts=tuple(clashing.values()),
        n_added=sum(map(bool, additions)),
        n_known=sum(not group for group in additions),
        n_lost=len(matched) - len(kept),
    )


def _raters(events: Iterable[Event]) -> Sequence[str]:
    return list(dict.fromkeys(event.rater for event in events))


def _refuse_queue(review: Review, rows: Iterable[FileRow]) -> None:
    """Labels of a queue are of hard items; the review of a set would not know, and a frozen set would not tell."""
    first = next((row for row in rows if row.part in ("ranked", "random")), None)
    if first is not None and review.source == "set":
        raise ReviewError(
            f"{first.where}: a label of a review queue, for the review of a set; expected the review of "
            "its run ('autorater labels start RUN'), which knows the probability of each item"
        )


def _conflict(row: MatchedRow, now: Standing) -> str | None:
    if row.label is not None and now.label is not None and row.label != now.label:
        return f"{row.where}: {row.rater} says {row.label} of {row.item.item_id!r}, in the store {now.label}"
    if row.note and now.note and row.note != now.note:
        return f"{row.where}: {row.rater} has another note on {row.item.item_id!r} in the store"
    return None


def _events_of(row: MatchedRow, standings: Mapping[ItemKey, Standing], newest: int) -> Sequence[NewEvent]:
    """What makes the store say what the row says; nothing where it does. ``newest`` is the rater's last event there."""
    now = standings.get(row.key, _NOTHING)
    # A flag is always the rater's own, also of one who adjudicates.
    flagged = standings.get(ItemKey(row.item.digest, row.rater), _NOTHING).disputed
    note = row.note if row.note and row.note != now.note else None
    fresh = row.label is not None and row.label != now.label
    events = [_event(row, newest, "flag", disputed=True)] if row.disputed and not flagged else []
    if fresh or (note and row.role == "adjudication"):
        kind: Literal["label", "adjudicate"] = "adjudicate" if row.role == "adjudication" else "label"
        events.append(_event(row, newest, kind, note=note))
    elif note:
        events.append(_event(row, newest, "note", note=note))
    elif row.label is None and now == _NOTHING and not row.disputed:
        events.append(_event(row, newest, "skip"))
    return events


def _event(
    row: MatchedRow,
    newest: int,
    kind: Literal["label", "adjudicate", "note", "flag", "skip"],
    *,
    note: str | None = None,
    disputed: bool | None = None,
) -> NewEvent:
    """An event whose token is of the row and of what it comes after, so that two imports at once add it once."""
    content = [
        row.item.digest, row.rater, row.role, row.label or "", row.note, str(row.disputed), row.labelled_at or "",
        kind, newest,
    ]  # fmt: skip
    decides = kind in ("label", "adjudicate")
    return NewEvent(
        token=f"import-{content_digest(content)}",
        rater=row.rater,
        item_digest=row.item.digest,
        kind=kind,
        label=row.label if decides else None,
        note=note,
        disputed=disputed,
        blind=row.blind if decides else None,
        created_at=row.labelled_at,
    )
