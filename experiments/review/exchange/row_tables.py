"""Labels as CSV for spreadsheets and as JSON lines for programs: one row a rater, item and role."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from calibration_sets.defused_cells import defuse, restore
from calibration_sets.strict import raise_problems, shorten
from calibration_sets.strict_models import read_rows
from calibration_sets.tables import Row, read_csv
from calibration_sets.writer import json_line
from experiments.errors import ReviewError
from experiments.review.display import shown_text
from experiments.review.exchange.file_row import FileLabels, FileRow
from experiments.review.label_row import LabelRow, Part, Role
from experiments.review.review_record import Review

__all__ = ["COLUMNS", "read_csv_labels", "read_json_labels", "write_csv_labels", "write_json_labels"]

COLUMNS = (
    "item_id", "question", "reference", "response", "rater", "label", "note", "disputed", "blind", "labelled_at",
    "role", "part", "probability", "item_digest",
)  # fmt: skip
"""Columns of an exported table, in their order."""
_OF_A_QUEUE = frozenset({"row", "reason", "verdicts", "run", "queue"})
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def write_csv_labels(review: Review, rows: Sequence[LabelRow]) -> str:
    """The rows as RFC 4180, every cell quoted; text that a spreadsheet would run gets an apostrophe before it.

    Question, reference and response are there to be read and are not imported: what cannot be seen is spelt out.
    """
    output = io.StringIO(newline="")
    writer = csv.writer(output, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for row in rows:
        item = review.items[row.item_digest]
        cells = {
            **{key: "" if value is None else str(value) for key, value in asdict(row).items()},
            "question": shown_text(item.question),
            "reference": shown_text(item.reference.text),
            "response": shown_text(item.response),
            "disputed": str(row.disputed).lower(),
            "blind": str(row.blind).lower(),
        }
        writer.writerow([defuse(cells[column]) for column in COLUMNS])
    return output.getvalue()


def write_json_labels(rows: Sequence[LabelRow]) -> str:
    """The rows as one JSON object a line, with the names and types of :class:`LabelRow`."""
    return "".join(f"{json_line(asdict(row), 'labels')}\n" for row in rows)


def read_csv_labels(path: Path) -> FileLabels:
    """The rows of a CSV file: one of ours, a filled-in review queue, or any with the columns that are needed.

    Needed are ``label``, and ``item_digest`` or ``item_id``. Columns that are not read are named in the notes.

    Raises
    ------
    calibration_sets.errors.SetFileError
        No CSV in UTF-8, or a needed column is missing.
    ReviewError
        A cell that is not what its column holds.
    """
    table = read_csv(path)
    table.require({"label": "label"} if "item_digest" in table.columns else {"label": "label", "item_id": "item_id"})
    strangers = [name for name in table.columns if name not in {*COLUMNS, *_OF_A_QUEUE}]
    problems: list[str] = []
    rows = [found for row in table.rows if (found := _read_or_note(row, problems)) is not None]
    raise_problems(problems, ReviewError)
    notes = (f"columns not read: {', '.join(map(shorten, strangers))}",) if strangers else ()
    return FileLabels(tuple(rows), notes)


def _read_or_note(row: Row, problems: list[str]) -> FileRow | None:
    try:
        return _csv_row(row)
    except ReviewError as error:
        problems.append(str(error))
        return None


def _csv_row(row: Row) -> FileRow:
    cells: Mapping[str, str] = {name: restore(str(cell)) for name, cell in row.cells.items() if name in COLUMNS}

    def text(name: str) -> str | None:
        return cells.get(name, "").strip() or None

    return FileRow(
        where=row.where,
        item_id=text("item_id"),
        item_digest=text("item_digest"),
        rater=text("rater"),
        label=text("label"),
        note=cells.get("note", ""),
        disputed=bool(_truth(row.where, "disputed", text("disputed"))),
        blind=_truth(row.where, "blind", text("blind")),
        labelled_at=text("labelled_at"),
        role=_role(row.where, text("role")),
        part=text("part"),
    )


def _truth(where: str, column: str, given: str | None) -> bool | None:
    if given is not None and given.casefold() not in _TRUTH:
        raise ReviewError(f"{where}: {column} {shorten(given)}; expected true, false or nothing")
    return None if given is None else _TRUTH[given.casefold()]


def _role(where: str, given: str | None) -> Role:
    roles: Mapping[str, Role] = {"": "label", "label": "label", "adjudication": "adjudication"}
    if (given or "") not in roles:
        raise ReviewError(f"{where}: role {shorten(given)}; expected label or adjudication")
    return roles[given or ""]


class _JsonRow(BaseModel):
    """A line of JSON; what may be missing has a default."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    item_id: str | None = None
    item_digest: str | None = None
    rater: str | None = None
    label: str | None
    note: str = ""
    disputed: bool = False
    blind: bool | None = None
    labelled_at: str | None = None
    role: Role = "label"
    probability: float | None = None
    part: Part | None = None


def read_json_labels(path: Path) -> FileLabels:
    """The rows of a file of JSON lines; unknown keys and values of another type are errors with their line.

    Raises
    ------
    ReviewError
        No JSON lines in UTF-8, or a line that is no row.
    """
    return FileLabels(
        tuple(
            FileRow(where=f"{path.name}:{line}", **record.model_dump(exclude={"probability"}))
            for line, record in read_rows(_JsonRow, path, ReviewError)
        )
    )
