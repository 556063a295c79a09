"""Items as plain HTML, for readers without JavaScript: all that has room, the most inconsistent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from experiments.page.item_table import GraderCell, ItemRow, ItemTable, range_text
from experiments.page.replies import Replies
from experiments.page.templating import render_template
from experiments.page.texts import cut
from experiments.reports.figures import count_text, percent
from experiments.reports.label_words import LabelWords

__all__ = ["StaticRows", "static_rows"]

_MOST_TEXT, _MOST_REPLY = 4_000, 600


@dataclass(frozen=True, slots=True)
class StaticRows:
    """The rows, how many they are, and how many of them have their replies."""

    body: Markup
    n_rows: int
    n_replied: int


def static_rows(table: ItemTable, replies: Replies, words: LabelWords, *, most: int) -> StaticRows:
    """As many rows as have room in so many bytes, and replies to the first of them as far as that leaves room."""
    bodies: list[str] = []
    for row in table.rows:
        body = _render(row, table, {}, words)
        most -= len(body.encode("utf-8"))
        if most < 0:
            break
        bodies.append(body)
    n_replied = 0
    for place, row in enumerate(table.rows[: len(bodies)]):
        body = _render(row, table, replies, words)
        most -= len(body.encode("utf-8")) - len(bodies[place].encode("utf-8"))
        if most < 0:
            break
        bodies[place], n_replied = body, n_replied + 1
    return StaticRows(Markup("").join(map(Markup, bodies)), len(bodies), n_replied)


def _render(row: ItemRow, table: ItemTable, replies: Replies, words: LabelWords) -> str:
    return render_template("item_row.html", item=_view(row, table, replies, words))


def _view(row: ItemRow, table: ItemTable, replies: Replies, words: LabelWords) -> dict[str, Any]:
    item = row.item
    return {
        "id": item.item_id,
        "parts": ", ".join(part for part in (item.kind, item.topic, item.answer_type, item.respondent) if part),
        "question": cut(item.question, _MOST_TEXT),
        "reference": cut(item.reference.text, _MOST_TEXT),
        "range": "; ".join(map(range_text, item.reference.ranges)),
        "response": cut(item.response, _MOST_TEXT),
        "giver": words.capital,
        "label": " / ".join(dict.fromkeys(label or "no common label" for label in row.references)),
        "votes": ", ".join(f"{rater}: {label}" for rater, label, _ in row.votes),
        "graders": [
            {
                "name": one.name,
                "said": _said(cell),
                "replies": tuple(_replies(cell, one.grader_id, item.digest, replies)),
            }
            for one, cell in zip(table.graders, row.cells, strict=True)
        ],
    }


def _said(cell: GraderCell) -> str:
    if cell.shares:
        return ", ".join(f"{label} {percent(share)}" for label, share in cell.shares.items())
    return count_text(dict(Counter(cell.verdicts).most_common()))


def _replies(cell: GraderCell, grader_id: str, digest: str, replies: Replies) -> Iterator[str]:
    known = (replies.get(grader_id) or {}).get(digest, ())
    for word, text in zip(cell.verdicts, known, strict=False):
        if text is not None:
            yield f"{word}: {cut(text, _MOST_REPLY)}"
