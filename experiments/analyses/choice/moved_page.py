"""The items that moved between two graders, as a page for a terminal and as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from experiments.analyses.choice.choosing_words import points_text
from experiments.analyses.choice.moved_items import DIRECTIONS, MovedItem, MovedItems
from experiments.analyses.p_values import p_text
from experiments.reports.document import Block, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.figures import count_text
from experiments.reports.plain import plain_value

__all__ = ["SCHEMA", "moved_document", "moved_fields", "moved_text"]

SCHEMA = "autorater.moved/1"
"""Name and version of the JSON form."""
NO_KIND = "(no kind)"


def moved_document(moved: MovedItems, *, run_id: str, most: int) -> Document:
    """Counts by direction and kind, the items under each direction (``most`` in all), and what follows."""
    sections = [Section(f"What moved: {run_id}", 1, (_head(moved),)), Section("By kind", 2, (_kinds(moved),))]
    shown = moved.items[:most]
    for direction in DIRECTIONS:
        entries = tuple(_entry(one) for one in shown if one.direction == direction)
        if entries:
            heading = f"{direction.capitalize()} ({len(entries):,} of {moved.count(direction):,} shown)"
            sections.append(Section(heading, 2, (Entries(entries),)))
    sections.append(Section("What follows", 2, (Paragraph(moved_text(moved)),)))
    return Document(tuple(sections))


def _head(moved: MovedItems) -> Block:
    return Paragraph(
        f"From {moved.first} to {moved.second}: {len(moved.items):,} of {moved.n_compared:,} items on which both have "
        f"a most frequent label got another. No such label (no verdict, or a tie): {moved.first_without:,} and "
        f"{moved.second_without:,} of {moved.n_items:,} items."
    )


def _kinds(moved: MovedItems) -> Block:
    rows = [
        (NO_KIND if kind is None else kind, *(f"{counts[direction]:,}" for direction in DIRECTIONS))
        for kind, counts in moved.by_kind.items()
    ]
    total = ("all", *(f"{moved.count(direction):,}" for direction in DIRECTIONS))
    return Table(("kind", *DIRECTIONS), (*rows, total))


def _entry(one: MovedItem) -> Entry:
    item = one.item
    kind = f", {item.kind}" if item.kind else ""
    return Entry(
        f"{item.item_id}{kind}: {one.before} ({count_text(one.before_counts)}) to {one.after} "
        f"({count_text(one.after_counts)}); the label is {one.label}",
        (("question", item.question), ("reference", item.reference.text), ("response", item.response)),
    )


def moved_text(moved: MovedItems) -> str:
    """The sum of it, with what is not decided."""
    estimate = moved.difference.difference.estimate
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"{moved.first} and {moved.second} have no item with a verdict of both, so nothing can be said."
    lost, gained = moved.count("right to wrong"), moved.count("wrong to right")
    change = (
        f"Going from {moved.first} to {moved.second} mends {gained:,} items and spoils {lost:,}. The error rate of the "
        f"first less that of the second is {points_text(estimate)} points ({estimate.n:,} items, {estimate.clusters:,} "
        f"questions, level {estimate.level:.0%}, sign-flip p {p_text(moved.difference.difference.p_value)})"
    )
    p_value = moved.difference.difference.p_value
    if p_value is None or p_value > 1 - estimate.level:
        verdict = "so it is not decided which is better"
    else:
        verdict = f"so {moved.second if estimate.value > 0 else moved.first} makes fewer errors here"
    return (
        f"{change}, {verdict}. These two were looked at alone: among many pairs the p-value has to be adjusted, as "
        "'autorater choose' does. Items with few verdicts may move by chance; the most certain stand first."
    )


def moved_fields(moved: MovedItems, *, run_id: str, most: int) -> dict[str, Any]:
    """The moved items as plain JSON values; ``most`` items, all counts."""
    return {
        "schema": SCHEMA,
        "run_id": run_id,
        "first": moved.first,
        "second": moved.second,
        "n_items": moved.n_items,
        "n_compared": moved.n_compared,
        "first_without": moved.first_without,
        "second_without": moved.second_without,
        "n_moved": {direction: moved.count(direction) for direction in DIRECTIONS},
        "by_kind": [{"kind": kind, **counts} for kind, counts in moved.by_kind.items()],
        "difference": plain_value(asdict(moved.difference)),
        "items": [_item_fields(one) for one in moved.items[:most]],
        "decision": moved_text(moved),
    }


def _item_fields(one: MovedItem) -> dict[str, Any]:
    return {
        "item_id": one.item.item_id,
        "kind": one.item.kind,
        "question": one.item.question,
        "reference": one.item.reference.text,
        "response": one.item.response,
        "label": one.label,
        "direction": one.direction,
        "first_label": one.before,
        "second_label": one.after,
        "first_verdicts": dict(one.before_counts),
        "second_verdicts": dict(one.after_counts),
        "certainty": one.certainty,
    }
