"""What each wording does against the control in each model: a heat map of effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from experiments.analyses.scores.scoring_words import SCORE_WORDS, difference_text
from experiments.analyses.wordings.wording_comparison import WordingResult
from experiments.plots.colours import stand_in
from experiments.plots.drawing import estimate_columns, finish, inline, to_table
from experiments.plots.figure import Figure
from experiments.plots.item_links import item_link
from experiments.plots.names import cut_names, whole_names
from experiments.reports.escaping import visible
from experiments.reports.inputs import RunData
from experiments.reports.plain import estimate_fields
from experiments.stats.estimate import Difference

__all__ = ["draw_wording_effects"]

AVERAGE = "average"
_COLUMNS = (
    "wording", "control", "model", "quantity", "value", "low", "high", "level", "n_items", "n_questions", "repeats",
    "excludes_zero",
)  # fmt: skip
_ERRORS = {"sensitivity": "false_negative", "specificity": "false_positive"}
_OF_ANSWERS = ("f1", "accuracy_given_attempted", "attempted")
"""Scores that are drawn where no rule names others."""

_CELL, _ROW, _STRONGEST = 52, 26, 0.5
LONGEST, LONGEST_MODEL = 34, 22

Row = dict[str, Any]


def draw_wording_effects(data: RunData, result: WordingResult) -> Figure | None:
    """Effects in points, by quantity; ``None`` where nothing is compared yet.

    A comparison that may be looked at while it runs has the checks of its rule alone.
    """
    rows = [_row(data, result, *found) for found in _effects(result)]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return None
    wordings = cut_names([row["wording"] for row in rows], most=LONGEST)
    models = cut_names([*result.facts.models, AVERAGE], most=LONGEST_MODEL)
    drawn = [
        row
        | {
            "short": wordings[row["wording"]],
            "column": models[row["model"]],
            "opacity": _opacity(row, known),
            "direction": "rise" if (row["value"] or 0) > 0 else "fall",
        }
        for row in rows
    ]
    return Figure(
        name="wording_effects",
        title=f"Effects of {result.facts.kind} wordings against {visible(result.control)}, by model",
        description=_describe(known, result),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(drawn, list(wordings.values()), list(models.values())), _NOTE),
        cut_names=whole_names(wordings) | whole_names(models),
    )


_NOTE = "Points of 100 against the control; * the interval excludes 0."


def _effects(result: WordingResult) -> Iterator[tuple[str, str, str, Difference]]:
    """Wording, quantity, model or average, and the difference."""
    if result.looks is not None:
        for looked in result.looks.wordings:
            for look in looked.checks:
                yield looked.wording, look.check.quantity, look.check.model or AVERAGE, look.difference
        return
    for comparison in result.comparisons:
        for quantity in _quantities(result):
            effects = comparison.effects[quantity]
            for model, effect in zip(effects.models, effects.effects, strict=True):
                yield comparison.wording, quantity, model, effect.difference
            yield comparison.wording, quantity, AVERAGE, effects.fixed


def _quantities(result: WordingResult) -> tuple[str, ...]:
    if result.facts.kind == "grader":
        return result.facts.quantities
    return _OF_ANSWERS if result.rule is None else tuple(dict.fromkeys((result.rule.raises, *result.rule.may_not_fall)))


def _row(data: RunData, result: WordingResult, wording: str, quantity: str, model: str, found: Difference) -> Row:
    estimate = estimate_fields(found.estimate)
    shown = difference_text(quantity, found)
    where = "on average over the models" if model == AVERAGE else f"in {visible(model)}"
    n, questions = estimate["n"], estimate["clusters"]
    excludes_zero = estimate["low"] is not None and (estimate["low"] > 0 or estimate["high"] < 0)
    return {
        "wording": wording,
        "control": result.control,
        "model": model,
        "quantity": quantity,
        "quantity_words": SCORE_WORDS.get(quantity, quantity),
        **estimate_columns(estimate),
        "excludes_zero": excludes_zero,
        "text": shown.split(" ")[0] + "*" * excludes_zero,
        "hover": f"{visible(wording)} against {visible(result.control)} {where}, "
        f"{SCORE_WORDS.get(quantity, quantity)}: {shown} points, {n:,} items, {questions:,} questions"
        f"{_missing(result, wording, model)}",
        "link": _link(data, result, wording, model, quantity),
    }


def _missing(result: WordingResult, wording: str, model: str) -> str:
    cells = [cell for cell in result.cells if cell.model == model and cell.wording in (wording, result.control)]
    asked, valid = sum(cell.expected for cell in cells), sum(cell.valid for cell in cells)
    return f", {asked - valid:,} of {asked:,} missing" if asked > valid else ""


def _link(data: RunData, result: WordingResult, wording: str, model: str, quantity: str) -> str | None:
    """The items of the one grader that has this wording and model; none of answers, which are another set's."""
    if result.facts.kind != "grader":
        return None
    found = [
        number
        for number, grader in enumerate(data.graders, start=1)
        if grader.model == model and grader.prompt is not None and wording in (grader.prompt, _short(grader.prompt))
    ]
    return item_link(grader=found[0], error=_ERRORS.get(quantity)) if len(found) == 1 else None


