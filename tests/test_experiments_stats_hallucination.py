"""The hallucination rate: its arithmetic, its interval, and what missing verdicts allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calibration_sets.scale import OMNISCIENCE
from experiments.stats import Estimate
from experiments.stats.intervals import clustered_wilson
from experiments.stats.scores import hallucination_bounds, hallucination_rate

LABELS = OMNISCIENCE.labels  # incorrect, not attempted, partial, correct


def rate(shares: Any, clusters: Any = None, **more: Any) -> Estimate:
    rows = range(len(shares)) if clusters is None else clusters
    return hallucination_rate(shares, rows, labels=LABELS, correct="CORRECT", incorrect="INCORRECT", **more)


def bounds(counts: Any, expected: int = 1) -> tuple[float, float] | None:
    return hallucination_bounds(counts, expected, labels=LABELS, correct="CORRECT", incorrect="INCORRECT")


def test_it_is_wrong_answers_among_those_that_are_not_right() -> None:
    shares = np.eye(4)[[0] * 3 + [1] * 4 + [2] * 1 + [3] * 12]
    found = rate(shares)
    assert found.value == pytest.approx(3 / (3 + 1 + 4))
    assert found.n == 8
    same = clustered_wilson([1.0] * 3 + [0.0] * 5, range(8), repeats=1)
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


def test_items_between_two_labels_count_by_their_shares() -> None:
    assert rate([[0.5, 0, 0, 0.5], [0, 1, 0, 0]]).value == pytest.approx(0.5 / (0.5 + 1))


@pytest.mark.parametrize("shares", [[], [[0, 0, 0, 1]] * 3, [[0, 0, 0, 0]]])
def test_where_nothing_failed_there_is_no_rate(shares: Any) -> None:
    assert rate(shares).value is None


def test_who_always_answers_and_who_only_declines() -> None:
    assert rate(np.eye(4)[[0, 3, 0, 3]]).value == 1
    assert rate(np.eye(4)[[1, 3, 1, 3]]).value == 0


def test_missing_verdicts_are_bounds_and_no_label() -> None:
    counts = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert bounds(counts) == pytest.approx((1 / 3, 2 / 3))
    assert rate([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]).value == pytest.approx(1 / 2)
    assert bounds([[0, 0, 0, 1]]) is None


def test_one_label_cannot_be_right_and_wrong() -> None:
    with pytest.raises(ValueError, match=r"^incorrect: 'CORRECT' is the label of a right answer too"):
        hallucination_rate([], [], labels=LABELS, correct="CORRECT", incorrect="CORRECT")
