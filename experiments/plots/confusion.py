"""Confusion matrices, one a grader: people's label in rows, verdicts in columns, what has no verdict in its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from experiments.plots.colours import stand_in
from experiments.plots.drawing import finish, inline, to_table
from experiments.plots.figure import Figure
from experiments.plots.item_links import ANY_FAILURE, item_link
from experiments.plots.names import cut_names, describe_range, grader_names, whole_names
from experiments.reports.figures import DASH, percent
from experiments.reports.label_words import LabelWords, label_words

__all__ = ["draw_confusion"]

NO_VERDICT = "no verdict"
_COLUMNS = ("number", "grader", "reference", "verdict", "count", "share", "n_items")
_STRONGEST = 0.5
"""Opacity of a share of 1: text stays readable on it."""

_LINES = r"split(replace(datum.label, /_/g, '_\n'), '\n')"
"""A label of several words stands in as many lines below its column."""

_CELL, _ROW, _WIDEST = 60, 34, 840
LONGEST_LABEL = 14
_NOTE = "Mean share of an item's valid verdicts, and how many there are; no verdict: share of those asked for."

Fields = Mapping[str, Any]


def draw_confusion(report: Fields) -> Figure | None:
    """Counts of verdicts and their shares of a row; ``None`` where no labelled item was judged.

    A verdict's share is the mean over a row's items of its share of their valid verdicts; that of missing ones is of
    all that were asked for.
    """
    graders = [grader for grader in report["graders"] if sum(grader["confusion"]["n_items"])]
    if not graders:
        return None
    labels = cut_names(graders[0]["confusion"]["labels"], most=LONGEST_LABEL)
    longest = max(len(word) for label in labels.values() for word in label.split("_"))
    width = max(_CELL, 6 * longest + 8) * (len(labels) + 1)
    names = grader_names(report["graders"])
    short = cut_names(names.values(), most=width // 6)
    words = label_words(report["set"])
    rows = [row for one in graders for row in _rows(one, names[one["number"]], short, labels, words.giver)]
    panels = [short[names[one["number"]]] for one in graders]
    return Figure(
        name="confusion",
        title=f"Labels of {words.giver} against verdicts, by grader",
        description=_describe(rows, graders, names, words),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, list(labels.values()), panels, width, words.giver), _NOTE),
        cut_names=whole_names(short) | whole_names(labels),
    )


def _rows(
    grader: Fields, name: str, short: Mapping[str, str], labels: Mapping[str, str], giver: str
) -> Iterator[dict[str, Any]]:
    matrix, number = grader["confusion"], grader["number"]
    for place, reference in enumerate(matrix["labels"]):
        counts, rates, missing = matrix["counts"][place], matrix["rates"][place], matrix["n_missing"][place]
        asked = sum(counts) + missing
        shared = {
            "number": number, "grader": name, "short": short[name], "reference": reference,
            "row": labels[reference], "n_items": matrix["n_items"][place],
        }  # fmt: skip
        for verdict, count, share in zip(matrix["labels"], counts, rates, strict=True):
            yield {
                **shared, **_cell(count, share), "verdict": verdict, "column": labels[verdict],
                "agrees": verdict == reference, "failed": False,
                "hover": f"{name}, {giver} {reference}, verdict {verdict}: {count:,} verdicts, {percent(share)} of the "
                f"valid ones of {shared['n_items']:,} items",
                "link": item_link(grader=number, reference=reference, verdict=verdict),
            }  # fmt: skip
        yield {
            **shared, **_cell(missing, missing / asked if asked else None), "verdict": None, "column": NO_VERDICT,
            "agrees": False, "failed": True,
            "hover": f"{name}, {giver} {reference}: {missing:,} of {asked:,} verdicts missing",
            "link": item_link(grader=number, reference=reference, failure=ANY_FAILURE),
        }  # fmt: skip


def _cell(count: int, share: float | None) -> dict[str, Any]:
    shown = DASH if share is None else percent(share)
    return {"count": count, "share": share, "opacity": _STRONGEST * (share or 0.0), "percent": shown}


def _describe(rows: list[dict[str, Any]], graders: list[Fields], names: Mapping[int, str], words: LabelWords) -> str:
    same, missing = [], 0
    for grader in graders:
        own = [row for row in rows if row["number"] == grader["number"]]
        valid = sum(row["count"] for row in own if not row["failed"])
        alike = sum(row["count"] for row in own if row["agrees"])
        missing += sum(row["count"] for row in own if row["failed"])
        told = f"{alike:,} of {valid:,}"
        same.append((names[grader["number"]], alike / valid if valid else None, told))
    return f"{describe_range(f'Verdicts that are {words.givers} label', same)} {missing:,} verdicts are missing."


def _chart(rows: list[dict[str, Any]], labels: list[str], graders: list[str], width: int, giver: str) -> Any:
    axis: dict[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelColor": stand_in("ink")}
    columns = [*labels, NO_VERDICT]
    base = alt.Chart().encode(
        x=alt.X(
            "column:N",
            sort=columns,
            title="verdict",
            axis=alt.Axis(labelExpr=_LINES, labelAngle=0, labelFontSize=9, **axis),
        ),
        y=alt.Y("row:N", sort=labels, title=giver, axis=alt.Axis(labelFontSize=9, **axis)),
    )
    colour = alt.condition("datum.failed", alt.value(stand_in("missing")), alt.value(stand_in("fill")))
    cell = base.mark_rect(strokeWidth=1).encode(
        color=colour,
        fillOpacity=alt.FillOpacity("opacity:Q", scale=None, legend=None),
        stroke=alt.value(stand_in("line")),
        strokeOpacity=alt.value(1),
        href="link:N",
        description="hover:N",
    )
    same = base.mark_rect(filled=False, stroke=stand_in("ink"), strokeWidth=1.3, aria=False).transform_filter(
        "datum.agrees"
    )
    share = base.mark_text(dy=-5, fontSize=11, aria=False).encode(text="percent:N")
    count = base.mark_text(dy=8, fontSize=9, aria=False).encode(text=alt.Text("count:Q", format=","))
    header = alt.Header(title=None, labelAnchor="start", labelPadding=4)
    return (
        alt.layer(cell, same, share, count)
        .properties(width=width, height=_ROW * len(labels))
        .facet(
            facet=alt.Facet("short:N", sort=graders, header=header),
            columns=max(1, min(len(graders), _WIDEST // (width + 30))),
            data=inline(rows),
        )
        .resolve_scale(x="shared", y="shared")
        .resolve_axis(x="independent")
        .properties(spacing={"row": 18, "column": 18})
    )
