"""Reduced grids of ``benchmarks/validity``: coverage, size and bias against binomial bounds, seeded.

Every bound is one that an honest method misses in one of ten thousand runs with other seeds. The widest tolerated
shortfalls are those that ``docs/validity.md`` reports; a method that breaks falls far below, as the controls show.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.stats.intervals.clustered_wilson import clustered_wilson

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))

from validity.correction_errors import LEVEL, CorrectionErrors, measure_correction, true_score
from validity.correction_grid import CorrectionCell
from validity.interval_coverage import LEVELS, measure_rates, short_by_luck
from validity.interval_methods import DEFAULT, default
from validity.pair_grid import PairCell
from validity.rate_grid import RateCell, full_grid, simulate_rates
from validity.rejections import ALPHA, FamilyCell, Rejections, measure_family, measure_pair
from validity.tables import markdown_table, share
from validity.workers import Task, cell_generator, run_tasks

SEED = 7
CHANCE = 1e-4

CELLS = [
    RateCell(0.05, 100, "five", 0.2, 10, 0.8),
    RateCell(0.05, 100, "one", 0.0, 1, 0.2),
    RateCell(0.1, 100, "unequal", 0.2, 1, 0.2),
    RateCell(0.2, 100, "unequal", 0.5, 10, 0.2),
    RateCell(0.3, 20, "five", 0.2, 10, 0.2),
    RateCell(0.3, 20, "one", 0.0, 10, 0.8),
    RateCell(0.5, 20, "unequal", 0.0, 1, 0.2),
    RateCell(0.5, 20, "five", 0.5, 10, 0.8),
]
RARE = [RateCell(0.01, 20, "five", 0.2, 10, 0.2), RateCell(0.02, 100, "unequal", 0.5, 1, 0.2)]
PAIRS = [
    PairCell(0.1, 0.0, 100, "one", 1, False),
    PairCell(0.3, 0.0, 20, "one", 1, False),
    PairCell(0.3, 0.0, 100, "unequal", 5, False),
    PairCell(0.3, 0.0, 100, "one", 5, True),
]
CORRECTIONS = [
    CorrectionCell((0.7, 0.3), "poor", 100, False),
    CorrectionCell((0.3, 0.7), "good", 500, True),
    CorrectionCell((0.35, 0.25, 0.4), "three labels", 200, False),
]


def fewest(share_wanted: float, draws: int) -> int:
    """Successes that one in ten thousand runs falls below where each succeeds with this chance."""
    return int(stats.binom.ppf(CHANCE, draws, share_wanted))


def most(share_wanted: float, draws: int) -> int:
    return int(stats.binom.isf(CHANCE, draws, share_wanted))


def words(cell: object) -> str:
    return repr(cell).partition("(")[2].rstrip(")").replace(" ", "")


@pytest.mark.slow
@pytest.mark.parametrize("cell", [*CELLS, *RARE], ids=words)
def test_default_interval_keeps_its_level(cell: RateCell) -> None:
    """Both levels to within .02, and neither so wide that it covers always where many questions err."""
    for row in measure_rates(cell, cell_generator(SEED, cell), 1000, methods=[DEFAULT]):
        assert row.covered >= fewest(row.level - 0.02, row.draws)
        assert row.width < 4 * stats.norm.ppf((1 + row.level) / 2) * (cell.rate / cell.n_clusters) ** 0.5 + 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "shortfall", "share_tried"),
    [
        ("clopper-pearson", 0.02, 0.25),
        ("jeffreys", 0.02, 0.25),
        ("bootstrap-percentile", 0.06, 0.1),
        ("bootstrap-bca", 0.06, 0.1),
    ],
)
def test_other_intervals_keep_near_their_level(method: str, shortfall: float, share_tried: float) -> None:
    """All cells together: means of many cells show a break that 200 data sets of one cell would hide."""
    rows = [row for cell in CELLS for row in measure_rates(cell, cell_generator(SEED, cell), 800, methods=[method])]
    for level in LEVELS:
        own = [row for row in rows if row.level == level]
        draws = sum(row.draws for row in own)
        assert draws >= len(CELLS) * int(800 * share_tried)
        assert sum(row.covered for row in own) >= fewest(level - shortfall, draws)


@pytest.mark.slow
def test_plain_wilson_covers_on_single_verdicts() -> None:
    """Its coverage is discrete: .93 or more at 95%, .88 or more at 90% in this cell."""
    cell = CELLS[1]
    rows = measure_rates(cell, cell_generator(SEED, cell), 1000, methods=["wilson"])
    assert len(rows) == len(LEVELS)
    assert all(row.covered >= fewest(row.level - 0.02, row.draws) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.repeats > 1], ids=words)
def test_the_bound_finds_an_interval_that_pools_verdicts(cell: RateCell) -> None:
    """The control: plain Wilson over pooled verdicts, which the package never offers, is caught."""
    name = "candidate: pooled verdicts"
    for row in measure_rates(cell, cell_generator(SEED, cell), 300, methods=[name]):
        assert row.covered < fewest(row.level - 0.02, row.draws)


@pytest.mark.slow
@pytest.mark.parametrize("cell", PAIRS, ids=words)
def test_two_sided_tests_keep_their_size(cell: PairCell) -> None:
    """At most .07 where nothing differs, exchangeable or not."""
    rows = [row for row in measure_pair(cell, cell_generator(SEED, cell), 500) if row.null]
    assert [row.test for row in rows][:2] == ["sign-flip", "cluster t"]
    assert len(rows) == (5 if cell.is_plain else 2)
    for row in rows:
        assert row.rejected <= most(ALPHA + 0.02, row.draws), row.test


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
def test_margin_tests_keep_their_size_and_the_others_find_the_difference(skewed: bool) -> None:
    """A difference of .1 in 500 questions: at the margin, and large enough for every test of no difference."""
    cell = PairCell(0.1, 0.1, 500, "one", 1, skewed)
    rows = measure_pair(cell, cell_generator(SEED, cell), 400)
    margin = [row for row in rows if row.null]
    assert {row.test for row in margin} == {"equivalence", "non-inferiority"}
    for row in margin:
        assert row.rejected <= most(ALPHA + 0.02, row.draws), row.test
    for row in rows:
        assert row.null or row.rejected >= fewest(0.9, row.draws), row.test


@pytest.mark.slow
def test_margin_tests_pass_where_nothing_differs() -> None:
    """No difference, margin .1, 500 questions: equivalence is found nearly always."""
    cell = PairCell(0.1, 0.0, 500, "one", 1, False)
    rows = [row for row in measure_pair(cell, cell_generator(SEED, cell), 150) if not row.null]
    assert {row.test for row in rows} == {"equivalence", "non-inferiority"}
    assert all(row.rejected >= fewest(0.95, row.draws) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("one_better", [False, True])
def test_families_hold_their_level(one_better: bool) -> None:
    """Holm's false findings and sets without the best: at most .07; unadjusted p-values are the control."""
    cell = FamilyCell(0.3, 100, "unequal", 5, one_better)
    rows = {row.test: row for row in measure_family(cell, cell_generator(SEED, cell), 150)}
    for test in ("Holm, a false finding", "set of the best lacks the best"):
        assert rows[test].rejected <= most(ALPHA + 0.02, 150), test
    assert rows["no adjustment, a false finding"].rejected > most(ALPHA + 0.02, 150)
    if one_better:
        assert rows["Holm, true ones found"].share > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("cell", CORRECTIONS, ids=words)
