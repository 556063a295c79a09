"""Flip rate, pairwise disagreement, entropy, and alpha over repeats."""

from __future__ import annotations

import time
import warnings
from itertools import combinations

import krippendorff
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats import alpha_repeats, clustered_wilson, flip_rate, item_entropy, pairwise_disagreement, wilson
from experiments.stats.raters.coefficients import alpha_disagreement
from experiments.stats.raters.krippendorff_alpha import alpha_of_counts
from experiments.stats.repeats.inconsistency import item_coincidences, mean_item_entropy

LABELS = ("bad", "fair", "good")
TABLES = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=20)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def spread(row: list[int]) -> list[int]:
    return [label for label, count in enumerate(row) for _ in range(count)]


def test_flip_rate_counts_items_with_two_labels_among_those_with_two_verdicts() -> None:
    counts = [[2, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 3, 7]]
    estimate = flip_rate(counts, range(5))
    assert (estimate.value, estimate.n, estimate.repeats) == (pytest.approx(2 / 3), 3, 10)


@given(counts=TABLES)
def test_pairwise_disagreement_equals_counting_pairs(counts: list[list[int]]) -> None:
    items = [list(combinations(spread(row), 2)) for row in counts if sum(row) >= 2]
    estimate = pairwise_disagreement(counts, range(len(counts)))
    if not items:
        assert estimate.value is None
    else:
        shares = [sum(first != second for first, second in pairs) / len(pairs) for pairs in items]
        assert estimate.value == pytest.approx(sum(shares) / len(shares))
        assert estimate.n == len(items)


def test_pairwise_disagreement_is_unbiased_for_any_number_of_repeats() -> None:
    """Over all draws of 2 and of 3 from one pool of verdicts the mean is the same; the flip rate grows."""
    pool = [0, 0, 0, 1, 1, 2]
    means, flips = [], []
    for size in (2, 3):
        draws = [np.bincount(draw, minlength=3).tolist() for draw in combinations(pool, size)]
        means.append(pairwise_disagreement(draws, range(len(draws))).value)
        flips.append(flip_rate(draws, range(len(draws))).value or 0.0)
    assert means[0] == pytest.approx(means[1])
    assert flips[1] > flips[0]


def test_ten_stable_items_are_not_certainty() -> None:
    for statistic in (flip_rate, pairwise_disagreement):
        estimate = statistic([[0, 0, 3]] * 10, range(10))
        assert (estimate.value, estimate.low) == (0.0, 0.0)
        assert estimate.high == pytest.approx(wilson(0, 10).high)
        assert estimate.high == pytest.approx(1 - 0.7225, abs=5e-5)


@pytest.mark.parametrize("counts", [[], [[1, 0, 0]], [[0, 0, 0]], [[1, 0, 0], [0, 0, 1]]])
def test_without_a_second_verdict_nothing_is_defined(counts: list[list[int]]) -> None:
    clusters = range(len(counts))
    for estimate in (
        flip_rate(counts, clusters),
        pairwise_disagreement(counts, clusters),
        alpha_repeats(counts, clusters, labels=LABELS, scale_level="nominal", rng=rng()),
    ):
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)


def test_entropy_is_in_bits_and_undefined_without_a_verdict() -> None:
    values = item_entropy([[2, 2, 0], [5, 0, 0], [0, 0, 0], [1, 1, 1], [1, 0, 3]])
    assert values == [1.0, 0.0, None, pytest.approx(np.log2(3)), pytest.approx(0.8112781)]
    assert item_entropy([]) == []


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
@given(counts=TABLES)
def test_alpha_equals_the_library_on_rater_by_item_data(scale_level: str, counts: list[list[int]]) -> None:
    width = max(sum(row) for row in counts)
    data = np.full((max(width, 2), len(counts)), np.nan)
    for item, row in enumerate(counts):
        data[: sum(row), item] = spread(row)
    value = alpha_repeats(
        counts, range(len(counts)), labels=LABELS, scale_level=scale_level, rng=rng(), resamples=5
    ).value
    used = [label for row in counts if sum(row) >= 2 for label in spread(row)]
    if len(set(used)) < 2:
        assert value is None
    else:
        expected = krippendorff.alpha(data, level_of_measurement=scale_level, value_domain=[0.0, 1.0, 2.0])
        assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
@given(counts=TABLES)
def test_the_formula_that_is_resampled_equals_the_library(scale_level: str, counts: list[list[int]]) -> None:
    table = np.array([row for row in counts if sum(row) >= 2], dtype=np.int64).reshape(-1, 3)
    coincidences = item_coincidences(table).sum(axis=0).reshape(1, 3, 3)
    value = alpha_disagreement(coincidences, scale_level).coefficient[0]
    expected = alpha_of_counts(table, scale_level=scale_level)
    assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


