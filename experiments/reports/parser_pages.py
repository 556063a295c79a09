"""The section that sets two parsers' readings of the same completions side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.reports.document import Paragraph, Section, Table
from experiments.reports.figures import percent, rate_text
from experiments.reports.label_words import LabelWords

__all__ = ["parser_section"]

Fields = Mapping[str, Any]

NO_LABEL = "no label"


def parser_section(grader: Fields, words: LabelWords) -> list[Section]:
    """How many verdicts another parser moves, and what it makes of the error rates."""
    moved = grader["parser_comparison"]
    if moved is None:
        return []
    first, second = moved["rules"]
    text = (
        f"The {second} parser reads {moved['n_moved']:,} of {moved['n']:,} replies otherwise than the {first} one. "
        f"Rows: {first}; columns: {second}; cells: verdicts."
    )
    return [Section("Parser comparison", 3, (Paragraph(text), _moves(moved), _rates(grader, moved, words)))]


def _moves(moved: Fields) -> Table:
    names = [NO_LABEL if label is None else label for label in moved["labels"]]
    rows = ((name, *(f"{count:,}" for count in counts)) for name, counts in zip(names, moved["counts"], strict=True))
    return Table((f"{moved['rules'][0]} parser", *names), tuple(rows))


def _rates(grader: Fields, moved: Fields, words: LabelWords) -> Table:
    rows = (
        (
            rule,
            rate_text(fields["false_negative_rate"], words.retold(fields["not_defined"].get("false_negative_rate"))),
            rate_text(fields["false_positive_rate"], words.retold(fields["not_defined"].get("false_positive_rate"))),
            f"{fields['n_verdicts']:,}/{fields['n_expected']:,}",
            percent(fields["coverage"]),
        )
        for rule, fields in zip(moved["rules"], (grader, moved), strict=True)
    )
    return Table(("parser", "false negatives", "false positives", "valid", "coverage"), tuple(rows))
