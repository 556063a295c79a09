"""A review's labels as a calibration set: what people said, which label stands, and how the items were chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from calibration_sets.calibration_set import CalibrationSet, strict_majority
from calibration_sets.item import HumanLabel, Item
from experiments.errors import ReviewError
from experiments.review.events import Event
from experiments.review.exchange.freezing_words import FrozenCounts, describe
from experiments.review.exchange.item_decisions import ItemDecision, decide_items
from experiments.review.exchange.item_selection import Selection, read_selection
from experiments.review.labels import label_rows
from experiments.review.progress import measure_agreement
from experiments.review.review_record import Review, WorkItem
from experiments.review.review_state import read_state

__all__ = ["FreezeOptions", "FrozenLabels", "before_adjudication", "freeze_labels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeOptions:
    """``licence`` is the reviewed set's if ``None``; ``queue_as_is`` lets items that graders chose pass as a set."""

    name: str
    version: str
    licence: str | None = None
    keep_disputed: bool = False
    queue_as_is: bool = False


@dataclass(frozen=True, slots=True)
class FrozenLabels:
    """The set, what it is made of, and whether it is no sample of anything."""

    calibration_set: CalibrationSet
    counts: FrozenCounts
    selection: Selection


def before_adjudication(rubric: str) -> str:
    """The rubric of labels that an adjudication overrode and no majority could."""
    name, _, version = rubric.rpartition("@")
    return f"{name}.before-adjudication@{version}"


def freeze_labels(
    review: Review, events: Sequence[Event], reviews: Sequence[Review], options: FreezeOptions
) -> FrozenLabels:
    """The calibration set of a review's labels as they stand.

    Each rater's label is a row. An adjudication is a row of one more rater, whose name says so; where it would not be
    the strict majority, the labels that it overrode keep their rows under another rubric
    (:func:`before_adjudication`), so that the reference label is the adjudicated one. Items of which a rater holds
    the reference to be wrong are left out unless they are to be kept. Items of a queue keep part and probability in
    their metadata.

    Parameters
    ----------
    events, reviews
        All of the store on the review's rubric and scale.

    Raises
    ------
    ReviewError
        If there is no label, none but on disputed items, if the labels are of questions alone, or if the items were
        chosen because graders were unsure of them and that is not accepted.
    """
    if review.source == "audit":
        raise ReviewError(f"{review.review_id}: labels of questions; expected labels of responses to freeze")
    decisions = decide_items(label_rows(review, events))
    labelled = {one.item_digest for one in review.work if _is_labelled(decisions, one)}
    if not labelled:
        raise ReviewError(f"{review.review_id}: no label; expected one or more to freeze")
    selection = read_selection(review, labelled, events, reviews)
    if selection.is_biased and not options.queue_as_is:
        raise ReviewError(
            f"{review.review_id}: {selection.text}; expected labels of items that nobody chose, or "
            "'autorater labels export --format queue' and 'autorater queue rates', which weigh them, or "
            "--biased-queue-as-is"
        )
    kept = [
        one
        for one in review.work
        if _is_labelled(decisions, one) and (options.keep_disputed or not decisions[one.item_id].is_disputed)
    ]
    if not kept:
        raise ReviewError(
            f"{review.review_id}: all {len(labelled):,} labelled items have a disputed reference; "
            "expected one without, or --keep-disputed"
        )
    frozen = {one.item_id: decisions[one.item_id] for one in kept}
    agreement = measure_agreement(read_state(review, events))
    counts = FrozenCounts.of(decisions, frozen, agreement)
    return FrozenLabels(_build_set(review, kept, frozen, counts, selection, options), counts, selection)


def _is_labelled(decisions: Mapping[str, ItemDecision], one: WorkItem) -> bool:
    return one.item_id in decisions and decisions[one.item_id].is_labelled


def _build_set(
    review: Review,
    kept: Sequence[WorkItem],
    decisions: Mapping[str, ItemDecision],
    counts: FrozenCounts,
    selection: Selection,
    options: FreezeOptions,
) -> CalibrationSet:
    reviewed = review.calibration_set
    by_id = {item.item_id: item for item in reviewed.items}
    raters = frozenset(row.rater for decision in decisions.values() for row in decision.given)
    return replace(
        reviewed,
        name=options.name,
        version=options.version,
        label_source="human",
        licence=options.licence or reviewed.licence,
        source=f"labels of review {review.review_id} on {reviewed.name} {reviewed.version}: {reviewed.source}",
        description=describe(counts, selection, keep_disputed=options.keep_disputed),
        items=tuple(_frozen_item(review, one, by_id[one.item_id]) for one in kept),
        human_labels=tuple(label for one in kept for label in _labels(decisions[one.item_id], reviewed.rubric, raters)),
    )


def _frozen_item(review: Review, one: WorkItem, item: Item) -> Item:
    if one.probability is None:
        return item
    drawn = {"queue": review.queue_id, "run": review.run_id, "part": one.part, "probability": one.probability}
    return replace(item, metadata={**item.metadata, "review_queue": drawn})


def _labels(decision: ItemDecision, rubric: str, raters: Collection[str]) -> list[HumanLabel]:
    given = [HumanLabel(row.item_id, row.item_digest, row.rater, str(row.label), rubric) for row in decision.given]
    row = decision.adjudication
    if row is None:
        return given
    decided = HumanLabel(row.item_id, row.item_digest, _adjudicator(row.rater, raters), str(row.label), rubric)
    if strict_majority([label.label for label in (*given, decided)]) != row.label:
        given = [replace(label, rubric=before_adjudication(rubric)) for label in given]
    return [*given, decided]


def _adjudicator(name: str, raters: Collection[str]) -> str:
    """The rater that a decision is a row of: nobody who labelled, even if somebody is called so."""
    row_name = f"{name} (adjudication)"
    while row_name in raters:
        row_name = f"{row_name} (adjudication)"
    return row_name
