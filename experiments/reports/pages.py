"""The whole report as a document: head, warnings, summary, then each grader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from experiments.reports.document import Bars, Block, Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import (
    DASH,
    brief,
    coefficient_text,
    count_text,
    percent,
    rate_text,
    short_coefficient,
    short_percent,
)
from experiments.reports.forests import rate_forest
from experiments.reports.grader_pages import build_grader_pages
from experiments.reports.label_words import LabelWords, label_words
from experiments.reports.listing_pages import human_range_section
from experiments.reports.summary_rates import SummaryRates, summary_rates

__all__ = ["build_document"]

Fields = Mapping[str, Any]

SUMMARY_FIGURES = ("coverage", "flip", "R", "pairwise", "alpha")
UNDEFINED_LEGEND = "-: not defined; the reasons stand below."

_PROVIDER_AND_NAME = re.compile(r"[\w.+-]+(?:/[\w.:@+~-]*)*/[\w.:@+~-]+")


def build_document(report: Fields) -> Document:
    """Arrange a report for reading; every figure is the report's own."""
    sections = [_head(report), *_warnings(report), _summary(report), *human_range_section(report)]
    for grader in report["graders"]:
        sections += build_grader_pages(grader, report)
    return Document(tuple(_explained_once([*sections, *_left_out(report)])))


def _left_out(report: Fields) -> list[Section]:
    """What the report of a run has and this one has not, by reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in report.get("left_out", {}).items():
        by_reason.setdefault(reason, []).append(name)
    points = tuple(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return [Section("Left out", 2, (Bullets(points),))] if points else []


def _explained_once(sections: list[Section]) -> Iterator[Section]:
    """The sections without explanations that were given before."""
    told: set[Block] = set()
    for section in sections:
        kept = [block for block in section.blocks if block not in told]
        told |= {block for block in kept if isinstance(block, Paragraph) and block.once}
        yield replace(section, blocks=tuple(kept))


def _head(report: Fields) -> Section:
    run = report["run"]
    points = (
        f"experiment {run['experiment']}, replies read by the {run['parser_rule']} parser, "
        f"intervals at {100 * run['level']:g}%",
        *_set_points(report["set"], n_items_in_set=run["n_items_in_set"]),
        people_text(report["human_agreement"]),
    )
    return Section(f"Report of run {run['run_id']}", 1, (Bullets(points),))


def _set_points(about: Fields, *, n_items_in_set: int) -> tuple[str, ...]:
    return (
        f"set {about['name']} {about['version']}, digest {about['digest'][:12]}, rubric {about['rubric']}. "
        f"{label_words(about).source}",
        f"{about['n_items']:,} items of {n_items_in_set:,} in the set, {about['n_questions']:,} questions",
        f"{about['n_labelled']:,} items labelled ({count_text(about['label_counts'])}); {about['n_tied']:,} tied and "
        f"{about['n_unlabelled']:,} unlabelled, left out of error rates; {about['n_disputed']:,} disputed",
    )


def people_text(people: Fields | None) -> str:
    """How far people agree among themselves, the ceiling for a grader."""
    if people is None:
        return "people among themselves: not defined (no item with labels of two people)"
    return (
        f"people among themselves, the ceiling for a grader: agreement {rate_text(people['pairwise_raw'])}, "
        f"Krippendorff's alpha {coefficient_text(people['alpha'], 'no variation')}, "
        f"over {people['n_items']:,} items with labels of two or more of {people['n_raters']} people"
    )


def _warnings(report: Fields) -> list[Section]:
    return [Section("Warnings", 2, (Bullets(tuple(report["warnings"])),))] if report["warnings"] else []


def _summary(report: Fields) -> Section:
    graders = report["graders"]
    names = tuple(_name(grader) for grader in graders)
    positive = report["set"]["scale"]["positive"]
    rates = summary_rates(graders, positive=positive)
    rows = tuple(_summary_row(grader, rates) for grader in graders)
    columns: tuple[str, ...] = ("#", "grader", *rates.names, *SUMMARY_FIGURES)
    drawn = [drawn_text(grader) for grader in graders]
    if len({text for text in drawn if text != DASH}) > 1:
        columns = (*columns[:2], "drawn at", *columns[2:])
        rows = tuple((*row[:2], text, *row[2:]) for row, text in zip(rows, drawn, strict=True))
    legend = [Paragraph(UNDEFINED_LEGEND)] if any(DASH in row[2:] for row in rows) else []
    reading = (Paragraph(text) for text in _reading(rates, positive, label_words(report["set"])))
    first_rate = columns.index(rates.names[0])
    bars = tuple(
        Bars(first_rate + place, tuple(rates.of(grader)[place]["value"] for grader in graders))
        for place in range(len(rates.names))
    )
    table = Table(columns, rows, n_text=2, breaks=(len(columns) - 4,), bars=bars)
    forest = rate_forest(
        [(f"{row[0]} {row[1]}", rates.of(grader)) for row, grader in zip(rows, graders, strict=True)], rates.names
    )
    return Section("Summary", 2, (table, *legend, Bullets(names), *forest, *reading))


def drawn_text(grader: Fields) -> str:
    """The temperature that was in force; a dash where nothing is drawn."""
    exact = "exact, " if grader["exact"] else ""
    known = {settings["temperature"] for settings in grader["effective_sampling"] if "temperature" in settings}
    if not known:
        return DASH
    return exact + ", ".join(sorted("service default" if value is None else f"T {value:g}" for value in known))


def _name(grader: Fields) -> str:
    title = f"{grader['prompt']} {grader['model']}" if grader["prompt"] else grader["model"]
    return f"{grader['number']} = {title} (id {grader['grader_id']})"


def _summary_row(grader: Fields, rates: SummaryRates) -> tuple[str, ...]:
    return (
        str(grader["number"]),
        _without_provider(grader["model"]),
        *(brief(rate_text(rate)) for rate in rates.of(grader)),
        brief(percent(grader["coverage"])),
        brief(short_percent(grader["flip_rate"])),
        str(grader["flip_rate"]["repeats"] or grader["n_repeats"]),
        brief(short_percent(grader["pairwise_disagreement"])),
        brief(short_coefficient(grader["alpha_repeats"])),
    )


def _without_provider(model: str) -> str:
    """The end of ``provider/name`` and of paths like it; a name that somebody gave otherwise is told whole."""
    if model.startswith("imported/"):
        return model.removeprefix("imported/") or model
    return model.rpartition("/")[2] if _PROVIDER_AND_NAME.fullmatch(model) else model


def _reading(rates: SummaryRates, positive: str | None, words: LabelWords) -> tuple[str, str]:
    return (
        rates.meaning(words, positive),
        "Coverage is valid verdicts over verdicts asked for; a failure is never counted as a label. The flip "
        "rate, items with two or more different labels, grows with the number R of repeats; the pairwise "
        "disagreement of two repeats does not. Alpha is Krippendorff's, with repeats as raters.",
    )
