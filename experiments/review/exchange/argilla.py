"""Reviews as datasets of Argilla 2: settings, and records with suggestions and responses, both in JSON."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.review.display import range_texts
from experiments.review.exchange.verdict_hints import Hint
from experiments.review.label_row import LabelRow
from experiments.review.review_record import Review, WorkItem

__all__ = ["DISPUTED", "render_settings", "user_id", "write_records"]

DISPUTED, SOUND = "yes", "no"
"""Argilla's answers to whether the reference is doubtful."""
_USERS = uuid.UUID("4a3d2b1c-8f0e-5a6b-9c7d-0e1f2a3b4c5d")
_FIELDS = (
    ("question", "Question"),
    ("reference", "Reference"),
    ("range", "Acceptable range"),
    ("response", "Response"),
)


def user_id(rater: str, users: Mapping[str, str]) -> str:
    """The id of a rater in Argilla: the given one, else one made of the name, which no server knows."""
    return users.get(rater) or str(uuid.uuid5(_USERS, rater))


def render_settings(review: Review) -> str:
    """The dataset's settings, as ``argilla.Settings.from_json`` reads them."""
    labels = [(label, label) for label in review.scale.labels]
    doubts = [(DISPUTED, "The reference is wrong or doubtful"), (SOUND, "The reference is fine")]
    settings = {
        "guidelines": f"Label the response by the rules of {review.calibration_set.rubric}.",
        "fields": [_field(name, title) for name, title in _FIELDS],
        "questions": [
            _choice("label", "Label", labels, required=True),
            _choice("disputed", "Reference", doubts, required=False),
            _property("note", "Note", required=False, settings={"type": "text", "use_markdown": False}),
        ],
        "vectors": [],
        "metadata": [],
        # What is not declared is kept, and stays out of the annotators' sight.
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": min(one.raters for one in review.work)},
        "mapping": None,
    }
    return json.dumps(settings, ensure_ascii=True, indent=1) + "\n"


def _field(name: str, title: str) -> dict[str, Any]:
    return _property(name, title, required=name == "question", settings={"type": "text", "use_markdown": False})


def _choice(name: str, title: str, options: Sequence[tuple[str, str]], *, required: bool) -> dict[str, Any]:
    shown = [{"value": value, "text": text} for value, text in options]
    settings = {"type": "label_selection", "options": shown, "visible_options": None}
    return _property(name, title, required=required, settings=settings)


def _property(name: str, title: str, *, required: bool, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "description": None,
        "required": required,
        "type": settings["type"],
        "settings": settings,
    }


def write_records(
    review: Review, rows: Sequence[LabelRow], hints: Mapping[str, Sequence[Hint]], users: Mapping[str, str]
) -> str:
    """All items of the review as records, in the form of ``Dataset.records.from_json``.

    A response holds one rater's label; what Argilla has no place for, such as adjudications, is in the metadata.
    Argilla shows one suggestion a question: that of the grader whose verdicts are least divided.
    """
    by_item: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_item.setdefault(row.item_id, []).append(row)
    records = [
        _record(review, one, by_item.get(one.item_id, ()), hints.get(one.item_digest, ()), users) for one in review.work
    ]
    return json.dumps(records, ensure_ascii=True, indent=1) + "\n"


def _record(
    review: Review, one: WorkItem, rows: Sequence[LabelRow], hints: Sequence[Hint], users: Mapping[str, str]
) -> dict[str, Any]:
    item = review.items[one.item_digest]
    own = [
        {
            "user_id": user_id(row.rater, users),
            "rater": row.rater,
            "label": row.label,
            "role": row.role,
            "blind": row.blind,
            "labelled_at": row.labelled_at,
            **({"note": row.note, "disputed": row.disputed} if row.role == "adjudication" else {}),
        }
        for row in rows
    ]
    best = max(hints, key=lambda hint: hint.share, default=None)
    return {
        "id": one.item_id,
        "fields": {
            "question": item.question,
            "reference": item.reference.text,
            "range": "; ".join(range_texts(item.reference)),
            "response": item.response,
        },
        "metadata": {
            "item_id": one.item_id,
            "item_digest": one.item_digest,
            "part": one.part,
            **({} if one.probability is None else {"probability": one.probability}),
            **({"autorater": json.dumps(own)} if own else {}),
        },
        "suggestions": {"label": {"value": best.label, "score": best.share, "agent": best.grader}} if best else {},
        "responses": _responses([row for row in rows if row.role == "label"], users),
        "vectors": {},
    }


def _responses(rows: Sequence[LabelRow], users: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Question to what users answered. Argilla demands a label of what is submitted: other rows are discarded ones."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        about = {"user_id": user_id(row.rater, users), "status": "discarded" if row.label is None else "submitted"}
        answers.setdefault("label", []).append({"value": row.label, **about})
        if row.note:
            answers.setdefault("note", []).append({"value": row.note, **about})
        if row.disputed:
            answers.setdefault("disputed", []).append({"value": DISPUTED, **about})
    return answers
