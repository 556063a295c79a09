"""The sign-flip permutation test, against scipy's permutation test and plain enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.clusters.sign_flip import sign_flip_tests


def fresh() -> np.random.Generator:
    return np.random.default_rng(3)


def flip(sums: list[float], resamples: int = 999) -> tuple[float, bool]:
    test = sign_flip_tests(np.array(sums, dtype=np.float64)[:, None], rng=fresh(), resamples=resamples)[0]
    return test.p_value, test.exact


def enumerate_signs(sums: list[float]) -> float:
    """All signs one by one."""
    totals = np.array([np.dot(signs, sums) for signs in product([-1, 1], repeat=len(sums))])
    return float(np.mean(np.abs(totals) >= abs(sum(sums)) - 1e-9))


@pytest.mark.parametrize("seed", range(5))
def test_few_questions_equal_scipys_exact_permutation_test(seed: int) -> None:
    """Oracle: scipy.stats.permutation_test, paired samples, all permutations."""
    rng = np.random.default_rng(seed)
    first, second = rng.random(9), rng.random(9)
    scipys = stats.permutation_test(
        (first, second), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True
    )
    p_value, exact = flip((first - second).tolist())
    assert exact
    assert p_value == pytest.approx(scipys.pvalue, abs=1e-12)


@given(st.lists(st.sampled_from([-0.7, -0.3, -0.1, 0.0, 0.1, 0.1 + 0.2, 0.3, 0.7, 1.0]), min_size=1, max_size=10))
def test_equal_sizes_are_counted_together(sums: list[float]) -> None:
    """Oracle: plain enumeration. 0.3 and 0.1 + 0.2 are one size, and ties count as extreme."""
    p_value, exact = flip(sums)
    assert exact
    assert p_value == pytest.approx(enumerate_signs(sums), abs=1e-12)


@pytest.mark.parametrize(("ups", "downs"), [(30, 12), (3, 0), (500, 430), (20_000, 19_700), (20, 20)])
def test_one_size_is_the_exact_binomial_test(ups: int, downs: int) -> None:
    """Oracle: scipy.stats.binomtest; tens of thousands of questions are still exact."""
    p_value, exact = flip([1.0] * ups + [-1.0] * downs + [0.0] * 7)
    assert exact
    assert p_value == pytest.approx(stats.binomtest(ups, ups + downs).pvalue, rel=1e-9)


def test_sizes_that_differ_by_rounding_are_one_size() -> None:
    """Four ways to write 0.3, fifty times each: one size, so a binomial test, and exact."""
    p_value, exact = flip([0.3, 0.1 + 0.2, 0.7 - 0.4, 1.3 - 1.0] * 50 + [-0.3] * 160)
    assert exact
    assert p_value == pytest.approx(stats.binomtest(200, 360).pvalue, rel=1e-9)


def test_a_total_of_zero_is_exactly_one() -> None:
    assert flip([1.0] * 20 + [-1.0] * 20) == (1.0, True)


def test_sixteen_questions_of_different_sizes_are_enumerated_and_seventeen_drawn() -> None:
    sums = (np.random.default_rng(0).random(17) - 0.3).tolist()
    assert flip(sums[:16])[1]
    assert not flip(sums)[1]


def test_draws_of_few_sizes_come_near_the_exact_p_value() -> None:
    """Twenty questions of ten sizes in pairs: 3**10 arrangements, just below the limit; forty are drawn."""
    sums = np.repeat(np.arange(1, 11) / 10, 2) * np.resize([1, 1, -1], 20)
    exact, is_exact = flip(sums.tolist())
    assert is_exact
    doubled = np.concatenate([sums, np.repeat(np.arange(1, 11) / 10, 2) * np.resize([1, -1], 20)])
    drawn, drawn_exact = flip(doubled.tolist(), resamples=100_000)
    assert not drawn_exact
    signs = np.random.default_rng(8).choice([-1, 1], size=(100_000, 40))
    assert drawn == pytest.approx(np.mean(np.abs(signs @ doubled) >= abs(doubled.sum()) - 1e-9), abs=0.007)
    assert exact != pytest.approx(drawn, abs=0.01)


def test_draws_of_single_signs_come_near_the_normal_p_value() -> None:
    """200 sums all different, drawn for three comparisons at once with shared signs."""
    rng = np.random.default_rng(1)
    sums = rng.normal(0.1, 1, size=(200, 3))
    tests = sign_flip_tests(sums, rng=fresh(), resamples=40_000)
    assert not any(test.exact for test in tests)
    for test, column in zip(tests, sums.T, strict=True):
        normal = 2 * stats.norm.sf(abs(column.sum()) / np.sqrt((column**2).sum()))
        assert test.p_value == pytest.approx(normal, abs=0.01)


@pytest.mark.parametrize("n", [40, 100])
def test_a_drawn_p_value_is_never_zero(n: int) -> None:
    """Neither by counts of sizes (40 different) nor by single signs (100 different)."""
    assert flip((1 + np.arange(n) / 1000).tolist(), resamples=99) == (1 / 100, False)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.floats(1e-6, 1e6))
def test_the_sign_and_the_unit_do_not_matter(sums: list[int], unit: float) -> None:
    p_value = flip([float(value) for value in sums])[0]
    assert flip([-value * unit for value in sums])[0] == pytest.approx(p_value, abs=1e-12)
    assert 0 < p_value <= 1


@pytest.mark.parametrize("sums", [[], [0.0], [0.0, 0.0, 0.0], [0.4], [0.5, -0.5]])
def test_one_arrangement_or_a_total_of_zero_gives_one(sums: list[float]) -> None:
    assert flip(sums) == (1.0, True)


def test_no_draws_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^resamples: too few, got 0; expected 1 or more"):
        flip([1.0], resamples=0)
