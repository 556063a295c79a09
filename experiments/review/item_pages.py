"""The two pages on which something is said of an item: labelling it, and deciding between labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.reports.escaping import shorten
from experiments.review.desk import Desk
from experiments.review.display import shown_text
from experiments.review.label_state import ItemKey, Standing
from experiments.review.page_parts import WorkPage, build_work_page, number_of, page_link
from experiments.review.review_state import ReviewState

__all__ = ["AdjudicationPage", "Decided", "LabelPage", "SkippedItem", "Vote", "adjudication_page", "label_page"]

_SHOWN_OF_QUESTION = 80


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """An item that a rater has left for later."""

    number: int
    href: str
    question: str


@dataclass(frozen=True, slots=True)
class LabelPage:
    """``n_own`` items are labelled by the rater, ``n_open`` may still be asked; ``n_waiting`` wait for anybody."""

    work: WorkPage
    n_own: int
    n_open: int
    n_waiting: int
    skipped: Sequence[SkippedItem]

    @property
    def n_mine(self) -> int:
        """What a full bar stands for."""
        return max(self.n_own + self.n_open, 1)


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's label as an adjudicator sees it."""

    rater: str
    label: str
    note: str
    disputed: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """An item that was adjudicated; the last decision stands."""

    number: int
    href: str
    labels: str
    decision: str
    rater: str


@dataclass(frozen=True, slots=True)
class AdjudicationPage:
    """Labels that differ, and what was decided before."""

    work: WorkPage
    votes: Sequence[Vote]
    n_pending: int
    decided: Sequence[Decided]


def label_page(desk: Desk, state: ReviewState, rater: str, digest: str | None, *, rules: str) -> LabelPage:
    """The page of an item to label, or of nothing being open."""
    opened = state.open_to(rater)
    own = {one: state.standing(one, rater) for one in state.places}
    n_own = sum(standing.label is not None for standing in own.values())
    standing = own[digest] if digest is not None else Standing()
    base = build_work_page(
        desk,
        state,
        rater,
        digest,
        path="/label",
        rules=rules,
        standing=standing,
        announcement=_announce(desk, state, rater, digest),
    )
    skipped = [
        SkippedItem(
            number_of(state, one),
            page_link("/label", rater, item=number_of(state, one)),
            shorten(shown_text(desk.review.items[one].question), _SHOWN_OF_QUESTION),
        )
        for one, standing in own.items()
        if standing.skipped
    ]
    return LabelPage(base, n_own=n_own, n_open=len(opened), n_waiting=_count_waiting(state), skipped=skipped)


def _announce(desk: Desk, state: ReviewState, rater: str, digest: str | None) -> str:
    last = desk.last_decision(state, rater)
    said = "" if last is None else f"Item {number_of(state, last.item_digest)}: {last.label or last.kind}. "
    left = f"{len(state.open_to(rater))} open."
    return f"{said}{left}" if digest is None else f"{said}Now item {number_of(state, digest)}; {left}"


def _count_waiting(state: ReviewState) -> int:
    """Items that lack a label of somebody."""
    return sum(
        len(state.labels.get(digest, ())) < state.review.work[place].raters and digest not in state.adjudications
        for digest, place in state.places.items()
    )


def adjudication_page(
    desk: Desk, state: ReviewState, rater: str, chosen: str | None, *, rules: str
) -> AdjudicationPage:
    """The page of the first labels that differ, or of an item that was or can be decided."""
    pending = state.disagreements()
    can_show = chosen is not None and (chosen in state.adjudications or state.differs(chosen))
    digest = chosen if can_show else next(iter(pending), None)
    standing = state.standings.get(ItemKey(digest, rater, adjudicates=True)) if digest is not None else None
    said = "" if digest is None else f"Now item {number_of(state, digest)}. "
    base = build_work_page(
        desk,
        state,
        rater,
        digest,
        path="/adjudicate",
        rules=rules,
        standing=standing or Standing(),
        announcement=f"{said}{len(pending)} to decide.",
    )
    votes = [] if digest is None else _votes(state, digest)
    decided = [_decided(state, one, rater) for one in state.places if one in state.adjudications]
    return AdjudicationPage(base, votes=votes, n_pending=len(pending), decided=decided)


def _votes(state: ReviewState, digest: str) -> list[Vote]:
    return [
        Vote(rater, standing.label, shown_text(standing.note), standing.disputed)
        for rater, standing in state.labels.get(digest, {}).items()
        if standing.label is not None
    ]


def _decided(state: ReviewState, digest: str, rater: str) -> Decided:
    by, standing = list(state.adjudications[digest].items())[-1]
    number = number_of(state, digest)
    labels = ", ".join(f"{vote.rater} {vote.label}" for vote in _votes(state, digest))
    return Decided(number, page_link("/adjudicate", rater, item=number), labels, standing.label or "", by)
