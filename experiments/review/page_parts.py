"""What the templates are filled with."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from calibration_sets.item import Item
from experiments.review.audit_items import RESPONSES, SOURCES
from experiments.review.desk import LONGEST_NOTE, Desk
from experiments.review.display import range_texts, shown_text
from experiments.review.events import Event
from experiments.review.label_state import Standing
from experiments.review.links import find_links
from experiments.review.review_state import ReviewState

__all__ = ["ItemTexts", "LabelButton", "LastDecision", "WorkPage", "build_work_page", "number_of", "page_link"]

_KEYS = "123456789"
_DECISIONS = {"skip": "skipped", "flag": "flag of the reference changed"}


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """An item's texts, with what cannot be seen spelt out; not yet escaped.

    A question of an audit has no ``response`` to be labelled; it has its sources, and may have what models answered.
    """

    question: str
    reference: str
    aliases: Sequence[str]
    ranges: Sequence[str]
    response: str | None
    sources: Sequence[str] = ()
    responses: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class LabelButton:
    """A label and its key; labels beyond the ninth have a button alone."""

    label: str
    key: str | None


@dataclass(frozen=True, slots=True)
class LastDecision:
    """What ``undo`` takes back."""

    number: int
    what: str
    href: str
    digest: str
    event_id: int


@dataclass(frozen=True, slots=True)
class WorkPage:
    """What pages on which something is decided have in common; ``verdicts`` is ``None`` as long as they are hidden.

    ``here`` is the address of the page of this very item.
    """

    review_id: str
    rater: str
    token: str
    rubric: str
    rules: str
    labels: Sequence[LabelButton]
    longest_note: int
    n_items: int
    digest: str
    number: int
    item: ItemTexts | None
    standing_label: str | None
    note: str
    note_links: Sequence[str]
    is_audit: bool
    disputed: bool
    verdicts: Sequence[tuple[str, str]] | None
    reason: str
    can_reveal: bool
    last: LastDecision | None
    announcement: str
    here: str


def page_link(path: str, rater: str, **more: str | int) -> str:
    """An address of our own."""
    return f"{path}?{urlencode({'rater': rater, **more})}"


def build_work_page(
    desk: Desk,
    state: ReviewState,
    rater: str,
    digest: str | None,
    *,
    path: str,
    rules: str,
    standing: Standing,
    announcement: str,
) -> WorkPage:
    """The page under ``path`` of an item for a rater; of none, where ``digest`` is ``None``."""
    review = desk.review
    place = state.places[digest] if digest is not None else 0
    said = None if digest is None else desk.verdicts_for(state, digest, rater)
    event = desk.last_decision(state, rater)
    is_audit = review.source == "audit"
    number = number_of(state, digest) if digest is not None else 0
    return WorkPage(
        review_id=review.review_id,
        rater=rater,
        token=secrets.token_hex(16),
        rubric=review.calibration_set.rubric,
        rules=rules,
        labels=_buttons(review.scale.labels),
        longest_note=LONGEST_NOTE,
        n_items=len(state.places),
        digest=digest or "",
        number=number,
        item=None if digest is None else _texts(review.items[digest], is_audit=is_audit),
        standing_label=standing.label,
        note=standing.note,
        note_links=find_links(standing.note),
        is_audit=is_audit,
        disputed=standing.disputed,
        verdicts=None if said is None else [(shown_text(name), shown_text(text)) for name, text in said.items()],
        reason=shown_text(review.work[place].reason),
        can_reveal=desk.has_verdicts and said is None and standing.label is not None,
        last=None if event is None else _last(state, event, rater),
        announcement=announcement,
        here=page_link(path, rater, item=number) if number else page_link(path, rater),
    )


def _texts(item: Item, *, is_audit: bool) -> ItemTexts:
    responses = item.metadata.get(RESPONSES, ()) if is_audit else ()
    return ItemTexts(
        question=shown_text(item.question),
        reference=shown_text(item.reference.text),
        aliases=[shown_text(alias) for alias in item.reference.extra_aliases],
        # The note in the reference's own text says it already.
        ranges=() if item.reference.answer != item.reference.text.strip() else range_texts(item.reference),
        response=None if is_audit else shown_text(item.response),
        sources=item.metadata.get(SOURCES, ()) if is_audit else (),
        responses=[(shown_text(model), shown_text(text)) for model, text in responses],
    )


def _buttons(labels: Sequence[str]) -> Sequence[LabelButton]:
    return [LabelButton(label, _KEYS[place] if place < len(_KEYS) else None) for place, label in enumerate(labels)]


def number_of(state: ReviewState, digest: str) -> int:
    """Items are counted from 1, and each content once."""
    return list(state.places).index(digest) + 1


def _last(state: ReviewState, event: Event, rater: str) -> LastDecision:
    number = number_of(state, event.item_digest)
    what = event.label or _DECISIONS[event.kind]
    path = "/adjudicate" if event.kind == "adjudicate" else "/label"
    return LastDecision(number, what, page_link(path, rater, item=number), event.item_digest, event.event_id)
