"""A benchmark's score as graded and corrected for the grader's errors, and what its error bar is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from experiments.analyses.scores.scoring_results import RespondentScore, Scoring
from experiments.analyses.scores.scoring_words import SCORE_WORDS, reason_text, score_text, value_text
from experiments.plots.colours import stand_in
from experiments.plots.drawing import finish, inline, to_table
from experiments.plots.figure import Figure
from experiments.plots.names import cut_names, whole_names
from experiments.reports.escaping import visible
from experiments.reports.figures import percent

__all__ = ["draw_corrected_scores"]

PARTS: Mapping[str, str] = {
    "questions": "questions",
    "repeats": "repeats",
    "grader_error": "grader's errors",
    "calibration": "calibration",
    "people": "people",
}
"""Parts of the variance of a corrected score, in words."""

_FORMS = ("as graded", "corrected")
_COLUMNS = (
    "respondent", "score", "level", "n_items", "n_questions", "graded", "graded_low", "graded_high", "corrected",
    "corrected_low", "corrected_high", "reason", "variance", *PARTS,
)  # fmt: skip
_ROW, _WIDTH, _BAR, LONGEST = 34, 330, 90, 34
_BANDS = alt.Scale(paddingInner=0.1, paddingOuter=0.05)
"""Rows of both halves, at the same heights."""

Row = dict[str, Any]


def draw_corrected_scores(scoring: Scoring) -> Figure | None:
    """The score that respondents are ranked by; ``None`` where nobody's is corrected."""
    name = scoring.choice.rank_by
    if all(one.correction.corrected is None for one in scoring.respondents):
        return None
    rows = [_row(one, name, scoring.choice.level) for one in scoring.respondents]
    short = cut_names([row["respondent"] for row in rows], most=LONGEST)
    return Figure(
        name="corrected_scores",
        title=f"{SCORE_WORDS[name].capitalize()} as graded and corrected for the grader's errors",
        description=_describe(scoring, name),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, name, short), "Right: shares of the variance of the corrected score."),
        cut_names=whole_names(short),
    )


def _row(one: RespondentScore, name: str, level: float) -> Row:
    graded = one.correction.uncorrected[name]
    corrected = None if one.correction.corrected is None else one.correction.corrected[name]
    budget = one.budgets.get(name)
    parts = {part: None if budget is None else getattr(budget, part) for part in PARTS}
    sample = one.respondent.sample
    lost = sample.n_expected - sample.n_verdicts
    return {
        "respondent": one.respondent.name,
        "score": name,
        "level": level,
        "n_items": graded.n,
        "n_questions": graded.clusters,
        "graded": graded.value,
        "graded_low": graded.low,
        "graded_high": graded.high,
        "corrected": None if corrected is None else corrected.value,
        "corrected_low": None if corrected is None else corrected.low,
        "corrected_high": None if corrected is None else corrected.high,
        "reason": one.correction.reason if corrected is None else "",
        "variance": None if budget is None else budget.variance,
        **parts,
        "texts": (score_text(name, graded), score_text(name, corrected)),
        "lost": f", {lost:,} of {sample.n_expected:,} verdicts missing" if lost else "",
    }


def _describe(scoring: Scoring, name: str) -> str:
    told = []
    for one in scoring.respondents:
        graded, corrected = one.correction.uncorrected[name], one.correction.corrected
        after = (
            f"not corrected, {reason_text(one.correction.reason)}"
            if corrected is None
            else score_text(name, corrected[name])
        )
        told.append(f"{one.respondent.name} {after} (as graded {value_text(name, graded.value)})")
    return f"{SCORE_WORDS[name].capitalize()}: {'; '.join(told)}."


def _points(rows: list[Row], short: Mapping[str, str], name: str) -> Iterator[Row]:
    for row in rows:
        for form, column, text in zip(_FORMS, ("graded", "corrected"), row["texts"], strict=True):
            if row[column] is None:
                continue
            yield {
                "short": short[row["respondent"]],
                "form": form,
                "value": row[column],
                "low": row[f"{column}_low"],
                "high": row[f"{column}_high"],
                "panel": SCORE_WORDS[name],
                "hover": f"{visible(row['respondent'])}, {SCORE_WORDS[name]} {form}: {text}, {row['n_items']:,} items, "
                f"{row['n_questions']:,} questions{row['lost']}",
            }


def _bars(rows: list[Row], short: Mapping[str, str]) -> Iterator[Row]:
    for row in rows:
        for part, words in PARTS.items():
            share = row[part]
            yield {
                "short": short[row["respondent"]],
                "part": words,
                "share": share,
                "text": "-" if share is None else percent(share),
                "hover": f"{visible(row['respondent'])}, {words}: "
                + (row["reason"] or "not known" if share is None else f"{percent(share)} of the variance"),
            }


def _chart(rows: list[Row], name: str, short: Mapping[str, str]) -> alt.HConcatChart:
    order = list(short.values())
    return alt.hconcat(_scores(rows, name, short, order), _budget(rows, short, order), spacing=22)


def _scores(rows: list[Row], name: str, short: Mapping[str, str], order: list[str]) -> alt.FacetChart:
    axis = alt.Axis(format="~g" if name == "index" else ".0%", tickCount=6, title=None)
    colours = alt.Scale(domain=list(_FORMS), range=[stand_in("missing"), stand_in("negative")])
    legend = alt.Legend(orient="top", direction="horizontal", title=None)
    y = alt.Y(
        "short:N",
        sort=order,
        title=None,
        scale=_BANDS,
        axis=alt.Axis(ticks=False, domain=False, labelColor=stand_in("ink")),
    )
    base = alt.Chart().encode(
        y=y,
        yOffset=alt.YOffset("form:N", sort=list(_FORMS), scale=alt.Scale(paddingOuter=0.6)),
        color=alt.Color("form:N", scale=colours, legend=legend),
    )
    interval = base.mark_rule(strokeWidth=1.6, aria=False).encode(x=alt.X("low:Q"), x2="high:Q")
    shapes = alt.Scale(domain=list(_FORMS), range=["square", "circle"])
    point = base.mark_point(filled=True, size=58, opacity=1).encode(
        x=alt.X("value:Q", axis=axis, scale=alt.Scale(zero=False, nice=False, padding=12)),
        shape=alt.Shape("form:N", scale=shapes, legend=legend),
        description="hover:N",
    )
    header = alt.Header(title=None, labelAnchor="start")
    return (
        alt.layer(interval, point)
        .properties(width=_WIDTH, height=_ROW * len(order))
        .facet(column=alt.Column("panel:N", header=header), data=inline(list(_points(rows, short, name))))
    )


def _budget(rows: list[Row], short: Mapping[str, str], order: list[str]) -> alt.FacetChart:
    bars = list(_bars(rows, short))
    known = [
        words for words in PARTS.values() if any(bar["part"] == words and bar["share"] is not None for bar in bars)
    ]
    base = alt.Chart().encode(y=alt.Y("short:N", sort=order, axis=None, scale=_BANDS))
    bar = base.mark_bar(color=stand_in("fill"), fillOpacity=0.5, height=14).encode(
        x=alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1])), description="hover:N"
    )
    text = base.mark_text(align="left", dx=4, aria=False).encode(x=alt.value(0), text="text:N")
    header = alt.Header(title=None, labelAnchor="start")
    return (
        alt.layer(bar, text)
        .properties(width=_BAR, height=_ROW * len(order))
        .facet(
            column=alt.Column("part:N", sort=known, header=header),
            data=inline([bar for bar in bars if bar["part"] in known]),
        )
        .properties(spacing=10)
    )
