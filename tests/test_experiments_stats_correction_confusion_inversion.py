"""Inversion of a confusion matrix, projection to the simplex, and the two-class closed form with its intervals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.stats import norm

from experiments.stats.correction import (
    NotIdentifiedError,
    correct_shares,
    invert_confusion,
    project_to_simplex,
    rogan_gladen,
    rogan_gladen_interval,
)

TWO = ("INCORRECT", "CORRECT")
THREE = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
MATRIX = np.array([[0.9, 0.04, 0.06], [0.05, 0.85, 0.1], [0.1, 0.02, 0.88]])


def nearest_by_every_support(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Oracle: on each support the projection is a shift; the nearest feasible one is the answer."""
    best: tuple[float, NDArray[np.float64]] | None = None
    for size in range(1, len(point) + 1):
        for support in combinations(range(len(point)), size):
            candidate = np.zeros(len(point))
            candidate[list(support)] = point[list(support)] + (1 - point[list(support)].sum()) / size
            distance = float(((candidate - point) ** 2).sum())
            if candidate.min() >= -1e-15 and (best is None or distance < best[0]):
                best = distance, candidate
    assert best is not None
    return best[1]


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_the_projection_is_the_nearest_point_found_by_trying_every_support(point: list[float]) -> None:
    projected = project_to_simplex(np.array(point))
    assert_allclose(projected, nearest_by_every_support(np.array(point)), atol=1e-9)
    assert projected.sum() == pytest.approx(1.0, abs=1e-12)
    assert_allclose(project_to_simplex(projected), projected, atol=1e-12)


def test_projection_works_on_whole_stacks_and_keeps_the_undefined() -> None:
    points = np.random.default_rng(0).normal(size=(4, 5, 3))
    points[1, 2] = np.nan
    whole = project_to_simplex(points)
    assert np.isnan(whole[1, 2]).all()
    assert_allclose(whole[3, 4], project_to_simplex(points[3, 4]), atol=1e-15)


@given(st.integers(2, 6), st.integers(0, 10**6))
def test_inversion_undoes_the_grader_for_any_number_of_classes(n_labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = 0.3 * rng.dirichlet(np.ones(n_labels), size=(7, n_labels)) + 0.7 * np.eye(n_labels)
    pi = rng.dirichlet(np.ones(n_labels), size=7)
    observed = np.einsum("na,nab->nb", pi, matrices)
    assert_allclose(invert_confusion(observed, matrices), pi, atol=1e-9)
    assert_allclose(invert_confusion(observed[0], matrices[0]), np.linalg.inv(matrices[0].T) @ observed[0], atol=1e-9)


def test_a_singular_or_unknown_matrix_spoils_its_own_solution_alone() -> None:
    matrices = np.array([np.eye(2), [[0.5, 0.5], [0.5, 0.5]], [[np.nan, np.nan], [0, 1]]])
    solved = invert_confusion(np.full((3, 2), 0.5), matrices)
    assert_allclose(solved[0], [0.5, 0.5])
    assert np.isnan(solved[1:]).all()


def test_shares_inside_the_simplex_are_left_alone() -> None:
    pi = np.array([0.3, 0.2, 0.5])
    result = correct_shares(pi @ MATRIX, MATRIX, labels=THREE)
    assert_allclose(result.shares, pi, atol=1e-12)
    assert result.raw == result.shares
    assert (result.projected, result.message) == (False, "")


def test_three_classes_outside_the_simplex_are_flagged_and_keep_their_raw_value() -> None:
    pi = np.array([1.01, -0.04, 0.03])
    result = correct_shares(pi @ MATRIX, MATRIX, labels=THREE)
    assert result.projected
    assert_allclose(result.raw, pi, atol=1e-12)
    assert_allclose(result.shares, nearest_by_every_support(pi), atol=1e-12)
    assert "NOT_ATTEMPTED -0.0400" in result.message


@pytest.mark.parametrize(
    ("apparent", "raw", "clipped", "message"),
    [
        (0.03, -0.0235, 0.0, "apparent rate is below 1 - specificity"),
        (0.98, 1.094, 1.0, "apparent rate is above sensitivity"),
        (0.05, 0.0, 0.0, ""),
        (0.9, 1.0, 1.0, ""),
        (0.475, 0.5, 0.5, ""),
    ],
)
def test_a_corrected_rate_outside_its_range_says_so(apparent: float, raw: float, clipped: float, message: str) -> None:
    """The closed form and the inversion agree on the value, the raw value and the message."""
    result = rogan_gladen(apparent, sensitivity=0.9, specificity=0.95)
    assert result.raw == pytest.approx(raw, abs=5e-4)
    assert result.value == pytest.approx(clipped, abs=1e-12)
    inverted = correct_shares([1 - apparent, apparent], [[0.95, 0.05], [0.1, 0.9]], labels=TWO)
    assert inverted.raw[1] == pytest.approx(result.raw, abs=1e-12)
    assert inverted.shares[1] == pytest.approx(clipped, abs=1e-12)
    if message:
        assert (result.message, inverted.message) == (message, message)


@given(st.integers(0, 100), st.integers(51, 100), st.integers(51, 100))
def test_rogan_gladen_in_exact_arithmetic(positive: int, sensitivity: int, specificity: int) -> None:
    exact = Fraction(positive + specificity - 100, sensitivity + specificity - 100)
    result = rogan_gladen(positive / 100, sensitivity / 100, specificity / 100)
    assert result.raw == pytest.approx(float(exact), abs=1e-9)
    assert result.value == pytest.approx(float(min(max(exact, Fraction(0)), Fraction(1))), abs=1e-9)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.2, 0.8), (0.3, 0.3), (1.0, 0.0)])
