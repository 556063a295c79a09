"""SimpleQA Verified: 1,000 questions of SimpleQA, some reworded, some with other answers.

Source: https://huggingface.co/datasets/google/simpleqa-verified, Haas et al., "SimpleQA Verified: A
Reliable Factuality Benchmark to Measure Parametric Knowledge", arXiv:2509.07968.
"""

from __future__ import annotations

import re
from pathlib import Path

from calibration_sets.errors import SetFileError
from calibration_sets.importers.simpleqa import check_count, filled_cell
from calibration_sets.question import Question
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.strict import shorten
from calibration_sets.tables import Row, read_csv

__all__ = ["load_simpleqa_verified"]

N_QUESTIONS = 1000

_COLUMNS = ("original_index", "problem", "answer", "topic", "answer_type", "multi_step", "requires_reasoning", "urls")
_TRUTH = {"True": True, "False": False}


def load_simpleqa_verified(path: Path, *, n_questions: int | None = N_QUESTIONS) -> tuple[Question, ...]:
    """The questions in the upstream CSV, in its order.

    ``original_index`` is the row of SimpleQA that a question was made from. Questions were
    reworded and answers changed since, so it must not be used alone to join labels.
    ``n_questions=None`` takes any number of records, for excerpts.

    Raises
    ------
    SetFileError
        If the file is malformed, has another number of records, or an index comes twice.
    """
    table = read_csv(path)
    table.require({column: column for column in _COLUMNS})
    check_count(path, len(table.rows), n_questions)
    questions = tuple(map(_to_question, table.rows))
    if len({question.question_id for question in questions}) < len(questions):
        raise SetFileError(f"{path.name}: an original_index comes twice; expected each once")
    return questions


def _to_question(row: Row) -> Question:
    index = filled_cell(row, "original_index")
    if not re.fullmatch(r"[0-9]{1,9}", index):
        raise SetFileError(f"{row.where}: original_index {shorten(index)}; expected a whole number")
    return Question(
        question_id=f"simpleqa_verified-{int(index):04d}",
        question=filled_cell(row, "problem"),
        reference=parse_reference(filled_cell(row, "answer")),
        topic=filled_cell(row, "topic"),
        answer_type=filled_cell(row, "answer_type"),
        # A comma may be part of an address; one before the next address separates.
        urls=tuple(url.strip("' ") for url in re.split(r",(?='?(?:https?|chrome-extension)://)", row.cells["urls"])),
        original_index=int(index),
        metadata={column: _truth(row, column) for column in ("multi_step", "requires_reasoning")},
    )


def _truth(row: Row, column: str) -> bool:
    text = row.cells[column]
    if text not in _TRUTH:
        raise SetFileError(f"{row.where}: {column} {shorten(text)}; expected True or False")
    return _TRUTH[text]
