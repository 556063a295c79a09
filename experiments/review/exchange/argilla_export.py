"""Labels out of the records that Argilla 2 exports as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from calibration_sets.strict import parse_json, raise_problems, read_text, shorten
from experiments.errors import ReviewError
from experiments.review.exchange.argilla import DISPUTED
from experiments.review.exchange.file_row import FileLabels, FileRow, ReadOptions
from experiments.review.label_row import Role

__all__ = ["read_argilla"]

_QUESTIONS = ("label", "note", "disputed")
_TEXTS = ("question", "reference", "response")


class _Own(BaseModel):
    """What the metadata keep of a row of ours."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    user_id: str
    rater: str
    label: str | None
    role: Role
    blind: bool
    labelled_at: str
    note: str = ""
    disputed: bool = False


_OWN = TypeAdapter(list[_Own])


@dataclass(frozen=True, slots=True)
class _Answer:
    """One user's answer to one question; ``status`` is ``None`` where the export leaves it out."""

    user: str
    value: Any
    status: str | None


@dataclass(frozen=True, slots=True)
class _Record:
    where: str
    metadata: Mapping[str, Any]
    texts: Mapping[str, str]
    answers: Mapping[str, tuple[_Answer, ...]]
    has_suggestions: bool

    def text(self, name: str) -> str | None:
        value = self.metadata.get(name)
        if value is not None and not isinstance(value, str):
            raise ReviewError(f"{self.where}: {name} {shorten(value)}; expected text")
        return value


def read_argilla(path: Path, options: ReadOptions) -> FileLabels:
    """The responses of a file of records: ``records.to_list(flatten=True)`` written as JSON, or ``records.to_json``.

    The latter leaves out whether a response was submitted, and is refused unless that is to be assumed. Discarded
    responses are skips, drafts are counted in the notes. A response beside a suggestion is not blind.

    Raises
    ------
    ReviewError
        The file is no such export, or a response is none of these questions; with the number of the record.
    """
    seen: Counter[str] = Counter()
    rows: list[FileRow] = []
    problems: list[str] = []
    for where, data in _records(path):
        try:
            record = _flattened(where, data, seen) if "responses" not in data else _nested(where, data, seen)
            rows.extend(_rows(record, options, seen))
        except ReviewError as error:
            problems.append(str(error))
    raise_problems(problems, ReviewError)
    return FileLabels(tuple(rows), tuple(_notes(seen)))


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        content = parse_json(read_text(path, ReviewError))
    except ValueError as error:
        raise ReviewError(f"{path.name}: {error}") from None
    if not isinstance(content, list):
        raise ReviewError(f"{path.name}: {shorten(content)}; expected a list of records, as of records.to_json")
    for number, record in enumerate(content, start=1):
        where = f"{path.name}:record {number}"
        if not isinstance(record, dict) or "id" not in record:
            raise ReviewError(f"{where}: {shorten(record)}; expected a record with an id")
        yield where, record


def _nested(where: str, data: Mapping[str, Any], seen: Counter[str]) -> _Record:
    tables = [data.get(key) or {} for key in ("metadata", "fields", "responses", "suggestions")]
    if not all(isinstance(table, dict) for table in tables):
        raise ReviewError(f"{where}: {shorten(data)}; expected objects of fields, metadata, responses and suggestions")
    metadata, fields, responses, suggestions = tables
    answers = {}
    for question, given in responses.items():
        entries = given if isinstance(given, list) else [given]
        if not all(isinstance(one, dict) and isinstance(one.get("user_id"), str) for one in entries):
            raise ReviewError(f"{where}: responses {shorten(given)}; expected a list of values with user ids")
        answers[question] = tuple(_Answer(one["user_id"], one.get("value"), one.get("status")) for one in entries)
    return _Record(where, metadata, _texts(fields), _known(answers, seen), bool(suggestions))


def _flattened(where: str, data: Mapping[str, Any], seen: Counter[str]) -> _Record:
    answers = {}
    for key in data:
        question, dot, rest = key.rpartition(".")
        if not dot or rest != "responses":
            continue
        columns = [data.get(name) or [] for name in (key, f"{key}.users", f"{key}.status")]
        if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
            raise ReviewError(f"{where}: {key} of unequal lengths; expected a value, a user and a status each")
        values, users, statuses = columns
        answers[question] = tuple(
            _Answer(str(user), value, status) for user, value, status in zip(users, values, statuses, strict=True)
        )
    suggested = any(value is not None for key, value in data.items() if key.endswith(".suggestion"))
    return _Record(where, data, _texts(data), _known(answers, seen), suggested)


