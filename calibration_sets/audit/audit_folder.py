"""An audit on disk: how its sample was drawn, its questions, and the file in which people label them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration_sets.audit.audit_sample import draw_sample, extend_sample
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
from calibration_sets.strict import parse_json, parse_model, raise_problems, read_text
from calibration_sets.writer import replace_text, write_lines

__all__ = [
    "AUDIT_LABELS",
    "SOUND",
    "AuditCounts",
    "AuditLabel",
    "AuditRecord",
    "count_labels",
    "label_question",
    "read_audit",
    "read_file_labels",
    "read_sample",
    "start_audit",
]

AUDIT_LABELS = ("OK", "unanswerable", "false_negative_possible", "false_positive_possible")
"""Sound; no answer can be right; a right answer would be marked wrong; a wrong one would be marked right."""

SOUND = AUDIT_LABELS[0]
RECORD, QUESTIONS, LABELS = "audit.json", "questions.jsonl", "labels.csv"


class AuditRecord(StrictRecord):
    """How a sample was drawn; ``questions`` are the digests of what was drawn, ``digest`` is the whole set's."""

    version: int
    source: Filled
    digest: str
    n_population: int
    seed: int
    size: int
    by_topic: dict[str, int]
    questions: list[str]


@dataclass(frozen=True, slots=True)
class AuditLabel:
    """What people say of one question together; ``label`` is ``None`` where they differ and nobody has decided."""

    question_id: str
    question: str
    label: str | None
    evidence: str
    note: str


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """Questions of a sample by label.

    ``n_open`` have none yet, and raters differ on ``n_differ`` of these. ``n_without_evidence`` of the ``faults``,
    which are the questions with any label but OK, have no link.
    """

    n_population: int
    labels: Mapping[str, int]
    n_open: int
    n_without_evidence: int
    n_differ: int = 0
    faults: tuple[AuditLabel, ...] = ()


def _labels_file(folder: Path) -> ReviewFile:
    return ReviewFile(
        folder / LABELS,
        shown=("question_id", "topic", "question", "reference", "urls"),
        filled=("label", "evidence", "note"),
        choices={"label": AUDIT_LABELS},
    )


def start_audit(questions: Sequence[Question], folder: Path, *, source: str, size: int, seed: int) -> AuditRecord:
    """Draw a sample and write the file to label; a larger size for the same set extends the sample.

    Raises
    ------
    SetFileError
        If the folder holds an audit of other questions, with another seed, or of a larger sample.
    """
    before = read_audit(folder) if (folder / RECORD).exists() else None
    if before:
        _check_same(before, questions, folder, size=size, seed=seed)
        drawn = [one for one in questions if question_digest(one) in set(before.questions)]
        sample = extend_sample(questions, drawn, size=size, seed=seed) if size > before.size else tuple(drawn)
    else:
        sample = draw_sample(questions, size=size, seed=seed)
    record = AuditRecord(
        version=1,
        source=source,
        digest=questions_digest(questions),
        n_population=len(questions),
        seed=seed,
        size=size,
        by_topic=dict(sorted(Counter(one.topic or "(not given)" for one in sample).items())),
        questions=sorted(map(question_digest, sample)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / QUESTIONS, map(question_data, sample))
    _labels_file(folder).write(_cells(question) for question in sample)
    replace_text(folder / RECORD, json.dumps(record.model_dump(), indent=2, ensure_ascii=False) + "\n")
    return record


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
    """Write one label into the file; one that is there is replaced.

    Raises
    ------
    SetFileError
        For another label, or a question that is not in the sample.
    """
    if label not in AUDIT_LABELS:
        raise SetFileError(f"label {label!r}; expected one of {', '.join(AUDIT_LABELS)}")
    read_audit(folder)
    if not _labels_file(folder).fill("question_id", question_id, {"label": label, "evidence": evidence, "note": note}):
        raise SetFileError(f"{LABELS}: question {question_id!r} is not in the sample; expected one of its question_id")


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


def read_file_labels(folder: Path) -> dict[str, AuditLabel]:
    """The labels of ``labels.csv`` by digest of the question; rows that are not of the sample are left out."""
    drawn = set(read_audit(folder).questions)
    return {
        key: AuditLabel(*(cells[name] for name in ("question_id", "question", "label", "evidence", "note")))
        for key, cells in _labels_file(folder).read().items()
        if key in drawn and cells["label"]
    }


def count_labels(folder: Path, page_labels: Mapping[str, AuditLabel] | None = None) -> AuditCounts:
    """The labels of the sample, counted.

    Parameters
    ----------
    page_labels
        What was said on the labelling page, by digest of the question.

    Raises
    ------
    SetFileError
        If a question has one label in the file and another from the page.
    """
    record = read_audit(folder)
    in_file, on_page = read_file_labels(folder), page_labels or {}
    _refuse_contradictions(in_file, on_page)
    found = {**on_page, **in_file}
    drawn = list(dict.fromkeys(record.questions))
    labels = [found[key] for key in drawn if key in found]
    counts = Counter(one.label for one in labels)
    faults = tuple(one for one in labels if one.label not in (None, SOUND))
    return AuditCounts(
        n_population=record.n_population,
        labels={label: counts[label] for label in AUDIT_LABELS},
        n_open=len(drawn) - sum(counts[label] for label in AUDIT_LABELS),
        n_without_evidence=sum(not one.evidence for one in faults),
        n_differ=counts[None],
        faults=faults,
    )


def _refuse_contradictions(in_file: Mapping[str, AuditLabel], on_page: Mapping[str, AuditLabel]) -> None:
    both = ((in_file[key], on_page[key]) for key in in_file if key in on_page)
    raise_problems(
        [
            f"{LABELS}: question {one.question_id!r} is {one.label} here and "
            f"{other.label or 'not decided'} on the page; expected the same, or an empty cell"
            for one, other in both
            if one.label != other.label
        ],
        SetFileError,
    )
