"""Newcombe's paired interval against the published table and by its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from experiments.stats.comparisons.mcnemar import PairedTable
from experiments.stats.comparisons.newcombe import newcombe_interval

# Newcombe (1998), Statistics in Medicine 17:2635-2650, table III, the rows of method 10, 95%; equal to one unit of
# the last digit printed.
PUBLISHED = {
    (36, 12, 2, 0): (0.0569, 0.3404),
    (20, 12, 2, 16): (0.0562, 0.3292),
    (18, 12, 2, 18): (0.0562, 0.3290),
    (36, 14, 0, 0): (0.1528, 0.4167),
    (35, 14, 0, 1): (0.1461, 0.4175),
    (18, 14, 0, 18): (0.1441, 0.3963),
    (2, 97, 1, 0): (0.8721, 0.9854),
    (1, 97, 1, 1): (0.8736, 0.9850),
    (0, 29, 1, 0): (0.6666, 0.9882),
    (2, 98, 0, 0): (0.9178, 0.9945),
    (1, 98, 0, 1): (0.9171, 0.9916),
    (0, 30, 0, 0): (0.8395, 1.0),
    (54, 0, 0, 0): (-0.0664, 0.0664),
    (53, 0, 0, 1): (-0.0729, 0.0729),
    (30, 0, 0, 24): (-0.0358, 0.0358),
    (29, 0, 0, 25): (-0.0354, 0.0354),
    (28, 0, 0, 26): (-0.0352, 0.0352),
    (27, 0, 0, 27): (-0.0351, 0.0351),
    # Complete response before and after consolidation therapy, as the R package contingencytables prints it.
    (59, 6, 16, 80): (-0.1186, -0.0046),
}
CELLS = st.tuples(*[st.integers(0, 30)] * 4).filter(any)


@pytest.mark.parametrize(("cells", "interval"), PUBLISHED.items())
def test_published_intervals(cells: tuple[int, int, int, int], interval: tuple[float, float]) -> None:
    estimate = newcombe_interval(PairedTable(*cells))
    assert (estimate.low, estimate.high) == pytest.approx(interval, abs=1e-4)
    assert estimate.value == pytest.approx((cells[1] - cells[2]) / sum(cells), abs=1e-12)


@given(st.integers(0, 12), st.integers(1, 12), st.sampled_from([0.9, 0.95]))
def test_without_correlation_it_is_the_interval_of_two_independent_shares(a: int, b: int, level: float) -> None:
    """Oracle: statsmodels' Newcombe interval for independent shares, where one margin is empty."""
    estimate = newcombe_interval(PairedTable(a, b, 0, 0), level=level)
    statsmodels = confint_proportions_2indep(a + b, a + b, a, a + b, method="newcomb", alpha=1 - level)
    assert (estimate.low, estimate.high) == pytest.approx(statsmodels, abs=1e-9)


@given(CELLS)
def test_it_holds_the_difference_has_a_width_and_turns_around(cells: tuple[int, int, int, int]) -> None:
    estimate = newcombe_interval(PairedTable(*cells))
    a, b, c, d = cells
    assert estimate.low is not None
    assert estimate.high is not None
    assert -1 <= estimate.low <= (b - c) / sum(cells) <= estimate.high <= 1
    assert estimate.high - estimate.low > 1e-6
    turned = newcombe_interval(PairedTable(a, c, b, d))
    assert (turned.low, turned.high) == pytest.approx((-estimate.high, -estimate.low), abs=1e-12)
    opposite = newcombe_interval(PairedTable(d, c, b, a))
    assert (opposite.low, opposite.high) == pytest.approx((-estimate.high, -estimate.low), abs=1e-12)


def test_a_higher_level_is_wider() -> None:
    narrow, wide = (newcombe_interval(PairedTable(20, 12, 2, 16), level=level) for level in (0.8, 0.99))
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low


def test_no_items_are_not_defined() -> None:
    estimate = newcombe_interval(PairedTable(0, 0, 0, 0, left_out=4))
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)


def test_a_bad_level_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^level: not a confidence level, got 1"):
        newcombe_interval(PairedTable(1, 1, 1, 1), level=1)