def _short(prompt: str) -> str:
    return prompt.partition("#")[0]


def _opacity(row: Row, known: list[Row]) -> float:
    most = max(abs(one["value"]) for one in known if one["quantity"] == row["quantity"])
    return _STRONGEST * abs(row["value"]) / most if row["value"] is not None and most else 0.0


def _describe(known: list[Row], result: WordingResult) -> str:
    told = []
    for quantity in dict.fromkeys(row["quantity"] for row in known):
        own = [row for row in known if row["quantity"] == quantity]
        least, most = (pick(own, key=lambda row: row["value"]) for pick in (min, max))
        told.append(
            f"{SCORE_WORDS.get(quantity, quantity).capitalize()}: from {least['text'].rstrip('*')} points "
            f"({visible(least['wording'])}, {visible(least['model'])}) to {most['text'].rstrip('*')} "
            f"({visible(most['wording'])}, {visible(most['model'])}), "
            f"{sum(row['excludes_zero'] for row in own)} of {len(own)} intervals exclude 0."
        )
    return " ".join([*told, f"Intervals at {result.level:.0%}, clustered by question."])


def _chart(rows: list[Row], wordings: list[str], models: list[str]) -> alt.FacetChart:
    drawn = {row["column"] for row in rows}
    columns = [model for model in models if model in drawn]
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "grid": False,
        "labelColor": stand_in("ink"),
        "title": None,
    }
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=columns, axis=alt.Axis(labelAngle=-35, **axis)),
        y=alt.Y("short:N", sort=wordings, axis=alt.Axis(**axis)),
    )
    colours = alt.Scale(domain=["rise", "fall"], range=[stand_in("rise"), stand_in("fall")])
    cell = base.mark_rect(stroke=stand_in("line"), strokeWidth=1, strokeOpacity=1).encode(
        fill=alt.Fill("direction:N", scale=colours, legend=None),
        fillOpacity=alt.FillOpacity("opacity:Q", scale=None, legend=None),
        href="link:N",
        description="hover:N",
    )
    told = base.mark_text(aria=False).encode(text="text:N")
    quantities = list(dict.fromkeys(row["quantity_words"] for row in rows))
    header = alt.Header(title=None, labelAnchor="start", labelOrient="top", labelPadding=4)
    return (
        alt.layer(cell, told)
        .properties(width=_CELL * len(columns), height=_ROW * len(wordings))
        .facet(row=alt.Row("quantity_words:N", sort=quantities, header=header), data=inline(rows))
        .properties(spacing=18)
    )