def test_two_classes_at_chance_level_are_not_identified(sensitivity: float, specificity: float) -> None:
    with pytest.raises(NotIdentifiedError, match=r"sensitivity \+ specificity"):
        rogan_gladen(0.4, sensitivity, specificity)


def test_the_interval_of_1978_in_its_own_terms() -> None:
    p, se, sp = 150 / 500, 45 / 50, 57 / 60
    rate = (p + sp - 1) / (se + sp - 1)
    variance = p * (1 - p) / 500 + rate**2 * se * (1 - se) / 50 + (1 - rate) ** 2 * sp * (1 - sp) / 60
    half = norm.ppf(0.975) * variance**0.5 / (se + sp - 1)
    result = rogan_gladen_interval((150, 500), (45, 50), (57, 60), method="rogan-gladen")
    assert_allclose((result.value, result.low, result.high), (rate, rate - half, rate + half), atol=1e-12)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_of_2014_in_its_own_terms(level: float) -> None:
    """Lang and Reiczigel 2014, written out again step by step."""
    z = norm.ppf((1 + level) / 2)
    n, n_se, n_sp = 500 + z**2, 52, 62
    p, se, sp = (150 + z**2 / 2) / n, 46 / n_se, 58 / n_sp
    youden = se + sp - 1
    rate = (p + sp - 1) / youden
    shift = 2 * z**2 * (rate * se * (1 - se) / n_se - (1 - rate) * sp * (1 - sp) / n_sp)
    spread = p * (1 - p) / n + rate**2 * se * (1 - se) / n_se + (1 - rate) ** 2 * sp * (1 - sp) / n_sp
    half = z * spread**0.5 / youden
    result = rogan_gladen_interval((150, 500), (45, 50), (57, 60), level=level)
    assert_allclose((result.low, result.high), (rate + shift - half, rate + shift + half), atol=1e-12)
    assert result.method == "lang-reiczigel"


@pytest.mark.parametrize("method", ["rogan-gladen", "lang-reiczigel"])
@pytest.mark.parametrize(
    "counts", [((0, 50), (90, 100), (80, 100)), ((0, 20), (9, 9), (9, 9)), ((50, 50), (60, 100), (95, 100))]
)
def test_an_interval_at_the_edge_is_never_a_point(method: str, counts: tuple[tuple[int, int], ...]) -> None:
    result = rogan_gladen_interval(*counts, method=method)  # type: ignore[arg-type]
    assert result.value in (0.0, 1.0)
    assert result.low is not None
    assert result.high is not None
    assert 0.0 <= result.low <= result.value <= result.high <= 1.0
    assert result.high - result.low > 0.005


@pytest.mark.parametrize("bad", [((5, 4), (9, 10), (9, 10)), ((1, 4), (0, 0), (9, 10)), ((1, 4), (9, 10), (-1, 10))])
def test_impossible_counts_are_refused(bad: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="impossible count"):
        rogan_gladen_interval(*bad)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="apparent: not a rate"):
        rogan_gladen(1.2, 0.9, 0.9)
    with pytest.raises(ValueError, match="method: unknown"):
        rogan_gladen_interval((1, 4), (9, 10), (9, 10), method="wald")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="wrong shape"):
        correct_shares([0.5, 0.5], np.eye(3), labels=THREE)
    with pytest.raises(ValueError, match=r"matrix\[1\]: not shares"):
        correct_shares([0.5, 0.5], [[1, 0], [0.5, 0.6]], labels=TWO)
    with pytest.raises(NotIdentifiedError, match="no calibration item"):
        correct_shares([0.5, 0.5], [[np.nan, np.nan], [0.0, 1.0]], labels=TWO)
    with pytest.raises(NotIdentifiedError, match="cannot be inverted"):
        correct_shares([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], labels=TWO)
