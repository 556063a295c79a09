"""What the most frequent of K verdicts would do to each grader's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from experiments.plots.drawing import (
    ERRORS,
    error_colour,
    error_dash,
    error_legend,
    error_shape,
    estimate_columns,
    estimate_hover,
    finish,
    inline,
    percent_axis,
    rate_domain,
    to_table,
)
from experiments.plots.figure import Figure
from experiments.plots.item_links import item_link
from experiments.plots.names import cut_names, describe_range, grader_names, whole_names
from experiments.reports.figures import percent

__all__ = ["draw_majority"]

_COLUMNS = (
    "number", "grader", "k", "error", "value", "low", "high", "level", "n_items", "n_questions", "repeats",
)  # fmt: skip
_WIDTH, _HEIGHT, _COLUMNS_WIDE = 190, 110, 4
LONGEST = 30

Fields = Mapping[str, Any]


def draw_majority(report: Fields) -> Figure | None:
    """Error rates of the majority of K verdicts with bands of their intervals; graders of one K alone have no curve.

    ``None`` where no grader has a curve.
    """
    names = grader_names(report["graders"])
    graders = [grader for grader in report["graders"] if len(grader["majority"]) > 1]
    short = cut_names([names[grader["number"]] for grader in graders], most=LONGEST)
    rows = [row for grader in graders for row in _rows(grader, names[grader["number"]], short)]
    if not rows:
        return None
    return Figure(
        name="majority",
        title="Error rates of the majority of K verdicts, by grader",
        description=_describe(rows),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, list(short.values())), "Bands: intervals."),
        cut_names=whole_names(short),
    )


def _rows(grader: Fields, name: str, short: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for rates in grader["majority"].values():
        for error, words in ERRORS.items():
            estimate, ties = rates[f"{error}_rate"], rates[f"{error}_ties"]
            if estimate["value"] is None:
                continue
            tied = f"a tie in {percent(ties['value'])}" if ties["value"] else ""
            yield {
                "number": grader["number"],
                "grader": name,
                "short": short[name],
                "k": rates["k"],
                "error": error,
                "error_words": words,
                **estimate_columns(estimate),
                "hover": estimate_hover(f"{name}, majority of {rates['k']}, {words}", estimate, tied),
                "link": item_link(grader=grader["number"], error=error),
            }


def _describe(rows: list[dict[str, Any]]) -> str:
    ends = min(row["k"] for row in rows), max(row["k"] for row in rows)
    return " ".join(
        describe_range(
            f"{words.capitalize()} with K = {k}",
            [
                (row["grader"], row["value"], percent(row["value"]))
                for row in rows
                if row["k"] == k and row["error"] == error
            ],
        )
        for error, words in ERRORS.items()
        for k in ends
    )


def _chart(rows: list[dict[str, Any]], graders: list[str]) -> alt.FacetChart:
    sizes = sorted({row["k"] for row in rows})
    scale = alt.Scale(domain=rate_domain(rows, "high"), nice=False)
    ends = alt.Scale(domain=[sizes[0] - 0.4, sizes[-1] + 0.4], nice=False)
    axis = alt.Axis(values=sizes, format="d", title="K", grid=False)
    base = alt.Chart().encode(x=alt.X("k:Q", axis=axis, scale=ends), color=error_colour(error_legend()))
    band = base.mark_area(opacity=0.16, aria=False).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(strokeWidth=1.5, aria=False).encode(
        y=alt.Y("value:Q", axis=percent_axis(tickCount=4), scale=scale), strokeDash=error_dash()
    )
    point = base.mark_point(filled=True, size=42, opacity=1).encode(
        y="value:Q",
        shape=error_shape(error_legend()),
        href="link:N",
        description="hover:N",
    )
    header = alt.Header(title=None, labelAnchor="start", labelPadding=3)
    return (
        alt.layer(band, line, point)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(
            facet=alt.Facet("short:N", sort=graders, header=header),
            columns=min(len(graders), _COLUMNS_WIDE),
            data=inline(rows),
        )
        .properties(spacing={"row": 14, "column": 18})
    )
