"""An audit on the labelling page: the review of its sample, and what was said there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from calibration_sets.audit.audit_counts import AuditLabel
from calibration_sets.audit.audit_folder import read_file_labels, read_sample
from calibration_sets.curation.question_file import question_digest
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.strict import raise_problems
from calibration_sets.tables import cell_text, read_table
from experiments.errors import ReviewError
from experiments.review.audit_items import Responses, audit_set
from experiments.review.events import Event
from experiments.review.exchange.item_decisions import ItemDecision, decide_items
from experiments.review.label_state import fold_events
from experiments.review.label_store import LabelStore
from experiments.review.labels import label_rows
from experiments.review.links import find_links
from experiments.review.review_record import Review
from experiments.review.work_list import ReviewPlan, plan_set_review

__all__ = ["audit_store", "count_strange_labels", "plan_audit_review", "read_page_labels", "read_shown_responses"]


def audit_store(folder: Path) -> Path:
    """Where the page keeps the labels of an audit."""
    return folder / "labels.sqlite"


def plan_audit_review(folder: Path, responses: Responses, *, double_share: float) -> ReviewPlan:
    """The review of the questions that have no label in the audit's file.

    Raises
    ------
    SetFileError
        If there is no audit in the folder.
    ReviewError
        If all are labelled there, or the share is out of its range.
    """
    in_file = read_file_labels(folder)
    questions = [one for one in read_sample(folder) if question_digest(one) not in in_file]
    if not questions:
        raise ReviewError(f"{folder}: all questions have a label in labels.csv; expected one without")
    return _plan(folder, questions, responses, double_share=double_share)


def _plan(folder: Path, questions: list[Question], responses: Responses, *, double_share: float) -> ReviewPlan:
    made = audit_set(questions, responses, name=folder.resolve().name)
    plan = plan_set_review(made, double_share=double_share, seed=0)
    return replace(plan, review=replace(plan.review, source="audit"))


def read_page_labels(folder: Path) -> dict[str, AuditLabel]:
    """What was said on the page, by digest of the question; nothing where it was never opened.

    An adjudication stands, else the label of more than half of the raters. Links in notes are the evidence.

    Raises
    ------
    StoreError
        If the file of labels is not one.
    """
    questions = {question_digest(one): one for one in read_sample(folder)}
    review, said = _read_store(folder)
    decisions = decide_items(label_rows(review, said))
    return {key: _label(questions[key], one) for key, one in decisions.items() if one.is_labelled}


def count_strange_labels(folder: Path) -> int:
    """How many questions have a label of the page and are not of the sample, as in the file of another audit."""
    review, said = _read_store(folder)
    labelled = {key.item_digest for key, standing in fold_events(said).items() if standing.label is not None}
    return len(labelled - review.items.keys())


def _read_store(folder: Path) -> tuple[Review, Sequence[Event]]:
    """The review of the whole sample, and what the page has recorded; nothing where it was never opened."""
    review = _plan(folder, list(read_sample(folder)), {}, double_share=0.0).review
    path = audit_store(folder)
    if not path.exists():
        return review, ()
    with LabelStore(path, must_exist=True) as store:
        return review, store.events(review)


def _label(question: Question, decision: ItemDecision) -> AuditLabel:
    rows = [*decision.given, *([decision.adjudication] if decision.adjudication else [])]
    notes = list(dict.fromkeys(row.note for row in rows if row.note))
    return AuditLabel(
        question_id=question.question_id,
        question=question.question,
        label=decision.label,
        evidence=" ".join(dict.fromkeys(link for note in notes for link in find_links(note))),
        note="\n".join(notes),
        said=tuple((row.rater, str(row.label)) for row in decision.given),
    )


def read_shown_responses(path: Path) -> Responses:
    """Responses to show beside the questions: a table with ``question_id``, ``model`` and ``response``.

    Raises
    ------
    SetFileError
        If a column is missing, or a row names no question or no model.
    """
    table = read_table(path)
    table.require({name: name for name in ("question_id", "model", "response")})
    found: dict[str, list[tuple[str, str]]] = {}
    problems = []
    for row in table.rows:
        name, model, text = (cell_text(row, column) or "" for column in ("question_id", "model", "response"))
        if not (name and model):
            problems.append(f"{row.where}: question_id {name!r}, model {model!r}; expected both")
        found.setdefault(name, []).append((model, text))
    raise_problems(problems, SetFileError)
    return found
