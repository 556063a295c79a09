"""The section on intervals: grid, tables and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from validity.interval_coverage import LEVELS, ROUNDING, SLACK, Coverage, CoverageSummary, measure_rates, summarise
from validity.interval_methods import DEFAULT, RESAMPLES
from validity.rate_grid import RateCell, full_grid, quick_grid
from validity.tables import markdown_table, monte_carlo_error, share, width
from validity.workers import Task, run_tasks

__all__ = ["interval_section"]

ENOUGH = 5
N_WORST = 5
TEMPLATE = """\
## Intervals of a rate

Data sets of item means from a beta-binomial model in two stages: a question's chance is drawn around the rate, an
item's chance around its question's, an item's verdicts by that. {n_cells} cells: rates {rates}; {clusters} questions;
one, five or 1 to 20 items a question; correlation between the items of a question 0, .2 and .5; 1 or 10 repeats an
item, which correlate by .2 or by .8. {draws} data sets a cell (slow methods: fewer, column "data sets"); cluster
bootstraps draw {resamples} resamples.
The Monte Carlo error of one cell's coverage is {error_95} at 95% and {error_90} at 90%. Cells in which five or more
questions are expected to err (rate times questions) stand apart from the others: there an interval should keep its
level, in the others it should rather be too wide.

"Short" counts the cells that cover by more than .02 less than the level, "by luck" how many would if every cell covered
exactly the level. The width is the mean over the cells. Plain Wilson holds for single verdicts alone (one item a
question, one repeat), so its row compares with the default's second row. Candidates are other forms that the default
could have had; the package does not offer them.

{methods}
### The default, by dimension

Cells in which five or more questions are expected to err.

{dimensions}
### Where it falls short

{short}

{worst}
### The default that is chosen

