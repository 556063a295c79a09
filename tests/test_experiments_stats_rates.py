"""Error rates, their bounds, coverage and the confusion matrix."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix

from experiments.stats import (
    ErrorRateBounds,
    confusion_matrix,
    coverage,
    error_rate_bounds,
    false_negative_rate,
    false_positive_rate,
    wilson,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
C, I, N = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"  # noqa: E741


def test_rates_are_means_of_item_means() -> None:
    """An item with one verdict weighs as much as one with ten."""
    reference = [C, C, I, N]
    counts = [[3, 0, 1], [0, 0, 10], [1, 0, 1], [0, 4, 0]]
    negative = false_negative_rate(reference, counts, "abcd", labels=LABELS, positive=C)
    positive = false_positive_rate(reference, counts, "abcd", labels=LABELS, positive=C)
    assert negative.value == pytest.approx((3 / 4 + 0) / 2)
    assert positive.value == pytest.approx((1 / 2 + 0) / 2)
    assert (negative.n, negative.clusters, negative.repeats) == (2, 2, 10)
    assert (positive.n, positive.clusters, positive.repeats) == (2, 2, 4)


def test_not_attempted_on_a_right_answer_is_a_false_negative() -> None:
    estimate = false_negative_rate([C, C], [[0, 1, 0], [0, 0, 1]], [0, 1], labels=LABELS, positive=C)
    assert estimate.value == 0.5


@pytest.mark.parametrize("n", [1, 7, 50])
def test_single_verdicts_give_plain_wilson(n: int) -> None:
    counts = [[1, 0, 0]] * (n // 3) + [[0, 0, 1]] * (n - n // 3)
    estimate = false_negative_rate([C] * n, counts, range(n), labels=LABELS, positive=C)
    plain = wilson(n // 3, n)
    assert_allclose((estimate.low, estimate.high), (plain.low, plain.high), atol=1e-12)


def test_items_without_a_verdict_are_neither_right_nor_wrong() -> None:
    counts = [[0, 0, 5], [0, 0, 0], [1, 0, 4]]
    estimate = false_negative_rate([C, C, C], counts, "abc", labels=LABELS, positive=C)
    assert (estimate.value, estimate.n, estimate.clusters) == (pytest.approx((0 + 1 / 5) / 2), 2, 2)


@pytest.mark.parametrize(
    ("reference", "counts"), [([], []), ([I], [[1, 0, 0]]), ([C], [[0, 0, 0]]), ([I, C], [[1, 0, 0], [0, 0, 0]])]
)
def test_no_item_of_the_row_is_not_defined(reference: list[str], counts: list[list[int]]) -> None:
    estimate = false_negative_rate(reference, counts, range(len(reference)), labels=LABELS, positive=C)
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)


def test_all_wrong_is_one_with_a_width() -> None:
    estimate = false_positive_rate([I] * 10, [[0, 0, 3]] * 10, range(10), labels=LABELS, positive=C)
    assert estimate.value == 1.0
    assert_allclose((estimate.low, estimate.high), (0.7225, 1.0), atol=5e-5)


def test_failures_bound_the_rate_instead_of_vanishing() -> None:
    """Ten items, five right, five without a verdict: the rate lies between a half and one, coverage is a half."""
    counts = [[0, 0, 1]] * 5 + [[0, 0, 0]] * 5
    bounds = error_rate_bounds([C] * 10, counts, 1, labels=LABELS, positive=C)
    assert bounds == ErrorRateBounds(false_negative=(0.0, 0.5), false_positive=None)
    assert coverage(counts, 1) == 0.5
    wrong = error_rate_bounds([I] * 10, counts, 1, labels=LABELS, positive=C)
    assert wrong.false_positive == (0.5, 1.0)


def test_an_error_row_stays_in_every_count() -> None:
    """Four items, one of them failed: every figure rests on the same four."""
    counts = [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert coverage(counts, 1) == 3 / 4
    bounds = error_rate_bounds([C] * 4, counts, 1, labels=LABELS, positive=C)
    assert bounds.false_negative == (1 / 4, 2 / 4)
    assert false_negative_rate([C] * 4, counts, range(4), labels=LABELS, positive=C).value == pytest.approx(1 / 3)


def test_coverage_counts_verdicts() -> None:
    assert coverage([[1, 0, 0], [0, 0, 0]], 1) == 1 / 2
    assert coverage([[1, 0, 1], [0, 3, 0]], [4, 3]) == 5 / 7
    assert coverage([], 3) is None
    assert coverage([[0, 0, 0]], 10) == 0.0


def test_bounds_with_unequal_repeats_are_means_of_item_means() -> None:
    counts = [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 2]]
    bounds = error_rate_bounds([C, C, I, I], counts, [4, 1, 2, 2], labels=LABELS, positive=C)
    assert bounds.false_negative == ((1 / 4 + 0 / 1) / 2, (3 / 4 + 1 / 1) / 2)
    assert bounds.false_positive == ((0 + 1) / 2, (1 / 2 + 1) / 2)


ITEMS = st.tuples(st.sampled_from(LABELS), st.lists(st.integers(0, 4), min_size=3, max_size=3), st.integers(0, 5))


@given(items=st.lists(ITEMS, min_size=1, max_size=15))
def test_bounds_hold_the_rate_when_every_item_has_a_verdict_and_equal_it_without_failures(
    items: list[tuple[str, list[int], int]],
) -> None:
    items = [(label, [*count[:2], count[2] + 1], missing) for label, count, missing in items]
    reference, counts = [label for label, _, _ in items], [count for _, count, _ in items]
    expected = [sum(count) + missing for _, count, missing in items]
    bounds = error_rate_bounds(reference, counts, expected, labels=LABELS, positive=C)
    exact = error_rate_bounds(reference, counts, [sum(count) for count in counts], labels=LABELS, positive=C)
    for pair, whole, rate in (
        (bounds.false_negative, exact.false_negative, false_negative_rate),
        (bounds.false_positive, exact.false_positive, false_positive_rate),
    ):
        value = rate(reference, counts, range(len(items)), labels=LABELS, positive=C).value
        assert (pair is None) == (value is None)
        if pair is not None and whole is not None and value is not None:
            assert pair[0] - 1e-12 <= value <= pair[1] + 1e-12
            assert whole == (pytest.approx(value), pytest.approx(value))


@given(pairs=st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40))
def test_confusion_of_single_verdicts_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    reference, grader = zip(*pairs, strict=True)
    counts = [[int(label == given_label) for label in LABELS] for given_label in grader]
    matrix = confusion_matrix(reference, counts, labels=LABELS)
    expected = sklearn_confusion_matrix(reference, grader, labels=LABELS)
    assert np.array_equal(matrix.counts, expected)
    for row, rates in zip(expected, matrix.rates, strict=True):
        if row.sum():
            assert_allclose(np.array(rates, dtype=float), row / row.sum())
        else:
            assert rates == (None, None, None)


def test_confusion_rates_weigh_items_not_verdicts() -> None:
    matrix = confusion_matrix([C, C, C], [[9, 0, 0], [0, 0, 1], [0, 0, 0]], labels=LABELS)
    assert matrix.counts == ((0, 0, 0), (0, 0, 0), (9, 0, 1))
    assert matrix.rates == ((None,) * 3, (None,) * 3, (0.5, 0.0, 0.5))


def test_confusion_row_of_failures_is_not_defined() -> None:
    matrix = confusion_matrix([C, I], [[0, 0, 0], [1, 0, 0]], labels=LABELS)
    assert matrix.rates == ((1.0, 0.0, 0.0), (None,) * 3, (None,) * 3)
    assert confusion_matrix([], [], labels=LABELS).counts == ((0, 0, 0),) * 3


def test_confusion_and_rates_agree() -> None:
    rng = np.random.default_rng(5)
    reference = rng.choice(LABELS, 60)
    counts = rng.multinomial(4, [0.2, 0.2, 0.6], size=60)
    rates = confusion_matrix(reference, counts, labels=LABELS).rates
    right = rates[2][2]
    assert right is not None
    negative = false_negative_rate(reference, counts, range(60), labels=LABELS, positive=C)
    assert negative.value == pytest.approx(1 - right)
    shares = [float(Fraction(int(count[2]), 4)) for count, label in zip(counts, reference, strict=True) if label != C]
    positive = false_positive_rate(reference, counts, range(60), labels=LABELS, positive=C)
    assert positive.value == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (2, r"^counts\[0\]: more verdicts than asked for, got 3; expected 2"),
        (0, r"^expected: too few verdicts, got 0; expected 1"),
        ([3], r"^expected: wrong shape, got \(1,\); expected "),
        (2.5, r"^expected: not a count, got 2.5; expected "),
    ],
)
def test_impossible_expectations_are_refused(expected: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coverage([[1, 1, 1], [0, 1, 0]], expected)
