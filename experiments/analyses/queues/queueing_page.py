"""The pages of a review queue and of the rates from its labels."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from experiments.analyses.queues.queue_rates import QueueRates
from experiments.analyses.queues.queueing import Queue
from experiments.reports.document import Block, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.figures import count_of, count_text, percent, rate_text
from experiments.reports.plain import estimate_fields

__all__ = ["queue_document", "queue_fields", "rates_document", "rates_fields"]

QUEUE_SCHEMA = "autorater.queue/1"
RATES_SCHEMA = "autorater.queue-rates/1"
SHOWN = 10
"""Rows of a queue that its page shows; all are in its file."""


def queue_fields(queue: Queue) -> dict[str, Any]:
    """The queue as plain JSON values."""
    return {
        "schema": QUEUE_SCHEMA,
        "run_id": queue.run_id,
        "queue_id": queue.queue_id,
        "n_items": queue.n_items,
        "n_flagged": queue.n_flagged,
        "n_ranked": queue.n_ranked,
        "n_random": queue.n_random,
        "random_probability": queue.random_probability,
        "seed": queue.seed,
        "flagged": dict(queue.tiers),
        "rows": [
            {
                "item_id": row.item.item_id,
                "item_digest": row.item.digest,
                "part": row.part,
                "probability": row.probability,
                "reason": row.reason,
                "question": row.item.question,
                "reference": row.item.reference.text,
                "response": row.item.response,
                "verdicts": dict(row.verdicts),
            }
            for row in queue.rows
        ],
        "decision": queue_text(queue),
    }


def queue_document(queue: Queue) -> Document:
    """The queue as a page: why items are in it, its first rows, how its labels may be used."""
    about = (
        f"Run {queue.run_id}: {queue.n_flagged:,} of {count_of(queue.n_items, 'item')} "
        f"{'gives' if queue.n_flagged == 1 else 'give'} a reason to look at them "
        f"({count_text(queue.tiers)}). {queue.queue_id} holds {len(queue.rows):,} of the {queue.n_items:,}."
    )
    blocks: list[Block] = [Paragraph(about)]
    if queue.rows:
        blocks.append(Entries(tuple(_entry(queue, place) for place in range(min(SHOWN, len(queue.rows))))))
    if len(queue.rows) > SHOWN:
        rest = len(queue.rows) - SHOWN
        blocks.append(Paragraph(f"{rest:,} more {'row is' if rest == 1 else 'rows are'} in the file of the queue."))
    return Document(
        (
            Section(f"Review queue: {queue.run_id}", 1, tuple(blocks)),
            Section("Decision", 2, (Paragraph(queue_text(queue)),)),
        )
    )


def _entry(queue: Queue, place: int) -> Entry:
    row = queue.rows[place]
    texts = [("question", row.item.question), ("reference", row.item.reference.text), ("response", row.item.response)]
    texts += [("verdicts", f"{name}: {said}") for name, said in row.verdicts.items()]
    return Entry(f"{row.item.item_id} ({row.part}): {row.reason}", tuple(texts))


def queue_text(queue: Queue) -> str:
    """How the queue was drawn and what its labels may be used for."""
    if not queue.rows:
        return "There is nothing to label: the run has no items."
    ranked = (
        f"{count_of(queue.n_ranked, 'item')} {'is' if queue.n_ranked == 1 else 'are'} in the queue for certain, by a "
        "fixed rule over what the store holds (each probability 1)"
    )
    if queue.random_probability is None:
        random = "no other item is left to be drawn"
    else:
        others = queue.n_items - queue.n_ranked
        random = (
            f"{queue.n_random:,} {'was' if queue.n_random == 1 else 'were'} drawn at random from the {others:,} "
            f"{'other' if others == 1 else 'others'} with seed {queue.seed} (each probability "
            f"{queue.random_probability:.4g})"
        )
    return (
        f"Label every row of {queue.queue_id}. {ranked}; {random}. The queue is no sample of the run: a plain rate "
        "over its labels would be one over the items that graders find hard. 'autorater queue rates' weighs each label "
        "by one over its probability, for which all rows must be labelled and none left out. Verdicts and reasons "
        "stand beside each item: hide these columns from whoever should label without knowing them."
    )


def rates_fields(rates: QueueRates) -> dict[str, Any]:
    """The rates as plain JSON values."""
    fields = asdict(rates)
    fields["positive_share"] = estimate_fields(rates.positive_share)
    fields["graders"] = [
        {
            "name": one.name,
            "false_negative_rate": estimate_fields(one.false_negative_rate),
            "false_positive_rate": estimate_fields(one.false_positive_rate),
            "n_expected": one.n_expected,
            "n_verdicts": one.n_verdicts,
            "refused": dict(one.refused),
        }
        for one in rates.graders
    ]
    return {"schema": RATES_SCHEMA, **fields, "decision": rates_text(rates)}


def rates_document(rates: QueueRates) -> Document:
    """The rates as a page."""
    about = (
        f"{rates.queue_id} of run {rates.run_id}: {count_of(rates.n_rows, 'label')} ({count_text(rates.labels)}), "
        f"{rates.n_random:,} of them on items drawn at random, {'stands' if rates.n_rows == 1 else 'stand'} for "
        f"{count_of(rates.n_items, 'item')}. Weighted, people "
        f"call {rate_text(estimate_fields(rates.positive_share))} of these right."
    )
    rows = tuple(
        (
            one.name,
            rate_text(estimate_fields(one.false_negative_rate)),
            str(one.false_negative_rate.n),
            rate_text(estimate_fields(one.false_positive_rate)),
            str(one.false_positive_rate.n),
            f"{one.n_verdicts:,} of {one.n_expected:,}",
        )
        for one in rates.graders
    )
    columns = ("grader", "false negatives", "labels", "false positives", "labels", "verdicts")
    return Document(
        (
            Section(f"Rates from a review queue: {rates.run_id}", 1, (Paragraph(about), Table(columns, rows))),
            Section("Decision", 2, (Paragraph(rates_text(rates)),)),
        )
    )


def rates_text(rates: QueueRates) -> str:
    """What may be said of the rates."""
    said = "; ".join(
        f"{one.name}: false negatives {rate_text(estimate_fields(one.false_negative_rate))}, false positives "
        f"{rate_text(estimate_fields(one.false_positive_rate))}"
        for one in rates.graders
    )
    refused = "".join(
        f" No {name.replace('_', ' ')} of {one.name}: {why}; label a queue with a larger random part."
        for one in rates.graders
        for name, why in one.refused.items()
    )
    missing = sum(one.n_expected - one.n_verdicts for one in rates.graders)
    lacking = f" Rates are over valid verdicts; missing on the queue: {missing:,}." if missing else ""
    return (
        f"{said}.{refused} Intervals are of {percent(rates.level)}, by question, and for the weights of this queue: "
        f"its {rates.n_rows:,} labels tell as much as {rates.effective:.0f} drawn evenly would. They hold if the "
        "labels are those of the rows as drawn; the ranked part counts with probability 1, since it was chosen by a "
        f"fixed rule and by nobody's hand.{lacking} Graders share their labels here and are not compared: "
        "'autorater choose' does that."
    )
