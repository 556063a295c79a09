"""Why verdicts are missing: reasons by grader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt

from experiments.plots.colours import stand_in
from experiments.plots.drawing import finish, inline, to_table
from experiments.plots.figure import Figure
from experiments.plots.item_links import item_link
from experiments.plots.names import cut_names, describe_range, grader_names, whole_names
from experiments.reports.figures import count_text, percent

__all__ = ["draw_failures"]

_COLUMNS = ("number", "grader", "reason", "count", "share", "n_expected")
_CELL, _ROW, _STRONGEST, LONGEST = 92, 28, 0.5, 38

Fields = Mapping[str, Any]


def draw_failures(report: Fields) -> Figure | None:
    """Numbers of missing verdicts and their share of those asked for; ``None`` where none is missing."""
    graders = report["graders"]
    reasons = sorted({reason for grader in graders for reason in grader["failures"]})
    if not reasons:
        return None
    names = grader_names(graders)
    short = cut_names(names.values(), most=LONGEST)
    rows = [row for grader in graders for row in _rows(grader, names[grader["number"]], short, reasons)]
    return Figure(
        name="failures",
        title="Verdicts that are missing, by reason and grader",
        description=_describe(graders, names),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, list(short.values()), reasons)),
        cut_names=whole_names(short),
    )


def _rows(grader: Fields, name: str, short: Mapping[str, str], reasons: list[str]) -> Iterator[dict[str, Any]]:
    asked = grader["n_expected"]
    for reason in reasons:
        count = grader["failures"].get(reason, 0)
        share = count / asked if asked else None
        why = f" ({count_text(grader['not_answered'])})" if reason == "not_answered" and count else ""
        yield {
            "number": grader["number"],
            "grader": name,
            "short": short[name],
            "reason": reason,
            "words": reason.replace("_", " "),
            "count": count,
            "share": share,
            "n_expected": asked,
            "opacity": 0.0 if not share else 0.08 + (_STRONGEST - 0.08) * share,
            "text": f"{count:,} ({percent(share)})" if count else "0",
            "hover": f"{name}, {reason}{why}: {count:,} of {asked:,} verdicts, {percent(share)}",
            "link": item_link(grader=grader["number"], failure=reason),
        }


def _describe(graders: list[Fields], names: Mapping[int, str]) -> str:
    missing = [(grader, grader["n_expected"] - grader["n_verdicts"]) for grader in graders]
    told = [
        (names[grader["number"]], lost / grader["n_expected"], f"{lost:,} of {grader['n_expected']:,}")
        for grader, lost in missing
        if lost
    ]
    total = Counter[str]()
    for grader in graders:
        total.update(grader["failures"])
    whole = f" {len(graders) - len(told)} of {len(graders)} graders miss none." if len(told) < len(graders) else ""
    return f"{describe_range('Missing verdicts', told)} By reason: {count_text(dict(sorted(total.items())))}.{whole}"


def _chart(rows: list[dict[str, Any]], graders: list[str], reasons: list[str]) -> Any:
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "grid": False,
        "labelColor": stand_in("ink"),
        "title": None,
    }
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "words:N",
            sort=[one.replace("_", " ") for one in reasons],
            axis=alt.Axis(orient="top", labelAngle=0, **axis),
        ),
        y=alt.Y("short:N", sort=graders, axis=alt.Axis(**axis)),
    )
    cell = base.mark_rect(color=stand_in("missing"), stroke=stand_in("line"), strokeWidth=1, strokeOpacity=1).encode(
        fillOpacity=alt.FillOpacity("opacity:Q", scale=None, legend=None), href="link:N", description="hover:N"
    )
    text = base.mark_text(aria=False).encode(text="text:N")
    return alt.layer(cell, text).properties(width=_CELL * len(reasons), height=_ROW * len(graders))
