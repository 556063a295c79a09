"""Made-up questions and evidence for the tests of curation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration_sets.curation.embedders import Embedder
from calibration_sets.curation.reference_responses import ReferenceResponses
from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.defused_cells import restore
from calibration_sets.question import Question
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.tables import read_csv

__all__ = ["NO_RESPONSES", "embedder_of", "fill_in", "ids", "make_question", "make_responses"]

NO_RESPONSES = ReferenceResponses()


def make_question(name: str, text: str | None = None, answer: str = "Brelin", **more: Any) -> Question:
    """A question; without a text, one that says nothing but its name."""
    return Question(name, text or f"What is {name}?", parse_reference(answer), **more)


def make_responses(labels: Mapping[str, str]) -> ReferenceResponses:
    """Labels by question, one letter a model: C, I, N, or ``-`` for no usable verdict."""
    words = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
    models = tuple(f"m{place}" for place in range(max(map(len, labels.values()))))
    table = {
        name: {model: words[letter] for model, letter in zip(models, row, strict=False) if letter != "-"}
        for name, row in labels.items()
    }
    return ReferenceResponses(table, models)


def embedder_of(vectors: Mapping[str, Sequence[float]]) -> Embedder:
    """An embedder that looks texts up."""

    def embed(texts: Sequence[str]) -> NDArray[Any]:
        return np.asarray([vectors[text] for text in texts])

    return Embedder("looked up", embed)


def ids(questions: Sequence[Question]) -> list[str]:
    return [question.question_id for question in questions]


def fill_in(review: ReviewFile, where: Mapping[str, str], cells: Mapping[str, str]) -> int:
    """Fill cells in, as a person would, in the rows that show all of ``where``; how many rows that were."""
    table = read_csv(review.path)
    rows = [{column: restore(row.cells[column]) for column in table.columns} for row in table.rows]
    found = [row for row in rows if where.items() <= row.items()]
    for row in found:
        row.update(cells)
    _write(review.path, table.columns, rows)
    return len(found)


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
