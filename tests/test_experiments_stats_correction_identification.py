"""When error rates identify the true shares, and what is said when they do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.stats.correction import (
    GradedItems,
    Identification,
    LabelledItems,
    NotIdentifiedError,
    build_samples,
    check_identification,
    correct_scores,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
TWO = ("INCORRECT", "CORRECT")


def cells(table: Sequence[Sequence[int]], labels: Sequence[str]) -> LabelledItems:
    """One item a question, people in rows."""
    reference = [label for label, row in zip(labels, table, strict=True) for _ in range(sum(row))]
    counts = [
        [int(place == column) for place in range(len(labels))]
        for row in table
        for column, times in enumerate(row)
        for _ in range(times)
    ]
    return LabelledItems(reference, counts, range(len(reference)))


def judge(table: Sequence[Sequence[int]], *, level: float = 0.95) -> Identification:
    labels = TWO if len(table) == 2 else LABELS
    benchmark = GradedItems(np.eye(len(labels), dtype=int), range(len(labels)))
    return check_identification(build_samples(benchmark, cells(table, labels), labels=labels), level=level)


def test_a_good_grader_is_identified() -> None:
    result = judge([[90, 10], [5, 95]])
    assert (result.identified, result.reason) == (True, "")
    assert result.strength.value == pytest.approx(0.9 + 0.95 - 1)
    assert result.condition_number == pytest.approx(np.linalg.cond([[0.9, 0.1], [0.05, 0.95]]))
    assert (result.strength.n, result.strength.clusters, result.strength.repeats) == (200, 200, 1)


def test_the_interval_of_sensitivity_plus_specificity() -> None:
    """Against two independent proportions; the made-up items hardly count among 4,000."""
    result = judge([[1800, 200], [600, 1400]])
    half = 1.96 * (0.9 * 0.1 / 2000 + 0.7 * 0.3 / 2000) ** 0.5
    assert result.strength.low == pytest.approx(0.6 - half, abs=5e-4)
    assert result.strength.high == pytest.approx(0.6 + half, abs=5e-4)


@pytest.mark.parametrize("table", [[[50, 50], [50, 50]], [[100, 0], [100, 0]], [[20, 80], [60, 40]], [[0, 9], [9, 0]]])
def test_chance_level_or_below_is_not_identified(table: list[list[int]]) -> None:
    result = judge(table)
    assert not result.identified
    assert result.reason.startswith("not identified: sensitivity + specificity is")
    assert result.reason.endswith("not above 1")
    assert "\n" not in result.reason


def test_a_grader_that_may_be_at_chance_level_is_not_identified() -> None:
    few, many = judge([[6, 4], [4, 6]]), judge([[600, 400], [400, 600]])
    assert not few.identified
    assert "95% interval" in few.reason
    assert few.reason.endswith("reaches 1")
    assert many.identified
    assert judge([[12, 8], [8, 12]], level=0.5).identified
    assert "99% interval" in judge([[6, 4], [4, 6]], level=0.99).reason


@pytest.mark.parametrize("n_labels", [2, 3])
def test_a_label_that_people_never_gave_is_not_identified(n_labels: int) -> None:
    table = np.diag([50] * n_labels).tolist()
    table[1] = [0] * n_labels
    result = judge(table)
    assert not result.identified
    assert (result.strength.value, result.condition_number) == (None, None)
    assert repr((TWO if n_labels == 2 else LABELS)[1]) in result.reason


def test_three_classes_of_which_two_are_not_told_apart() -> None:
    result = judge([[90, 5, 5], [88, 7, 5], [5, 5, 90]])
    assert not result.identified
    assert "ill-conditioned" in result.reason
    assert result.condition_number is not None
    assert result.condition_number > 20


def test_a_singular_matrix_has_no_condition_number() -> None:
    result = judge([[50, 0, 50], [50, 0, 50], [0, 0, 100]])
    assert (result.identified, result.condition_number) == (False, None)
    assert "reaches 0" in result.reason


def test_a_grader_that_swaps_labels_is_refused_though_its_matrix_can_be_inverted() -> None:
    result = judge([[2, 96, 2], [2, 2, 96], [96, 2, 2]])
    assert not result.identified
    assert "no more often where people say it" in result.reason


def test_the_smallest_singular_value_against_its_numerical_derivative() -> None:
    """The standard error behind the interval, from one multinomial a row and central differences."""
    table = np.array([[170, 20, 10], [30, 150, 20], [15, 25, 160]]) * 20
    matrix = table / table.sum(axis=1, keepdims=True)

    def smallest(changed: NDArray[np.float64]) -> float:
        return float(np.linalg.svd(changed, compute_uv=False)[-1])

    step, variance = 1e-6, 0.0
    for a in range(3):
        slope = np.zeros(3)
        for b in range(3):
            move = np.zeros((3, 3))
            move[a, b] = step
            slope[b] = (smallest(matrix + move) - smallest(matrix - move)) / (2 * step)
        spread = np.diag(matrix[a]) - np.outer(matrix[a], matrix[a])
        variance += slope @ spread @ slope / table[a].sum()
    result = judge(table.tolist())
    assert result.strength.value == pytest.approx(smallest(matrix))
    assert result.strength.low is not None
    assert smallest(matrix) - result.strength.low == pytest.approx(1.96 * variance**0.5, rel=0.01)


@pytest.mark.parametrize("table", [[[50, 50], [50, 50]], [[6, 4], [4, 6]], [[50, 0], [0, 0]]])
def test_an_unidentified_correction_gives_the_uncorrected_scores_as_uncorrected(table: list[list[int]]) -> None:
    benchmark = GradedItems([[1, 0]] * 7 + [[0, 1]] * 3, range(10))
    result = correct_scores(benchmark, cells(table, TWO), labels=TWO, correct="CORRECT", not_attempted=None)
    assert (result.status, result.corrected) == ("uncorrected", None)
    assert result.uncorrected["correct"].value == 0.3
    assert result.identification is not None
    assert result.reason == result.identification.reason
    with pytest.raises(NotIdentifiedError, match="not identified"):
        result.require_corrected()


def test_one_label_is_no_scale_to_correct_on() -> None:
    samples = build_samples(GradedItems([[1]], [0]), LabelledItems(["A"], [[1]], [0]), labels=["A"])
    assert check_identification(samples).reason == "not identified: the scale has one label only"


def test_a_bad_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        judge([[9, 1], [1, 9]], level=0.0)
