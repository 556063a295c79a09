"""The bias-corrected and accelerated interval on given draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.stats.clusters.bca_interval import bca_interval
from experiments.stats.clusters.cluster_bootstrap import percentile_interval


def drawn(values: np.ndarray, n: int = 3000) -> np.ndarray:
    return values[np.random.default_rng(1).integers(len(values), size=(n, len(values)))].mean(axis=1)


def without_each(values: np.ndarray) -> np.ndarray:
    return (values.sum() - values) / (len(values) - 1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("kind", ["skewed", "ties"])
def test_equals_scipy_on_the_same_draws(kind: str, level: float) -> None:
    rng = np.random.default_rng(0)
    values = rng.exponential(size=30) if kind == "skewed" else rng.integers(3, size=32) / 4

    class Drawn:
        bootstrap_distribution = drawn(values)

    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=0, bootstrap_result=Drawn, method="BCa", confidence_level=level
    ).confidence_interval
    ours = bca_interval(drawn(values), value=values.mean(), jackknife=without_each(values), level=level)
    assert ours is not None
    assert_allclose(ours, (expected.low, expected.high), rtol=0, atol=1e-9)


def test_without_bias_and_skew_it_is_the_percentile_interval() -> None:
    draws, jackknife = np.linspace(-1, 1, 2001), np.array([-1.0, -0.5, 0.5, 1.0])
    ours = bca_interval(draws, value=0.0, jackknife=jackknife, level=0.9)
    assert ours == pytest.approx(percentile_interval(draws, level=0.9), abs=1e-9)


def test_rounding_does_not_untie_draws_that_equal_the_value() -> None:
    values = np.arange(20) % 2 / 1.0
    draws = drawn(values)
    ours = bca_interval(draws, value=0.5, jackknife=without_each(values), level=0.95)
    noise = np.random.default_rng(2).choice([-1e-16, 0.0, 1e-16], size=len(draws))
    rounded = bca_interval(draws + noise, value=0.5, jackknife=without_each(values), level=0.95)
    assert ours == pytest.approx(rounded, abs=1e-12)


def test_undefined_draws_are_left_out() -> None:
    values = np.random.default_rng(0).random(25)
    draws = drawn(values)
    gaps = np.concatenate([draws, np.full(100, np.nan)])
    one, two = (bca_interval(d, value=values.mean(), jackknife=without_each(values), level=0.9) for d in (draws, gaps))
    assert one == two


@pytest.mark.parametrize(
    ("draws", "value", "jackknife"),
    [
        ([0.5, 0.5, 0.5], 0.5, [0.4, 0.6]),
        ([0.1, 0.2, 0.3], 0.9, [0.4, 0.6]),
        ([0.1, 0.2, 0.3], 0.05, [0.4, 0.6]),
        ([0.1, 0.2, 0.3], 0.2, [0.4, 0.4]),
        ([0.1, 0.2, 0.3], 0.2, [0.4]),
        ([0.1, 0.2, 0.3], 0.2, []),
        ([0.1, 0.2, 0.3], 0.2, [0.4, np.nan]),
        ([np.nan, np.nan, 0.3], 0.2, [0.4, 0.5]),
        ([0.1, *[0.3] * 500, 0.4], 0.3, [0.4, 0.5]),
    ],
    ids=["equal", "above", "below", "flat", "single", "none", "undefined", "mostly-undefined", "one-value"],
)
def test_where_it_is_not_defined_there_is_none(draws: list[float], value: float, jackknife: list[float]) -> None:
    assert bca_interval(np.array(draws), value=value, jackknife=np.array(jackknife), level=0.95) is None
