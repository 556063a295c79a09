"""Graders against people in parts of the items: by kind, topic and answer type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from experiments.analyses.choice.candidate_rates import Stratum
from experiments.analyses.choice.choosing import Choice
from experiments.plots.drawing import (
    ERRORS,
    error_colour,
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
from experiments.reports.breakdown import NO_KIND
from experiments.reports.escaping import visible
from experiments.reports.figures import percent
from experiments.reports.plain import estimate_fields

__all__ = ["draw_by_kind", "draw_by_stratum"]

_COLUMNS = (
    "number", "grader", "part", "error", "value", "low", "high", "level", "n_items", "n_questions", "repeats",
)  # fmt: skip
_ROW, _WHOLE_WIDTH, _WIDEST, _BAND = 24, 720, 260, 6
LONGEST = 26

_WORDS = {"kind": "kind", "topic": "topic", "answer_type": "answer type"}

Fields = Mapping[str, Any]
Row = dict[str, Any]


def draw_by_kind(report: Fields) -> Figure | None:
    """Rates by kind, as the report has them; ``None`` where items have no kind, or nothing is known of any."""
    names = grader_names(report["graders"])
    rows = [row for grader in report["graders"] for row in _kind_rows(grader, names[grader["number"]])]
    return _draw("kind", rows, "")


def draw_by_stratum(choice: Choice, report: Fields, dimension: str) -> Figure | None:
    """Rates by ``topic`` or ``answer_type``, of parts with enough items for one; ``None`` without such a part."""
    graders = {
        candidate.name: number
        for number, candidate in enumerate(choice.candidates, start=1)
        if candidate.form == "grader"
    }
    strata = [stratum for stratum in choice.strata if stratum.dimension == dimension]
    names = grader_names(report["graders"])
    rows = [row for stratum in strata for row in _stratum_rows(stratum, graders, names)]
    small = [stratum for stratum in strata if not stratum.candidates]
    note = f"{len(small)} with too few items are left out." if small else ""
    return _draw(dimension, rows, note)


def _kind_rows(grader: Fields, name: str) -> Iterator[Row]:
    for kind, part in grader["by_kind"].items():
        missing = part["n_expected"] - part["n_verdicts"]
        lost = f"{missing:,} of {part['n_expected']:,} verdicts missing" if missing else ""
        for error in ERRORS:
            link = item_link(grader=grader["number"], error=error, kind="" if kind == NO_KIND else kind)
            yield _row(grader["number"], name, kind, error, part[f"{error}_rate"], link, lost)


def _stratum_rows(stratum: Stratum, graders: Mapping[str, int], names: Mapping[int, str]) -> Iterator[Row]:
    for own in stratum.candidates:
        if own.name not in graders:
            continue
        number = graders[own.name]
        for error in ERRORS:
            estimate = estimate_fields(
                own.rates["false_negative_rate" if error == "false_negative" else "false_positive_rate"]
            )
            link = item_link(grader=number, error=error, **{stratum.dimension: stratum.value})
            yield _row(number, names[number], stratum.value, error, estimate, link, "")


def _row(number: int, name: str, part: str, error: str, estimate: Fields, link: str, lost: str) -> Row:
    words = ERRORS[error]
    return {
        "number": number,
        "grader": name,
        "part": part,
        "error": error,
        "error_words": words,
        **estimate_columns(estimate),
        "hover": estimate_hover(f"{name}, {visible(part)}, {words}", estimate, lost),
        "link": link,
    }


def _draw(dimension: str, rows: Sequence[Row], note: str) -> Figure | None:
    if all(row["value"] is None for row in rows):
        return None
    graders = list(dict.fromkeys(row["grader"] for row in rows))
    panels = min(len(graders), _BAND)
    width = min(_WIDEST, _WHOLE_WIDTH // panels)
    short = cut_names(graders, most=max(12, width // 6))
    parts = cut_names(sorted({row["part"] for row in rows}), most=LONGEST)
    drawn = [row | {"short": short[row["grader"]], "short_part": parts[row["part"]]} for row in rows]
    return Figure(
        name=f"by_{dimension}",
        title=f"False negatives and false positives by {_WORDS[dimension]} of item",
        description=_describe(rows),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(drawn, list(short.values()), list(parts.values()), width), note),
        cut_names=whole_names(short) | whole_names(parts),
    )


def _describe(rows: Sequence[Row]) -> str:
    return " ".join(
        describe_range(
            words.capitalize(),
            [
                (f"{visible(row['part'])}, {row['grader']}", row["value"], percent(row["value"]))
                for row in rows
                if row["error"] == error
            ],
        )
        for error, words in ERRORS.items()
    )


def _chart(rows: list[Row], graders: list[str], parts: list[str], width: int) -> alt.FacetChart:
    y = alt.Y("short_part:N", sort=parts, title=None, axis=alt.Axis(ticks=False, domain=False, grid=True))
    offset = alt.YOffset("error_words:N", sort=list(ERRORS.values()), scale=alt.Scale(paddingOuter=0.55))
    scale = alt.Scale(domain=rate_domain(rows, "high"), nice=False)
    x = alt.X("value:Q", scale=scale, axis=percent_axis(tickCount=max(2, width // 40)))
    base = alt.Chart().encode(y=y, yOffset=offset)
    interval = base.mark_rule(strokeWidth=1.3, aria=False).encode(
        x="low:Q", x2="high:Q", color=error_colour(error_legend())
    )
    point = base.mark_point(filled=True, size=34, opacity=1).encode(
        x=x,
        color=error_colour(error_legend()),
        shape=error_shape(error_legend()),
        href="link:N",
        description="hover:N",
    )
    header = alt.Header(title=None, labelAnchor="start", labelPadding=3)
    return (
        alt.layer(interval, point)
        .properties(width=width, height=_ROW * len(parts))
        .facet(
            facet=alt.Facet("short:N", sort=graders, header=header),
            columns=min(len(graders), _BAND),
            data=inline(rows),
        )
        .properties(spacing={"row": 14, "column": 12})
    )
