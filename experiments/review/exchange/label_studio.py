"""Reviews as projects of Label Studio: a labelling configuration in XML, and tasks in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from experiments.review.display import range_texts
from experiments.review.exchange.verdict_hints import Hint
from experiments.review.label_row import LabelRow
from experiments.review.review_record import Review, WorkItem

__all__ = ["DISPUTED", "render_config", "write_tasks"]

DISPUTED = "The reference is wrong or doubtful"
"""Label Studio's choice for a doubtful reference."""
_SHOWN = (("question", "Question"), ("reference", "Reference"), ("range", "Acceptable range"), ("response", "Response"))


def render_config(review: Review) -> str:
    """The labelling configuration: the scale's labels as choices, a note, a doubt about the reference.

    A text area that is not shown keeps what Label Studio has no place for, so that it comes back with an export.
    """
    view = ElementTree.Element("View")
    for name, title in _SHOWN:
        _add(view, "Header", value=title)
        _add(view, "Text", name=name, value=f"${name}")
    choices = _add(view, "Choices", name="label", toName="response", choice="single", showInline="true")
    for place, label in enumerate(review.scale.labels, start=1):
        _add(choices, "Choice", value=label, **({"hotkey": str(place)} if place < 10 else {}))
    doubt = _add(view, "Choices", name="disputed", toName="response", choice="multiple")
    _add(doubt, "Choice", value=DISPUTED)
    _add(view, "Header", value="Note")
    _add(view, "TextArea", name="note", toName="response", rows="3", editable="true", maxSubmissions="1")
    hidden = _add(view, "View", style="display: none")
    _add(hidden, "TextArea", name="autorater", toName="response", maxSubmissions="1")
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def write_tasks(
    review: Review,
    rows: Sequence[LabelRow],
    hints: Mapping[str, Sequence[Hint]],
    users: Mapping[str, int],
) -> str:
    """All items of the review as tasks, labels as annotations, hints as predictions.

    Parameters
    ----------
    users
        Rater to the id of the user in Label Studio. Annotations of others name nobody there, as a number could be
        somebody else's; Label Studio counts them as those of who imports them. Their names come back all the same.
    """
    by_item: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_item.setdefault(row.item_id, []).append(row)
    tasks = [
        {
            "data": _data(review, one),
            "annotations": [_annotation(row, users) for row in by_item.get(one.item_id, ())],
            "predictions": [_prediction(hint) for hint in hints.get(one.item_digest, ())],
        }
        for one in review.work
    ]
    return json.dumps(tasks, ensure_ascii=True, indent=1) + "\n"


def _data(review: Review, one: WorkItem) -> dict[str, Any]:
    item = review.items[one.item_digest]
    data = {
        "item_id": one.item_id,
        "item_digest": one.item_digest,
        "question": item.question,
        "reference": item.reference.text,
        "range": "; ".join(range_texts(item.reference)),
        "response": item.response,
        "part": one.part,
    }
    return data if one.probability is None else data | {"probability": one.probability}


def _annotation(row: LabelRow, users: Mapping[str, int]) -> dict[str, Any]:
    result = [_choice("label", row.label)] if row.label is not None else []
    result += [_text("note", row.note)] if row.note else []
    result += [_choice("disputed", DISPUTED)] if row.disputed else []
    own = {
        "rater": row.rater,
        "label": row.label,
        "role": row.role,
        "blind": row.blind,
        "labelled_at": row.labelled_at,
    }
    return {
        **({"completed_by": users[row.rater]} if row.rater in users else {}),
        "was_cancelled": not result,
        "ground_truth": row.role == "adjudication",
        **({"created_at": row.labelled_at} if row.labelled_at else {}),
        "result": [*result, _text("autorater", json.dumps(own))],
    }


def _prediction(hint: Hint) -> dict[str, Any]:
    return {"model_version": hint.grader, "score": hint.share, "result": [_choice("label", hint.label)]}


def _choice(name: str, value: str | None) -> dict[str, Any]:
    return _region(name, "choices", {"choices": [value]})


def _text(name: str, value: str) -> dict[str, Any]:
    return _region(name, "textarea", {"text": [value]})


def _region(name: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "response", "type": kind, "value": value}
