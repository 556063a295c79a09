"""How far a grader's repeats agree item by item: the share of an item's verdicts that are its most frequent one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from experiments.plots.colours import stand_in
from experiments.plots.drawing import finish, inline, percent_axis, to_table
from experiments.plots.figure import Figure
from experiments.plots.item_links import item_link
from experiments.plots.names import cut_names, describe_range, grader_names, whole_names
from experiments.reports.exact_sample import with_distributions
from experiments.reports.figures import percent
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.sample import build_sample

__all__ = ["draw_agreement", "item_agreement"]

_COLUMNS = ("number", "grader", "from_share", "below_share", "n_in_part", "share", "n_items", "n_without")
_EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_PARTS = ("<50", "50–59", "60–69", "70–79", "80–89", "90–99", "100")
"""Percent of an item's verdicts: from a number to below the next; the last is all of them."""

_WIDTH, _HEIGHT, _COLUMNS_WIDE, LONGEST = 190, 100, 4, 30

Fields = Mapping[str, Any]
Array = NDArray[np.float64]


def item_agreement(data: RunData, results: GraderResults) -> Array:
    """(n,) each item's share of its most frequent verdict; NaN where it has fewer than two.

    Of a grader whose repeats are computed it is the chance of the likeliest label.
    """
    sample = build_sample(results, data.calibration_set.items, {}, scale=data.calibration_set.scale)
    if results.distributions is not None:
        exact = with_distributions(sample, results.distributions, draws=int(results.sampling["repeats"]))
        return np.asarray(exact.shares.max(axis=1, initial=-np.inf), dtype=np.float64)
    most = sample.counts.max(axis=1, initial=0)
    return np.where(sample.valid > 1, most / np.maximum(sample.valid, 1), np.nan)


def draw_agreement(data: RunData, report: Fields) -> Figure | None:
    """How many items have which agreement, by grader; ``None`` where no grader has an item with two verdicts."""
    names = grader_names(report["graders"])
    found = {
        grader["number"]: item_agreement(data, results)
        for grader, results in zip(report["graders"], data.graders, strict=True)
    }
    known = {number: shares for number, shares in found.items() if not np.isnan(shares).all()}
    short = cut_names([names[number] for number in known], most=LONGEST)
    rows = [row for number, shares in known.items() for row in _rows(number, names[number], short, shares)]
    if not rows:
        return None
    return Figure(
        name="agreement",
        title="Agreement of an item's verdicts with each other, by grader",
        description=_describe(rows),
        table=to_table(rows, _COLUMNS),
        chart=finish(_chart(rows, list(short.values()))),
        cut_names=whole_names(short),
    )


def _rows(number: int, name: str, short: Mapping[str, str], shares: Array) -> Iterator[dict[str, Any]]:
    judged = shares[~np.isnan(shares)]
    places = np.searchsorted(_EDGES, judged, side="right") - 1
    for place, words in enumerate(_PARTS):
        own = judged[places == place]
        low, below = _EDGES[place], _EDGES[place + 1] if place + 1 < len(_EDGES) else None
        between = "100%" if below is None else f"{low:.0%} to below {below:.0%}"
        ends = {"agreement_low": float(own.min()), "agreement_high": float(own.max())} if len(own) else {}
        yield {
            "number": number,
            "grader": name,
            "short": short[name],
            "from_share": low,
            "below_share": below,
            "words": words,
            "n_in_part": len(own),
            "share": len(own) / len(judged),
            "n_items": len(judged),
            "n_without": len(shares) - len(judged),
            "hover": f"{name}, {between} of an item's verdicts are the most frequent one: {len(own):,} of "
            f"{len(judged):,} items, {percent(len(own) / len(judged))}; {len(shares) - len(judged):,} items have "
            "fewer than two verdicts",
            "link": item_link(grader=number, **ends) if ends else None,
        }


def _describe(rows: list[dict[str, Any]]) -> str:
    alike = [row for row in rows if row["below_share"] is None]
    return describe_range(
        "Share of the items whose verdicts are all alike",
        [(row["grader"], row["share"], f"{percent(row['share'])} of {row['n_items']:,} items") for row in alike],
    )


def _chart(rows: list[dict[str, Any]], graders: list[str]) -> Any:
    x = alt.X(
        "words:N",
        sort=list(_PARTS),
        axis=alt.Axis(title="share of its most frequent verdict, %", labelAngle=0, labelFontSize=8, ticks=False),
    )
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=percent_axis(tickCount=4, title="items"))
    bar = (
        alt.Chart()
        .mark_bar(color=stand_in("fill"))
        .encode(x=x, y=y, href="link:N", description="hover:N")
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    header = alt.Header(title=None, labelAnchor="start", labelPadding=3)
    return bar.facet(
        facet=alt.Facet("short:N", sort=graders, header=header),
        columns=min(len(graders), _COLUMNS_WIDE),
        data=inline(rows),
    ).properties(spacing={"row": 14, "column": 18})