def test_alpha_below_zero_is_not_clipped() -> None:
    """Two raters who say the opposite of each other on both items."""
    estimate = alpha_repeats([[1, 1], [1, 1]], "ab", labels=("A", "B"), scale_level="nominal", rng=rng())
    assert estimate.value == pytest.approx(-0.5, abs=1e-12)
    assert (estimate.low, estimate.high) == (None, None)  # every resample is the same: it says nothing


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("counts", [[[3, 0], [3, 0]], [[0, 5]], [[2, 0], [0, 1], [0, 0]]])
def test_one_category_has_no_alpha(counts: list[list[int]], scale_level: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = alpha_repeats(counts, range(len(counts)), labels=("A", "B"), scale_level=scale_level, rng=rng())
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)


def test_unequal_numbers_of_verdicts_have_an_alpha() -> None:
    """Counts (3,0), (2,0), (1,2): six pairs of three, four unlike ones once; worked by hand from coincidences."""
    estimate = alpha_repeats([[3, 0], [2, 0], [1, 2]], "abc", labels=("A", "B"), scale_level="nominal", rng=rng())
    # o_AB = o_BA = 1 * 2 / 2 = 2 over both orders; n_A = 6, n_B = 2, n = 8: 1 - 7 * 2 * ... / (2 * 6 * 2)
    assert estimate.value == pytest.approx(1 - 7 * (2 * 1) / (2 * 6 * 2))


def test_perfect_repeats_with_two_classes_have_a_width() -> None:
    estimate = alpha_repeats(
        [[5, 0]] * 10 + [[0, 5]] * 10, range(20), labels=("A", "B"), scale_level="nominal", rng=rng()
    )
    assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "wilson-clustered")
    # expected disagreement 2 * 50 * 50 / (100 * 99); at most .1611 of 20 questions disagree
    assert estimate.low == pytest.approx(1 - (wilson(0, 20).high or 0) * 99 / 50)


def test_the_interval_follows_the_questions() -> None:
    """The same items, alone and as copies of one another: copies tell no more."""
    counts = np.random.default_rng(1).multinomial(4, [0.2, 0.3, 0.5], size=60)
    alone = alpha_repeats(counts, range(60), labels=LABELS, scale_level="nominal", rng=rng())
    copies = np.tile(counts, (5, 1))
    clustered = alpha_repeats(copies, list(range(60)) * 5, labels=LABELS, scale_level="nominal", rng=rng())
    naive = alpha_repeats(copies, range(300), labels=LABELS, scale_level="nominal", rng=rng())
    widths = [(estimate.high or 0) - (estimate.low or 0) for estimate in (alone, clustered, naive)]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[2] < 0.6 * widths[1]


def test_fifty_thousand_verdicts_take_no_work_of_pairs() -> None:
    """A formula over pairs of raters and items would take billions of steps."""
    counts = np.random.default_rng(0).multinomial(5, [0.1, 0.2, 0.7], size=10_000)
    start = time.process_time()
    estimate = alpha_repeats(counts, range(10_000), labels=LABELS, scale_level="ordinal", rng=rng())
    assert time.process_time() - start < 15
    assert (estimate.low or 1) < (estimate.value or 0) < (estimate.high or 0)


# --- mean entropy -----------------------------------------------------------------------------------------


@given(counts=TABLES)
def test_mean_entropy_is_the_mean_of_scipy_entropies_with_a_clustered_interval(counts: list[list[int]]) -> None:
    clusters = [row % 7 for row in range(len(counts))]
    estimate = mean_item_entropy(counts, clusters)
    used = [(row, cluster) for row, cluster in zip(counts, clusters, strict=True) if sum(row) >= 2]
    if not used:
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
        return
    shares = [min(scipy.stats.entropy(row, base=3), 1.0) for row, _ in used]
    expected = clustered_wilson(shares, [cluster for _, cluster in used], repeats=max(sum(row) for row, _ in used))
    assert [estimate.value, estimate.low, estimate.high] == pytest.approx(
        [(number or 0.0) * np.log2(3) for number in (expected.value, expected.low, expected.high)], abs=1e-9
    )
    assert (estimate.n, estimate.clusters, estimate.repeats) == (expected.n, expected.clusters, expected.repeats)
    assert (estimate.high or 0.0) - (estimate.low or 0.0) > 1e-6


