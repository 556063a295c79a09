"""Equivalence and non-inferiority against statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from experiments.stats.comparisons.equivalence import equivalence_test, non_inferiority_test


def example(seed: int, n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.binomial(10, 0.30, n) / 10, rng.binomial(10, 0.28, n) / 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
def test_one_item_a_question_is_statsmodels_two_one_sided_tests(seed: int, margin: float) -> None:
    """Oracle: statsmodels ttost_paired, and DescrStatsW's interval of level 1 - 2 alpha."""
    first, second = example(seed)
    result = equivalence_test(first, second, range(40), margin=margin)
    p_value = ttost_paired(first, second, -margin, margin)[0]
    assert result.p_value == pytest.approx(p_value, rel=1e-9)
    assert result.passed == (p_value < 0.05)
    interval = DescrStatsW(first - second).tconfint_mean(alpha=0.1)
    assert (result.estimate.low, result.estimate.high) == pytest.approx(interval, abs=1e-12)
    assert result.estimate.level == pytest.approx(0.9)


def test_questions_of_equal_size_are_statsmodels_tests_on_their_means() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((15, 4)), rng.random((15, 4))
    result = equivalence_test(first.ravel(), second.ravel(), np.repeat(range(15), 4).tolist(), margin=0.2)
    assert result.p_value == pytest.approx(
        ttost_paired(first.mean(axis=1), second.mean(axis=1), -0.2, 0.2)[0], rel=1e-9
    )


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(6))
def test_the_decision_is_that_of_the_p_value(seed: int, level: float) -> None:
    first, second = example(seed, 60)
    for result in (
        equivalence_test(first, second, range(60), margin=0.06, level=level),
        non_inferiority_test(first, second, range(60), margin=0.06, lower_is_better=True, level=level),
        non_inferiority_test(first, second, range(60), margin=0.06, lower_is_better=False, level=level),
    ):
        assert result.p_value is not None
        assert result.passed == (result.p_value < 1 - level)


@pytest.mark.parametrize("seed", range(3))
def test_non_inferiority_is_one_of_statsmodels_two_tests(seed: int) -> None:
    first, second = example(seed)
    _, above, below = ttost_paired(first, second, -0.05, 0.05)
    errors = non_inferiority_test(first, second, range(40), margin=0.05, lower_is_better=True)
    accuracy = non_inferiority_test(first, second, range(40), margin=0.05, lower_is_better=False)
    assert errors.p_value == pytest.approx(below[1], rel=1e-9)
    assert accuracy.p_value == pytest.approx(above[1], rel=1e-9)


def test_better_in_any_degree_is_not_inferior_but_not_equivalent() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.binomial(10, 0.1, 50) / 10, rng.binomial(10, 0.5, 50) / 10
    assert non_inferiority_test(first, second, range(50), margin=0.05, lower_is_better=True).passed is True
    assert non_inferiority_test(first, second, range(50), margin=0.05, lower_is_better=False).passed is False
    assert equivalence_test(first, second, range(50), margin=0.05).passed is False


def test_absence_of_a_difference_is_no_equivalence() -> None:
    """Four items without a difference cannot show it; four hundred can, though no test is defined."""
    few, many = (equivalence_test([0.5] * n, [0.5] * n, range(n), margin=0.05) for n in (4, 400))
    assert (few.passed, few.p_value) == (False, None)
    assert (many.passed, many.p_value) == (True, None)


def test_missing_items_are_left_out_and_counted() -> None:
    first, second = [0.1, None, 0.4, 0.3, 0.2], [0.1, 0.2, 0.3, np.nan, 0.5]
    result = equivalence_test(first, second, range(5), margin=0.1)
    assert (result.left_out, result.estimate.n) == (2, 3)
    none = equivalence_test([None], [0.1], "a", margin=0.1)
    assert (none.passed, none.p_value, none.left_out) == (None, None, 1)
    inferior = non_inferiority_test([None], [0.1], "a", margin=0.1, lower_is_better=True)
    assert (inferior.passed, inferior.p_value) == (None, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margin": 0}, r"^margin: not a margin, got 0"),
        ({"margin": float("inf")}, r"^margin: not a margin, got inf"),
        ({"level": 0.5}, r"^level: not a level of one-sided tests, got 0.5"),
        ({"second": [0.1]}, r"^second: wrong shape, got \(1,\)"),
        ({"clusters": "a"}, r"^clusters: wrong length"),
        ({"first": [np.inf, 0]}, r"^means\[0\]: not a number, got inf"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"first": [0.1, 0.2], "second": [0.1, 0.3], "clusters": "ab", "margin": 0.1}
    with pytest.raises(ValueError, match=message):
        equivalence_test(**{**arguments, **changes})