{choice}
"""

CHOICE = """\
`{default}` is the default of every rate: wanted is the shortest interval that keeps its level wherever five or more
questions are expected to err, and is conservative below that. There it covers {mean} on average at 95% and {lowest} in
its lowest cell; {below} of {cells} cells are short. {shorter} {safe} Its form and its sources stand at the head of
`experiments/stats/intervals/clustered_wilson.py`."""

ANY_SIZE = 20.5
DIMENSIONS: dict[str, Callable[[RateCell], float]] = {
    "rate": lambda cell: cell.rate,
    "questions": lambda cell: cell.n_clusters,
    "items a question": lambda cell: {"one": 1, "five": 5, "unequal": ANY_SIZE}[cell.sizes],
    "correlation in a question": lambda cell: cell.correlation,
    "repeats": lambda cell: cell.repeats,
    "correlation of repeats": lambda cell: cell.repeat_correlation if cell.repeats > 1 else 0,
}


@dataclass(frozen=True, slots=True)
class Recheck:
    """A cell that came out low, and its coverage on fresh data sets."""

    found: Coverage
    fresh: Coverage


def interval_section(*, quick: bool, seed: int, processes: int) -> str:
    """Simulate the grid and write the section."""
    draws = 200 if quick else 2000
    cells = quick_grid() if quick else full_grid()
    tasks = [Task(measure_rates, cell, draws, seed, cell.n_items) for cell in cells]
    rows: list[Coverage] = run_tasks(tasks, processes=processes)
    return render(rows, recheck(rows, seed=seed + 1, draws=10 * draws, processes=processes))


def recheck(rows: Sequence[Coverage], *, seed: int, draws: int, processes: int) -> list[Recheck]:
    """The cells in which the default falls shortest at 95%, with fresh data sets: the lowest of many is low by luck."""
    own = [row for row in rows if row.method == DEFAULT and row.level == LEVELS[-1]]
    worst = sorted(own, key=lambda row: row.share)[:N_WORST]
    measure = partial(measure_rates, methods=(DEFAULT,))
    tasks = [Task(measure, row.cell, draws, seed, row.cell.n_items) for row in worst]
    fresh = [row for row in run_tasks(tasks, processes=processes) if row.level == LEVELS[-1]]
    return [Recheck(*pair) for pair in zip(worst, fresh, strict=True)]


def render(rows: Sequence[Coverage], checked: Sequence[Recheck]) -> str:
    """The section as Markdown."""
    draws = max(row.draws for row in rows)
    cells = list(dict.fromkeys(row.cell for row in rows))
    return TEMPLATE.format(
        n_cells=len(cells),
        rates=", ".join(share(rate) for rate in sorted({cell.rate for cell in cells})),
        clusters=", ".join(str(number) for number in sorted({cell.n_clusters for cell in cells})),
        draws=draws,
        resamples=RESAMPLES,
        error_95=share(monte_carlo_error(0.95, draws)),
        error_90=share(monte_carlo_error(0.9, draws)),
        methods="\n".join(method_table(rows, level) for level in reversed(LEVELS)),
        dimensions=dimension_table(rows),
        short=shortfall(rows),
        worst=worst_table(rows, checked),
        choice=choice(rows),
    )


def method_table(rows: Sequence[Coverage], level: float) -> str:
    """Each method at one level: where enough questions err, and where not."""
    chosen = [row for row in rows if row.level == level]
    lines = [method_line(chosen, DEFAULT, DEFAULT, lambda _: True)]
    lines.append(method_line(chosen, DEFAULT, f"{DEFAULT}, single verdicts", lambda cell: cell.is_plain))
    others = [name for name in dict.fromkeys(row.method for row in chosen) if name != DEFAULT]
    lines += [method_line(chosen, name, name, lambda _: True) for name in others]
    columns = ("mean", "lowest", "short", "by luck", "width")
    header = (f"{level:.0%} interval", "data sets", "cells", *columns, "fewer err: cells", *columns)
    return markdown_table(header, lines)


def method_line(rows: Sequence[Coverage], name: str, title: str, fits: Callable[[RateCell], bool]) -> list[str]:
    own = [row for row in rows if row.method == name and fits(row.cell)]
    draws = sorted({row.draws for row in own})
    tried = str(draws[0]) if len(draws) == 1 else f"{draws[0]}–{draws[-1]}"
    enough = summarise(row for row in own if row.cell.expected_to_err >= ENOUGH)
    fewer = summarise(row for row in own if row.cell.expected_to_err < ENOUGH)
    return [title, tried, *summary_columns(enough), *summary_columns(fewer)]


def summary_columns(summary: CoverageSummary | None) -> list[str]:
    if summary is None:
        return ["0", *["—"] * 5]
    shares = [share(summary.mean), share(summary.lowest), str(summary.below), f"{summary.by_luck:.0f}"]
    return [str(summary.cells), *shares, width(summary.width)]


def dimension_table(rows: Sequence[Coverage]) -> str:
    """The default over each value of each dimension."""
    own = [row for row in rows if row.method == DEFAULT and row.cell.expected_to_err >= ENOUGH]
    lines = []
    for title, value_of in DIMENSIONS.items():
        for value in sorted({value_of(row.cell) for row in own}):
            chosen = [row for row in own if value_of(row.cell) == value]
            parts = [summarise(row for row in chosen if row.level == level) for level in reversed(LEVELS)]
            shown = {0: "none", ANY_SIZE: "1 to 20"}.get(value, f"{value:g}")
            lines.append([f"{title}: {shown}", *summary_columns(parts[0]), *summary_columns(parts[1])[1:]])
    columns = ("lowest", "short", "by luck", "width")
    return markdown_table(["", "cells", "95%: mean", *columns, "90%: mean", *columns], lines)


def shortfall(rows: Sequence[Coverage]) -> str:
    """Where the default covers by more than .02 less than its level."""
    own = [row for row in rows if row.method == DEFAULT]
    sentences = []
    for level in reversed(LEVELS):
        enough = [row for row in own if row.level == level and row.cell.expected_to_err >= ENOUGH]
        fewer = [row for row in own if row.level == level and row.cell.expected_to_err < ENOUGH]
        sentences.append(shortfall_sentence("five or more", level, enough))
        sentences.append(shortfall_sentence("fewer", level, fewer))
    return "\n".join(sentences)


def shortfall_sentence(title: str, level: float, rows: Sequence[Coverage]) -> str:
    low = min(rows, key=lambda row: row.share)
    below = sum(row.share < level - SLACK - ROUNDING for row in rows)
    return (
        f"- {level:.0%}, {title} questions expected to err: {below} of {len(rows)} cells are short; the lowest covers"
        f" {share(low.share)}, {share(max(0.0, level - low.share))} below the level ({describe(low.cell)})."
    )


def worst_table(rows: Sequence[Coverage], checked: Sequence[Recheck]) -> str:
    """The default's lowest cells with fresh data sets, then the lowest cell of every other method."""
    lines = [
        [DEFAULT, describe(pair.found.cell), share(pair.found.share), share(pair.fresh.share), str(pair.fresh.draws)]
        for pair in checked
    ]
    own = [row for row in rows if row.level == LEVELS[-1] and row.method != DEFAULT]
    for name in dict.fromkeys(row.method for row in own):
        low = min((row for row in own if row.method == name), key=lambda row: row.share)
        lines.append([name, describe(low.cell), share(low.share), "—", "—"])
    table = markdown_table(["worst cells at 95%", "cell", "coverage", "on fresh data", "fresh data sets"], lines)
    return "The lowest of many cells is low by luck too, so the default's lowest are drawn again.\n\n" + table


def describe(cell: RateCell) -> str:
    """A cell in words."""
    words = f"rate {share(cell.rate)}, {cell.n_clusters} questions"
    if cell.sizes != "one":
        items = "5" if cell.sizes == "five" else "1 to 20"
        words += f" of {items} items, correlation {cell.correlation:g}"
    return words + (f", {cell.repeats} repeats at {cell.repeat_correlation:g}" if cell.repeats > 1 else ", 1 repeat")


def choice(rows: Sequence[Coverage]) -> str:
    """What speaks for the default: the methods that can be asked in all cells, beside it."""
    enough = [row for row in rows if row.level == LEVELS[-1] and row.cell.expected_to_err >= ENOUGH]
    names = dict.fromkeys(row.method for row in enough)
    found = {name: summary for name in names if (summary := summarise(r for r in enough if r.method == name))}
    own = found.pop(DEFAULT)
    rivals = {name: summary for name, summary in found.items() if summary.cells == own.cells}
    shorter = [name for name, summary in rivals.items() if summary.width < own.width]
    low = ", ".join(f"{name} {share(rivals[name].lowest)}" for name in shorter)
    as_safe = {name: summary.width / own.width for name, summary in rivals.items() if summary.lowest >= own.lowest}
    safe = ", ".join(f"{name} ({ratio:.2f} times as wide)" for name, ratio in as_safe.items())
    return CHOICE.format(
        default=DEFAULT,
        mean=share(own.mean),
        lowest=share(own.lowest),
        below=own.below,
        cells=own.cells,
        shorter=f"Shorter on average, with their lowest coverage: {low}." if low else "None is shorter on average.",
        safe=f"With a lowest coverage as high: {safe}." if safe else "None has a lowest coverage as high.",
    )
