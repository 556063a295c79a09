"""Flip rate, pairwise disagreement, entropy, and alpha over repeats."""

from __future__ import annotations

import time
import warnings
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats import alpha_repeats, flip_rate, item_entropy, pairwise_disagreement, wilson
from experiments.stats.coefficients import alpha_disagreement
from experiments.stats.krippendorff_alpha import alpha_of_counts
from experiments.stats.repeats import item_coincidences

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


def test_fifty_thousand_verdicts_take_about_a_second() -> None:
    """A formula over pairs of raters and items would take billions of steps."""
    counts = np.random.default_rng(0).multinomial(5, [0.1, 0.2, 0.7], size=10_000)
    start = time.perf_counter()
    estimate = alpha_repeats(counts, range(10_000), labels=LABELS, scale_level="ordinal", rng=rng())
    assert time.perf_counter() - start < 2.0
    assert (estimate.low or 1) < (estimate.value or 0) < (estimate.high or 0)
