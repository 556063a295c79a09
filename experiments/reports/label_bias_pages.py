"""The section that shows a grader's verdicts as they come, and with label bias taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from experiments.reports.document import Block, Bullets, Paragraph, Section, Table
from experiments.reports.figures import coefficient_text, percent, rate_text
from experiments.reports.label_words import LabelWords

__all__ = ["label_bias_section"]

Fields = Mapping[str, Any]

MEASURES: tuple[tuple[str, str, Callable[[Fields], str]], ...] = (
    ("accuracy", "accuracy", rate_text),
    ("balanced_accuracy", "balanced accuracy", rate_text),
    ("false_negative_rate", "false negatives", rate_text),
    ("false_positive_rate", "false positives", rate_text),
    ("krippendorff_alpha", "Krippendorff's alpha", coefficient_text),
)
DRAWN = ("accuracy", "false_negative_rate", "false_positive_rate")
NOTE = (
    "Some labels come easily to a model, whatever it judges. Each label's mean log-probability over the items of all "
    "other questions, every label that was given there with the same weight, is taken away from its log-probability: "
    "no item is judged by what it helped to fit. Rates elsewhere in this report are those of the grader as it comes."
)


def label_bias_section(grader: Fields, words: LabelWords) -> list[Section]:
    """Before and after, where the grader gives log-probabilities of its labels."""
    bias = grader["label_bias"]
    if bias is None:
        return []
    if bias["not_defined"]:
        text = (
            f"Not defined ({bias['not_defined']}), n = {bias['n_items']:,} items with log-probabilities of all labels."
        )
        return [Section("Label bias", 3, (Paragraph(text),))]
    blocks: tuple[Block, ...] = (
        Table(("the likeliest label", "as it comes", "bias taken away"), tuple(_rows(bias))),
        Bullets(tuple(_points(bias))),
        _confusion(bias, words),
        Paragraph(NOTE, once=True),
    )
    return [Section("Label bias", 3, blocks)]


def _rows(bias: Fields) -> Iterator[tuple[str, str, str]]:
    before, after = bias["before"], bias["after"]
    for field, name, shown in MEASURES:
        yield name, shown(before[field]), shown(after[field])
    if before["one_draw"] is None:
        return
    drawn = f", one draw at T {float(bias['temperature'])}"
    for field, name, shown in MEASURES:
        if field in DRAWN and field in before["one_draw"]:
            yield name + drawn, shown(before["one_draw"][field]), shown(after["one_draw"][field])


def _points(bias: Fields) -> Iterator[str]:
    yield (
        f"{bias['n_items']:,} items, {bias['n_questions']:,} questions, each of them held out in turn; by chance "
        f"balanced accuracy is {percent(1 / len(bias['offsets']))}"
    )
    yield f"likeliest label: accuracy {_gain(bias['gain'])}"
    yield "offsets, all questions together: " + ", ".join(
        f"{name} {value:+.2f}" for name, value in bias["offsets"].items()
    )
    if bias["n_without"]:
        yield f"left out, without log-probabilities of all labels: {bias['n_without']:,} labelled items"


def _gain(gain: Fields) -> str:
    points = f"{100 * gain['value']:+.1f} points"
    if gain["low"] is None:
        return f"{points} [no interval]"
    unsure = ", which may be none" if gain["low"] <= 0 <= gain["high"] else ""
    return f"{points} [{100 * gain['low']:+.1f}, {100 * gain['high']:+.1f}]{unsure}"


def _confusion(bias: Fields, words: LabelWords) -> Table:
    first, second = bias["before"]["confusion"], bias["after"]["confusion"]
    rows = (
        (label, *(f"{percent(old)} to {percent(new)}" for old, new in zip(*pair, strict=True)), f"{n_items:,}")
        for label, n_items, *pair in zip(
            first["labels"], first["n_items"], first["rates"], second["rates"], strict=True
        )
    )
    return Table((f"{words.giver} said", *first["labels"], "items"), tuple(rows))
