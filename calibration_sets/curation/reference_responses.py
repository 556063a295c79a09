"""What reference models made of the questions: how hard each question is, and each model's score."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from calibration_sets.curation.question_file import question_digest
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.strict import raise_problems
from calibration_sets.tables import Row, cell_text, read_table

__all__ = ["ModelScore", "ReferenceResponses", "order_by_failure", "order_by_hardness", "read_responses"]

LABELS = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")


@dataclass(frozen=True, slots=True)
class ModelScore:
    """F1 of one model over the questions that it has a usable label for; ``None`` where there are none."""

    model: str
    f1: float | None
    n: int
    n_missing: int


@dataclass(frozen=True, slots=True)
class ReferenceResponses:
    """Label by model by question id. A response without a usable verdict is not in it, and is counted as missing."""

    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    models: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of all labels, whatever their order."""
        return hashlib.sha256(json.dumps([self.models, self.labels], sort_keys=True).encode()).hexdigest()

    def share_correct(self, question: Question) -> Fraction | None:
        """Share of the usable verdicts on a question that are CORRECT; ``None`` without any."""
        labels = self.labels.get(question.question_id, {}).values()
        return Fraction(sum(label == "CORRECT" for label in labels), len(labels)) if labels else None

    def all_failed(self, question: Question) -> bool:
        """Whether every model has a usable verdict on a question and none is CORRECT: a missing one proves nothing."""
        labels = self.labels.get(question.question_id, {})
        return bool(labels) and labels.keys() == set(self.models) and "CORRECT" not in labels.values()

    def score_models(self, questions: Iterable[Question]) -> tuple[ModelScore, ...]:
        """Each model's F1 on these questions: ``2 c / (N + c + i)``, the harmonic mean of the share correct of all
        and the share correct of what was attempted (Wei et al., arXiv:2411.04368)."""
        ids = [question.question_id for question in questions]
        return tuple(self._score(model, ids) for model in self.models)

    def _score(self, model: str, ids: list[str]) -> ModelScore:
        counts = Counter(self.labels.get(name, {}).get(model) for name in ids)
        n = len(ids) - counts[None]
        f1 = 2 * counts["CORRECT"] / (n + counts["CORRECT"] + counts["INCORRECT"]) if n else None
        return ModelScore(model, f1, n, counts[None])


def read_responses(path: Path, questions: Iterable[Question]) -> ReferenceResponses:
    """Graded responses of reference models: a table with the columns ``question_id``, ``model``, ``label``.

    A blank label is a response without a usable verdict. Rows on other questions are passed over, since a later
    stage's file holds fewer of them.

    Raises
    ------
    SetFileError
        For another label, a model that has two rows on a question, or a file that is about none of the questions.
    """
    table = read_table(path)
    table.require({column: column for column in ("question_id", "model", "label")})
    labels: dict[str, dict[str, str]] = {}
    seen, models, problems = set(), set(), []
    for row in table.rows:
        name, model, label = (_cell(row, column) for column in ("question_id", "model", "label"))
        if (name, model) in seen or not (name and model) or label not in (*LABELS, ""):
            problems.append(_problem(row, name, model, label))
        seen.add((name, model))
        models.add(model)
        if label:
            labels.setdefault(name, {})[model] = label
    raise_problems(problems, SetFileError)
    if not {name for name, _ in seen} & {question.question_id for question in questions}:
        raise SetFileError(f"{path.name}: no row is about one of the questions; expected their ids in question_id")
    return ReferenceResponses(labels, tuple(sorted(models)))


def _cell(row: Row, column: str) -> str:
    return (cell_text(row, column) or "").strip()


def _problem(row: Row, name: str, model: str, label: str) -> str:
    if not (name and model):
        return f"{row.where}: question_id {name!r}, model {model!r}; expected both"
    if label not in (*LABELS, ""):
        return f"{row.where}: label {label!r}; expected one of {', '.join(LABELS)}, or blank for no usable verdict"
    return f"{row.where}: a second row for question {name!r} and model {model!r}; expected one"


def _lot(question: Question, seed: int) -> tuple[str, str]:
    """A draw that depends on the seed and on what the question says, never on its place in a file."""
    return hashlib.sha256(f"{seed} {question_digest(question)}".encode()).hexdigest(), question.question_id


def order_by_failure(
    questions: Iterable[Question], responses: ReferenceResponses, *, seed: int
) -> tuple[Question, ...]:
    """Questions that every reference model failed come first, the rest by lot."""
    return tuple(sorted(questions, key=lambda one: (not responses.all_failed(one), *_lot(one, seed))))


def order_by_hardness(
    questions: Iterable[Question], responses: ReferenceResponses, *, seed: int
) -> tuple[Question, ...]:
    """The fewest correct first; questions without a verdict come last, ties by lot."""

    def key(question: Question) -> tuple[bool, Fraction, str, str]:
        share = responses.share_correct(question)
        return (share is None, share or Fraction(0), *_lot(question, seed))

    return tuple(sorted(questions, key=key))
