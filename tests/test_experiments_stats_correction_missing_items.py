"""What items without a verdict leave of a corrected score."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.correction import CorrectedShares, missing_item_bounds
from experiments.stats.scores import SCORES
from experiments.stats.scores.score_functions import score_value

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}

parts = st.lists(st.integers(1, 20), min_size=3, max_size=3)


def corrected(pi: list[float], labels: tuple[str, ...] = LABELS) -> CorrectedShares:
    shares = tuple(pi)
    return CorrectedShares(labels, shares, tuple(map(tuple, np.eye(len(pi)).tolist())), shares, shares, False, "")


def test_the_ends_are_all_wrong_and_all_right() -> None:
    found = missing_item_bounds(corrected([0.3, 0.2, 0.5]), 0.1, **ROLES)
    assert found["correct"] == pytest.approx((0.45, 0.55))
    assert found["accuracy_given_attempted"] == pytest.approx((0.45 / (0.45 + 0.37), 0.55 / (0.55 + 0.27)))
    assert found["not_attempted"] == pytest.approx((0.18, 0.28))


def test_nothing_missing_is_the_value_and_all_missing_is_anything() -> None:
    whole, nothing = (missing_item_bounds(corrected([0.3, 0.2, 0.5]), share, **ROLES) for share in (0.0, 1.0))
    assert whole["correct"] == pytest.approx((0.5, 0.5))
    assert nothing["correct"] == (0.0, 1.0)
    declined = missing_item_bounds(corrected([0.0, 1.0, 0.0]), 0.0, **ROLES)
    assert declined["accuracy_given_attempted"] is None


@given(parts, parts, st.floats(0, 1), st.sampled_from(list(SCORES)))
def test_no_truth_of_the_missing_items_leaves_the_bounds(
    known: list[int], other: list[int], missing: float, name: str
) -> None:
    pi, truth = (np.array(counts) / sum(counts) for counts in (known, other))
    bounds = missing_item_bounds(corrected(pi.tolist()), missing, **ROLES)[name]
    value = float(score_value(name, (1 - missing) * pi + missing * truth, **ROLES))
    assert bounds is not None
    assert bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9


@given(parts)
def test_more_missing_items_leave_more_open(counts: list[int]) -> None:
    pi = (np.array(counts) / sum(counts)).tolist()
    widths = []
    for missing in (0.0, 0.1, 0.5, 1.0):
        low, high = missing_item_bounds(corrected(pi), missing, **ROLES)["f1"] or (0.0, 0.0)
        widths.append(high - low)
    assert all(one <= two + 1e-12 for one, two in pairwise(widths))


def test_the_order_of_labels_moves_nothing() -> None:
    pi = dict(zip(LABELS, (0.3, 0.2, 0.5), strict=True))
    found = [
        missing_item_bounds(corrected([pi[one] for one in order], order), 0.2, **{**ROLES, "labels": order})["f1"]
        for order in permutations(LABELS)
    ]
    assert all(one == pytest.approx(found[0]) for one in found)


@pytest.mark.parametrize("missing", [-0.1, 1.1, float("nan")])
def test_a_share_is_needed(missing: float) -> None:
    with pytest.raises(ValueError, match="missing: no share"):
        missing_item_bounds(corrected([0.3, 0.2, 0.5]), missing, **ROLES)
