"""An audit on disk: how its sample was drawn, its questions, and the file in which people label them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from calibration_sets.audit.audit_sample import NO_TOPIC, draw_sample, extend_sample
from calibration_sets.curation.question_file import (
    question_data,
    question_digest,
    questions_digest,
    read_question_lines,
)
from calibration_sets.curation.review_file import ReviewFile
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.records import Filled, StrictRecord
from calibration_sets.strict import parse_json, read_text
from calibration_sets.strict_models import parse_model
from calibration_sets.writer import replace_text, write_lines

__all__ = [
    "AUDIT_LABELS",
    "LABELS",
    "SOUND",
    "AuditRecord",
    "FileLabel",
    "label_question",
    "read_audit",
    "read_file_labels",
    "read_sample",
    "start_audit",
]

AUDIT_LABELS = ("OK", "unanswerable", "false_negative_possible", "false_positive_possible")
"""Sound; no answer can be right; a right answer would be marked wrong; a wrong one would be marked right."""

SOUND = AUDIT_LABELS[0]
"""The label of a question without a fault."""
DEFAULT_SIZE = 50
RECORD, QUESTIONS, LABELS = "audit.json", "questions.jsonl", "labels.csv"
"""The files of an audit: what it is, its questions, and people's labels of them."""


class AuditRecord(StrictRecord):
    """How a sample was drawn.

    ``questions`` are the digests of what was drawn, ``digest`` is the whole set's. Questions that say the same count
    once; ``n_repeated`` are the others. ``n_unreached`` are in topics too small for a place in the sample.
    """

    version: Literal[1]
    source: Filled
    digest: str
    n_population: int
    seed: int
    size: int
    by_topic: dict[str, int]
    questions: list[str]
    n_repeated: int = 0
    n_unreached: int = 0

    @model_validator(mode="after")
    def _check_counts(self) -> AuditRecord:
        if self.n_population < len(set(self.questions)):
            raise ValueError(f"expected n_population, {self.n_population}, to be no less than the questions drawn")
        return self


@dataclass(frozen=True, slots=True)
class FileLabel:
    """What a row of ``labels.csv`` says."""

    label: str
    evidence: str
    note: str


def _labels_file(folder: Path) -> ReviewFile:
    return ReviewFile(
        folder / LABELS,
        shown=("question_id", "topic", "question", "reference", "urls"),
        filled=("label", "evidence", "note"),
        choices={"label": AUDIT_LABELS},
    )


def start_audit(
    questions: Sequence[Question], folder: Path, *, source: str, size: int | None = None, seed: int | None = None
) -> AuditRecord:
    """Draw a sample and write the file to label; a larger size for the same set extends the sample.

    The record is written first: whatever is cut off then is made good by the same call.

    Parameters
    ----------
    size, seed
        As the folder has them where they are not given, else 50 and 0.

    Raises
    ------
    SetFileError
        If the folder holds an audit of other questions, with another seed, or of a larger sample; or files of these
        names that are no audit's.
    """
    before = read_audit(folder) if (folder / RECORD).exists() else None
    if before is None:
        _check_free(folder)
    size = size or (before.size if before else DEFAULT_SIZE)
    seed = seed if seed is not None else (before.seed if before else 0)
    distinct = _distinct(questions)
    if before:
        _check_same(before, questions, folder, size=size, seed=seed)
        sample = _extend(before, distinct, folder, size=size)
    else:
        sample = draw_sample(distinct, size=size, seed=seed)
    record = _record(questions, sample, source=source, size=size, seed=seed)
    kept = _labels_file(folder)
    kept.read()
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / RECORD, json.dumps(record.model_dump(), indent=2, ensure_ascii=False) + "\n")
    write_lines(folder / QUESTIONS, map(question_data, sample))
    kept.write(map(_cells, sample))
    return record


def _distinct(questions: Sequence[Question]) -> Sequence[Question]:
    """One question of those that say the same, whatever their order."""
    ordered = sorted(questions, key=lambda one: one.question_id, reverse=True)
    return tuple({question_digest(one): one for one in ordered}.values())


