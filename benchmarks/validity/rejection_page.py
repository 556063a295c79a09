"""The section on tests: grid, tables and words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy import stats

from validity.pair_grid import PairCell, full_pairs, quick_pairs
from validity.rejections import (
    ALPHA,
    BETTER,
    MARGIN_TESTS,
    RESAMPLES,
    TWO_SIDED,
    FamilyCell,
    Rejections,
    full_families,
    measure_family,
    measure_pair,
    quick_families,
)
from validity.tables import markdown_table, monte_carlo_error, share
from validity.workers import Task, run_tasks

__all__ = ["rejection_section"]

SLACK = 0.02
N_WORST = 3
TEMPLATE = """\
## Tests

All at 5%. Two graders on the same items: the second errs at .1 or .3, the first by 0, .05 or .1 more; 20, 100 or 500
questions of one or of 1 to 20 items; 1 or 5 repeats. Exchangeable: both share the questions' difficulty (correlation
.2), each finds items of its own hard (repeats correlate by .3). Skewed: the second errs anywhere, the first in few
questions (correlation .5); where their rates are equal the hypothesis of equal means holds, but not that the two may
be swapped. {draws} data sets a cell, Monte Carlo error of a size {error}; the sign-flip test draws {resamples}
arrangements where it does not enumerate. McNemar's tests and Newcombe's interval (does it leave out 0?) are tried on
single labels alone. Equivalence and non-inferiority are tried at the limit: the true difference is the margin.

### Size

The share of data sets in which a true hypothesis is rejected. "Large" counts cells with a size above .07, "by luck" how
many would be if every size were exactly .05.

{sizes}
### Size, by dimension

Mean (largest) size over the cells, exchangeable and skewed together.

{dimensions}
### Largest sizes

{worst}
### Power

Share of data sets in which the difference is found; mean over rates, items a question and repeats, both grids. For
equivalence and non-inferiority: no difference, margin .1.

{power}
### Families of six graders

Rates of .3, {family_draws} data sets a cell; fifteen comparisons by the sign-flip test. In half of the cells A errs
less by {better}: then the five comparisons with A are true findings; any other finding is false.

{families}
### What follows

