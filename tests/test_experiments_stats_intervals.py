"""Wilson's interval, plain and on the effective sample size of clustered items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.proportion import proportion_confint

from experiments.stats import Estimate, clustered_standard_error, clustered_wilson, few_clusters, wilson
from experiments.stats.intervals.clustered_wilson import clustered_bounds, clustered_sample_size, share_sums


def bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 50, 0.0, 0.0713),
        (19, 20, 0.7639, 0.9911),
        (1, 1, 0.2065, 1.0),
        (0, 1, 0.0, 0.7935),
        (0, 5000, 0.0, 0.000768),
        (15, 1000, 0.0091, 0.0246),
        (5, 50, 0.0435, 0.2136),
    ],
)
def test_printed_wilson_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert_allclose(bounds(wilson(successes, n)), (low, high), atol=5e-5)
    items = [1.0] * successes + [0.0] * (n - successes)
    assert_allclose(bounds(clustered_wilson(items, range(n), repeats=1)), (low, high), atol=5e-5)


@given(n=st.integers(1, 300), share=st.floats(0, 1), level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_equals_statsmodels_on_single_verdicts(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert_allclose(bounds(wilson(successes, n, level=level)), expected, rtol=0, atol=1e-12)
    items = [1.0] * successes + [0.0] * (n - successes)
    clustered = clustered_wilson(items, range(n), repeats=1, level=level)
    assert_allclose(bounds(clustered), expected, rtol=0, atol=1e-12)


@given(
    means=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1), min_size=1, max_size=40),
    n_clusters=st.integers(1, 12),
    repeats=st.integers(1, 20),
)
def test_never_zero_width_never_outside_and_always_around_the_value(
    means: list[float], n_clusters: int, repeats: int
) -> None:
    estimate = clustered_wilson(means, [row % n_clusters for row in range(len(means))], repeats=repeats)
    low, high = bounds(estimate)
    assert estimate.value is not None
    assert 0.0 <= low <= estimate.value <= high <= 1.0
    assert high - low > 0.5 / (len(means) * repeats + 4)


def test_the_mean_of_nothing_is_not_defined() -> None:
    assert wilson(0, 0) == Estimate(None, None, None, 0.95, "wilson", 0, 0, 0)
    assert clustered_wilson([], [], repeats=5) == Estimate(None, None, None, 0.95, "wilson-clustered", 0, 0, 0)


def test_repeats_of_one_item_are_one_item() -> None:
    """Ten right verdicts on one item read as one item, not as ten."""
    once, often = clustered_wilson([1.0], ["q"], repeats=1), clustered_wilson([1.0], ["q"], repeats=10)
    assert bounds(once) == bounds(often)
    assert_allclose(bounds(often), (0.2065, 1.0), atol=5e-5)
    assert (often.n, often.clusters, often.repeats) == (1, 1, 10)


def test_ten_items_that_never_change_over_three_repeats() -> None:
    assert_allclose(bounds(clustered_wilson([1.0] * 10, range(10), repeats=3)), (0.7225, 1.0), atol=5e-5)


def test_all_items_of_one_question_are_one_cluster() -> None:
    estimate = clustered_wilson([1.0] * 30, ["q"] * 30, repeats=1)
    assert_allclose(bounds(estimate), (0.2065, 1.0), atol=5e-5)
    mixed = clustered_wilson([1.0, 0.0] * 15, ["q"] * 30, repeats=1)
    assert_allclose(bounds(mixed), proportion_confint(0.5, 1, method="wilson"), atol=1e-12)


def test_none_wrong_rests_on_the_number_of_questions() -> None:
    estimate = clustered_wilson([0.0] * 100, [row // 10 for row in range(100)], repeats=10)
    assert_allclose(bounds(estimate), (0.0, 0.2775), atol=5e-5)


def test_repeats_that_say_the_same_do_not_narrow_the_interval() -> None:
    """Twenty questions, ten repeats each that agree: the pooled standard error is three times too small."""
    right = [1.0] * 10 + [0.0] * 10
    error = clustered_standard_error(right, range(20))
    assert error == pytest.approx(math.sqrt(0.25 / 19))
    assert error == pytest.approx(0.1147, abs=5e-5)
    assert error > 3 * math.sqrt(0.25 / 200)
    pooled = wilson(100, 200)
    clustered = clustered_wilson(right, range(20), repeats=10)
    assert bounds(clustered) == bounds(wilson(10, 20))
    assert bounds(clustered)[1] - bounds(clustered)[0] > 2.5 * (bounds(pooled)[1] - bounds(pooled)[0])


def test_verdicts_as_items_of_their_question_have_the_same_standard_error() -> None:
    verdicts = [1.0] * 100 + [0.0] * 100
    assert clustered_standard_error(verdicts, [row // 10 for row in range(200)]) == pytest.approx(0.1147, abs=5e-5)


def test_standard_error_of_single_items_is_the_textbook_one() -> None:
    scores = [1.0] * 40 + [0.0] * 60
    error = clustered_standard_error(scores, range(100))
    assert error == pytest.approx(np.std(scores, ddof=1) / 10)
    assert error == pytest.approx(0.049, abs=5e-4)  # and not .49, the spread of the scores
    assert clustered_standard_error([0.3], ["q"]) is None
    assert clustered_standard_error([0.3, 0.4], ["q", "q"]) is None


def test_near_duplicate_questions_widen_the_interval() -> None:
    """A template of 119 questions among 300 single ones, all right or all wrong together."""
    means = [1.0] * 119 + [0.0, 1.0] * 150
    alone = bounds(clustered_wilson(means, range(419), repeats=1))
    together = bounds(clustered_wilson(means, ["template"] * 119 + list(range(300)), repeats=1))
    assert together[1] - together[0] > 3 * (alone[1] - alone[0])


def test_informative_repeats_narrow_the_interval() -> None:
    """Items that all err in about half of their verdicts tell more than items that are right or wrong."""
    rng = np.random.default_rng(0)
    means = rng.binomial(10, 0.5, size=100) / 10
    low, high = bounds(clustered_wilson(means, range(100), repeats=10))
    assert high - low < 0.5 * (bounds(wilson(50, 100))[1] - bounds(wilson(50, 100))[0])
    assert high - low > 0.9 * (bounds(wilson(500, 1000))[1] - bounds(wilson(500, 1000))[0])


def test_equal_means_that_are_not_whole_do_not_read_as_certainty() -> None:
    """No variance between items, but for rounding: the size falls back on the number of questions."""
    estimate = clustered_wilson([0.1] * 20, range(20), repeats=10)
    assert_allclose(bounds(estimate), bounds(wilson(2, 20)), atol=1e-12)


def test_effective_size_never_exceeds_the_verdicts() -> None:
    """Nearly equal means: a variance near zero is not believed beyond the number of verdicts."""
    means = np.full(1000, 0.5)
    means[0] = 0.4
    low, high = bounds(clustered_wilson(means, range(1000), repeats=10))
    pooled = bounds(wilson(5000, 10_000))
    assert high - low > pooled[1] - pooled[0]


def test_hand_computed_clustered_interval() -> None:
    """Three questions of 4 items with 1, 2 and 3 right, by the formula at the head of the module."""
    sums, sizes = np.array([1.0, 2.0, 3.0]), np.full(3, 4.0)
    # v = (1 + 0 + 1) / (1 - 1/3) / 144 = 1/48; n_eff = .25 * 48 = 12, k = 36 / 14, t(11/7) is 5.9: z**2 / 3 wins.
    assert_allclose(
        clustered_bounds(sums, sizes, n_verdicts=120, level=0.95), proportion_confint(1.5, 3, method="wilson")
    )
    many = clustered_bounds(np.tile(sums, 10), np.tile(sizes, 10), n_verdicts=1200, level=0.95)
    # v = 20 / (1 - 1/30) / 120**2; k = 60**2 / 140 = 180/7, t with 173/7 degrees of freedom = 2.0607.
    ratio = 2.0607**2 * (20 / (29 / 30) / 120**2) / 0.25
    half = math.sqrt(ratio / 4 + ratio**2 / 4) / (1 + ratio)
    assert_allclose(many, (0.5 - half, 0.5 + half), atol=1e-5)


@given(
    means=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=40),
    n_clusters=st.integers(1, 12),
    level=st.sampled_from([0.8, 0.95]),
)
def test_the_clustered_interval_is_statsmodels_wilson_of_the_clustered_sample_size(
    means: list[float], n_clusters: int, level: float
) -> None:
    sums, sizes = share_sums(means, [row % n_clusters for row in range(len(means))])
    size = clustered_sample_size(sums, sizes, n_verdicts=10 * len(means), level=level)
    expected = proportion_confint(float(sums.sum() / sizes.sum()) * size, size, alpha=1 - level, method="wilson")
    assert_allclose(clustered_bounds(sums, sizes, n_verdicts=10 * len(means), level=level), expected, atol=1e-9)


def test_the_sample_size_of_single_labels_is_their_number_and_of_equal_questions_the_questions() -> None:
    single = share_sums([1.0] * 30 + [0.0] * 70, range(100))
    assert clustered_sample_size(*single, n_verdicts=100, level=0.95) == pytest.approx(100, rel=1e-12)
    equal = share_sums([0.0] * 60, [row // 3 for row in range(60)])
    assert clustered_sample_size(*equal, n_verdicts=600, level=0.95) == pytest.approx(20, rel=1e-12)


def test_a_higher_level_is_wider() -> None:
    means, clusters = [0.0, 0.2, 0.4, 1.0] * 10, [row // 2 for row in range(40)]
    inner, outer = (bounds(clustered_wilson(means, clusters, repeats=5, level=level)) for level in (0.8, 0.99))
    assert outer[0] < inner[0] < inner[1] < outer[1]


@pytest.mark.parametrize(("n", "few"), [(0, False), (1, True), (9, True), (10, False), (500, False)])
def test_few_clusters_are_flagged(n: int, few: bool) -> None:
    assert few_clusters(clustered_wilson([0.5] * n, range(n), repeats=2)) is few
    assert few_clusters(clustered_wilson([0.5] * n * 3, list(range(n)) * 3, repeats=2)) is few


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match=r"^wilson: impossible count, got .*; expected "):
        wilson(successes, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, float("nan")])
def test_levels_outside_the_unit_interval_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match=r"^level: .*; expected "):
        wilson(1, 2, level=level)
    with pytest.raises(ValueError, match=r"^level: .*; expected "):
        clustered_wilson([0.5], ["q"], repeats=1, level=level)


@pytest.mark.parametrize(
    ("means", "clusters", "where"),
    [
        ([1.5], ["q"], r"item_means\[0\]"),
        ([0.5, float("nan")], ["q", "r"], r"item_means\[1\]"),
        ([-0.1], ["q"], r"item_means\[0\]"),
        ([[0.5]], ["q"], "item_means"),
        ([0.5], ["q", "r"], "clusters"),
    ],
)
def test_bad_means_are_refused(means: list[float], clusters: list[str], where: str) -> None:
    with pytest.raises(ValueError, match=rf"^{where}: .*, got .*; expected "):
        clustered_wilson(means, clusters, repeats=1)