def test_corrections_are_unbiased_and_cover(cell: CorrectionCell) -> None:
    """Every correction: bias within four standard errors and one point, coverage to within .03 of 95%."""
    rows = [row for row in measure_correction(cell, cell_generator(SEED, cell), 80) if row.method != "uncorrected"]
    assert {row.method for row in rows} == {
        "people's labels alone",
        "inversion, delta",
        "inversion, bootstrap",
        "PPI++",
    }
    for row in rows:
        assert row.given >= 0.95 * row.draws, row.method
        assert abs(row.errors / row.given) < 0.01 + 4 * standard_error(row), row.method
        assert row.covered >= fewest(LEVEL - 0.03, row.given), row.method


@pytest.mark.slow
def test_the_bounds_find_an_uncorrected_score() -> None:
    """The control: a poor grader's score, with its own interval."""
    cell = CORRECTIONS[0]
    rows = {row.method: row for row in measure_correction(cell, cell_generator(SEED, cell), 25)}
    row = rows["uncorrected"]
    assert abs(row.errors / row.given) > 0.01 + 4 * standard_error(row)
    assert row.covered < fewest(LEVEL - 0.03, row.given)


def standard_error(row: CorrectionErrors) -> float:
    mean = row.errors / row.given
    return float(((row.squares / row.given - mean**2) / row.given) ** 0.5)