def _extend(before: AuditRecord, distinct: Sequence[Question], folder: Path, *, size: int) -> tuple[Question, ...]:
    wanted = set(before.questions)
    drawn = [one for one in distinct if question_digest(one) in wanted]
    sample = extend_sample(distinct, drawn, size=size if size > before.size else 0, seed=before.seed)
    if not wanted <= set(map(question_digest, sample)):
        raise SetFileError(f"{folder}: {RECORD} names questions that its seed does not draw; expected it unchanged")
    return sample


def _record(
    questions: Sequence[Question], sample: Sequence[Question], *, source: str, size: int, seed: int
) -> AuditRecord:
    topics = Counter(one.topic or NO_TOPIC for one in sample)
    distinct = _distinct(questions)
    return AuditRecord(
        version=1,
        source=source,
        digest=questions_digest(questions),
        n_population=len(distinct),
        seed=seed,
        size=size,
        by_topic=dict(sorted(topics.items())),
        questions=sorted(map(question_digest, sample)),
        n_repeated=len(questions) - len(distinct),
        n_unreached=sum((one.topic or NO_TOPIC) not in topics for one in distinct),
    )


def _check_free(folder: Path) -> None:
    found = [name for name in (QUESTIONS, LABELS) if (folder / name).exists()]
    if found:
        raise SetFileError(f"{folder}: holds {', '.join(found)} and no {RECORD}; expected a new folder, or an audit")


def _check_same(before: AuditRecord, questions: Sequence[Question], folder: Path, *, size: int, seed: int) -> None:
    if before.digest != questions_digest(questions):
        raise SetFileError(f"{folder}: an audit of other questions ({before.source}); expected a new folder")
    if before.seed != seed:
        raise SetFileError(f"{folder}: drawn with seed {before.seed}, got {seed}; expected the same, or a new folder")
    if size < before.size:
        raise SetFileError(f"{folder}: a sample of {before.size}, got {size}; expected no smaller one")


def _cells(question: Question) -> dict[str, str]:
    return {
        "key": question_digest(question),
        "question_id": question.question_id,
        "topic": question.topic or "",
        "question": question.question,
        "reference": question.reference.text,
        "urls": "\n".join(question.urls),
    }


def read_audit(folder: Path) -> AuditRecord:
    """How the sample of an audit was drawn; ``SetFileError`` where there is none."""
    try:
        data = parse_json(read_text(folder / RECORD, SetFileError))
    except ValueError as error:
        raise SetFileError(f"{RECORD}: {error}") from None
    return parse_model(AuditRecord, data, RECORD, SetFileError)


def label_question(folder: Path, question_id: str, *, label: str, evidence: str, note: str) -> None:
    """Write one label into the file; one that is there is replaced, and rows that are gone come back.

    Raises
    ------
    SetFileError
        For another label, or a question that is not in the sample.
    """
    if label not in AUDIT_LABELS:
        raise SetFileError(f"label {label!r}; expected one of {', '.join(AUDIT_LABELS)}")
    sample = read_sample(folder)
    found = [question for question in sample if question.question_id == question_id]
    if not found:
        raise SetFileError(f"question {question_id!r} is not in the sample; expected a question_id of {LABELS}")
    file = _labels_file(folder)
    file.write(map(_cells, sample))
    file.fill("key", question_digest(found[0]), {"label": label, "evidence": evidence, "note": note})


def read_sample(folder: Path) -> tuple[Question, ...]:
    """The questions that were drawn, one of those that say the same.

    Raises
    ------
    SetFileError
        If there is no audit, or the questions are not those that were drawn.
    """
    record = read_audit(folder)
    found = {question_digest(question): question for question in read_question_lines(folder / QUESTIONS)}
    if found.keys() != set(record.questions):
        raise SetFileError(f"{QUESTIONS}: not the questions that were drawn; expected those of {RECORD}, draw again")
    return tuple(found.values())


def read_file_labels(folder: Path) -> Mapping[str, FileLabel]:
    """The labels of ``labels.csv`` by digest of the question, also where it is not of the sample."""
    return {
        key: FileLabel(*(cells[name] for name in ("label", "evidence", "note")))
        for key, cells in _labels_file(folder).read().items()
        if cells["label"]
    }
