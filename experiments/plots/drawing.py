"""What all figures share: inline data, the two kinds of error in shape and colour, fonts and axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from experiments.plots.colours import stand_in
from experiments.reports.figures import rate_text

__all__ = [
    "ERRORS",
    "FONT",
    "error_colour",
    "error_dash",
    "error_legend",
    "error_shape",
    "estimate_columns",
    "estimate_hover",
    "finish",
    "inline",
    "percent_axis",
    "rate_domain",
    "to_table",
]

Fields = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Fonts of a figure, the first that is there."""
ERRORS: Mapping[str, str] = {"false_negative": "false negatives", "false_positive": "false positives"}
"""Kinds of error, as links name them, in words."""

_WORDS = list(ERRORS.values())


def inline(rows: Rows) -> alt.InlineData:
    """The rows as they are, of whatever number."""
    return alt.InlineData(values=[dict(row) for row in rows])


def to_table(rows: Rows, columns: Sequence[str]) -> pd.DataFrame:
    """The rows' columns that are told, in this order; a grader's name without the number that has its own column."""
    table = pd.DataFrame([{name: row[name] for name in columns} for row in rows], columns=list(columns))
    if {"number", "grader"} <= set(columns):
        table["grader"] = [str(row["grader"]).removeprefix(f"{row['number']}. ") for row in rows]
    return table


def estimate_columns(estimate: Fields) -> dict[str, Any]:
    """An estimate's value, interval, and what it rests on."""
    return {
        "value": estimate["value"],
        "low": estimate["low"],
        "high": estimate["high"],
        "level": estimate["level"],
        "n_items": estimate["n"],
        "n_questions": estimate["clusters"],
        "repeats": estimate["repeats"],
    }


def estimate_hover(what: str, estimate: Fields, *rest: str) -> str:
    """What is told of a rate where somebody points at it; ``rest`` without its empty parts."""
    told = [f"{what}: {rate_text(estimate)}", f"{estimate['n']:,} items", f"{estimate['clusters']:,} questions"]
    return ", ".join([*told, *(one for one in rest if one)])


def error_colour(legend: alt.Legend | None = None, *, words: Sequence[str] = _WORDS) -> alt.Color:
    """Colour by kind of error, of which ``words`` are the two."""
    colours = [stand_in("negative"), stand_in("positive")]
    return alt.Color("error_words:N", scale=alt.Scale(domain=list(words), range=colours), legend=legend, title=None)


def error_shape(legend: alt.Legend | None = None, *, words: Sequence[str] = _WORDS) -> alt.Shape:
    """Shape by kind of error, of which ``words`` are the two."""
    return alt.Shape(
        "error_words:N", scale=alt.Scale(domain=list(words), range=["circle", "square"]), legend=legend, title=None
    )


def error_dash() -> alt.StrokeDash:
    """Dash by kind of error."""
    return alt.StrokeDash(
        "error_words:N", scale=alt.Scale(domain=_WORDS, range=[[1, 0], [5, 3]]), legend=None, title=None
    )


def error_legend() -> alt.Legend:
    """Both kinds in a row above the drawing."""
    return alt.Legend(
        orient="top", direction="horizontal", symbolSize=60, symbolOpacity=1, symbolStrokeWidth=0, offset=4
    )


def percent_axis(**changed: Any) -> alt.Axis:
    """An axis of shares in whole percent."""
    return alt.Axis(**{"format": ".0%", "tickCount": 5, "title": None, **changed})


def rate_domain(rows: Rows, *columns: str) -> list[float]:
    """From 0 to a tenth above the largest number of these columns, at most 1 and at least 5%."""
    most = max((float(row[name]) for row in rows for name in columns if row[name] is not None), default=1.0)
    return [0.0, min(1.0, max(0.05, 1.05 * most))]


def finish(chart: Any, note: str = "") -> Any:
    """The chart with the fonts and colours that all have, and a line below it; of its parts only marks are told."""
    if note:
        told = alt.TitleParams(
            note, orient="bottom", fontSize=10, fontWeight="normal", color=stand_in("muted"), offset=8
        )
        chart = chart.properties(title=told)
    ink, muted, line = stand_in("ink"), stand_in("muted"), stand_in("line")
    quiet: dict[str, Any] = {"aria": False}
    return (
        chart.configure(font=FONT, background="transparent", padding=6)
        .configure_view(stroke=None, fill=None)
        .configure_axis(
            labelColor=muted, titleColor=ink, domainColor=muted, tickColor=muted, gridColor=line, gridWidth=0.6,
            labelFontSize=11, titleFontSize=11, titleFontWeight="normal", labelLimit=0, titleLimit=0, **quiet,
        )
        .configure_header(labelColor=ink, labelFontSize=12, titleColor=ink, labelLimit=0)
        .configure_legend(labelColor=ink, labelFontSize=11, labelLimit=0, titleColor=ink, **quiet)
        .configure_title(color=ink, fontSize=12, anchor="start", fontWeight="normal", **quiet)
        .configure_text(color=ink, fontSize=11)
        .configure_rule(color=muted)
    )  # fmt: skip
