"""The file of a review queue: a table for people to fill in, and back with their labels."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from calibration_sets.strict import shorten
from calibration_sets.tables import Row, Table
from experiments.analyses.queues.queueing import Queue, probability_text, queue_id
from experiments.errors import ImportFileError
from experiments.reports.escaping import visible

__all__ = ["COLUMNS", "LabelledQueue", "LabelledRow", "read_labelled_queue", "write_queue_text"]

COLUMNS = (
    "row", "part", "reason", "question", "reference", "response", "verdicts", "label",
    "item_id", "item_digest", "probability", "run", "queue",
)  # fmt: skip
"""Of the file; people fill in ``label``."""

_NEEDED = ("label", "part", "item_digest", "probability", "run", "queue")
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What spreadsheets take for the beginning of a formula, in half and full width."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """What rates need of a row: its content, its part, its chance, people's label."""

    item_digest: str
    part: str
    probability: float
    label: str


@dataclass(frozen=True, slots=True)
class LabelledQueue:
    """A whole queue with a label in every row."""

    run_id: str
    queue_id: str
    rows: tuple[LabelledRow, ...]


def write_queue_text(queue: Queue) -> str:
    """The queue as CSV.

    Text of others that a spreadsheet would take for a formula gets an apostrophe before it, and control characters
    but line breaks are escaped; items are known by their digest, not by these texts.
    """
    output = io.StringIO(newline="")
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate(queue.rows, start=1):
        verdicts = "; ".join(f"{name}: {said}" for name, said in row.verdicts.items())
        texts = (row.reason, row.item.question, row.item.reference.text, row.item.response, verdicts)
        writer.writerow(
            (
                number,
                row.part,
                *map(_cell, texts),
                "",
                _cell(row.item.item_id),
                row.item.digest,
                probability_text(row.probability),
                queue.run_id,
                queue.queue_id,
            )
        )
    return output.getvalue()


def _cell(text: str) -> str:
    shown = "\n".join(map(visible, text.replace("\r\n", "\n").split("\n")))
    return f"'{shown}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else shown


def read_labelled_queue(table: Table, labels: Sequence[str]) -> LabelledQueue:
    """The queue of a file with people's labels.

    Parameters
    ----------
    table
        The file.
    labels
        The scale; people may write a label in capitals or not.

    Raises
    ------
    calibration_sets.errors.SetFileError
        If a column that was written is missing.
    ImportFileError
        If the file is not one whole queue: rows are missing or were changed, or have no label on the scale. Chances
        hold for the queue that was drawn, not for the part of it that people found time for.
    """
    table.require({name: name for name in _NEEDED})
    run, queue = (_one(table, name) for name in ("run", "queue"))
    rows = tuple(_read_row(row, labels) for row in table.rows)
    found = queue_id(run, [(row.item_digest, row.part, probability_text(row.probability)) for row in rows])
    if found != queue:
        raise ImportFileError(
            f"{table.file}: {len(rows)} rows that are not those of {shorten(queue)}; expected all rows of the queue "
            "as they were drawn, since their probabilities hold for no other"
        )
    return LabelledQueue(run, queue, rows)


def _one(table: Table, column: str) -> str:
    values = sorted({str(row.cells[column]) for row in table.rows})
    if len(values) != 1:
        raise ImportFileError(
            f"{table.file}: {len(values)} values in column {column!r}; expected one, as of a single queue"
        )
    return values[0]


def _read_row(row: Row, labels: Sequence[str]) -> LabelledRow:
    given = str(row.cells["label"] or "").strip()
    spelt = {label.casefold(): label for label in labels}
    if given.casefold() not in spelt:
        got = f"label {shorten(given)}" if given else "no label"
        raise ImportFileError(f"{row.where}: {got}; expected one of {list(labels)} in every row of the queue")
    try:
        probability = float(str(row.cells["probability"]))
    except ValueError:
        probability = math.nan
    if not 0 < probability <= 1:
        raise ImportFileError(
            f"{row.where}: probability {shorten(row.cells['probability'])}; expected a number above 0 and at most 1"
        )
    return LabelledRow(str(row.cells["item_digest"]), str(row.cells["part"]), probability, spelt[given.casefold()])