def test_mean_entropy_by_hand_with_unequal_repeats() -> None:
    """One bit, none, log2(3) bits; the item with a single verdict and the empty one say nothing."""
    estimate = mean_item_entropy([[1, 1, 0], [0, 0, 5], [2, 2, 2], [0, 1, 0], [0, 0, 0]], range(5))
    assert estimate.value == pytest.approx((1 + 0 + np.log2(3)) / 3)
    assert (estimate.n, estimate.clusters, estimate.repeats) == (3, 3, 6)


def test_entropy_of_stable_items_and_of_the_most_unstable_ones_has_a_width() -> None:
    stable = mean_item_entropy([[0, 0, 3]] * 10, range(10))
    assert (stable.value, stable.low) == (0.0, 0.0)
    assert stable.high == pytest.approx((wilson(0, 10).high or 0.0) * np.log2(3))
    wild = mean_item_entropy([[2, 2, 2]] * 10, range(10))
    assert (wild.value, wild.high) == (pytest.approx(np.log2(3)), pytest.approx(np.log2(3)))
    assert wild.low == pytest.approx((wilson(10, 10).low or 0.0) * np.log2(3))


def test_a_scale_of_one_label_has_no_entropy() -> None:
    estimate = mean_item_entropy([[3], [2]], "ab")
    assert (estimate.value, estimate.low, estimate.high) == (0.0, 0.0, 0.0)  # nothing else could have been seen
    assert mean_item_entropy([], []).value is None


# --- unequal repeats and unequal questions ------------------------------------------------------------------

UNEQUAL = np.array(
    [np.random.default_rng(8).multinomial(size, [0.2, 0.2, 0.6]) for size in [0, 1, 2, 3, 4, 7, 10] * 12]
)
QUESTIONS = [min(row // 3, 20) for row in range(84)]  # twenty questions of three items and one of twenty-four


def test_intervals_rest_on_item_means_clustered_by_question() -> None:
    """Unequal repeats and questions: limits equal the interval of item values worked out one by one."""
    used = [row for row in range(84) if UNEQUAL[row].sum() >= 2]
    questions = [QUESTIONS[row] for row in used]
    flips = [len(set(spread(UNEQUAL[row]))) > 1 for row in used]
    pairs = [list(combinations(spread(UNEQUAL[row]), 2)) for row in used]
    differ = [sum(first != second for first, second in item) / len(item) for item in pairs]
    for statistic, values in ((flip_rate, flips), (pairwise_disagreement, differ)):
        estimate, expected = statistic(UNEQUAL, QUESTIONS), clustered_wilson(values, questions, repeats=10)
        limits = (estimate.value, estimate.low, estimate.high)
        assert limits == pytest.approx((expected.value, expected.low, expected.high), abs=1e-12)
        assert (estimate.n, estimate.clusters, estimate.repeats) == (60, 21, 10)


def test_alpha_interval_with_unequal_repeats_equals_resampling_whole_questions() -> None:
    """Percentiles of the library's alpha over resampled items of whole questions, two thousand draws of each."""
    estimate = alpha_repeats(UNEQUAL, QUESTIONS, labels=LABELS, scale_level="nominal", rng=rng(), resamples=2000)
    members = [np.flatnonzero(np.array(QUESTIONS) == question) for question in range(21)]
    chance, draws = np.random.default_rng(9), []
    for _ in range(2000):
        rows = np.concatenate([members[question] for question in chance.integers(21, size=21)])
        table = UNEQUAL[rows]
        draws.append(krippendorff.alpha(value_counts=table[table.sum(axis=1) >= 2], level_of_measurement="nominal"))
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.02)
    assert (estimate.n, estimate.clusters, estimate.repeats) == (60, 21, 10)


def test_copies_of_an_item_in_its_question_tell_no_more() -> None:
    copies, questions = np.tile(UNEQUAL, (4, 1)), list(range(84)) * 4
    for statistic in (flip_rate, pairwise_disagreement, mean_item_entropy):
        alone, many, naive = statistic(UNEQUAL, range(84)), statistic(copies, questions), statistic(copies, range(336))
        widths = [(estimate.high or 0) - (estimate.low or 0) for estimate in (alone, many, naive)]
        assert widths[1] == pytest.approx(widths[0], rel=0.01)
        assert widths[2] < 0.65 * widths[1]


def test_an_item_weighs_no_more_for_having_more_repeats() -> None:
    """One item of two verdicts that differ, one of a hundred that agree: half of the items, not one in fifty."""
    counts = [[1, 1, 0], [0, 0, 100]]
    assert flip_rate(counts, "ab").value == 0.5
    assert pairwise_disagreement(counts, "ab").value == 0.5
    assert mean_item_entropy(counts, "ab").value == pytest.approx(0.5)
