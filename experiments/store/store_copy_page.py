"""What was copied from one store to another as a page, and as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from experiments.reports.document import Block, Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import DASH
from experiments.store.part_comparison import PartComparison
from experiments.store.store_copy import StoreCopy

__all__ = ["store_copy_document", "store_copy_fields"]

SCHEMA = "autorater.store_copy/1"
_SHOWN = 16
"""Characters of a digest and of a grader's id that are shown; --format json has all."""


def store_copy_document(found: StoreCopy, *, source: str, target: str) -> Document:
    """Counts and digests of every part on both sides, and what was left out."""
    heading = f"Copied from {source} to {target}"
    if not found.parts:
        return Document((Section(heading, 1, (Paragraph("Nothing: there is nothing in it."),)),))
    columns = ("grader", "table", "rows", "there", "besides", "SHA-256", "there")
    table = Table(columns, tuple(map(_row, found.parts)), n_text=2)
    note = Paragraph(
        "Rows: of the store that was copied. There: how many of their keys the other store has now. Besides: its rows "
        "under other keys. SHA-256: over the sorted rows, and over those there under the same keys."
    )
    differences = tuple(text for part in found.parts for text in _differences(part))
    ending: Block = Bullets(differences) if differences else Paragraph("All rows are there, and equal.")
    return Document((Section(heading, 1, (table, note, ending)),))


def _row(part: PartComparison) -> tuple[str, ...]:
    return (
        DASH if part.grader_id is None else part.grader_id[:_SHOWN],
        part.table,
        f"{part.n_source:,}",
        f"{part.n_target:,}",
        f"{part.n_besides:,}",
        part.source_digest[:_SHOWN],
        part.target_digest[:_SHOWN],
    )


def _differences(part: PartComparison) -> list[str]:
    where = part.table if part.grader_id is None else f"{part.table} of {part.grader_id}"
    texts = []
    if part.n_other_times:
        texts.append(f"{where}: {part.n_other_times:,} rows were there already, with another time")
    if part.n_others:
        more = ", ..." if part.n_others > len(part.others) else ""
        texts.append(
            f"{where}: under {part.n_others:,} keys something else was there already, and stands: "
            f"{', '.join(part.others)}{more}"
        )
    return texts


def store_copy_fields(found: StoreCopy, *, source: str, target: str) -> dict[str, Any]:
    """The copy as plain values; ``runs`` is ``null`` where all were copied."""
    return {
        "schema": SCHEMA,
        "source": source,
        "target": target,
        "runs": found.run_ids,
        "n_others": found.n_others,
        "parts": [asdict(part) for part in found.parts],
    }
