"""Sets out of any table, by saying which column is what.

A mapping goes from field to column. Fields are ``id``, ``question``, ``reference``, ``response``,
``label``, ``rater``, ``cluster``, ``kind``, ``topic``, ``answer_type``, ``respondent``, ``aliases``,
``question_id``, and ``label:NAME`` for a table with a column of labels for each rater.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.item import HumanLabel, Item
from calibration_sets.question import Question
from calibration_sets.records import ItemRecord, SetHeader
from calibration_sets.strict import raise_problems, shorten
from calibration_sets.strict_models import parse_model
from calibration_sets.tables import Row, Table, cell_text, read_table, refuse_queue

__all__ = ["FIELDS", "import_table", "map_table"]

FIELDS = (
    "id",
    "question",
    "reference",
    "response",
    "label",
    "rater",
    "cluster",
    "kind",
    "topic",
    "answer_type",
    "respondent",
    "aliases",
    "question_id",
)
"""The fields that a column can be mapped to, ``label:NAME`` apart."""

_WIDE = "label:"
_ITEM_FIELDS = ("cluster", "kind", "topic", "answer_type", "respondent")


def import_table(
    path: Path,
    mapping: Mapping[str, str],
    header: SetHeader,
    *,
    labels: Mapping[str, str] | None = None,
    alias_separator: str | None = None,
    questions: Sequence[Question] | None = None,
) -> CalibrationSet:
    """The set in a CSV, TSV, JSONL or Parquet file.

    A table may have one row an item, or one row a label: then rows of one ``id`` must agree in
    all else, and ``rater`` tells the labels apart. An empty label is no label; any other text
    must be on the scale.

    Parameters
    ----------
    mapping
        Field to column name; ``response`` and, unless ``questions`` are given, ``question`` and
        ``reference`` are needed. Without ``id``, rows are numbered from 1.
    labels
        Text of the table to label of the scale, such as ``{"Yes": "CORRECT"}``; a text that it
        does not have must be a label itself.
    alias_separator
        What separates aliases within their column; without it the cell is one alias. A cell of a
        JSONL or Parquet file may also be a list.
    questions
        A benchmark that the table's responses belong to. Rows find their question by
        ``question_id``, else by the question's text; where both are mapped, both must agree, so
        that an answer to a reworded question is never joined.

    Raises
    ------
    SetFileError
        For a field or column that does not exist, and for rows that make no set.
    """
    return map_table(
        read_table(path), mapping, header, labels=labels, alias_separator=alias_separator, questions=questions
    )


def map_table(
    table: Table,
    mapping: Mapping[str, str],
    header: SetHeader,
    *,
    labels: Mapping[str, str] | None = None,
    alias_separator: str | None = None,
    questions: Sequence[Question] | None = None,
) -> CalibrationSet:
    """The set in a table, however that was read; see :func:`import_table`."""
    _check_fields(mapping, table.file, has_questions=questions is not None)
    refuse_queue(table)
    table.require(mapping)
    reader = _RowReader(mapping, labels or {}, alias_separator, _QuestionIndex(questions) if questions else None)
    items: dict[str, tuple[Row, Item]] = {}
    given: dict[tuple[str, str], tuple[Row, HumanLabel]] = {}
    problems: list[str] = []
    for number, row in enumerate(table.rows, start=1):
        try:
            item = reader.item(row, number)
            _add_item(items, row, item, may_repeat="rater" in mapping)
            for rater, label in reader.labels_of(row, header):
                _add_label(given, row, HumanLabel(item.item_id, item.digest, rater, label, header.rubric))
        except SetFileError as error:
            problems += str(error).splitlines()
    raise_problems(problems, SetFileError)
    all_items = tuple(item for _, item in items.values())
    return header.with_content(all_items, tuple(label for _, label in given.values()))


def _check_fields(mapping: Mapping[str, str], file: str, *, has_questions: bool) -> None:
    unknown = [field for field in mapping if field not in FIELDS and not field.startswith(_WIDE)]
    if unknown:
        raise SetFileError(f"{file}: unknown field {', '.join(map(repr, unknown))}; expected {', '.join(FIELDS)}")
    needed = ["response"] if has_questions else ["question", "reference", "response"]
    missing = [field for field in needed if field not in mapping]
    if has_questions and not {"question_id", "question"} & set(mapping):
        missing.append("question_id or question")
    if missing:
        raise SetFileError(f"{file}: no column mapped to {', '.join(missing)}; expected one for each")
    if "rater" in mapping and not {"id", "label"} <= set(mapping):
        raise SetFileError(f"{file}: rater is mapped without id and label; expected all three")


def _add_item(items: dict[str, tuple[Row, Item]], row: Row, item: Item, *, may_repeat: bool) -> None:
    first, known = items.setdefault(item.item_id, (row, item))
    if known == item and first is not row and not may_repeat:
        raise SetFileError(
            f"{row.where}: duplicate id {shorten(item.item_id)}, first at {first.where}; "
            "expected one row an item (map rater where several people labelled)"
        )
    if known != item:
        raise SetFileError(
            f"{row.where}: item {shorten(item.item_id)} differs from the one at {first.where}; expected the same"
        )


def _add_label(given: dict[tuple[str, str], tuple[Row, HumanLabel]], row: Row, label: HumanLabel) -> None:
    key = (label.item_id, label.rater)
    if key in given:
        raise SetFileError(
            f"{row.where}: second label of item {shorten(label.item_id)} by rater {shorten(label.rater)}, "
            f"first at {given[key][0].where}; expected one (map rater where several people labelled)"
        )
    given[key] = (row, label)


class _QuestionIndex:
    """Questions of a benchmark by id and by text."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._by_id = {question.question_id: question for question in questions}
        self._by_text = {question.question.strip(): question for question in questions}

    def find(self, row: Row, question_id: str | None, text: str | None) -> Question:
        """The question of a row; ``SetFileError`` if there is none, or id and text name different ones."""
        question = self._by_id.get(question_id) if question_id is not None else self._by_text.get((text or "").strip())
        if question is None:
            raise SetFileError(f"{row.where}: no question {shorten(question_id or text)} in the benchmark")
        if text is not None and text.strip() != question.question.strip():
            raise SetFileError(
                f"{row.where}: question {shorten(text)} is worded otherwise than {question.question_id} "
                "in the benchmark; expected the same text"
            )
        return question


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Rows of one table as items and labels."""

    mapping: Mapping[str, str]
    labels: Mapping[str, str]
    alias_separator: str | None
    questions: _QuestionIndex | None

    def text(self, row: Row, field: str) -> str | None:
        """The text of a field; ``None`` where no column is mapped to it, or the row has nothing there."""
        return cell_text(row, self.mapping[field]) if field in self.mapping else None

    def item(self, row: Row, number: int) -> Item:
        """The item of a row."""
        data: dict[str, object] = {"id": self.text(row, "id") if "id" in self.mapping else f"row-{number}"}
        if self.questions is None:
            data |= {"question": self.text(row, "question"), "reference": self.text(row, "reference")}
            aliases = self.aliases(row)
        else:
            found = self.questions.find(row, self.text(row, "question_id"), self.text(row, "question"))
            data |= {"question": found.question, "reference": found.reference.text, "cluster": found.question_id}
            data |= {"topic": found.topic, "answer_type": found.answer_type}
            aliases = list(found.reference.extra_aliases)
        data |= {"response": self.text(row, "response"), "aliases": aliases}
        data |= {field: text for field in _ITEM_FIELDS if (text := self.text(row, field))}
        return parse_model(ItemRecord, data, row.where, SetFileError).to_item()

    def aliases(self, row: Row) -> list[str]:
        """The aliases of a row, from a list or from text."""
        if "aliases" not in self.mapping:
            return []
        value = row.cells.get(self.mapping["aliases"])
        if isinstance(value, list):
            return value
        text = self.text(row, "aliases")
        parts = text.split(self.alias_separator) if text and self.alias_separator else [text or ""]
        return [part.strip() for part in parts if part.strip()]

    def labels_of(self, row: Row, header: SetHeader) -> Iterator[tuple[str, str]]:
        """Rater and label of each label in a row."""
        wide = {field.removeprefix(_WIDE): field for field in self.mapping if field.startswith(_WIDE)}
        for rater, field in wide.items():
            if label := self._label(row, field, header):
                yield rater, label
        if "label" in self.mapping and (label := self._label(row, "label", header)):
            by_whom = self.text(row, "rater") if "rater" in self.mapping else "rater"
            if not by_whom or by_whom != by_whom.strip():
                raise SetFileError(f"{row.where}: rater {shorten(by_whom)}; expected a name, without outer white space")
            yield by_whom, label

    def _label(self, row: Row, field: str, header: SetHeader) -> str | None:
        text = self.text(row, field)
        if not text:
            return None
        label = self.labels.get(text, text)
        if label not in header.scale:
            known = ", ".join((*header.scale.labels, *self.labels))
            raise SetFileError(f"{row.where}: label {shorten(text)} is not on the scale; expected one of [{known}]")
        return label
