"""NQ301: answers of twelve systems to 301 open questions, judged by people and by three graders.

Source: https://github.com/ehsk/OpenQA-eval (MIT), Kamalloo et al., "Evaluating Open-Domain Question
Answering in the Era of Large Language Models", ACL 2023.

The column ``Acceptable?`` is a trap: in a grader's file it is the *grader's* verdict. What people
said is in ``NQ301_human.tsv``, two annotators a row and a third where those two differed; each of
their labels is kept, the published majority is not read. The acceptable answers are in the file
of the BEM grader only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from calibration_sets.errors import SetFileError
from calibration_sets.importers.imported import Imported, RecordedVerdict
from calibration_sets.item import HumanLabel, Item
from calibration_sets.records import Filled, Key, SetHeader, StrictRecord
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import BINARY
from calibration_sets.strict import read_text, shorten
from calibration_sets.strict_models import read_rows
from calibration_sets.tables import Row, Table, read_csv

__all__ = ["import_nq301"]

RUBRIC = "nq301@1.0.0"

_HEADER = SetHeader(
    name="nq301",
    version="1.0.0",
    rubric=RUBRIC,
    scale=BINARY,
    label_source="human",
    licence="MIT",
    source="https://github.com/ehsk/OpenQA-eval",
    description="Answers of twelve systems to 301 open questions, each judged by two or three people.",
)
_LABELS: Mapping[str, str | None] = {"Yes": "CORRECT", "No": "INCORRECT", "": None}
_JOINED = "Question and answer"
_ANNOTATORS = ("annotator1", "annotator2", "annotator3")


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer, whichever file it comes from; ``verdicts`` maps a grader to its label and its words."""

    item_id: str
    question_id: str
    question: str
    references: tuple[str, ...]
    response: str
    systems: tuple[str, ...]
    annotators: tuple[str | None, ...]
    verdicts: Mapping[str, tuple[str | None, str | None]]


class _Line(StrictRecord):
    """One line of ``nq301.jsonl``; ``label`` is the published majority, which is not used."""

    id: Key
    question: Filled
    question_id: Key
    target: list[Filled] = Field(min_length=1)
    response: str
    label: str | None = None
    system: list[str] | None = None
    annotators: list[Literal["CORRECT", "INCORRECT"] | None] = Field(max_length=len(_ANNOTATORS))
    source: str | None = None
    graders: dict[str, Literal["CORRECT", "INCORRECT"]] = Field(default_factory=dict)
    grader_scores: dict[str, float] = Field(default_factory=dict)
    grader_raw: dict[str, str | None] = Field(default_factory=dict)


def import_nq301(path: Path) -> Imported:
    """The set with its graders' verdicts, from a folder of the upstream TSV files or from ``nq301.jsonl``.

    The files are joined by position, checked row by row: question ids must agree, and a verdict
    on another answer than the people saw is left out and counted, like a second one on the same
    answer that says something else. The JSONL form is the same
    table already joined; it also says which systems gave an answer.

    Raises
    ------
    SetFileError
        If a file is missing or malformed, or the files do not belong together.
    """
    if path.is_dir():
        answers, left_out = _answers_of_tables(path)
    else:
        answers, left_out = _answers_of_lines(path), {}
    if not answers:
        raise SetFileError(f"{path.name}: no answers; expected at least one")
    items = tuple(map(_to_item, answers))
    pairs = list(zip(items, answers, strict=True))
    labels = tuple(label for item, answer in pairs for label in _to_labels(item, answer))
    verdicts = [verdict for item, answer in pairs for verdict in _to_verdicts(item, answer)]
    return Imported(_HEADER.with_content(items, labels), *_one_a_content(verdicts, left_out))


def _to_item(answer: _Answer) -> Item:
    first, *others = answer.references
    return Item(
        item_id=answer.item_id,
        question=answer.question,
        reference=parse_reference(first, others),
        response=answer.response,
        cluster_id=answer.question_id,
        respondent=answer.systems[0] if len(answer.systems) == 1 else None,
        metadata={"systems": list(answer.systems)} if answer.systems else {},
    )


def _to_labels(item: Item, answer: _Answer) -> list[HumanLabel]:
    return [
        HumanLabel(item.item_id, item.digest, rater, label, RUBRIC)
        for rater, label in zip(_ANNOTATORS, answer.annotators, strict=False)
        if label is not None
    ]


def _to_verdicts(item: Item, answer: _Answer) -> list[RecordedVerdict]:
    return [
        RecordedVerdict(item.item_id, item.digest, grader, 0, label, text)
        for grader, (label, text) in answer.verdicts.items()
    ]


def _one_a_content(
    verdicts: list[RecordedVerdict], left_out: Mapping[str, int]
) -> tuple[tuple[RecordedVerdict, ...], dict[str, int]]:
    """The verdicts without those that say something else than an earlier one on the same content.

    An answer comes twice in the data, and a grader's words on it may differ; verdicts belong to
    content, of which there can be only one in each repeat.
    """
    first: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    kept, counts = [], Counter(left_out)
    for verdict in verdicts:
        said = (verdict.label, verdict.text)
        if first.setdefault((verdict.grader, verdict.item_digest), said) == said:
            kept.append(verdict)
        else:
            counts[f"{verdict.grader}: second verdict on the same answer"] += 1
    return tuple(kept), dict(counts)