def test_simulated_rates_have_the_rate_and_the_correlations_of_their_cell() -> None:
    """Mean, variance between questions and covariance of two items of a question, over 4,000 questions."""
    cell = RateCell(0.3, 100, "five", 0.2, 10, 0.8)
    blocks = list(simulate_rates(cell, np.random.default_rng(1), 40))
    items = np.concatenate([block.means for block in blocks]).reshape(-1, 5)
    assert_allclose(items.mean(), 0.3, atol=0.02)
    covariance = np.cov(items.T)
    off = covariance[~np.eye(5, dtype=bool)].mean()
    assert_allclose(off, 0.2 * 0.21, rtol=0.15)  # items of a question share only its chance
    within = 0.8 + 0.2 / 10  # two verdicts of an item correlate by .8 around the question's chance
    assert_allclose(np.diag(covariance).mean() - off, (0.21 - 0.2 * 0.21) * within, rtol=0.1)


def test_the_default_of_the_grid_is_the_packages_public_interval() -> None:
    cell = RateCell(0.1, 20, "unequal", 0.2, 10, 0.2)
    (data,) = simulate_rates(cell, np.random.default_rng(2), 5)
    low, high = default(data, 0.9, np.random.default_rng(3))
    clusters = np.repeat(np.arange(20), data.sizes).tolist()
    found = [clustered_wilson(means, clusters, repeats=10, level=0.9) for means in data.means]
    assert_allclose(np.column_stack([low, high]), [(e.low, e.high) for e in found], rtol=1e-12)


def test_the_full_grid_has_every_cell_that_was_promised() -> None:
    grid = full_grid()
    assert {cell.rate for cell in grid} == {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}
    assert {cell.n_clusters for cell in grid} == {20, 100, 1000}
    assert {cell.correlation for cell in grid} == {0.0, 0.2, 0.5}
    assert {cell.repeats for cell in grid} == {1, 10}
    assert len(grid) == len(set(grid)) == 7 * 3 * (3 + 2 * 3 * 3)


def test_true_scores_are_those_of_the_population() -> None:
    cell = CORRECTIONS[2]
    assert_allclose(true_score(cell, "correct"), 0.4)
    assert_allclose(true_score(cell, "f1"), 2 * 0.4 / (1 + 0.4 + 0.35))


def measure_seed(cell: str, rng: np.random.Generator, draws: int) -> Sequence[float]:
    return [float(rng.random()) for _ in range(draws)]


def test_rows_do_not_depend_on_the_order_of_work() -> None:
    tasks = [Task(measure_seed, name, 2, SEED, cost) for name, cost in (("a", 1), ("b", 3), ("c", 2))]
    rows = run_tasks(tasks, processes=1)
    assert len(set(rows)) == 6
    assert run_tasks(tasks[::-1], processes=1) == [*rows[4:], *rows[2:4], *rows[:2]]


def test_tables_and_luck() -> None:
    assert markdown_table(["a", "b"], [["x", share(0.5)]]) == "| a | b |\n| --- | ---: |\n| x | .500 |\n"
    assert (share(1.0), share(None), share(-0.25)) == ("1.000", "—", "-.250")
    assert_allclose(short_by_luck(0.95, 200), stats.binom.cdf(185, 200, 0.95))
    assert isinstance(Rejections(PAIRS[0], "t", True, 10, 1).share, float)
