"""A set of questions with what each regime gives: concepts, related documents, distractors. The format is strict.

A folder of ``set.toml``, ``questions.jsonl`` and ``documents.jsonl``; see ``docs/regimes.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.item import Item
from calibration_sets.records import Filled, Key, Name, Rubric, ScaleRecord, SetHeader, SetRecord, StrictRecord, Version
from calibration_sets.references.reference import Reference
from calibration_sets.scale import DER2_RUBRIC
from calibration_sets.strict import raise_problems, read_toml
from calibration_sets.strict_models import parse_model, read_rows
from experiments.regimes.label_scores import score_labels
from experiments.regimes.material import Document, Material, cut_middle

__all__ = ["RUBRIC", "DocumentRecord", "QuestionRow", "QuestionSetRecord", "load_question_set"]

RUBRIC = "der2_rubric@1.0.0"
"""The rubric that answers to such a set are graded by."""
_QUESTIONS, _DOCUMENTS = "questions.jsonl", "documents.jsonl"


class QuestionSetRecord(StrictRecord):
    """The content of ``set.toml``."""

    name: Name
    version: Version
    licence: Filled
    source: Filled
    description: Filled
    rubric: Rubric = RUBRIC
    scale: str | ScaleRecord = DER2_RUBRIC.name

    def to_header(self) -> SetHeader:
        """The header; ``ValueError`` for a scale that is unknown, or whose labels are no scores."""
        header = SetRecord(**dict(self), label_source="published").to_header()
        if score_labels(header.scale) is None:
            raise ValueError(
                f"scale {header.scale.name!r}: labels {list(header.scale.labels)}; expected ascending numbers of an "
                "ordered scale, or one that counts as right (positive)"
            )
        return header


class DocumentRecord(StrictRecord):
    """One line of ``documents.jsonl``."""

    document_id: Key
    title: Filled
    text: Filled


class QuestionRow(StrictRecord):
    """One line of ``questions.jsonl``."""

    question_id: Key
    question: Filled
    reference: Filled
    concepts: list[Filled] = Field(min_length=1)
    related: list[Key] = Field(min_length=1)
    distractors: list[Key] = Field(default_factory=list)
    steps: int | None = Field(default=None, ge=1)
    topic: Key | None = None
    cluster: Key | None = None


_Documents = Mapping[str, DocumentRecord]


def load_question_set(folder: Path, *, max_characters: int) -> CalibrationSet:
    """The questions of a folder as a set without responses; each carries its material where a response will be.

    ``metadata["traits"]`` counts a question's concepts, related documents, distractors, steps where they are told, and
    documents that were cut.

    Parameters
    ----------
    folder
        With ``set.toml``, ``questions.jsonl`` and ``documents.jsonl``.
    max_characters
        A longer document is cut in the middle to so many.

    Raises
    ------
    SetFileError
        If a file is missing or malformed, an id or a question comes twice, or a document that a question names is
        not there; all such lines are told together.
    """
    header = _load_header(folder / "set.toml")
    rows = read_rows(QuestionRow, folder / _QUESTIONS, SetFileError)
    listed = read_rows(DocumentRecord, folder / _DOCUMENTS, SetFileError)
    documents = {row.document_id: row for _, row in listed}
    raise_problems(
        [
            *_repeated([(line, row.document_id) for line, row in listed], _DOCUMENTS, "document_id"),
            *_repeated([(line, row.question_id) for line, row in rows], _QUESTIONS, "question_id"),
            *_repeated([(line, row.question) for line, row in rows], _QUESTIONS, "question"),
            *(problem for line, row in rows for problem in _misplaced(row, documents, f"{_QUESTIONS}:{line}")),
        ],
        SetFileError,
    )
    if not rows:
        raise SetFileError(f"{_QUESTIONS}: no questions; expected one a line")
    return header.with_content(tuple(_as_item(row, documents, max_characters) for _, row in rows), ())


def _load_header(path: Path) -> SetHeader:
    data = read_toml(path, SetFileError)
    if isinstance(data.get("scale"), dict):
        data["scale"] = parse_model(ScaleRecord, data["scale"], f"{path.name}: scale", SetFileError)
    record = parse_model(QuestionSetRecord, data, path.name, SetFileError)
    try:
        return record.to_header()
    except ValueError as error:
        raise SetFileError(f"{path.name}: {error}") from None


def _repeated(keys: Sequence[tuple[int, str]], file: str, name: str) -> Iterator[str]:
    first: dict[str, int] = {}
    for line, key in keys:
        other = first.setdefault(key, line)
        if other != line:
            yield f"{file}:{line}: {name} {key[:60]!r} is that of line {other} too; expected each once"


def _misplaced(row: QuestionRow, documents: _Documents, where: str) -> Iterator[str]:
    """Documents that are not there, that a question names twice, or that say what another of its own says."""
    seen: dict[str, str] = {}
    texts: dict[str, str] = {}
    for role, named in (("related", row.related), ("distractors", row.distractors)):
        for place, key in enumerate(named):
            if key not in documents:
                yield f"{where}: {role}[{place}] {key!r}; expected a document_id of {_DOCUMENTS}"
            elif key in seen:
                yield f"{where}: {role}[{place}] {key!r} stands in {seen[key]} already; expected each document once"
            elif (other := texts.setdefault(documents[key].text.strip(), key)) != key:
                yield f"{where}: {role}[{place}] {key!r} has the text of {other!r}; expected each text once"
            seen.setdefault(key, role)


def _as_item(row: QuestionRow, documents: _Documents, max_characters: int) -> Item:
    def shown(keys: Sequence[str]) -> tuple[Document, ...]:
        found = (documents[key] for key in keys)
        return tuple(Document(one.title, cut_middle(one.text, most=max_characters)) for one in found)

    material = Material(tuple(row.concepts), shown(row.related), shown(row.distractors))
    traits = {
        "concepts": len(row.concepts),
        "related": len(row.related),
        "distractors": len(row.distractors),
        **({} if row.steps is None else {"steps": row.steps}),
        "cut": sum(len(documents[key].text) > max_characters for key in (*row.related, *row.distractors)),
    }
    return Item(
        item_id=row.question_id,
        question=row.question,
        reference=Reference(row.reference, row.reference.strip()),
        response=material.as_text(),
        cluster_id=row.cluster or row.question_id,
        topic=row.topic,
        metadata={"traits": traits},
    )
