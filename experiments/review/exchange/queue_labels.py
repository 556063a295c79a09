"""Labels of a review queue as the file that weighs them: one row an item, with its probability."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from calibration_sets.defused_cells import defuse
from experiments.analyses.queues.queue_file import COLUMNS
from experiments.analyses.queues.queueing import probability_text
from experiments.errors import ReviewError
from experiments.review.exchange.item_decisions import decide_items
from experiments.review.label_row import LabelRow
from experiments.review.review_record import Review

__all__ = ["LabelledQueueFile", "write_labelled_queue"]


@dataclass(frozen=True, slots=True)
class LabelledQueueFile:
    """The text of the file, and how many of its rows have no label yet."""

    text: str
    n_open: int


def write_labelled_queue(review: Review, rows: Sequence[LabelRow]) -> LabelledQueueFile:
    """The whole queue with the label that raters came to, as ``autorater queue rates`` reads it.

    Raises
    ------
    ReviewError
        If the review is of a set, whose items have no probabilities.
    """
    if review.run_id is None or review.queue_id is None:
        raise ReviewError(f"{review.review_id}: a review of a set; expected the review of a run, which has a queue")
    decisions = decide_items(rows)
    output = io.StringIO(newline="")
    writer = csv.DictWriter(output, COLUMNS, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    n_open = 0
    for number, one in enumerate(review.work, start=1):
        item = review.items[one.item_digest]
        label = decisions[one.item_id].label if one.item_id in decisions else None
        n_open += label is None
        writer.writerow(
            {
                "row": number,
                "part": one.part,
                "reason": defuse(one.reason),
                "question": defuse(item.question),
                "reference": defuse(item.reference.text),
                "response": defuse(item.response),
                "verdicts": "",
                "label": label or "",
                "item_id": defuse(one.item_id),
                "item_digest": one.item_digest,
                "probability": probability_text(one.probability or 0),
                "run": review.run_id,
                "queue": review.queue_id,
            }
        )
    return LabelledQueueFile(output.getvalue(), n_open)
