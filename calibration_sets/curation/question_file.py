"""Files of questions: a benchmark's CSV, or the JSON lines that the stages write and read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import Field

from calibration_sets.curation.csv_dialect import check_commas
from calibration_sets.errors import SetFileError
from calibration_sets.importers import load_simpleqa, load_simpleqa_verified
from calibration_sets.question import Question
from calibration_sets.records import Filled, Key, StrictRecord
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.strict import raise_problems
from calibration_sets.strict_models import read_rows
from calibration_sets.tables import read_csv

__all__ = ["load_questions", "question_data", "question_digest", "questions_digest", "read_question_lines"]


class _QuestionRecord(StrictRecord):
    id: Key
    question: Filled
    reference: Filled
    aliases: list[Filled] = Field(default_factory=list)
    topic: Key | None = None
    answer_type: Key | None = None
    urls: list[str] = Field(default_factory=list)
    original_index: int | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


def load_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a file: JSON lines by its name, else SimpleQA's or SimpleQA Verified's CSV by its columns.

    Any number of records is taken, so that excerpts and sets of one's own can be curated.

    Raises
    ------
    SetFileError
        If the file is malformed, has other columns, or holds no question.
    """
    if path.suffix.lower() == ".jsonl":
        found = read_question_lines(path)
    else:
        check_commas(path)
        columns = set(read_csv(path).columns)
        if {"metadata", "problem", "answer"} <= columns:
            found = load_simpleqa(path, n_questions=None)
        elif {"original_index", "problem", "answer"} <= columns:
            found = load_simpleqa_verified(path, n_questions=None)
        else:
            raise SetFileError(
                f"{path.name}: columns {', '.join(sorted(columns))}; expected those of SimpleQA or SimpleQA Verified, "
                "or a .jsonl file of questions"
            )
    if not found:
        raise SetFileError(f"{path.name}: no questions; expected at least one")
    return found


def read_question_lines(path: Path) -> tuple[Question, ...]:
    """Questions as JSON lines (keys: id, question, reference, urls, topic, ...); an empty file is no questions."""
    rows = [record for _, record in read_rows(_QuestionRecord, path, SetFileError)]
    repeated = [name for name, count in Counter(record.id for record in rows).items() if count > 1]
    raise_problems([f"{path.name}: id {name!r} comes twice; expected each once" for name in repeated], SetFileError)
    return tuple(
        Question(
            question_id=record.id,
            question=record.question,
            reference=parse_reference(record.reference, record.aliases),
            topic=record.topic,
            answer_type=record.answer_type,
            urls=tuple(record.urls),
            original_index=record.original_index,
            metadata=record.metadata,
        )
        for record in rows
    )


def question_data(question: Question) -> dict[str, Any]:
    """A question as one line of JSON; reading it back gives the same question."""
    data: dict[str, Any] = {
        "id": question.question_id,
        "question": question.question,
        "reference": question.reference.text,
        "aliases": list(question.reference.extra_aliases),
        "topic": question.topic,
        "answer_type": question.answer_type,
        "urls": list(question.urls),
        "original_index": question.original_index,
        "metadata": dict(question.metadata),
    }
    return {key: value for key, value in data.items() if value not in (None, [], {})}


def question_digest(question: Question) -> str:
    """SHA-256 of what a question says; neither its id nor its place in a file is part of it."""
    data = {key: value for key, value in question_data(question).items() if key not in {"id", "original_index"}}
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def questions_digest(questions: Iterable[Question]) -> str:
    """SHA-256 of a collection of questions with their ids, whatever their order."""
    lines = sorted(f"{question.question_id} {question_digest(question)}" for question in questions)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
