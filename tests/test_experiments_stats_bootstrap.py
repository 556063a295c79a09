"""The cluster bootstrap through sums by cluster."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.stats.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster


def test_sums_by_cluster() -> None:
    contributions = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [8.0, 80.0]])
    sums = sum_by_cluster(contributions, np.array([1, 0, 1, 2]))
    assert sorted(map(tuple, sums)) == [(2.0, 20.0), (5.0, 50.0), (8.0, 80.0)]
    assert sum_by_cluster(np.zeros((0, 2)), np.zeros(0, dtype=np.int64)).shape == (0, 2)


def test_each_resample_draws_as_many_clusters_as_there_are() -> None:
    sums = np.column_stack([np.ones(7), np.arange(7.0)])
    draws = bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=250)
    assert draws.shape == (250, 2)
    assert_allclose(draws[:, 0], 7.0)


def test_the_spread_is_that_of_resampling_clusters_one_by_one() -> None:
    rng = np.random.default_rng(0)
    sums = np.column_stack([rng.normal(size=30), np.ones(30)])
    fast = bootstrap_sums(sums, rng=rng, resamples=20_000)[:, 0] / 30
    slow = sums[rng.integers(30, size=(20_000, 30)), 0].mean(axis=1)
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.01)
    assert fast.std() == pytest.approx(sums[:, 0].std() / np.sqrt(30), rel=0.03)
    assert slow.std() == pytest.approx(fast.std(), rel=0.03)


def test_one_seed_is_one_result() -> None:
    sums = np.random.default_rng(0).random((50, 3))
    first, second = (bootstrap_sums(sums, rng=np.random.default_rng(9), resamples=120) for _ in range(2))
    assert np.array_equal(first, second)
    other = bootstrap_sums(sums, rng=np.random.default_rng(10), resamples=120)
    assert not np.array_equal(first, other)


def test_a_thousand_resamples_of_ten_thousand_distinct_clusters_take_under_two_seconds() -> None:
    sums = np.random.default_rng(0).random((10_000, 9))
    start = time.perf_counter()
    bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=1000)
    assert time.perf_counter() - start < 2.0


def test_percentiles() -> None:
    assert percentile_interval(np.arange(1001.0), level=0.9) == pytest.approx((50.0, 950.0))


@pytest.mark.parametrize(
    "draws", [[], [np.nan, np.nan], [0.5, 0.5, 0.5], [0.1, 0.2, np.nan, np.nan, np.nan], [0.3, 0.3 + 1e-15]]
)
def test_draws_that_say_nothing_give_no_interval(draws: list[float]) -> None:
    assert percentile_interval(np.array(draws), level=0.95) is None


def test_undefined_draws_are_left_out() -> None:
    draws = np.array([*np.linspace(0, 1, 101), *[np.nan] * 50])
    assert percentile_interval(draws, level=0.9) == pytest.approx((0.05, 0.95))


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^resamples: too few, got 0; expected 1 or more"):
        bootstrap_sums(np.ones((2, 1)), rng=np.random.default_rng(0), resamples=0)
