"""Every interval for a rate, on one call signature."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from experiments.stats import Estimate, clustered_wilson, wilson
from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums
from experiments.stats.intervals.clustered_wilson import clustered_sample_size, share_sums
from experiments.stats.intervals.rate_intervals import METHODS, RateMethod, rate_interval

RESAMPLED: tuple[RateMethod, ...] = ("bootstrap-percentile", "bootstrap-bca")
GROUPED: tuple[RateMethod, ...] = tuple(method for method in METHODS if method != "wilson")


def bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def interval(
    means: list[float], clusters: list[int], method: RateMethod, repeats: int = 1, level: float = 0.95
) -> Estimate:
    rng = np.random.default_rng(7)
    return rate_interval(means, clusters, repeats=repeats, level=level, method=method, rng=rng, resamples=500)


def single(successes: int, n: int, method: RateMethod, level: float = 0.95) -> Estimate:
    return interval([1.0] * successes + [0.0] * (n - successes), list(range(n)), method, level=level)


def test_the_default_is_the_first_method_and_the_clustered_wilson_interval() -> None:
    means, clusters = [0.0, 0.2, 1.0, 0.4], ["a", "a", "b", "c"]
    assert rate_interval(means, clusters, repeats=5) == clustered_wilson(means, clusters, repeats=5)
    assert METHODS[0] == "wilson-clustered"
    assert get_args(RateMethod) == METHODS


@given(n=st.integers(1, 200), share=st.floats(0, 1), level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_single_labels_equal_statsmodels(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    oracles: dict[RateMethod, str] = {"wilson": "wilson", "clopper-pearson": "beta", "jeffreys": "jeffreys"}
    for method, name in oracles.items():
        low, high = proportion_confint(successes, n, alpha=1 - level, method=name)
        if method == "jeffreys":  # statsmodels' interval leaves out the rate itself at 0/n and n/n
            low, high = (0.0 if successes == 0 else low), (1.0 if successes == n else high)
        assert_allclose(bounds(single(successes, n, method, level)), (low, high), rtol=0, atol=1e-9)


@given(n=st.integers(1, 60), share=st.floats(0, 1), level=st.sampled_from([0.8, 0.95]))
def test_single_labels_equal_scipy_binomtest(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    test = stats.binomtest(successes, n)
    exact, score = test.proportion_ci(level, method="exact"), test.proportion_ci(level, method="wilson")
    assert_allclose(bounds(single(successes, n, "clopper-pearson", level)), (exact.low, exact.high), atol=1e-9)
    assert_allclose(bounds(single(successes, n, "wilson", level)), (score.low, score.high), atol=1e-9)


@pytest.mark.parametrize(
    ("successes", "n", "method", "low", "high"),
    [
        (0, 10, "wilson", 0.0, 0.2775),
        (0, 10, "clopper-pearson", 0.0, 0.3085),
        (10, 10, "clopper-pearson", 0.6915, 1.0),
        (0, 50, "clopper-pearson", 0.0, 0.0711),
        (19, 20, "wilson", 0.7639, 0.9911),
        (15, 1000, "wilson", 0.0091, 0.0246),
        (5, 50, "wilson", 0.0435, 0.2136),
    ],
)
def test_printed_intervals(successes: int, n: int, method: RateMethod, low: float, high: float) -> None:
    estimate = single(successes, n, method)
    assert_allclose(bounds(estimate), (low, high), atol=5e-5)
    assert (estimate.method, estimate.n, estimate.clusters, estimate.repeats) == (method, n, n, 1)


def test_with_questions_and_repeats_it_is_the_beta_quantile_of_the_effective_size() -> None:
    """Korn and Graubard's formula as R's survey::svyciprop(method="beta") writes it, on our effective size."""
    rng = np.random.default_rng(3)
    clusters = (np.arange(200) // 4).tolist()
    means = rng.binomial(10, rng.beta(0.6, 1.4, size=50)[clusters]) / 10
    sums, sizes = means.reshape(50, 4).sum(axis=1), np.full(50, 4.0)
    rate, variance = means.mean(), ((sums - means.mean() * 4) ** 2).sum() / (1 - 4 / 200) / 200**2
    spread = min(sums.sum() ** 2 / (sums**2).sum(), (sizes - sums).sum() ** 2 / ((sizes - sums) ** 2).sum())
    shrink = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, spread - 1)) ** 2
    size = rate * (1 - rate) / variance * shrink
    assert clustered_sample_size(*share_sums(means, clusters), n_verdicts=2000, level=0.95) == pytest.approx(size)
    exact = (
        stats.beta.ppf(0.025, size * rate, size * (1 - rate) + 1),
        stats.beta.ppf(0.975, size * rate + 1, size * (1 - rate)),
    )
    jeffreys = stats.beta.ppf([0.025, 0.975], size * rate + 0.5, size * (1 - rate) + 0.5)
    assert_allclose(bounds(rate_interval(means, clusters, repeats=10, method="clopper-pearson")), exact, atol=1e-9)
    assert_allclose(bounds(rate_interval(means, clusters, repeats=10, method="jeffreys")), jeffreys, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("method", GROUPED)
def test_none_and_all_rest_on_the_questions_and_never_have_zero_width(method: RateMethod, value: float) -> None:
    few = interval([value] * 30, [row // 3 for row in range(30)], method, repeats=10)
    alone = single(round(value * 10), 10, method)
    assert_allclose(bounds(few), bounds(alone), atol=1e-12)
    assert bounds(few)[1] - bounds(few)[0] > 0.2
    assert few.value == value
    assert few.method == ("wilson-clustered" if method in RESAMPLED else method)


@pytest.mark.parametrize("method", RESAMPLED)
def test_one_question_and_equal_questions_fall_back(method: RateMethod) -> None:
    for means, clusters in ([0.2, 0.6], [0, 0]), ([0.5, 0.5, 0.5], [0, 1, 2]), ([0.3], [4]):
        estimate = interval(means, clusters, method, repeats=10)
        assert estimate == clustered_wilson(means, clusters, repeats=10)


def test_bounds_that_fall_together_fall_back() -> None:
    """A level so low that both percentiles are the commonest draw."""
    estimate = single(100, 200, "bootstrap-percentile", level=0.001)
    assert estimate.method == "wilson-clustered"
    assert single(100, 200, "bootstrap-percentile", level=0.5).method == "bootstrap-percentile"


def test_draws_on_one_side_of_the_rate_fall_back_for_bca() -> None:
    estimate = rate_interval(
        [0.0, 1.0, 1.0], [0, 1, 2], repeats=1, method="bootstrap-bca", rng=np.random.default_rng(2), resamples=1
    )
    assert estimate.method == "wilson-clustered"


@pytest.mark.parametrize(("method", "scipys"), [("bootstrap-percentile", "percentile"), ("bootstrap-bca", "BCa")])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_equals_scipy_bootstrap_on_the_same_draws(method: RateMethod, scipys: str, level: float) -> None:
    """scipy.stats.bootstrap is given our draws, and leaves out questions of unequal size for the acceleration."""
    rng = np.random.default_rng(11)
    codes = np.sort(rng.integers(40, size=120))
    means = rng.choice([0.0, 0.25, 0.5, 1.0], p=[0.7, 0.1, 0.1, 0.1], size=120)
    sums, sizes = share_sums(means, codes.tolist())
    totals = bootstrap_sums(np.column_stack([sums, sizes]), rng=np.random.default_rng(5), resamples=2000)

    class Drawn:
        bootstrap_distribution = totals[:, 0] / totals[:, 1]

    def rate(one: np.ndarray, two: np.ndarray, axis: int) -> np.ndarray:
        return one.sum(axis=axis) / two.sum(axis=axis)

    expected = stats.bootstrap(
        (sums, sizes), rate, paired=True, n_resamples=0, bootstrap_result=Drawn, method=scipys, confidence_level=level
    ).confidence_interval
    ours = rate_interval(
        means, codes.tolist(), repeats=4, level=level, method=method, rng=np.random.default_rng(5), resamples=2000
    )
    assert ours.method == method
    assert_allclose(bounds(ours), (expected.low, expected.high), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("method", "scipys"), [("bootstrap-percentile", "percentile"), ("bootstrap-bca", "BCa")])
def test_equals_scipy_bootstrap_on_its_own_draws(method: RateMethod, scipys: str) -> None:
    """Within the error of 20,000 draws, on the means of questions of equal size."""
    values = np.random.default_rng(4).beta(0.3, 2.0, size=60)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method=scipys, rng=np.random.default_rng(1), batch=2000
    ).confidence_interval
    items, clusters = np.repeat(values, 3).tolist(), np.repeat(np.arange(60), 3).tolist()
    ours = rate_interval(items, clusters, repeats=9, method=method, rng=np.random.default_rng(2), resamples=20_000)
    assert_allclose(bounds(ours), (expected.low, expected.high), rtol=0, atol=0.0015)


def test_bca_moves_away_from_the_percentiles_towards_the_long_tail() -> None:
    values = np.random.default_rng(4).beta(0.3, 4.0, size=40).tolist()
    plain, shifted = (interval(values, list(range(40)), method, repeats=10) for method in RESAMPLED)
    assert bounds(shifted)[0] > bounds(plain)[0]
    assert bounds(shifted)[1] > bounds(plain)[1]


@given(
    means=st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]), min_size=1, max_size=25),
    n_clusters=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    method=st.sampled_from(GROUPED),
)
def test_order_and_names_change_no_digit_and_the_interval_is_around_the_rate(
    means: list[float], n_clusters: int, seed: int, method: RateMethod
) -> None:
    clusters = [row % n_clusters for row in range(len(means))]
    estimate = interval(means, clusters, method, repeats=10)
    order = np.random.default_rng(seed).permutation(len(means))
    renamed = [-clusters[row] * 7 for row in order]
    assert interval([means[row] for row in order], renamed, method, repeats=10) == estimate
    low, high = bounds(estimate)
    assert estimate.value is not None
    assert 0.0 <= low < high <= 1.0
    if method not in RESAMPLED:
        assert low <= estimate.value <= high


@given(means=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=2, max_size=20), method=st.sampled_from(GROUPED))
def test_errors_and_right_answers_mirror_each_other(means: list[float], method: RateMethod) -> None:
    if method in RESAMPLED:
        return  # their draws differ
    clusters = [row // 2 for row in range(len(means))]
    low, high = bounds(interval(means, clusters, method, repeats=10))
    mirrored = bounds(interval([1 - mean for mean in means], clusters, method, repeats=10))
    assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_is_wider(method: RateMethod) -> None:
    inner, outer = (bounds(single(12, 40, method, level)) for level in (0.8, 0.99))
    assert outer[0] < inner[0] < inner[1] < outer[1]


@pytest.mark.parametrize("method", METHODS)
def test_the_rate_of_nothing_is_not_defined(method: RateMethod) -> None:
    assert interval([], [], method, repeats=0) == Estimate(None, None, None, 0.95, method, 0, 0, 0)


def test_plain_wilson_is_wilson() -> None:
    assert single(3, 12, "wilson") == wilson(3, 12)


@pytest.mark.parametrize(
    ("means", "clusters", "repeats", "where"),
    [
        ([1.0, 0.0], [0, 1], 10, "repeats"),
        ([1.0, 0.0], [0, 0], 1, "clusters"),
        ([0.5, 0.0], [0, 1], 1, "item_means"),
    ],
)
def test_plain_wilson_is_never_offered_with_repeats_or_questions(
    means: list[float], clusters: list[int], repeats: int, where: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{where}: .*, got .*; expected "):
        rate_interval(means, clusters, repeats=repeats, method="wilson")


@pytest.mark.parametrize("method", RESAMPLED)
def test_the_bootstrap_needs_a_generator_and_resamples(method: RateMethod) -> None:
    with pytest.raises(ValueError, match=r"^rng: missing, got None; expected "):
        rate_interval([0.5], [0], repeats=1, method=method)
    with pytest.raises(ValueError, match=r"^resamples: too few, got 0; expected "):
        rate_interval([0.5], [0], repeats=1, method=method, rng=np.random.default_rng(0), resamples=0)


@pytest.mark.parametrize("method", METHODS)
def test_bad_input_is_refused_by_every_method(method: RateMethod) -> None:
    with pytest.raises(ValueError, match=r"^item_means\[1\]: not a share, got 1.5; expected "):
        interval([0.5, 1.5], [0, 1], method)
    with pytest.raises(ValueError, match=r"^clusters: wrong length, got 1; expected 2"):
        interval([0.5, 0.5], [0], method)
    with pytest.raises(ValueError, match=r"^level: not a confidence level"):
        interval([0.5], [0], method, level=95)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^method: unknown, got 'wald'; expected one of "):
        rate_interval([0.5], [0], repeats=1, method="wald")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", RESAMPLED)
def test_one_seed_is_one_interval(method: RateMethod) -> None:
    means, clusters = [0.1, 0.7, 0.2, 0.0, 1.0, 0.3], [0, 1, 1, 2, 3, 4]
    assert interval(means, clusters, method, repeats=10) == interval(means, clusters, method, repeats=10)
    other = rate_interval(means, clusters, repeats=10, method=method, rng=np.random.default_rng(8), resamples=500)
    assert other != interval(means, clusters, method, repeats=10)