{verdict}
"""

ANY_SIZE = 20.5
DIMENSIONS: dict[str, Callable[[PairCell], float]] = {
    "rate": lambda cell: cell.rate,
    "questions": lambda cell: cell.n_clusters,
    "items a question": lambda cell: 1 if cell.sizes == "one" else ANY_SIZE,
    "repeats": lambda cell: cell.repeats,
}


def rejection_section(*, quick: bool, seed: int, processes: int) -> str:
    """Simulate the grids and write the section."""
    draws, family_draws = (60, 20) if quick else (1000, 300)
    pairs, families = (quick_pairs(), quick_families()) if quick else (full_pairs(), full_families())
    tasks = [Task(measure_pair, cell, draws, seed, cell.n_clusters * draws) for cell in pairs]
    tasks += [Task(measure_family, cell, family_draws, seed, 20 * cell.n_clusters * family_draws) for cell in families]
    return render(run_tasks(tasks, processes=processes))


def render(rows: Sequence[Rejections]) -> str:
    """The section as Markdown."""
    pairs = [row for row in rows if isinstance(row.cell, PairCell)]
    families = [row for row in rows if isinstance(row.cell, FamilyCell)]
    return TEMPLATE.format(
        draws=pairs[0].draws,
        error=share(monte_carlo_error(ALPHA, pairs[0].draws)),
        resamples=RESAMPLES,
        family_draws=families[0].draws,
        better=share(BETTER),
        sizes=size_table(pairs),
        dimensions=dimension_table(pairs),
        worst=worst_table(pairs),
        power=power_table(pairs),
        families=family_table(families),
        verdict=verdict(pairs, families),
    )


def size_table(rows: Sequence[Rejections]) -> str:
    """Mean and largest size of each test, exchangeable and skewed."""
    lines = []
    for test in (*TWO_SIDED, *MARGIN_TESTS):
        own = [row for row in rows if row.test == test and row.null]
        parts = [[row for row in own if pair_cell(row).skewed == skewed] for skewed in (False, True)]
        lines.append([test, *size_columns(parts[0]), *size_columns(parts[1])])
    columns = ("mean", "largest", "large", "by luck")
    return markdown_table(["test", "exchangeable: cells", *columns, "skewed: cells", *columns], lines)


def size_columns(rows: Sequence[Rejections]) -> list[str]:
    shares = [row.share for row in rows]
    luck = sum(float(stats.binom.sf(np.floor(row.draws * (ALPHA + SLACK) + 1e-9), row.draws, ALPHA)) for row in rows)
    return [str(len(rows)), share(mean(shares)), share(max(shares)), str(count_large(rows)), f"{luck:.0f}"]


def dimension_table(rows: Sequence[Rejections]) -> str:
    """Mean and largest size of the tests that are made in every cell, over each value of each dimension."""
    tests = (*TWO_SIDED[:2], *MARGIN_TESTS)
    lines = []
    for title, value_of in DIMENSIONS.items():
        for value in sorted({value_of(pair_cell(row)) for row in rows}):
            chosen = [row for row in rows if row.null and value_of(pair_cell(row)) == value]
            parts = [[row.share for row in chosen if row.test == test] for test in tests]
            shown = "1 to 20" if value == ANY_SIZE else f"{value:g}"
            lines.append([f"{title}: {shown}", *(f"{share(mean(part))} ({share(max(part))})" for part in parts)])
    return markdown_table(["", *tests], lines)


def worst_table(rows: Sequence[Rejections]) -> str:
    """The cells in which each test is largest."""
    lines = []
    for test in (*TWO_SIDED, *MARGIN_TESTS):
        own = sorted((row for row in rows if row.test == test and row.null), key=lambda row: -row.share)
        lines += [[test, describe(pair_cell(row)), share(row.share)] for row in own[:N_WORST]]
    return markdown_table(["test", "cell", "size"], lines)


def power_table(rows: Sequence[Rejections]) -> str:
    """Power by the number of questions and the difference."""
    numbers = sorted({pair_cell(row).n_clusters for row in rows})
    lines = []
    for plain in (True, False):
        for test in (*TWO_SIDED, *MARGIN_TESTS):
            own = [row for row in rows if row.test == test and not row.null and pair_cell(row).is_plain == plain]
            for difference in sorted({pair_cell(row).difference for row in own}):
                cells = [[row for row in own if matches(row, number, difference)] for number in numbers]
                title = f"{test}, {share(difference) if difference else 'no difference'}"
                kind = "single labels" if plain else "repeats or shared questions"
                lines.append([title, kind, *(share(mean([row.share for row in cell])) for cell in cells)])
    return markdown_table(["test and difference", "data", *(f"{number} questions" for number in numbers)], lines)


def family_table(rows: Sequence[Rejections]) -> str:
    """Mean and largest share by test and number of questions."""
    numbers = sorted({family_cell(row).n_clusters for row in rows})
    lines = []
    for test in dict.fromkeys(row.test for row in rows):
        own = [row for row in rows if row.test == test]
        parts = [[row.share for row in own if family_cell(row).n_clusters == number] for number in numbers]
        lines.append([test, *(f"{share(mean(part))} ({share(max(part))})" for part in parts)])
    return markdown_table(["mean (largest) share", *(f"{number} questions" for number in numbers)], lines)


def verdict(pairs: Sequence[Rejections], families: Sequence[Rejections]) -> str:
    """Which test keeps its size where, in words made of the numbers."""
    sentences = []
    for test in (*TWO_SIDED, *MARGIN_TESTS):
        own = [row for row in pairs if row.test == test and row.null]
        low = [row for row in own if pair_cell(row).n_clusters == min(pair_cell(row).n_clusters for row in own)]
        rest = [row for row in own if row not in low]
        sentences.append(
            f"- {test}: larger than .07 in {count_large(low)} of {len(low)} cells of {pair_cell(low[0]).n_clusters}"
            f" questions and in {count_large(rest)} of the {len(rest)} others."
            if rest
            else f"- {test}: larger than .07 in {count_large(low)} of {len(low)} cells."
        )
    sentences.append(
        "- A comparison's p-value is the sign-flip test's: it is exact where the two may be swapped, with few"
        " questions too. Student's stands beside it, and the interval is Student's."
    )
    holm = [row.share for row in families if row.test == "Holm, a false finding"]
    raw = [row.share for row in families if row.test == "no adjustment, a false finding"]
    sentences.append(
        f"- Families: a false finding in {share(mean(raw))} of families without adjustment, in {share(mean(holm))}"
        f" with Holm's ({share(max(holm))} at most). Holm's is the default."
    )
    return "\n".join(sentences)


def count_large(rows: Iterable[Rejections]) -> int:
    """Cells whose size is above the level by more than .02."""
    return sum(row.share > ALPHA + SLACK + 1e-12 for row in rows)


def describe(cell: PairCell) -> str:
    """A cell in words."""
    kind = "skewed" if cell.skewed else "exchangeable"
    items = "1 item" if cell.sizes == "one" else "1 to 20 items"
    repeats = f"{cell.repeats} repeats" if cell.repeats > 1 else "1 repeat"
    difference = f", difference {share(cell.difference)}" if cell.difference else ""
    return f"{kind}, rate {share(cell.rate)}{difference}, {cell.n_clusters} questions of {items}, {repeats}"


def matches(row: Rejections, n_clusters: int, difference: float) -> bool:
    return pair_cell(row).n_clusters == n_clusters and pair_cell(row).difference == difference


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def pair_cell(row: Rejections) -> PairCell:
    assert isinstance(row.cell, PairCell)
    return row.cell


def family_cell(row: Rejections) -> FamilyCell:
    assert isinstance(row.cell, FamilyCell)
    return row.cell