def _texts(fields: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: str(fields[name]) for name in _TEXTS if fields.get(name) is not None}


def _known(answers: Mapping[str, tuple[_Answer, ...]], seen: Counter[str]) -> Mapping[str, tuple[_Answer, ...]]:
    for question in answers:
        if question not in _QUESTIONS:
            seen[f"question {question}"] += len(answers[question])
    return {question: answers[question] for question in _QUESTIONS if question in answers}


def _rows(record: _Record, options: ReadOptions, seen: Counter[str]) -> Iterator[FileRow]:
    own = _own(record)
    by_user: dict[str, dict[str, _Answer]] = {}
    for question, answers in record.answers.items():
        for answer in answers:
            by_user.setdefault(answer.user, {})[question] = answer
    for user, given in by_user.items():
        status = _status(record.where, given, options)
        if status == "draft":
            seen["drafts"] += 1
            continue
        yield _response_row(record, user, given, own.get(user), status, options, seen)
    yield from (_adjudication_row(record, one) for one in _adjudications(record))


def _own(record: _Record) -> Mapping[str, _Own]:
    return {one.user_id: one for one in _parse_own(record) if one.role == "label"}


def _adjudications(record: _Record) -> list[_Own]:
    return [one for one in _parse_own(record) if one.role == "adjudication"]


def _parse_own(record: _Record) -> list[_Own]:
    text = record.text("autorater")
    if text is None:
        return []
    try:
        return _OWN.validate_json(text)
    except ValidationError as error:
        raise ReviewError(
            f"{record.where}: metadata autorater ({error.errors()[0]['msg']}); expected what was exported there"
        ) from None


def _status(where: str, given: Mapping[str, _Answer], options: ReadOptions) -> str:
    statuses = {answer.status for answer in given.values()}
    status = "submitted" if statuses == {None} and options.assume_submitted else next(iter(statuses))
    if status is None:
        raise ReviewError(
            f"{where}: a response without a status, it may be a draft; expected records.to_list(flatten=True) as JSON, "
            "or --assume-submitted"
        )
    if len(statuses) > 1 or status not in ("submitted", "discarded", "draft"):
        raise ReviewError(f"{where}: status {sorted(map(str, statuses))}; expected submitted, discarded or draft")
    return status


def _response_row(
    record: _Record,
    user: str,
    given: Mapping[str, _Answer],
    own: _Own | None,
    status: str,
    options: ReadOptions,
    seen: Counter[str],
) -> FileRow:
    values = {question: answer.value for question, answer in given.items() if answer.value is not None}
    if not all(isinstance(value, str) for value in values.values()):
        raise ReviewError(f"{record.where}: answers {shorten(values)}; expected a label and text")
    label = values.get("label") if status == "submitted" else None
    same = own is not None and own.label == label
    return FileRow(
        where=record.where,
        item_id=record.text("item_id"),
        item_digest=record.text("item_digest"),
        rater=own.rater if own else _user(user, options, seen),
        label=label,
        note=values.get("note", ""),
        disputed=values.get("disputed") == DISPUTED,
        blind=own.blind if own is not None and same else not record.has_suggestions,
        labelled_at=own.labelled_at if own is not None and same else None,
        part=record.text("part"),
        skipped=status == "discarded",
        texts=record.texts,
    )


def _adjudication_row(record: _Record, own: _Own) -> FileRow:
    return FileRow(
        where=record.where,
        item_id=record.text("item_id"),
        item_digest=record.text("item_digest"),
        rater=own.rater,
        label=own.label,
        note=own.note,
        disputed=own.disputed,
        blind=own.blind,
        labelled_at=own.labelled_at,
        role="adjudication",
        part=record.text("part"),
        texts=record.texts,
    )


def _user(user: str, options: ReadOptions, seen: Counter[str]) -> str:
    if user in options.raters:
        return options.raters[user]
    seen[f"user {user}"] += 1
    return f"argilla:{user}"


def _notes(seen: Mapping[str, int]) -> Iterator[str]:
    for what, count in sorted(seen.items()):
        kind, _, name = what.partition(" ")
        if what == "drafts":
            yield f"left out, drafts that nobody has submitted: {count}"
        elif kind == "question" and count:
            yield f"not read, responses to the question {name!r}: {count}"
        elif kind == "user":
            yield f"user {name} has no name here; 'argilla:{name}' stands for it, or give --rater {name}=NAME"
