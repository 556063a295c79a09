"""The cluster bootstrap through sums by cluster."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from experiments.stats.clusters import cluster_bootstrap
from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster


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


def few_rows(n_clusters: int) -> np.ndarray:
    """Sums of clusters of which many are equal: four distinct rows."""
    kinds = np.repeat([0, 1, 2, 3], [n_clusters - 3 * (n_clusters // 5), *[n_clusters // 5] * 3])
    return sum_by_cluster(np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 1.0], [0.1, 3.0]])[kinds], np.arange(n_clusters))


def test_drawing_distinct_rows_has_the_distribution_of_drawing_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two-sample Kolmogorov-Smirnov, and the exact mean and variance of a total."""
    sums = few_rows(200)
    rows = bootstrap_sums(sums, rng=np.random.default_rng(1), resamples=20_000)
    monkeypatch.setattr(cluster_bootstrap, "CLUSTERS_A_ROW", 10**9)
    clusters = bootstrap_sums(sums, rng=np.random.default_rng(2), resamples=20_000)
    ratio = [totals[:, 0] / totals[:, 1] for totals in (rows, clusters)]
    assert stats.ks_2samp(*ratio).pvalue > 0.01
    for totals in (rows, clusters):
        assert totals.mean(axis=0) == pytest.approx(sums.sum(axis=0), rel=0.005)
        assert np.cov(totals.T) == pytest.approx(np.cov(sums.T, ddof=0) * 200, rel=0.05)


def test_a_distinct_row_is_drawn_as_often_as_its_clusters_are() -> None:
    """Chi-square of the counts of one row against the binomial distribution."""
    sums = np.repeat([[0.0], [1.0]], [150, 50], axis=0)
    totals = bootstrap_sums(sums, rng=np.random.default_rng(3), resamples=20_000)[:, 0]
    edges = np.arange(38, 64)
    observed = np.histogram(totals, [-1, *edges, 201])[0]
    expected = np.diff(stats.binom.cdf([-1, *(edges - 1), 200], 200, 0.25)) * 20_000
    assert stats.chisquare(observed, expected).pvalue > 0.01


@pytest.mark.parametrize("n_clusters", [7, 64, 1000])
def test_each_resample_of_rows_draws_as_many_clusters_as_there_are(n_clusters: int) -> None:
    sums = np.column_stack([np.ones(n_clusters), np.arange(n_clusters) // 100])
    draws = bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=300)
    assert draws.shape == (300, 2)
    assert np.array_equal(draws[:, 0], np.full(300, float(n_clusters)))


@given(
    values=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0]), min_size=1, max_size=120),
    size=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_neither_order_nor_names_move_the_last_bit(values: list[float], size: int, seed: int) -> None:
    table = np.column_stack([values, np.ones(len(values))])
    codes = np.arange(len(values)) // size
    order = np.random.default_rng(seed).permutation(len(values))
    names = np.random.default_rng(seed).permutation(codes.max() + 1)
    first = bootstrap_sums(sum_by_cluster(table, codes), rng=np.random.default_rng(5), resamples=20)
    second = bootstrap_sums(
        sum_by_cluster(table[order], names[codes][order]), rng=np.random.default_rng(5), resamples=20
    )
    assert np.array_equal(first, second)


def test_sums_that_differ_by_rounding_are_one_row() -> None:
    exact = np.repeat([[0.3, 2.0], [0.7, 2.0]], 40, axis=0)
    rounded = exact.copy()
    rounded[20:40, 0] = 0.1 + 0.2
    assert rounded[20, 0] != rounded[0, 0]
    first, second = (bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=50) for sums in (exact, rounded))
    assert_allclose(first, second, rtol=1e-13)


def test_sums_that_truly_differ_are_kept_apart() -> None:
    sums = np.column_stack([np.repeat([1.0, 1.0 + 1e-9], 500), np.ones(1000)])
    excess = bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=200)[:, 0] - 1000
    assert excess.std() == pytest.approx(1e-9 * np.sqrt(250), rel=0.2)


@pytest.mark.parametrize("sums", [few_rows(400), np.random.default_rng(0).random((100, 3))], ids=["rows", "clusters"])
def test_blocks_bound_the_memory_and_change_nothing_else(sums: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap_sums(sums, rng=np.random.default_rng(1), resamples=101)
    monkeypatch.setattr(cluster_bootstrap, "BLOCK", 1)
    monkeypatch.setattr(cluster_bootstrap, "LARGEST", 900)
    assert_allclose(bootstrap_sums(sums, rng=np.random.default_rng(1), resamples=101), whole, rtol=1e-13)


def test_memory_does_not_grow_with_clusters_times_resamples() -> None:
    """Forty resamples of 600,000 distinct clusters would be 192 MB of weights."""
    sums = np.random.default_rng(0).random((600_000, 1))
    tracemalloc.start()
    bootstrap_sums(sums, rng=np.random.default_rng(0), resamples=40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 130e6


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


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, float("nan")])
def test_what_is_no_level_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match=r"^level: not a confidence level, got .+; expected a number between 0 and 1"):
        percentile_interval(np.arange(5.0), level=level)
