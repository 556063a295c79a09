"""SimpleQA: 4,326 short questions with one answer each.

Source: https://github.com/openai/simple-evals (MIT), Wei et al., "Measuring short-form factuality
in large language models", arXiv:2411.04368.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.records import Key, StrictRecord
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.strict import shorten
from calibration_sets.strict_models import parse_model
from calibration_sets.tables import Row, read_csv

__all__ = ["check_count", "filled_cell", "load_simpleqa"]

N_QUESTIONS = 4326


class _Metadata(StrictRecord):
    topic: Key
    answer_type: Key
    urls: list[str]


def load_simpleqa(path: Path, *, n_questions: int | None = N_QUESTIONS) -> tuple[Question, ...]:
    """The questions in the upstream CSV, in its order.

    The reference's ``text`` is the answer as published, its ``answer`` the one to use. The
    number of records is checked; ``n_questions=None`` takes any, for excerpts.

    Raises
    ------
    SetFileError
        If the file is malformed, or has another number of records.
    """
    table = read_csv(path)
    table.require({column: column for column in ("metadata", "problem", "answer")})
    check_count(path, len(table.rows), n_questions)
    return tuple(_to_question(index, row) for index, row in enumerate(table.rows))


def _to_question(index: int, row: Row) -> Question:
    metadata = parse_model(_Metadata, _read_literal(row), f"{row.where}: metadata", SetFileError)
    return Question(
        question_id=f"simpleqa-{index:04d}",
        question=filled_cell(row, "problem"),
        reference=parse_reference(filled_cell(row, "answer")),
        topic=metadata.topic,
        answer_type=metadata.answer_type,
        urls=tuple(metadata.urls),
        original_index=index,
    )


def _read_literal(row: Row) -> dict[str, Any]:
    """The metadata of a record, which are written as a Python literal, not as JSON."""
    text = row.cells["metadata"]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SetFileError(f"{row.where}: metadata {shorten(text)}; expected a Python literal of a dict")
    return value


def filled_cell(row: Row, column: str) -> str:
    """The text of a cell that must say something, as published; ``SetFileError`` where it is empty."""
    text: str = row.cells[column]
    if not text.strip():
        raise SetFileError(f"{row.where}: column {column!r} is empty; expected text")
    return text


def check_count(path: Path, n_found: int, n_expected: int | None) -> None:
    """Raise ``SetFileError`` where records are missing or too many."""
    if n_expected is not None and n_found != n_expected:
        raise SetFileError(f"{path.name}: {n_found} records; expected {n_expected}, is the file complete?")
