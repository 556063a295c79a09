"""Benchmark scores as functions of class shares: printed figures, conventions, gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from experiments.stats.scores.score_functions import SCORES, class_shares, item_shares, score_gradient, score_value

SCALE = ["NOT_ATTEMPTED", "INCORRECT", "CORRECT"]


def value(name: str, *counts: float, penalty: float = 1.0) -> float:
    """A score of counts (correct, incorrect, not attempted)."""
    correct, incorrect, not_attempted = counts
    shares = [not_attempted, incorrect, correct]
    return float(
        score_value(name, shares, labels=SCALE, correct="CORRECT", not_attempted="NOT_ATTEMPTED", penalty=penalty)
    )


def gradient(name: str, shares: NDArray[np.float64], penalty: float = 1.0) -> NDArray[np.float64]:
    return score_gradient(name, shares, labels=SCALE, correct="CORRECT", not_attempted="NOT_ATTEMPTED", penalty=penalty)


@pytest.mark.parametrize(
    ("f1", "accuracy", "given_attempted", "attempted"),
    [
        (55.6, 55.3, 55.9, 98.9),
        (39.9, 39.8, 40.1, 99.3),
        (34.9, 34.4, 35.5, 97.0),
        (28.3, 19.2, 54.1, 35.5),
        (24.6, 17.3, 42.8, 40.4),
        (28.2, 27.8, 28.7, 96.9),
    ],
)
def test_printed_table_of_simpleqa_verified(
    f1: float, accuracy: float, given_attempted: float, attempted: float
) -> None:
    """Haas et al. 2025, table 7: both derived columns follow from the two others to the printed digit."""
    counts = (accuracy, attempted - accuracy, 100 - attempted)
    assert round(100 * value("f1", *counts), 1) == f1
    assert round(100 * value("accuracy_given_attempted", *counts), 1) == given_attempted
    assert round(100 * value("accuracy", *counts), 1) == accuracy
    assert round(100 * value("attempted", *counts), 1) == attempted


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("correct", 6 / 20),
        ("incorrect", 4 / 20),
        ("not_attempted", 10 / 20),
        ("attempted", (6 + 4) / 20),
        ("accuracy_given_attempted", 6 / (6 + 4)),
        ("f1", 2 * 6 / (20 + 6 + 4)),
        ("accuracy", 6 / 20),
        ("index", 100 * (6 - 4) / 20),
        ("penalised", (6 - 2.5 * 4) / 20),
    ],
)
def test_hand_computed_scores(name: str, expected: float) -> None:
    assert value(name, 6, 4, 10, penalty=2.5) == pytest.approx(expected, abs=1e-15)


def test_every_score_is_in_the_hand_computed_table() -> None:
    table = next(mark for mark in test_hand_computed_scores.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert {row[0] for row in table.args[1]} == set(SCORES)


def test_nothing_attempted_is_not_defined_and_f1_is_zero_by_convention() -> None:
    assert np.isnan(value("accuracy_given_attempted", 0, 0, 50))
    assert value("f1", 0, 0, 50) == 0.0
    assert value("accuracy_given_attempted", 0, 50, 0) == 0.0  # always wrong is not always abstaining
    assert value("f1", 0, 50, 0) == 0.0


def test_one_attempt_in_fifty() -> None:
    assert value("accuracy_given_attempted", 1, 0, 49) == 1.0
    assert value("f1", 1, 0, 49) == pytest.approx(2 * 1 / (50 + 1 + 0))
    assert value("f1", 1, 0, 49) == pytest.approx(0.0392, abs=5e-5)


@pytest.mark.parametrize("name", SCORES)
def test_no_items_at_all_are_not_defined(name: str) -> None:
    assert np.isnan(value(name, 0, 0, 0))
    assert np.isnan(gradient(name, np.zeros(3))).all()


def test_rounding_error_is_no_attempt() -> None:
    assert np.isnan(value("accuracy_given_attempted", 1e-17, 0, 1))
    assert np.isnan(gradient("accuracy_given_attempted", np.array([1.0, 0.0, 1e-17]))).all()


@given(counts=st.tuples(*[st.integers(0, 30)] * 3))
def test_f1_is_scikit_learns_and_the_harmonic_mean(counts: tuple[int, int, int]) -> None:
    """Retrieval reading: every item has an answer to find; an attempt retrieves, a correct one is a hit."""
    correct, incorrect, silent = counts
    n = correct + incorrect + silent
    if not n:
        return
    wanted = [1] * n + [0] * incorrect  # a wrong attempt misses its item and returns one more that is none
    found = [1] * correct + [0] * (incorrect + silent) + [1] * incorrect
    assert value("f1", *counts) == pytest.approx(f1_score(wanted, found, zero_division=0.0), abs=1e-12)
    accuracy, precise = value("correct", *counts), value("accuracy_given_attempted", *counts)
    if correct:
        assert value("f1", *counts) == pytest.approx(2 / (1 / accuracy + 1 / precise), abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
@given(counts=st.tuples(*[st.floats(0.01, 1)] * 3), penalty=st.floats(0, 9), scale=st.floats(0.1, 100))
def test_gradient_equals_central_differences(
    name: str, counts: tuple[float, float, float], penalty: float, scale: float
) -> None:
    shares = scale * np.array(counts)
    step = 1e-6 * scale
    moved = [
        (value(name, *(shares + step * unit), penalty=penalty) - value(name, *(shares - step * unit), penalty=penalty))
        / (2 * step)
        for unit in np.eye(3)
    ]
    by_label = gradient(name, shares[[2, 1, 0]], penalty)
    assert_allclose(by_label[[2, 1, 0]], moved, rtol=1e-5, atol=1e-5 / scale)
    assert by_label @ shares[[2, 1, 0]] == pytest.approx(0, abs=1e-9 * 100 * (1 + penalty))


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_computed_over_leading_axes_at_once(name: str) -> None:
    rng = np.random.default_rng(5)
    draws = rng.dirichlet([1, 1, 1], size=(4, 7))
    values = score_value(name, draws, labels=SCALE, correct="CORRECT", not_attempted="NOT_ATTEMPTED", penalty=2.0)
    assert values.shape == (4, 7)
    one_by_one = [[value(name, c, i, n, penalty=2.0) for n, i, c in row] for row in draws]
    assert_allclose(values, one_by_one, rtol=0, atol=1e-12)
    assert gradient(name, draws).shape == (4, 7, 3)


@pytest.mark.parametrize("name", SCORES)
@given(counts=st.tuples(*[st.integers(0, 9)] * 3), penalty=st.sampled_from([0.0, 0.5, 1.0, 4.0]))
def test_no_value_leaves_the_span(name: str, counts: tuple[int, int, int], penalty: float) -> None:
    low, high = SCORES[name].span(penalty)
    found = value(name, *counts, penalty=penalty)
    assert np.isnan(found) or low - 1e-12 <= found <= high + 1e-12


def test_spans_are_those_of_the_definitions() -> None:
    assert SCORES["f1"].span(1.0) == (0.0, 1.0)
    assert SCORES["index"].span(7.0) == (-100.0, 100.0)
    assert SCORES["penalised"].span(3.0) == (-3.0, 1.0)
    assert SCORES["penalised"].span(0.0) == (0.0, 1.0)
    assert all(SCORES[name].span(1.0) == (0.0, 1.0) for name in SCORES if SCORES[name].proportion)


def test_all_labels_without_a_part_count_as_incorrect() -> None:
    labels = ["refused", "wrong", "partly", "right"]
    shares = [0.1, 0.2, 0.3, 0.4]
    assert_allclose(class_shares(shares, labels=labels, correct="right", not_attempted="refused"), [0.4, 0.5, 0.1])
    assert_allclose(class_shares(shares, labels=labels, correct="right", not_attempted=None), [0.4, 0.6, 0.0])
    slopes = score_gradient("f1", shares, labels=labels, correct="right", not_attempted="refused")
    assert slopes[1] == slopes[2]


@given(order=st.permutations(range(5)), seed=st.integers(0, 10**6))
def test_order_of_labels_cannot_move_a_bit(order: list[int], seed: int) -> None:
    labels = np.array(["a", "b", "c", "d", "e"])
    shares = np.random.default_rng(seed).dirichlet(np.ones(5), size=6)
    one = score_value("f1", shares, labels=labels.tolist(), correct="b", not_attempted="d")
    other = score_value("f1", shares[:, order], labels=labels[order].tolist(), correct="b", not_attempted="d")
    assert_array_equal(one, other)


def test_item_shares_weigh_items_equally_whatever_their_repeats() -> None:
    assert_array_equal(item_shares([[1, 3, 0], [0, 0, 1], [0, 0, 0]]), [[0.25, 0.75, 0], [0, 0, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"^counts: not a count, got .*; expected "):
        item_shares([[0.5, 0.5]])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "recall"}, "score: unknown"),
        ({"correct": "RIGHT"}, "correct: label not on the scale"),
        ({"not_attempted": "SILENT"}, "not_attempted: label not on the scale"),
        ({"not_attempted": "CORRECT"}, "not_attempted: the same label as correct"),
        ({"labels": ["CORRECT", "CORRECT", "NOT_ATTEMPTED"]}, "labels: a label stands twice"),
        ({"shares": [0.5, 0.5]}, "shares: wrong shape"),
        ({"shares": 0.5}, "shares: wrong shape"),
        ({"penalty": -1.0}, "penalty: not a cost"),
        ({"penalty": float("nan")}, "penalty: not a cost"),
        ({"penalty": float("inf")}, "penalty: not a cost"),
    ],
)
@pytest.mark.parametrize("function", [score_value, score_gradient])
def test_bad_input_is_refused(function: object, changed: dict[str, object], message: str) -> None:
    given_ = {
        "name": "f1",
        "shares": [0.2, 0.3, 0.5],
        "labels": SCALE,
        "correct": "CORRECT",
        "not_attempted": "NOT_ATTEMPTED",
        "penalty": 1.0,
        **changed,
    }
    assert callable(function)
    with pytest.raises(ValueError, match=rf"^{message}, got .*; expected "):
        function(given_.pop("name"), given_.pop("shares"), **given_)
