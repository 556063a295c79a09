"""What the sources of a question answer: given in a table, and judged by people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration_sets.curation.question_file import question_digest
from calibration_sets.curation.review_file import Cells, ReviewFile
from calibration_sets.curation.source_urls import url_key
from calibration_sets.curation.stage_result import Change, Drop, StageResult, keep_chosen
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.tables import cell_text, read_table

__all__ = [
    "UNDECIDED",
    "SourceAnswers",
    "SourceRow",
    "read_source_answers",
    "settle_conflicts",
    "source_review",
]

UNDECIDED, REMEMBERED = "undecided", "undecided, a model's memory"
"""What a comparison says that people have to decide."""


@dataclass(frozen=True, slots=True)
class SourceAnswers:
    """Answers by question id and address; those of ``remembered`` are what a model recalls of a source nobody read."""

    answers: Mapping[tuple[str, str], str] = field(default_factory=dict)
    remembered: frozenset[tuple[str, str]] = frozenset()

    @property
    def digest(self) -> str:
        """SHA-256 of all answers, whatever their order."""
        data = [sorted(self.answers.items()), sorted(self.remembered)]
        return hashlib.sha256(json.dumps(data).encode()).hexdigest()

    def find(self, question: Question, url: str) -> str:
        """What is known of a source's answer; empty where nothing is."""
        return self.answers.get((question.question_id, url_key(url)), "")

    def compare(self, question: Question, url: str, compare: Callable[[Question, str], str]) -> SourceRow:
        """A source with its answer compared; a remembered one proves nothing, and is for people to judge."""
        answer = self.find(question, url)
        is_remembered = (question.question_id, url_key(url)) in self.remembered
        return SourceRow(question, url, answer, REMEMBERED if is_remembered else compare(question, answer))


def read_source_answers(path: Path) -> SourceAnswers:
    """A table with the columns ``question_id``, ``url`` and ``answer``, and perhaps ``basis``.

    A basis of ``address`` is an answer that a model remembered, without the source's text.

    Raises
    ------
    SetFileError
        Where two rows disagree.
    """
    table = read_table(path)
    table.require({column: column for column in ("question_id", "url", "answer")})
    answers: dict[tuple[str, str], str] = {}
    remembered: set[tuple[str, str]] = set()
    for row in table.rows:
        name, url, answer = ((cell_text(row, column) or "").strip() for column in ("question_id", "url", "answer"))
        if answer and answers.setdefault((name, url_key(url)), answer) != answer:
            raise SetFileError(f"{row.where}: a second answer of {url} to {name!r}; expected one")
        if answer and cell_text(row, "basis") == "address":
            remembered.add((name, url_key(url)))
    return SourceAnswers(answers, frozenset(remembered))


def source_review(path: Path) -> ReviewFile:
    """The file in which people say what a question's sources come to."""
    return ReviewFile(
        path,
        shown=("question_id", "question", "reference", "url", "source_answer", "compared"),
        filled=("decision", "corrected_answer", "note"),
        choices={"decision": ("agrees", "ambiguous", "corrected")},
    )


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source of one question: what it answers, and how that compares before anybody has judged it."""

    question: Question
    url: str
    answer: str
    compared: str

    @property
    def key(self) -> str:
        """What the question and the address are, so that a decision is never taken for another question's."""
        return f"{question_digest(self.question)[:16]}-{hashlib.sha256(self.url.encode()).hexdigest()[:16]}"

    def cells(self) -> Cells:
        """The row as people see it."""
        return {
            "key": self.key,
            "question_id": self.question.question_id,
            "question": self.question.question,
            "reference": self.question.reference.text,
            "url": self.url,
            "source_answer": self.answer,
            "compared": self.compared,
        }


def settle_conflicts(
    questions: Sequence[Question],
    rows: Sequence[SourceRow],
    review: ReviewFile,
    drop_unjudged: Callable[[SourceRow], Drop | None],
) -> StageResult:
    """Write the sources for people, and do what they decided; what they did not judge falls to ``drop_unjudged``.

    Raises
    ------
    SetFileError
        If a correction has no text, or two of one question differ.
    """
    review.write(row.cells() for row in rows)
    decided = review.read()
    drops = _ambiguous(rows, decided)
    changes = {name: one for name, one in _corrections(rows, decided, review.path.name).items() if name not in drops}
    for row in rows:
        name = row.question.question_id
        # Who corrects a reference has settled its conflict with other sources.
        is_open = not _decision(row, decided) and name not in drops and name not in changes
        if is_open and (drop := drop_unjudged(row)):
            drops[name] = drop
    corrected = tuple(_corrected(question, changes.get(question.question_id)) for question in questions)
    notes = [*_notes(rows, decided, drops, review.path.name), *review.tell_strays(row.key for row in rows)]
    return keep_chosen(corrected, drops, changes=changes.values(), notes=notes)


def _decision(row: SourceRow, decided: Mapping[str, Cells]) -> str:
    return decided.get(row.key, {}).get("decision", "")


def _ambiguous(rows: Sequence[SourceRow], decided: Mapping[str, Cells]) -> dict[str, Drop]:
    names = {row.question.question_id: row.url for row in rows if _decision(row, decided) == "ambiguous"}
    return {name: Drop(name, "ambiguous by its sources", f"{url}; judged") for name, url in names.items()}


def _corrections(rows: Sequence[SourceRow], decided: Mapping[str, Cells], file: str) -> dict[str, Change]:
    changes: dict[str, Change] = {}
    for row in rows:
        if _decision(row, decided) != "corrected":
            continue
        name, text = row.question.question_id, decided[row.key]["corrected_answer"]
        if not text:
            raise SetFileError(f"{file}: {name}: corrected_answer is blank; expected the corrected reference")
        if name in changes and changes[name].after != text:
            raise SetFileError(f"{file}: {name}: corrected to {changes[name].after!r} and {text!r}; expected one")
        changes.setdefault(name, Change(name, row.question.reference.text, text, row.url))
    return changes


def _corrected(question: Question, change: Change | None) -> Question:
    return replace(question, reference=parse_reference(change.after)) if change else question


def _notes(
    rows: Sequence[SourceRow], decided: Mapping[str, Cells], drops: Mapping[str, Drop], file: str
) -> Iterator[str]:
    kept = [row for row in rows if row.question.question_id not in drops]
    open_rows = [row for row in kept if not _decision(row, decided) and row.compared in (UNDECIDED, REMEMBERED)]
    n_silent = sum(not row.answer for row in open_rows)
    n_questions = len({row.question.question_id for row in open_rows})
    if open_rows:
        yield (
            f"{len(open_rows)} sources of {n_questions} questions in {file} not decided yet, "
            f"{n_silent} of them without an answer: kept"
        )
    if n_remembered := sum(row.compared == REMEMBERED for row in rows):
        yield f"{n_remembered} answers are a model's memory of a source that was not read: compared with nothing"
