"""Items and replies as lines of JSON, as the page's script reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from experiments.page.item_table import GraderCell, ItemRow, ItemTable, range_text
from experiments.page.replies import Replies
from experiments.page.texts import cut, link_value, shown
from experiments.reports.label_words import LabelWords
from graders.verdict import FAILURES

__all__ = ["MOST_TEXT", "head_line", "item_line", "reply_line", "short_labels"]

MOST_TEXT = 20_000
"""Characters of a question, a reference or a response; a longer one is cut, and says so."""

_FIRST = 48
"""Codes of verdicts are characters from "0" on: labels first, reasons after them."""


def head_line(table: ItemTable, words: LabelWords) -> str:
    """What holds for all items: labels, reasons, graders, and who gave the labels."""
    labels = list(table.scale.labels)
    return _dump(
        {
            "labels": labels,
            "short": short_labels(labels),
            "positive": -1 if table.scale.positive is None else labels.index(table.scale.positive),
            "failures": list(FAILURES),
            "rubrics": [shown(rubric) for rubric in table.rubrics],
            "graders": [{"name": one.name, "rubric": one.rubric} for one in table.graders],
            "giver": words.giver,
        }
    )


def item_line(row: ItemRow, table: ItemTable) -> str:
    """One item: id, texts, parts, people's labels, range check, and each grader's verdicts."""
    item, labels = row.item, list(table.scale.labels)
    texts = (item.question, item.reference.text, item.response)
    return _dump(
        [
            shown(item.item_id),
            *(shown(cut(text, MOST_TEXT)) for text in texts),
            "; ".join(map(range_text, item.reference.ranges)),
            *(None if part is None else link_value(part) for part in (item.kind, item.topic, item.answer_type)),
            shown(item.respondent or ""),
            [-1 if label is None else labels.index(label) for label in row.references],
            [[shown(rater), labels.index(label), shown(rubric)] for rater, label, rubric in row.votes],
            row.range_outcome,
            [_cell(cell, labels) for cell in row.cells],
        ]
    )


def reply_line(row: ItemRow, table: ItemTable, replies: Replies) -> str:
    """An item's replies, a list a grader: the text, ``null`` without one, a list with the reason where no call came."""
    return _dump(
        [
            list(_replies(cell, (replies.get(one.grader_id) or {}).get(row.item.digest, ())))
            for one, cell in zip(table.graders, row.cells, strict=True)
        ]
    )


def short_labels(labels: Iterable[str]) -> list[str]:
    """The shortest beginnings that tell labels apart, for marks with little room."""
    known = list(labels)
    return [_short(label, [other for other in known if other != label]) for label in known]


def _short(label: str, others: list[str]) -> str:
    sizes = range(1, len(label) + 1)
    return next((label[:size] for size in sizes if not any(one.startswith(label[:size]) for one in others)), label)


def _replies(cell: GraderCell, texts: Iterable[str | None]) -> Iterator[Any]:
    known = list(texts)
    for repeat, detail in enumerate(cell.details):
        text = known[repeat] if repeat < len(known) else None
        yield [shown(detail)] if detail and text is None else None if text is None else shown(text)


def _cell(cell: GraderCell, labels: list[str]) -> list[Any]:
    codes = "".join(
        chr(_FIRST + (len(labels) + FAILURES.index(word) if failed else labels.index(word)))
        for word, failed in zip(cell.verdicts, cell.failed, strict=True)
    )
    shares = [cell.shares.get(label, 0.0) for label in labels] if cell.shares else None
    return [codes, cell.agreement, shares] if shares else [codes, cell.agreement]


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
