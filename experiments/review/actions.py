"""What forms do: each makes one event durable and says which page comes next."""

from __future__ import annotations

from dataclasses import replace

from experiments.errors import ReviewError
from experiments.review.desk import Desk
from experiments.review.events import EventKind, NewEvent
from experiments.review.forms import Answer
from experiments.review.label_state import ItemKey
from experiments.review.page_parts import number_of, page_link
from experiments.review.review_state import ReviewState

__all__ = ["adjudicate", "label", "reveal", "undo"]

_ACTIONS: dict[str, EventKind] = {"skip": "skip", "flag": "flag", "unflag": "flag", "note": "note"}


def label(desk: Desk, state: ReviewState, answer: Answer) -> str:
    """Label an item, skip it, flag its reference or write a note, else ``ReviewError``; the next page's address."""
    new = _event(desk, answer, "label")
    if new.label is None:
        action = answer.fields.get("action", "")
        if action not in _ACTIONS:
            raise ReviewError(f"form: action {action!r}; expected a label or one of {list(_ACTIONS)}")
        new = replace(new, kind=_ACTIONS[action], disputed=action == "flag" if "flag" in action else None)
    desk.record(new)
    if new.kind in ("label", "skip"):
        return page_link("/label", answer.rater)
    return page_link("/label", answer.rater, item=number_of(state, answer.digest))


def adjudicate(desk: Desk, state: ReviewState, answer: Answer) -> str:
    """Decide between labels that differ; ``ReviewError`` where they do not."""
    if answer.digest not in state.adjudications and not state.differs(answer.digest):
        raise ReviewError("adjudication: the labels of this item do not differ (any more); expected some that do")
    desk.record(_event(desk, answer, "adjudicate"))
    return page_link("/adjudicate", answer.rater)


def undo(desk: Desk, state: ReviewState, answer: Answer) -> str:
    """Take back a decision that the page named, and go to its item; ``ReviewError`` where it named none."""
    target = answer.fields.get("target", "")
    if not (target.isascii() and target.isdigit() and len(target) < 19):
        raise ReviewError(f"undo: event {target[:20]!r}; expected the number of a decision")
    new = NewEvent(token=answer.token, rater=answer.rater, item_digest=answer.digest, kind="undo", undoes=int(target))
    desk.record(new)
    undone = next((event for event in state.events if event.event_id == int(target)), None)
    path = "/adjudicate" if undone is not None and undone.kind == "adjudicate" else "/label"
    return page_link(path, answer.rater, item=number_of(state, answer.digest))


def reveal(desk: Desk, state: ReviewState, answer: Answer) -> str:
    """Show a rater what graders said of an item; ``ReviewError`` before the rater has labelled it. It is recorded."""
    keys = (ItemKey(answer.digest, answer.rater), ItemKey(answer.digest, answer.rater, adjudicates=True))
    if not any(key in state.standings and state.standings[key].label is not None for key in keys):
        raise ReviewError("verdicts: this item has no label of yours; expected one before they are shown")
    desk.record(NewEvent(token=answer.token, rater=answer.rater, item_digest=answer.digest, kind="reveal"))
    path = "/label" if state.standing(answer.digest, answer.rater).label is not None else "/adjudicate"
    return page_link(path, answer.rater, item=number_of(state, answer.digest))


def _event(desk: Desk, answer: Answer, kind: EventKind) -> NewEvent:
    return NewEvent(
        token=answer.token,
        rater=answer.rater,
        item_digest=answer.digest,
        kind=kind,
        label=answer.fields.get("label"),
        note=answer.note,
        blind=not desk.show_verdicts,
    )
