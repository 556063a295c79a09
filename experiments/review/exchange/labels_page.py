"""The page of a review's labels: who gave how many, how far they agree, what is open and disputed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from experiments.reports.document import Block, Document, Paragraph, Section, Table
from experiments.reports.plain import estimate_fields
from experiments.review.display import estimate_text
from experiments.review.exchange.item_decisions import ItemDecision, decide_items
from experiments.review.label_row import LabelRow
from experiments.review.progress import Progress, RaterAgreement, measure_agreement, measure_progress
from experiments.review.review_record import Review
from experiments.review.review_state import ReviewState

__all__ = ["labels_document", "labels_fields"]

SCHEMA = "autorater.labels-page/1"


def labels_fields(state: ReviewState, rows: Sequence[LabelRow]) -> dict[str, Any]:
    """The page as plain JSON values."""
    review, agreement, decisions = state.review, measure_agreement(state), decide_items(rows)
    return {
        "schema": SCHEMA,
        "review_id": review.review_id,
        "source": review.source,
        "run_id": review.run_id,
        "queue_id": review.queue_id,
        "rubric": review.calibration_set.rubric,
        "progress": asdict(measure_progress(state)),
        "labels": _label_counts(review, decisions),
        "agreement": {
            "pairwise": estimate_fields(agreement.raw),
            "alpha": estimate_fields(agreement.alpha),
            "fleiss_kappa": estimate_fields(agreement.kappa),
        },
        "disputed": [one.item_id for one in review.work if _flagged(decisions, one.item_id)],
        "undecided": [one.item_id for one in review.work if _undecided(decisions, one.item_id)],
    }


def labels_document(state: ReviewState, rows: Sequence[LabelRow]) -> Document:
    """The page for people."""
    review, decisions = state.review, decide_items(rows)
    progress = measure_progress(state)
    blocks: list[Block] = [Paragraph(_about(review, progress)), _rater_table(progress)]
    blocks.append(_label_table(_label_counts(review, decisions)))
    blocks.append(Paragraph(_agreement_text(progress, measure_agreement(state))))
    for title, chosen in (("disputed", _flagged), ("without a decision", _undecided)):
        ids = [one.item_id for one in review.work if chosen(decisions, one.item_id)]
        if ids:
            blocks.append(Paragraph(f"{len(ids):,} {title}: {', '.join(ids[:20])}{', ...' if len(ids) > 20 else ''}"))
    return Document((Section(f"Labels: {review.review_id}", 1, tuple(blocks)),))


def _flagged(decisions: Mapping[str, ItemDecision], item_id: str) -> bool:
    return item_id in decisions and decisions[item_id].is_disputed


def _undecided(decisions: Mapping[str, ItemDecision], item_id: str) -> bool:
    return item_id in decisions and decisions[item_id].is_labelled and decisions[item_id].label is None


def _label_counts(review: Review, decisions: Mapping[str, ItemDecision]) -> dict[str, dict[str, int]]:
    """Label to how often raters gave it, and of how many items it is the reference label."""
    given = Counter(row.label for one in decisions.values() for row in one.given)
    reference = Counter(one.label for one in decisions.values())
    return {label: {"given": given[label], "items": reference[label]} for label in review.scale.labels}


def _about(review: Review, progress: Progress) -> str:
    where = f"{review.queue_id} of run {review.run_id}" if review.queue_id else f"set {review.calibration_set.name}"
    return (
        f"{progress.n_items:,} items of {where}, rubric {review.calibration_set.rubric}: {progress.n_labelled:,} "
        f"labelled, {progress.n_given:,} of {progress.n_wanted:,} labels given, {progress.n_double:,} items with "
        f"two or more, {progress.n_adjudicated:,} adjudicated."
    )


def _rater_table(progress: Progress) -> Table:
    rows = tuple(
        (one.rater, str(one.n_labelled), str(one.n_skipped), str(one.n_flagged), str(one.n_not_blind), str(one.n_open))
        for one in progress.raters
    )
    return Table(("rater", "labels", "skipped", "disputed", "not blind", "open"), rows)


def _label_table(counts: Mapping[str, Mapping[str, int]]) -> Table:
    rows = tuple((label, str(one["given"]), str(one["items"])) for label, one in counts.items())
    return Table(("label", "given", "items with it as the reference label"), rows)


def _agreement_text(progress: Progress, agreement: RaterAgreement) -> str:
    if agreement.raw.value is None:
        return "Agreement is not defined: no item has two labels."
    return (
        f"Raters agree in {estimate_text(agreement.raw, percent=True)} of pairs; Krippendorff's alpha "
        f"{estimate_text(agreement.alpha)}, Fleiss' kappa {estimate_text(agreement.kappa)}. Items on which "
        f"they differ: {progress.n_disagreements:,}, without an adjudication: {progress.n_open_disagreements:,}."
    )
