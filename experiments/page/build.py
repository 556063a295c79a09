"""The page: what is shown, in which order, and what has room in five megabytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from experiments.analyses.choice.choosing_page import choice_document
from experiments.analyses.run_decisions import RunDecisions
from experiments.analyses.scores.scoring_page import build_scoring_page
from experiments.analyses.scores.scoring_results import Scoring
from experiments.analyses.wordings.ab_page import ab_document
from experiments.page.answer_counts import answer_sections
from experiments.page.facts import Dates, failure_blocks, grader_title, provenance_blocks, run_facts, sampling_blocks
from experiments.page.figure_views import view_figures
from experiments.page.headline import build_headline
from experiments.page.item_json import head_line, item_line, reply_line
from experiments.page.item_table import ItemTable
from experiments.page.packing import Packed, pack_lines
from experiments.page.replies import Replies
from experiments.page.static_rows import StaticRows, static_rows
from experiments.page.templating import content_policy, read_script, read_style, render_template
from experiments.plots.figure import Figure
from experiments.reports.document import Document, Section
from experiments.reports.grader_pages import build_grader_pages
from experiments.reports.inputs import RunData
from experiments.reports.label_words import LabelWords, label_words
from experiments.reports.pages import build_document

__all__ = ["PAGE_BYTES", "PageInputs", "build_page"]

PAGE_BYTES = 4_900_000
"""A page is never larger: it can be mailed, and opens at once."""

_DETAIL_BYTES, _STATIC_BYTES = 600_000, 600_000
"""Sections of graders have no more room than this, rows for readers without JavaScript no less."""

_ITEM_SHARE = 0.75
"""Of the room that is left, items leave a part to replies."""

_NOTES = 1_000
_NO_ROWS = StaticRows(Markup(""), 0, 0)


@dataclass(frozen=True, slots=True)
class PageInputs:
    """All that a page is made of.

    Attributes
    ----------
    data, report, decided
        The run, its report and its decisions.
    figures
        Those that it has data for.
    table
        Its items.
    replies, n_read
        What graders really replied to the first so many items of the table.
    scoring
        Scores corrected with a calibration, where one was given.
    recorded, dates
        When the run was recorded, and each grader's completions were stored.
    """

    data: RunData
    report: Mapping[str, Any]
    decided: RunDecisions
    figures: Sequence[Figure]
    table: ItemTable
    replies: Replies
    n_read: int
    scoring: Scoring | None = None
    recorded: str | None = None
    dates: Dates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Detail:
    """Sections under one heading, ready for the page."""

    heading: str
    body: Markup


def build_page(inputs: PageInputs) -> str:
    """One HTML document of at most ``PAGE_BYTES``; the same bytes for the same inputs.

    What has no room is left out in this order, and the page says so: replies and then items, the most inconsistent
    stay longest; drawings, which are told in words all the same; sections of graders beyond the summary.
    """
    values = _values(inputs)
    nothing = Packed("", 0)
    used = len(_render(values, _NO_ROWS, nothing, nothing).encode("utf-8")) + _NOTES
    left = max(0, PAGE_BYTES - used)
    items, replies = _pack(inputs, values["words"], most=max(0, left - _STATIC_BYTES))
    left -= len(items.text) + len(replies.text)
    rows = static_rows(inputs.table, inputs.replies, values["words"], most=left)
    return _render(values, rows, items, replies)


def _pack(inputs: PageInputs, words: LabelWords, *, most: int) -> tuple[Packed, Packed]:
    """Items, and the replies to the first of them."""
    table = inputs.table
    lines = (item_line(row, table) for row in table.rows)
    items = pack_lines((head_line(table, words), *lines), most=int(most * _ITEM_SHARE))
    kept = table.rows[: min(max(0, items.n_lines - 1), inputs.n_read)]
    told = (reply_line(row, table, inputs.replies) for row in kept)
    return items, pack_lines(told, most=most - len(items.text))


def _render(values: Mapping[str, Any], rows: StaticRows, items: Packed, replies: Packed) -> str:
    return render_template(
        "page.html",
        **values,
        static_rows=rows,
        item_data=items.text,
        reply_data=replies.text,
        n_kept=max(0, items.n_lines - 1),
        n_replied=replies.n_lines,
    )


def _values(inputs: PageInputs) -> dict[str, Any]:
    report, data = inputs.report, inputs.data
    script, style = read_script(), read_style()
    words = label_words(report["set"])
    answering = data.answering is not None
    document = build_document(report)
    details, left_out = _details(inputs, most=_DETAIL_BYTES)
    return {
        "policy": content_policy(script=script, style=style),
        "script": Markup(script),
        "style": Markup(style),
        "run": report["run"],
        "words": words,
        "headline": build_headline(report, inputs.decided, answering=answering),
        "facts": run_facts(report),
        "warnings": (*inputs.decided.notes, *report["warnings"]),
        "summary": None if answering else _find(document, "Summary"),
        "answers": answer_sections(data) if answering else (),
        "figures": tuple(view_figures(inputs.figures, report)),
        "failures": failure_blocks(report),
        "sampling": sampling_blocks(report),
        "n_items": len(inputs.table.rows),
        "details": details,
        "left_out": left_out,
        "provenance": provenance_blocks(report, data, recorded=inputs.recorded, dates=inputs.dates),
    }


def _find(document: Document, heading: str) -> Section:
    return next(section for section in document.sections if section.heading == heading)


def _details(inputs: PageInputs, *, most: int) -> tuple[tuple[_Detail, ...], int]:
    """Sections in their order as far as they have room, and how many have none."""
    kept: list[_Detail] = []
    left_out = 0
    for heading, sections in _all_details(inputs):
        body = render_template("sections.html", heading=heading, sections=tuple(sections))
        size = len(body.encode("utf-8"))
        if size > most:
            left_out += 1
            continue
        most -= size
        kept.append(_Detail(heading, Markup(body)))
    return tuple(kept), left_out


def _all_details(inputs: PageInputs) -> Iterator[tuple[str, Iterable[Section]]]:
    decided, report = inputs.decided, inputs.report
    if decided.wordings is not None:
        yield _document_of(ab_document(decided.wordings))
    if decided.choice is not None and len(decided.choice.candidates) > 1:
        yield _document_of(choice_document(decided.choice))
    if inputs.scoring is not None:
        yield _document_of(build_scoring_page(inputs.scoring))
    if inputs.data.answering is None:
        for section in build_document(report).sections:
            if section.heading.startswith("Range check against"):
                yield section.heading, (section,)
                break
        for grader in report["graders"]:
            yield f"Grader {grader_title(grader)}", build_grader_pages(grader, report)


def _document_of(document: Document) -> tuple[str, Iterable[Section]]:
    return document.sections[0].heading, document.sections
