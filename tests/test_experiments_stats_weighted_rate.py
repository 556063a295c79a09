"""Rates from items drawn with known chances: unbiased, and an interval that the certain items do not narrow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.errors import kish_size, weighted_rate
from experiments.stats.intervals import clustered_wilson


def test_equal_chances_are_the_plain_interval() -> None:
    means, clusters = [0.0, 0.5, 1.0, 0.25, 0.0], list("aabbc")
    plain = clustered_wilson(means, clusters, repeats=4)
    assert weighted_rate(means, [0.3] * 5, clusters, repeats=4) == plain


def test_the_value_is_that_of_weighted_least_squares_in_statsmodels() -> None:
    rng = np.random.default_rng(3)
    means, chances = rng.random(40), rng.uniform(0.05, 1, 40)
    found = weighted_rate(means, chances, list(range(40)), repeats=2)
    assert found.value == pytest.approx(sm.WLS(means, np.ones(40), weights=1 / chances).fit().params[0], abs=1e-12)
    assert found.method == "wilson-weighted"


def test_one_item_a_question_is_wilson_on_kishs_size() -> None:
    # Wilson [1927] with (sum w)^2 / sum w^2 for n, whatever the data.
    means, chances = np.array([1.0, 0, 0, 1, 0, 0, 0, 0]), np.array([1.0, 1, 1, 1, 0.1, 0.1, 0.1, 0.1])
    found = weighted_rate(means, chances, list(range(8)), repeats=1)
    weights = 1 / chances
    rate, n = (weights * means).sum() / weights.sum(), weights.sum() ** 2 / (weights**2).sum()
    z = stats.norm.ppf(0.975)
    middle, half = rate + z**2 / (2 * n), z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    assert found.low == pytest.approx((middle - half) / (1 + z**2 / n), abs=1e-12)
    assert found.high == pytest.approx((middle + half) / (1 + z**2 / n), abs=1e-12)
    assert kish_size(chances) == pytest.approx(n)


def test_a_robust_variance_widens_where_questions_agree_with_themselves() -> None:
    # The whole formula, spelt out: CR2 on weighted sums by question, at most Kish's number of items.
    rng = np.random.default_rng(8)
    codes = np.repeat(np.arange(40), 3)
    means = np.repeat(rng.random(40) < 0.4, 3) * rng.uniform(0.6, 1, 120)
    chances = np.where(np.arange(120) % 2, 1.0, 0.5)
    found = weighted_rate(means, chances, codes.tolist(), repeats=5)
    weights = 1 / chances
    sums = np.bincount(codes, weights * means)
    sizes = np.bincount(codes, weights)
    total = sizes.sum()
    rate = sums.sum() / total
    variance = ((sums - rate * sizes) ** 2 / (1 - sizes / total)).sum() / total**2
    effective = min(rate * (1 - rate) / variance, int(total**2 / (weights**2).sum()))
    spread = min(x.sum() ** 2 / (x**2).sum() for x in (sums, sizes - sums))
    ratio = min(
        stats.t.ppf(0.975, spread - 1) ** 2 / effective,
        stats.norm.ppf(0.975) ** 2 * (sizes**2).sum() / total**2,
    )
    half = np.sqrt(ratio * rate * (1 - rate) + ratio**2 / 4) / (1 + ratio)
    assert found.high == pytest.approx((rate + ratio / 2) / (1 + ratio) + half, abs=1e-12)


def test_the_mean_over_all_samples_is_the_mean_of_all_items() -> None:
    # Ranked items are always in; every sample of two of the other five: exact expectation of the weighted sums.
    values = np.array([1.0, 0.5, 1.0, 0.0, 0.0, 1.0, 0.25])
    found = []
    for pair in combinations(range(2, 7), 2):
        drawn = [0, 1, *pair]
        chances = [1.0, 1.0, 0.4, 0.4]
        found.append(weighted_rate(values[drawn], chances, drawn, repeats=1).value)
    # The sum of the weights is 7 in every sample, so that the ratio is unbiased too.
    assert np.mean(found) == pytest.approx(values.mean(), abs=1e-12)
    assert np.mean([values[[0, 1, *pair]].mean() for pair in combinations(range(2, 7), 2)]) > values.mean() + 0.05


def test_what_only_certain_items_show_does_not_narrow_the_interval() -> None:
    # 40 certain items, half of them wrong; 10 of 950 others, none wrong: their rate may well be 20%.
    means = [1.0] * 20 + [0.0] * 30
    found = weighted_rate(means, [1.0] * 40 + [10 / 950] * 10, list(range(50)), repeats=10)
    assert found.value == pytest.approx(20 / 990)
    assert found.high is not None
    assert found.high > 0.25


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_and_all_have_a_width(share: float) -> None:
    found = weighted_rate([share] * 6, [1.0, 1.0, 0.3, 0.3, 0.7, 0.1], list("aabbcd"), repeats=1)
    assert found.value == share
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.3


def test_nothing_is_nothing() -> None:
    assert weighted_rate([], [], [], repeats=0).value is None
    assert kish_size([]) == 0


@pytest.mark.parametrize("chances", [[0.0, 1.0], [1.1, 1.0], [float("nan"), 1.0], [-0.5, 1.0], [[0.5, 0.5]], [0.5]])
def test_a_chance_is_above_nought_and_there_is_one_an_item(chances: list[float]) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        weighted_rate([0.0, 1.0], chances, ["a", "b"], repeats=1)


_ITEM = st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.1, 0.3, 1.0]), st.integers(0, 5))


@given(st.lists(_ITEM, min_size=1, max_size=12), st.randoms())
def test_order_and_names_move_no_digit_and_the_interval_holds_the_value(
    items: list[tuple[float, float, int]], random: object
) -> None:
    turned = list(items)
    random.shuffle(turned)  # type: ignore[attr-defined]
    first = weighted_rate(*map(list, zip(*items, strict=True)), repeats=4)  # type: ignore[arg-type]
    means, chances, clusters = zip(*turned, strict=True)
    assert weighted_rate(means, chances, [f"q{name}" for name in clusters], repeats=4) == first
    assert first.low <= first.value <= first.high  # type: ignore[operator]
    assert first.high - first.low > 0  # type: ignore[operator]


@given(st.lists(_ITEM, min_size=1, max_size=10), st.floats(0.1, 1))
def test_only_the_ratios_of_chances_count(items: list[tuple[float, float, int]], factor: float) -> None:
    means, chances, clusters = map(list, zip(*items, strict=True))
    first = weighted_rate(means, chances, clusters, repeats=4)
    second = weighted_rate(means, [chance * factor for chance in chances], clusters, repeats=4)
    assert first.value == pytest.approx(second.value, abs=1e-9)
