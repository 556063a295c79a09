"""Forest plot: the two error rates of each grader with their intervals; of scores, too low and too high ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from experiments.plots.colours import stand_in
from experiments.plots.drawing import (
    ERRORS,
    error_colour,
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
from experiments.reports.figures import bounds_text, percent, rate_text
from experiments.reports.summary_rates import SCORE_RATES, summary_rates

__all__ = ["draw_error_rates"]

SCORE_ERRORS = {"under_grading": "under-graded", "over_grading": "over-graded"}

_COLUMNS = (
    "number", "grader", "error", "value", "low", "high", "level", "n_items", "n_questions", "repeats", "coverage",
    "lowest", "highest",
)  # fmt: skip
_ROW, _WIDTH = 26, 210
LONGEST = 38

Fields = Mapping[str, Any]


def draw_error_rates(report: Fields) -> Figure | None:
    """Rates with intervals, and as a thin bar behind them what missing verdicts leave open.

    Where labels are scores, the rates are those of verdicts below and above people's.

    ``None`` where no grader has a rate of either kind.
    """
    names, kinds = grader_names(report["graders"]), _kinds(report)
    short = cut_names(names.values(), most=LONGEST)
    rows = [row for grader in report["graders"] for row in _rows(grader, names[grader["number"]], short, kinds)]
    if all(row["value"] is None for row in rows):
        return None
    return Figure(
        name="error_rates",
        title=f"{' and '.join(kinds.values()).capitalize()} by grader",
        description=_describe(rows, kinds, report["run"]["level"]),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, list(short.values()), list(kinds.values())), _note(rows)),
        cut_names=whole_names(short),
    )


def _kinds(report: Fields) -> Mapping[str, str]:
    """Kind of error to words, as the report's summary has them."""
    rates = summary_rates(report["graders"], positive=report["set"]["scale"]["positive"])
    return SCORE_ERRORS if rates is SCORE_RATES else ERRORS


def _found(grader: Fields, error: str) -> tuple[Fields, list[float] | None, float | None]:
    """A rate, what missing verdicts leave open of it, and the coverage of its items."""
    if error in ERRORS:
        rate = f"{error}_rate"
        return grader[rate], grader[f"{rate}_bounds"], grader["rate_coverage"][rate]
    scores = grader["score_errors"]
    return scores[error], scores["bounds"][error], scores["coverage"]


def _rows(grader: Fields, name: str, short: Mapping[str, str], kinds: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for error, words in kinds.items():
        estimate, bounds, coverage = _found(grader, error)
        missing = f"{percent(1 - coverage)} of verdicts missing" if coverage is not None and coverage < 1 else ""
        ends = "right or wrong" if error in ERRORS else "at either end"
        left_open = f"{bounds_text(bounds)} with the missing ones {ends}" if bounds else ""
        yield {
            "number": grader["number"],
            "grader": name,
            "short": short[name],
            "error": error,
            "error_words": words,
            **estimate_columns(estimate),
            "coverage": coverage,
            "lowest": bounds[0] if bounds else None,
            "highest": bounds[1] if bounds else None,
            "text": f"{rate_text(estimate)}" if estimate["value"] is not None else "not defined",
            "hover": estimate_hover(f"{name}, {words}", estimate, missing, left_open),
            "link": item_link(grader=grader["number"], error=error if error in ERRORS else None),
        }


def _describe(rows: list[dict[str, Any]], kinds: Mapping[str, str], level: float) -> str:
    told = [
        describe_range(
            words.capitalize(), [(row["grader"], row["value"], row["text"]) for row in rows if row["error"] == error]
        )
        for error, words in kinds.items()
    ]
    return " ".join([*told, f"Intervals at {level:.0%}, clustered by question."])


def _note(rows: list[dict[str, Any]]) -> str:
    return "Grey: what missing verdicts leave open." if any(row["lowest"] is not None for row in rows) else ""


def _chart(rows: list[dict[str, Any]], order: list[str], words: list[str]) -> alt.FacetChart:
    row = alt.Y("short:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, labelColor=stand_in("ink")))
    x = alt.X("value:Q", axis=percent_axis(), scale=alt.Scale(domain=rate_domain(rows, "high", "highest"), nice=False))
    base = alt.Chart().encode(y=row)
    open_bounds = base.mark_bar(height=11, color=stand_in("missing"), opacity=0.28, aria=False).encode(
        x="lowest:Q", x2="highest:Q"
    )
    colour = error_colour(words=words)
    interval = base.mark_rule(strokeWidth=1.6, aria=False).encode(x="low:Q", x2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=62, opacity=1).encode(
        x=x, color=colour, shape=error_shape(words=words), href="link:N", description="hover:N"
    )
    text = base.mark_text(align="left", aria=False).encode(x=alt.value(_WIDTH + 10), text="text:N")
    header = alt.Header(title=None, labelAnchor="start")
    return (
        alt.layer(open_bounds, interval, point, text)
        .properties(width=_WIDTH, height=_ROW * len(order))
        .facet(column=alt.Column("error_words:N", header=header, sort=words), data=inline(rows))
        .properties(spacing=24)
    )
