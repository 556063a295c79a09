"""Detectable differences, against statsmodels' power functions and by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.power import NormalIndPower, TTestPower

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.planning.planning_power import (
    detectable_difference,
    detectable_difference_unpaired,
    paired_power,
)

POWERS = st.floats(0.3, 0.95)
LEVELS = st.sampled_from([0.9, 0.95, 0.99])


@given(effect=st.floats(0.05, 1.5), n=st.integers(3, 400), level=LEVELS)
def test_power_is_statsmodels_paired_t_test(effect: float, n: int, level: float) -> None:
    """statsmodels leaves out no tail either; its effect is the difference in standard deviations."""
    expected = TTestPower().power(effect, n, 1 - level, alternative="two-sided")
    if np.isnan(expected):  # SciPy's lower tail where it is below 1e-15
        expected = TTestPower().power(effect, n, (1 - level) / 2, alternative="larger")
    assert_allclose(paired_power(-0.3 * effect, 0.3, n, level=level), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [5, 20, 300, 3600])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
def test_detectable_difference_is_statsmodels_paired_t_test(n: int, power: float) -> None:
    effect = TTestPower().solve_power(nobs=n, alpha=0.05, power=power, alternative="two-sided")
    found = detectable_difference(0.4, n, power=power)
    assert_allclose(found, 0.4 * effect, rtol=2e-5)  # its solver stops early; its power function does not
    assert_allclose(TTestPower().power(found / 0.4, n, 0.05, alternative="two-sided"), power, rtol=0, atol=1e-9)


@given(n=st.integers(2, 2000), power=POWERS, level=LEVELS, deviation=st.floats(0.01, 2))
def test_power_at_the_detectable_difference_is_the_power(n: int, power: float, level: float, deviation: float) -> None:
    found = detectable_difference(deviation, n, power=power, level=level)
    assert_allclose(paired_power(found, deviation, n, level=level), power, rtol=0, atol=1e-9)
    assert paired_power(found * 0.99, deviation, n, level=level) < power


@given(rate=st.floats(0.01, 0.99), n=st.integers(10, 5000), ratio=st.floats(0.1, 10), power=POWERS)
def test_unpaired_is_statsmodels_normal(rate: float, n: int, ratio: float, power: float) -> None:
    found = detectable_difference_unpaired(rate, n, n * ratio, power=power)
    effect = found / (rate * (1 - rate)) ** 0.5
    assert_allclose(NormalIndPower().power(effect, n, 0.05, ratio=ratio), power, rtol=0, atol=1e-9)


@given(n=st.integers(20, 500), items=st.integers(2, 10), correlation=st.floats(0, 1))
def test_items_of_one_question_count_for_less(n: int, items: int, correlation: float) -> None:
    """Fully correlated items are one; independent ones cost only degrees of freedom."""
    alone = detectable_difference(0.4, n)
    together = detectable_difference(0.4, n * items, items_per_question=items, correlation=correlation)
    assert together <= alone * (1 + 1e-9)
    assert_allclose(detectable_difference(0.4, n * items, items_per_question=items, correlation=1.0), alone, rtol=1e-9)
    assert together >= detectable_difference(0.4, n * items)


def test_power_is_the_share_of_simulated_tests_that_reject() -> None:
    """40 questions of 5 items, correlation .5 of their differences: 1,500 tests of the package's own interval."""
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5).tolist()
    shared, own = rng.normal(size=(1500, 40)), rng.normal(size=(1500, 200))
    values = 0.1 + 0.2 * (np.repeat(shared, 5, axis=1) + own)  # variance .08, half of it shared
    found = [clustered_mean(row, clusters) for row in values]
    rejected = np.mean([(e.low or 0.0) > 0 or (e.high or 0.0) < 0 for e in found])
    expected = paired_power(0.1, 0.08**0.5, 200, items_per_question=5, correlation=0.5)
    assert 0.6 < expected < 0.9
    assert_allclose(rejected, expected, rtol=0, atol=4 * (0.25 / 1500) ** 0.5)


def test_no_difference_is_found_as_often_as_the_size() -> None:
    assert_allclose(paired_power(0.0, 0.4, 50), 0.05, rtol=0, atol=1e-12)
    assert paired_power(50.0, 0.4, 3) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"deviation": 0.0}, "deviation: not a standard deviation, got 0.0; expected a number above 0"),
        ({"n": 1}, "n: too few items, got 1 in 1 questions; expected two or more questions"),
        ({"n": 10, "items_per_question": 10}, "n: too few items, got 10 in 1 questions"),
        ({"correlation": 1.5}, "correlation, repeat_share: not shares"),
        ({"power": 0.05}, "power: out of range, got 0.05; expected a number between 0.05 and 1"),
        ({"power": 1.0}, "power: out of range"),
        ({"level": 0.0}, "level: not a confidence level"),
    ],
)
def test_what_cannot_be_planned(changed: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"deviation": 0.4, "n": 50, **changed}
    with pytest.raises(ValueError, match=message):
        detectable_difference(arguments.pop("deviation"), arguments.pop("n"), **arguments)


@pytest.mark.parametrize(
    ("rate", "n", "other", "message"),
    [(0.0, 5, 5, "rate: not a rate"), (0.5, 0, 5, "n, other_n: too few"), (0.5, 5, -1, "n, other_n: too few")],
)
def test_what_cannot_be_planned_unpaired(rate: float, n: float, other: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        detectable_difference_unpaired(rate, n, other)