def _answers_of_tables(folder: Path) -> tuple[list[_Answer], dict[str, int]]:
    human = _read(folder, "NQ301_human.tsv", ("id", "Question", "Model answer", *_ANNOTATORS))
    bem = _read(folder, "NQ301_BEM.tsv", ("Question", "Gold answers", "Model answer", "Acceptable?"))
    gpt4 = _read(folder, "NQ301_gpt-4.tsv", ("id", "Question", "Model answer", "Acceptable?", "gpt-4"))
    davinci = _read_davinci(folder / "NQ301_text-davinci-003.tsv")
    for other in (bem, gpt4, davinci):
        if len(other.rows) != len(human.rows):
            raise SetFileError(f"{other.file}: {len(other.rows)} rows; expected {len(human.rows)} as in {human.file}")
    left_out: Counter[str] = Counter()
    answers: list[_Answer] = []
    for person, by_bem, by_gpt4, by_davinci in zip(human.rows, bem.rows, gpt4.rows, davinci.rows, strict=True):
        judged = {"gpt-4": by_gpt4, "text-davinci-003": by_davinci, "bem": by_bem}
        _check_same_question(person, judged)
        fitting = {grader: row for grader, row in judged.items() if _is_same_answer(person, row)}
        left_out.update(f"{grader}: verdict on another answer" for grader in judged if grader not in fitting)
        answers.append(_answer_of_rows(f"nq301-{len(answers):04d}", person, by_bem, fitting))
    return answers, dict(left_out)


def _answer_of_rows(item_id: str, person: Row, by_bem: Row, judged: Mapping[str, Row]) -> _Answer:
    return _Answer(
        item_id=item_id,
        question_id=person.cells["id"],
        question=person.cells["Question"],
        references=tuple(by_bem.cells["Gold answers"].split(" | ")),
        response=person.cells["Model answer"],
        systems=(),
        annotators=tuple(_label(person, column) for column in _ANNOTATORS),
        verdicts={grader: (_label(row, "Acceptable?"), row.cells.get(grader)) for grader, row in judged.items()},
    )


def _check_same_question(person: Row, judged: Mapping[str, Row]) -> None:
    question_id, question = person.cells["id"], person.cells["Question"]
    for grader, row in judged.items():
        # The BEM file numbers answers, the others number questions but change their wording.
        same = row.cells["Question"] == question if grader == "bem" else row.cells["id"] == question_id
        if not same:
            raise SetFileError(f"{row.where}: another question than at {person.where}; expected the rows in one order")


def _is_same_answer(person: Row, judged: Row) -> bool:
    answer: str = person.cells["Model answer"]
    if "Model answer" in judged.cells:
        return bool(judged.cells["Model answer"] == answer)
    # Question and answer run together, the tab between them is lost.
    return bool(judged.cells[_JOINED].endswith(answer))


def _label(row: Row, column: str) -> str | None:
    text = row.cells[column]
    if text not in _LABELS:
        raise SetFileError(f"{row.where}: column {column!r} holds {shorten(text)}; expected Yes, No or nothing")
    return _LABELS[text]


def _read(folder: Path, name: str, columns: tuple[str, ...]) -> Table:
    # Upstream's own readers drop the quotes of a field that begins with one, and so showed it to graders.
    table = read_csv(folder / name, delimiter="\t", strict=False)
    table.require({column: column for column in columns})
    return table


def _read_davinci(path: Path) -> Table:
    """The InstructGPT grader's file; its newest revision names five columns and has four."""
    lines = read_text(path, SetFileError).split("\n", 2)
    lost_tab = len(lines) > 1 and lines[1].count("\t") < lines[0].count("\t")
    columns = ("id", _JOINED, "Acceptable?", "text-davinci-003") if lost_tab else None
    table = read_csv(path, delimiter="\t", strict=False, columns=columns)
    table.require({column: column for column in ("id", "Acceptable?", "text-davinci-003")})
    return table


def _answers_of_lines(path: Path) -> list[_Answer]:
    rows = read_rows(_Line, path, SetFileError)
    repeated = sorted(item_id for item_id, count in Counter(row.id for _, row in rows).items() if count > 1)
    if repeated:
        raise SetFileError(f"{path.name}: duplicate ids {', '.join(map(shorten, repeated))}; expected each once")
    return [
        _Answer(
            item_id=row.id,
            question_id=row.question_id,
            question=row.question,
            references=tuple(row.target),
            response=row.response,
            systems=tuple(row.system or ()),
            annotators=tuple(row.annotators),
            verdicts=_verdicts_of_line(row),
        )
        for _, row in rows
    ]


def _verdicts_of_line(row: _Line) -> dict[str, tuple[str | None, str | None]]:
    """Label and words of every grader that has either."""
    spoken = [grader for grader, text in row.grader_raw.items() if text is not None]
    graders = dict.fromkeys([*spoken, *row.graders])
    return {grader: (row.graders.get(grader), row.grader_raw.get(grader)) for grader in graders}
