"""Corrected scores under the error rates of strata and over a box of error rates."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    NotIdentifiedError,
    box_ranges,
    carry_over_note,
    correct_scores,
    rogan_gladen,
    stratum_corrections,
)
from experiments.stats.correction.sensitivity import _moved
from experiments.stats.scores.score_functions import SCORES

TWO = ("INCORRECT", "CORRECT")
LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ROLES: dict[str, Any] = {"labels": TWO, "correct": "CORRECT", "not_attempted": None}
THREE: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
BENCHMARK = GradedItems([[1, 0]] * 700 + [[0, 1]] * 300, range(1000))


def labelled(*tables: tuple[int, int, int, int]) -> LabelledItems:
    """Each table: verdicts INCORRECT and CORRECT where people say INCORRECT, then the same where they say CORRECT."""
    cells = [
        (row, column)
        for t in tables
        for (row, column), k in zip(product((0, 1), (0, 1)), t, strict=True)
        for _ in range(k)
    ]
    reference = [TWO[row] for row, _ in cells]
    return LabelledItems(reference, [[1 - column, column] for _, column in cells], range(len(cells)))


def test_each_stratum_is_corrected_by_its_own_error_rates() -> None:
    items = labelled((95, 5, 10, 90), (80, 20, 5, 95))
    strata = ["model a"] * 200 + ["model b"] * 200
    first, second = stratum_corrections(BENCHMARK, items, strata, **ROLES)
    assert (first.stratum, first.n, second.stratum, second.n) == ("model a", 200, "model b", 200)
    values = [part.correction.require_corrected()["correct"].value for part in (first, second)]
    assert_allclose(values, [rogan_gladen(0.3, 0.9, 0.95).value, rogan_gladen(0.3, 0.95, 0.8).value], atol=1e-12)
    assert first.correction == correct_scores(BENCHMARK, labelled((95, 5, 10, 90)), **ROLES)


def test_a_stratum_that_identifies_nothing_says_so() -> None:
    items = labelled((95, 5, 10, 90), (20, 0, 0, 0))
    result = stratum_corrections(BENCHMARK, items, [1] * 200 + [2] * 20, **ROLES)
    assert [part.correction.status for part in result] == ["corrected", "uncorrected"]
    assert "'CORRECT'" in result[1].correction.reason


def test_strata_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="strata: wrong length"):
        stratum_corrections(BENCHMARK, labelled((9, 1, 1, 9)), [1, 2], **ROLES)


@pytest.mark.parametrize("steps", [2, 5])
def test_two_classes_range_between_the_corners_of_the_box(steps: int) -> None:
    result = box_ranges(BENCHMARK, labelled((95, 5, 10, 90)), **ROLES, delta=0.04, steps=steps)["correct"]
    corners = [rogan_gladen(0.3, 0.9 + a, 0.95 + b).value for a in (-0.04, 0.04) for b in (-0.04, 0.04)]
    assert result.value == pytest.approx(rogan_gladen(0.3, 0.9, 0.95).value, abs=1e-12)
    assert (result.low, result.high) == (pytest.approx(min(corners), abs=1e-12), pytest.approx(max(corners), abs=1e-12))
    assert result.unidentified == 0.0


def test_rates_stay_within_their_range() -> None:
    result = box_ranges(BENCHMARK, labelled((95, 5, 10, 90)), **ROLES, delta=0.2, steps=2)["correct"]
    corners = [rogan_gladen(0.3, sens, spec).value for sens in (0.7, 1.0) for spec in (0.75, 1.0)]
    assert result.low == pytest.approx(min(corners), abs=1e-12)
    assert result.high == pytest.approx(max(corners), abs=1e-12)


def three_classes() -> tuple[GradedItems, LabelledItems]:
    rng = np.random.default_rng(0)
    matrix = np.array([[0.9, 0.04, 0.06], [0.05, 0.85, 0.1], [0.1, 0.02, 0.88]])
    people = rng.integers(3, size=600)
    counts = np.array([rng.multinomial(1, matrix[a]) for a in people])
    benchmark = GradedItems(rng.multinomial(1, [0.4, 0.2, 0.4], size=500), range(500))
    return benchmark, LabelledItems([LABELS[a] for a in people], counts, range(600))


def test_no_move_is_no_range_and_a_wider_box_a_wider_one() -> None:
    benchmark, items = three_classes()
    corrected = correct_scores(benchmark, items, **THREE).require_corrected()
    still, narrow, wide = (box_ranges(benchmark, items, **THREE, delta=delta) for delta in (0.0, 0.02, 0.05))
    assert set(still) == set(SCORES)
    for name, estimate in corrected.items():
        assert still[name].value == pytest.approx(estimate.value, abs=1e-12)
        assert (still[name].low, still[name].high) == (pytest.approx(estimate.value), pytest.approx(estimate.value))
        bounds = [(box[name].low, box[name].high) for box in (narrow, wide)]
        assert bounds[1][0] < bounds[0][0] < estimate.value < bounds[0][1] < bounds[1][1]  # type: ignore[operator]


def test_moved_rows_still_sum_to_one_and_keep_their_proportions() -> None:
    matrix = np.array([[0.8, 0.15, 0.05], [0.0, 1.0, 0.0], [0.1, 0.2, 0.7]])
    moved = _moved(matrix, np.array([[-0.1, -0.1, 0.1], [0.3, 0.0, 0.0]]))
    assert_allclose(moved.sum(axis=2), 1.0, atol=1e-15)
    assert_allclose(moved[0], [[0.7, 0.225, 0.075], [0.05, 0.9, 0.05], [0.2 / 3, 0.4 / 3, 0.8]], atol=1e-12)
    assert_allclose(moved[1, 0], [1.0, 0.0, 0.0], atol=1e-15)


def test_a_box_that_reaches_chance_level_says_how_much_of_it() -> None:
    result = box_ranges(BENCHMARK, labelled((60, 40, 40, 60)), **ROLES, delta=0.15, steps=2)["correct"]
    assert result.unidentified == 0.25


def test_error_rates_that_cannot_be_inverted_are_refused() -> None:
    with pytest.raises(NotIdentifiedError, match="cannot be inverted"):
        box_ranges(BENCHMARK, labelled((50, 50, 50, 50)), **ROLES, delta=0.1)
    with pytest.raises(NotIdentifiedError, match="no calibration item"):
        box_ranges(BENCHMARK, labelled((50, 50, 0, 0)), **ROLES, delta=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"delta": -0.1}, "delta: not a move"), ({"steps": 1}, "steps: too few"), ({"steps": 1000}, "steps: too many")],
)
def test_a_bad_box_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        box_ranges(BENCHMARK, labelled((9, 1, 1, 9)), **{**ROLES, "delta": 0.1, **changes})


def test_the_note_names_both_sets_and_the_assumption() -> None:
    note = carry_over_note("set a", "set b")
    assert "measured on set a" in note
    assert "assumed to carry over to set b" in note
