"""Intervals around the range of an error rate that missing verdicts leave open."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats import (
    clustered_wilson,
    error_rate_bounds,
    false_negative_rate,
    false_positive_rate,
    wilson,
)
from experiments.stats.errors.error_bounds import BoundedErrorRates, BoundedRate, bounded_error_rates

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ROWS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.lists(st.integers(0, 2), min_size=3, max_size=3), st.integers(0, 5)),
    min_size=1,
    max_size=20,
)


def bounds(reference: list[str], counts: list[list[int]], expected: int | list[int]) -> BoundedErrorRates:
    clusters = range(len(reference))
    return bounded_error_rates(reference, counts, clusters, expected=expected, labels=LABELS, positive="CORRECT")


def limits(rate: BoundedRate) -> tuple[float | None, ...]:
    return rate.low, rate.best.value, rate.worst.value, rate.high


@given(rows=ROWS)
def test_values_are_the_bounds_without_intervals_and_lie_inside(
    rows: list[tuple[str, list[int], int]],
) -> None:
    reference, counts, clusters = [list(column) for column in zip(*rows, strict=True)]
    result = bounded_error_rates(reference, counts, clusters, expected=6, labels=LABELS, positive="CORRECT")
    plain = error_rate_bounds(reference, counts, 6, labels=LABELS, positive="CORRECT")
    for rate, ends in ((result.false_negative, plain.false_negative), (result.false_positive, plain.false_positive)):
        if ends is None:
            assert limits(rate) == (None, None, None, None)
            continue
        assert (rate.best.value, rate.worst.value) == pytest.approx(ends)
        assert 0.0 <= (rate.low or 0.0) <= ends[0] + 1e-12
        assert ends[1] <= (rate.high or 0.0) + 1e-12 <= 1.0 + 2e-12
        if ends != (0.0, 1.0):
            assert (rate.high or 0.0) - (rate.low or 0.0) > ends[1] - ends[0]
    assert result.wrong_side.expected == 6 * len(rows)
    assert result.wrong_side.missing == 6 * len(rows) - sum(map(sum, counts))


def test_outer_interval_by_hand() -> None:
    """Single verdicts, one a question: plain Wilson of 1 of 10 below, of 4 of 10 above."""
    counts = [[1, 0, 0]] + [[0, 0, 1]] * 6 + [[0, 0, 0]] * 3
    rate = bounds(["CORRECT"] * 10, counts, 1).false_negative
    assert limits(rate) == pytest.approx((wilson(1, 10).low, 0.1, 0.4, wilson(4, 10).high))
    assert (rate.missing, rate.expected, rate.best.n, rate.worst.n) == (3, 10, 10, 10)


def test_without_missing_verdicts_both_ends_are_the_rate() -> None:
    rng = np.random.default_rng(0)
    reference, counts, clusters = (
        rng.choice(LABELS, 40),
        rng.multinomial(5, [0.3, 0.2, 0.5], size=40),
        np.arange(40) // 3,
    )
    result = bounded_error_rates(reference, counts, clusters, expected=5, labels=LABELS, positive="CORRECT")
    for rate, single in (
        (result.false_negative, false_negative_rate),
        (result.false_positive, false_positive_rate),
    ):
        estimate = single(reference, counts, clusters, labels=LABELS, positive="CORRECT")
        assert rate.missing == 0
        for end in (rate.best, rate.worst):
            assert (end.value, end.low, end.high) == pytest.approx((estimate.value, estimate.low, estimate.high))


def test_no_verdict_at_all_says_nothing() -> None:
    rate = bounds(["CORRECT"] * 5, [[0, 0, 0]] * 5, 3).false_negative
    assert limits(rate) == (0.0, 0.0, 1.0, 1.0)
    assert (rate.missing, rate.expected, rate.best.n, rate.best.repeats) == (15, 15, 5, 0)


@pytest.mark.parametrize("counts", [[[0, 0, 1]], [[1, 0, 0]], [[0, 0, 0]]])
def test_one_item_is_one_item(counts: list[list[int]]) -> None:
    rate = bounds(["CORRECT"], counts, 4).false_negative
    assert (rate.worst.value or 0.0) - (rate.best.value or 0.0) == pytest.approx(rate.missing / 4)
    assert (rate.high or 0.0) - (rate.low or 0.0) > 0.75


def test_no_such_label_is_not_defined() -> None:
    result = bounds(["CORRECT"], [[0, 0, 2]], 3)
    assert limits(result.false_positive) == (None, None, None, None)
    assert (result.false_positive.expected, result.false_positive.missing) == (0, 0)
    empty = bounds([], [], 3)
    assert limits(empty.wrong_side) == (None, None, None, None)


@pytest.mark.parametrize(
    ("n", "right", "failed"), [(10, 5, 5), (172, 108, 24), (100, 45, 50), (4, 2, 1), (1, 0, 1), (50, 50, 0)]
)
def test_failed_items_stay_in_the_denominator(n: int, right: int, failed: int) -> None:
    """Five of ten right and five failed is a share of right ones from .5 to 1, never five of five."""
    counts = [[0, 0, 1]] * right + [[0, 0, 0]] * failed + [[1, 0, 0]] * (n - right - failed)
    rate = bounds(["CORRECT"] * n, counts, 1).wrong_side
    shares = (1 - (rate.worst.value or 0.0), 1 - (rate.best.value or 0.0))
    assert shares == pytest.approx((right / n, (right + failed) / n))
    assert (rate.best.n, rate.worst.n, rate.missing, rate.expected) == (n, n, failed, n)
    assert 1 - (rate.high or 0.0) == pytest.approx(wilson(right, n).low, abs=1e-12)
    assert 1 - (rate.low or 0.0) == pytest.approx(wilson(right + failed, n).high, abs=1e-12)


@pytest.mark.parametrize("failed", [0, 1, 3])
def test_every_total_counts_the_same_items(failed: int) -> None:
    """Rows of both kinds add up to all that was asked, whatever failed."""
    reference = ["CORRECT", "CORRECT", "INCORRECT", "NOT_ATTEMPTED"]
    result = bounds(reference, [[0, 0, 0]] * failed + [[0, 0, 1]] * (4 - failed), 1)
    rows = (result.false_negative, result.false_positive)
    assert sum(rate.best.n for rate in rows) == result.wrong_side.best.n == 4
    assert sum(rate.missing for rate in rows) == result.wrong_side.missing == failed


def test_limits_follow_the_questions() -> None:
    """Repeats of one question all alike: its copies tell no more than one does."""
    counts = [[1, 0, 1], [0, 0, 2], [0, 0, 3], [2, 0, 0]] * 5
    copies, questions = [row for row in counts for _ in range(6)], [row for row in range(20) for _ in range(6)]
    reference = ["CORRECT"] * 120
    alone = bounds(["CORRECT"] * 20, counts, 3).false_negative
    many = bounded_error_rates(reference, copies, questions, expected=3, labels=LABELS, positive="CORRECT")
    assert limits(many.false_negative) == pytest.approx(limits(alone))
    share = [row[0] / 3 for row in copies]
    assert many.false_negative.low == clustered_wilson(share, questions, repeats=3).low


def test_order_of_items_and_names_of_questions_change_no_digit() -> None:
    rng = np.random.default_rng(3)
    reference, counts = rng.choice(LABELS, 50), rng.multinomial(3, [0.3, 0.2, 0.4, 0.1], size=50)[:, :3]
    clusters, order = np.arange(50) % 13, rng.permutation(50)
    first = bounded_error_rates(reference, counts, clusters, expected=3, labels=LABELS, positive="CORRECT")
    names = [f"q{20 - cluster}" for cluster in clusters[order]]
    moved = bounded_error_rates(reference[order], counts[order], names, expected=3, labels=LABELS, positive="CORRECT")
    assert moved == first


def test_the_interval_holds_the_rate_whatever_the_missing_verdicts_hide() -> None:
    """Three in ten errors go missing and no right verdict does: the worst case the bounds are for, at 95%."""
    rng, held, runs = np.random.default_rng(2), 0, 400
    for _ in range(runs):
        wrong = rng.random(80) < 0.2
        counts = np.column_stack([wrong & (rng.random(80) > 0.3), np.zeros(80), ~wrong]).astype(int)
        rate = bounds(["CORRECT"] * 80, counts.tolist(), 1).false_negative
        held += (rate.low or 0.0) <= 0.2 <= (rate.high or 0.0)
    assert held / runs >= 0.93


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^counts\[0\]: more verdicts than asked for, got 4; expected 3"):
        bounds(["CORRECT"], [[1, 1, 2]], 3)
    with pytest.raises(ValueError, match=r"^expected: too few verdicts, got 0"):
        bounds(["CORRECT"], [[0, 0, 0]], 0)
    with pytest.raises(ValueError, match=r"^clusters: wrong length, got 2; expected 1"):
        bounded_error_rates(["CORRECT"], [[0, 0, 1]], "ab", expected=1, labels=LABELS, positive="CORRECT")
    with pytest.raises(ValueError, match=r"^level: not a confidence level"):
        bounded_error_rates(["CORRECT"], [[0, 0, 1]], "a", expected=1, labels=LABELS, positive="CORRECT", level=1.0)
