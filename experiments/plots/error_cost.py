"""Errors against what a thousand verdicts cost, in dollars or in time, with the front that nobody beats in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from experiments.analyses.choice.candidate_rates import CandidateRates
from experiments.analyses.choice.candidates import Candidate
from experiments.analyses.choice.choosing import Choice
from experiments.analyses.choice.choosing_words import RATE_WORDS, cost_text
from experiments.plots.colours import stand_in
from experiments.plots.drawing import (
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
from experiments.plots.names import cut_names
from experiments.reports.call_times import seconds_text
from experiments.reports.escaping import visible
from experiments.reports.figures import percent
from experiments.reports.plain import estimate_fields
from experiments.stats.comparisons import pareto_front

__all__ = ["draw_error_cost", "draw_error_time"]

_COLUMNS = (
    "number", "grader", "form", "spent", "known", "rate", "value", "low", "high", "level", "n_items", "n_questions",
    "repeats", "on_front", "dominated_by",
)  # fmt: skip
_WIDTH, _HEIGHT, _KEY_ROW, LONGEST = 430, 300, 19, 44
_LOG_FROM = 30
"""Ratio of the largest to the smallest from which a logarithmic axis is used."""


@dataclass(frozen=True, slots=True)
class _Spending:
    """What is spent on a thousand verdicts: an amount of each candidate, ``None`` where it is not known in full."""

    name: str
    axis: str
    amounts: tuple[float | None, ...]
    words: tuple[str, ...]


def draw_error_cost(choice: Choice) -> Figure | None:
    """Errors against dollars; ``None`` where no cost is known in full, or nobody costs anything."""
    known = tuple(
        one.thousand.amount if one.thousand is not None and one.thousand.complete else None for one in choice.candidates
    )
    words = tuple(cost_text(one) for one in choice.candidates)
    return _draw(choice, _Spending("cost", "US dollars for 1,000 verdicts", known, words))


def draw_error_time(choice: Choice) -> Figure | None:
    """Errors against seconds of calls, one after another; ``None`` where no time is known."""
    seconds = tuple(one.thousand_seconds for one in choice.candidates)
    words = tuple(map(seconds_text, seconds))
    return _draw(choice, _Spending("time", "seconds of calls for 1,000 verdicts", seconds, words))


def _draw(choice: Choice, spending: _Spending) -> Figure | None:
    rows = list(_rows(choice, spending))
    drawn = [row for row in rows if row["spent"] is not None and row["value"] is not None]
    if not any(row["spent"] for row in drawn):
        return None
    short = cut_names([row["grader"] for row in rows], most=LONGEST)
    rate = RATE_WORDS[choice.rule.rate]
    ends = ["" if row in drawn else f" ({spending.name} not known)" for row in rows]
    told = [short[row["grader"]] + end for row, end in zip(rows, ends, strict=True)]
    whole = {text: row["grader"] for row, text in zip(rows, told, strict=True) if short[row["grader"]] != row["grader"]}
    return Figure(
        name=f"error_{spending.name}",
        title=f"{rate.capitalize()} against {spending.name}",
        description=_describe(drawn, len(rows), rate, spending.name),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(drawn, told, rate, spending.axis)),
        cut_names=whole,
    )


def _rows(choice: Choice, spending: _Spending) -> Iterator[dict[str, Any]]:
    rate = choice.rule.rate
    values = [own.rates[rate].value for own in choice.rates]
    names = [candidate.name for candidate in choice.candidates]
    front = pareto_front({rate: values, spending.name: list(spending.amounts)}, names=names)
    beaten = {point.name: point.dominated_by for point in front.points}
    told = zip(choice.candidates, choice.rates, spending.amounts, spending.words, strict=True)
    for number, (candidate, own, amount, words) in enumerate(told, start=1):
        yield {
            **_point(number, candidate, own, choice),
            "spent": amount,
            "known": amount is not None,
            "on_front": candidate.name in front.front,
            "dominated_by": ", ".join(visible(name) for name in beaten.get(candidate.name, ())),
            "hover": estimate_hover(
                f"{number}. {visible(candidate.name)}, {RATE_WORDS[rate]}",
                estimate_fields(own.rates[rate]),
                f"{words} for 1,000 verdicts",
                "on the front" if candidate.name in front.front else "",
                _missing(candidate),
            ),
        }


def _point(number: int, candidate: Candidate, own: CandidateRates, choice: Choice) -> dict[str, Any]:
    return {
        "number": number,
        "grader": f"{number}. {visible(candidate.name)}",
        "form": candidate.form,
        "rate": choice.rule.rate,
        **estimate_columns(estimate_fields(own.rates[choice.rule.rate])),
        "label": str(number),
        "link": item_link(grader=number) if candidate.form == "grader" else None,
    }


def _missing(candidate: Candidate) -> str:
    coverage = candidate.coverage
    return f"{percent(1 - coverage)} of verdicts missing" if coverage is not None and coverage < 1 else ""


def _describe(drawn: Sequence[Mapping[str, Any]], n: int, rate: str, spent: str) -> str:
    front = sorted((row for row in drawn if row["on_front"]), key=lambda row: row["spent"])
    named = "; ".join(f"{row['grader']}, {percent(row['value'])}" for row in front)
    told = f"Nobody has both a lower {rate} and a lower {spent} than, from the lowest {spent}: {named}."
    return told if len(drawn) == n else f"{told} Of {n - len(drawn)} of {n} one of the two is not known."


def _chart(drawn: list[dict[str, Any]], key: Sequence[str], rate: str, axis: str) -> alt.HConcatChart:
    # Ticks are left to the scale: a logarithmic one has its own.
    x = alt.X("spent:Q", title=axis, scale=_spent_scale(drawn), axis=alt.Axis(grid=False, tickCount=6, format="~g"))
    y_scale = alt.Scale(domain=rate_domain(drawn, "high", "value"), nice=False)
    y = alt.Y("value:Q", scale=y_scale, axis=percent_axis(title=rate))
    base = alt.Chart(inline(drawn)).encode(x=x)
    front = (
        base.mark_line(
            interpolate="step-after", color=stand_in("front"), strokeWidth=1.6, strokeDash=[5, 3], aria=False
        )
        .transform_filter("datum.on_front")
        .encode(y=y)
    )
    interval = base.mark_rule(strokeWidth=1.2, color=stand_in("muted"), aria=False).encode(y="low:Q", y2="high:Q")
    point = base.mark_point(size=90, opacity=1, filled=True).encode(
        y=y,
        shape=alt.condition("datum.on_front", alt.value("diamond"), alt.value("circle")),
        color=alt.condition("datum.on_front", alt.value(stand_in("front")), alt.value(stand_in("missing"))),
        href="link:N",
        description="hover:N",
    )
    label = base.mark_text(dx=8, dy=-8, align="left", aria=False).encode(y=y, text="label:N")
    plot = alt.layer(front, interval, point, label).properties(width=_WIDTH, height=_HEIGHT)
    return alt.hconcat(plot, _key(key), spacing=24)


def _spent_scale(drawn: list[dict[str, Any]]) -> alt.Scale:
    amounts = [row["spent"] for row in drawn]
    least, most = min(amounts), max(amounts)
    if least > 0 and most / least >= _LOG_FROM:
        return alt.Scale(type="log", domain=[least / 1.5, most * 1.5], nice=False)
    if least == 0:
        # A root spreads what is cheap, and unlike a logarithm has a place for what is free.
        return alt.Scale(type="sqrt", domain=[0, most * 1.12], nice=False)
    return alt.Scale(domain=[0, most * 1.08], nice=False)


def _key(texts: Sequence[str]) -> Any:
    """Names of the numbers beside the points, and what their shapes are."""
    n = len(texts)
    rows = [{"at": place, "text": text} for place, text in enumerate(texts)]
    heads = [
        {"at": n + 0.6, "text": "nobody has less of both", "shape": "diamond"},
        {"at": n + 1.6, "text": "somebody has less of both", "shape": "circle"},
    ]
    scale = alt.Scale(domain=[-0.5, max(n + 2, _HEIGHT / _KEY_ROW) - 0.5], reverse=True, nice=False)
    y = alt.Y("at:Q", scale=scale, axis=None)
    names = alt.Chart(inline(rows)).mark_text(align="left", aria=False).encode(y=y, x=alt.value(0), text="text:N")
    shapes = alt.Chart(inline(heads)).encode(y=y)
    on_front = "datum.shape === 'diamond'"
    marks = shapes.mark_point(size=80, filled=True, opacity=1, aria=False).encode(
        x=alt.value(6),
        shape=alt.condition(on_front, alt.value("diamond"), alt.value("circle")),
        color=alt.condition(on_front, alt.value(stand_in("front")), alt.value(stand_in("missing"))),
    )
    words = shapes.mark_text(align="left", aria=False).encode(x=alt.value(18), text="text:N")
    return alt.layer(names, marks, words).properties(width=250, height=max(_HEIGHT, _KEY_ROW * (n + 2)))
