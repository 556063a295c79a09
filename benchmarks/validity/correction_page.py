"""The section on corrections: grid, tables and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from validity.correction_errors import LEVEL, METHODS, RESAMPLES, CorrectionErrors, measure_correction
from validity.correction_grid import CALIBRATION_SIZES, CorrectionCell, full_corrections, quick_corrections
from validity.tables import markdown_table, monte_carlo_error, share, width
from validity.workers import Task, run_tasks

__all__ = ["correction_section"]

SLACK = 0.02
N_WORST = 3
UNCORRECTED = METHODS[0]
TEMPLATE = """\
## Corrected scores

A benchmark of 1,000 items and a calibration set from other questions of the same population; the score is the true
share of right answers, with three labels also F1. True shares of right answers .3 and .7 (two labels; a good grader
errs on 5% of either label, a poor one passes 20% of the wrong and refuses 10% of the right answers), and .40 right,
.25 not attempted, .35 wrong (three labels). Independent: one item a question, one verdict. Clustered: five items a
question whose true labels correlate by .3, three repeats whose errors correlate by .5. {draws} data sets a cell,
Monte Carlo error of a coverage {error}; {resamples} resamples. 95% intervals.

"Off" is the bias in points of 100 and "rms" the root of the mean squared error, likewise. "Given" is the share of data
sets that were corrected at all: where the error rates might not identify the score, the package says so and gives the
uncorrected one; bias and coverage are over the others. PPI++ and people's labels alone need calibration items that are
a random part of the benchmark, as they are here.
With three labels this grader's errors nearly cancel: there the uncorrected score is close by luck.

### By the number of calibration items

Mean over the cells in which calibration set and benchmark have the same shares, with the lowest coverage of any.

{sizes}
### By the kind of data

{kinds}
### Worst cells

{worst}
### Balanced calibration set

The poor grader, 30% right in the benchmark and half of the calibration set: error rates carry over, shares do not.
People's labels alone and PPI++ do not apply.

{balanced}
### What follows

{verdict}
"""


def correction_section(*, quick: bool, seed: int, processes: int) -> str:
    """Simulate the grid and write the section."""
    draws = 20 if quick else 200
    cells = quick_corrections() if quick else full_corrections()
    tasks = [Task(measure_correction, cell, draws, seed, 1000 + cell.n_calibration) for cell in cells]
    return render(run_tasks(tasks, processes=processes))


def render(rows: Sequence[CorrectionErrors]) -> str:
    """The section as Markdown."""
    same = [row for row in rows if not row.cell.balanced]
    return TEMPLATE.format(
        draws=rows[0].draws,
        error=share(monte_carlo_error(LEVEL, rows[0].draws)),
        resamples=RESAMPLES,
        sizes=grouped_table(same, "calibration items", lambda row: str(row.cell.n_calibration), present_sizes(same)),
        kinds=grouped_table(same, "data", kind_of, list(dict.fromkeys(kind_of(row) for row in same))),
        worst=worst_table(same),
        balanced=grouped_table(
            [row for row in rows if row.cell.balanced],
            "calibration items",
            lambda row: str(row.cell.n_calibration),
            present_sizes([row for row in rows if row.cell.balanced]),
        ),
        verdict=verdict(same),
    )


def grouped_table(
    rows: Sequence[CorrectionErrors], title: str, key: Callable[[CorrectionErrors], str], groups: Sequence[str]
) -> str:
    """Each method in each group of cells."""
    lines = []
    for group in groups:
        for method in METHODS:
            own = [row for row in rows if key(row) == group and row.method == method and row.given]
            if own:
                lines.append([group, method, str(len(own)), *columns(own)])
    return markdown_table([title, "method", "cells", "given", "off", "rms", "mean coverage", "lowest", "width"], lines)


def columns(rows: Sequence[CorrectionErrors]) -> list[str]:
    """Share given, mean absolute bias, error, coverage and width of several cells."""
    off = mean([abs(row.errors / row.given) for row in rows])
    rms = mean([(row.squares / row.given) ** 0.5 for row in rows])
    return [
        share(mean([row.given / row.draws for row in rows])),
        f"{100 * off:.1f}",
        f"{100 * rms:.1f}",
        share(mean([cover(row) for row in rows])),
        share(min(cover(row) for row in rows)),
        width(mean([row.widths / row.given for row in rows])),
    ]


def worst_table(rows: Sequence[CorrectionErrors]) -> str:
    """The cells in which each method covers least."""
    lines = []
    for method in METHODS:
        own = sorted((row for row in rows if row.method == method and row.given), key=cover)
        lines += [
            [method, f"{row.score}: {describe(row.cell)}", share(cover(row)), f"{100 * row.errors / row.given:+.1f}"]
            for row in own[:N_WORST]
        ]
    return markdown_table(["method", "cell", "coverage", "off"], lines)


def verdict(rows: Sequence[CorrectionErrors]) -> str:
    """How far each method falls short, and the widths side by side."""
    sentences = []
    for method in METHODS:
        own = [row for row in rows if row.method == method and row.given]
        low = min(own, key=cover)
        below = sum(cover(row) < LEVEL - SLACK - 1e-12 for row in own)
        sentences.append(
            f"- {method}: short of .95 by more than .02 in {below} of {len(own)} cells, at most by"
            f" {share(max(0.0, LEVEL - cover(low)))} ({low.score}: {describe(low.cell)}); mean coverage"
            f" {share(mean([cover(row) for row in own]))}."
        )
    sentences.append(
        "- The delta method is the default of `correct_scores`: it needs no resamples, and the two forms agree."
        f" Their coverage differs by {share(agreement(rows))} on average over cells. An uncorrected score's interval"
        " says nothing of the grader's errors, and no number of questions mends that."
    )
    return "\n".join(sentences)


def agreement(rows: Sequence[CorrectionErrors]) -> float:
    """Mean absolute difference in coverage of delta method and bootstrap."""
    delta, bootstrap = (
        {(row.cell, row.score): cover(row) for row in rows if row.method == method and row.given}
        for method in ("inversion, delta", "inversion, bootstrap")
    )
    return mean([abs(delta[key] - bootstrap[key]) for key in delta if key in bootstrap])


def present_sizes(rows: Sequence[CorrectionErrors]) -> list[str]:
    return [str(size) for size in CALIBRATION_SIZES if any(row.cell.n_calibration == size for row in rows)]


def kind_of(row: CorrectionErrors) -> str:
    labels = "three labels" if len(row.cell.labels) == 3 else f"two labels, {row.cell.grader} grader"
    return f"{labels}, {'clustered' if row.cell.clustered else 'independent'}"


def describe(cell: CorrectionCell) -> str:
    """A cell in words."""
    grader = cell.grader if cell.grader == "three labels" else f"{cell.grader} grader"
    kind = "clustered" if cell.clustered else "independent"
    return f"{grader}, {share(cell.shares[-1])} right, {cell.n_calibration} calibration items, {kind}"


def cover(row: CorrectionErrors) -> float:
    return row.covered / row.given


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
