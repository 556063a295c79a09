"""Calibration of confidence, against scikit-learn and by graders whose calibration is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from experiments.stats.errors import ConfidenceCalibration, confidence_calibration


def calibrated(right: Any, confidence: Any, clusters: Any = None, bins: int = 10) -> ConfidenceCalibration:
    rows = range(len(right)) if clusters is None else clusters
    return confidence_calibration(right, confidence, rows, rng=np.random.default_rng(1), bins=bins, resamples=200)


def singles(seed: int, n: int = 400, *, shift: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.5, 1.0, n)
    return rng.random(n) < sure - shift, sure


def test_single_verdicts_give_the_figures_of_scikit_learn() -> None:
    right, sure = singles(1)
    found = calibrated(right[:, None], sure[:, None])
    shares, means = calibration_curve(right, sure, n_bins=10)
    filled = [one for one in found.curve if one.n_verdicts]
    assert [one.accuracy.value for one in filled] == pytest.approx(shares.tolist())
    assert [one.mean_confidence for one in filled] == pytest.approx(means.tolist())
    assert found.brier.value == pytest.approx(brier_score_loss(right, sure))
    weights = [one.n_verdicts / 400 for one in filled]
    assert found.calibration_error.value == pytest.approx(np.sum(weights * np.abs(shares - means)))


def test_a_grader_that_claims_too_much_is_seen() -> None:
    kept, claimed = (
        calibrated(*(one[:, None] for one in singles(2))),
        calibrated(*(one[:, None] for one in singles(2, shift=0.2))),
    )
    assert claimed.over_confidence.value == pytest.approx(0.2, abs=0.06)
    assert claimed.over_confidence.low is not None
    assert claimed.over_confidence.low > 0
    assert kept.over_confidence.low is not None
    assert kept.over_confidence.high is not None
    assert kept.over_confidence.low < 0 < kept.over_confidence.high
    assert kept.brier.value is not None
    assert claimed.brier.value is not None
    assert kept.brier.value < claimed.brier.value


def test_the_error_by_chance_is_that_of_calibrated_graders() -> None:
    _, sure = singles(3, 60)
    found = calibrated(*(one[:, None] for one in singles(3, 60))).error_by_chance
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(300):
        right = rng.random(60) < sure
        place = np.minimum((sure * 10).astype(int), 9)
        errors.append(sum(abs((right - sure)[place == one].sum()) for one in range(10)) / 60)
    assert found == pytest.approx(np.mean(errors), rel=0.05)
    assert found > 0.05


@pytest.mark.parametrize(("sure", "expected"), [(0.5, 0.5), (1.0, 0.0), (0.0, 0.0)])
def test_the_error_by_chance_of_one_verdict_is_known(sure: float, expected: float) -> None:
    assert calibrated([[True] * 3], [[sure] * 3]).error_by_chance == pytest.approx(expected)
    assert calibrated([[]], [[]]).error_by_chance is None


def test_items_weigh_the_same_however_many_verdicts_they_have() -> None:
    found = calibrated([[True] * 4, [False]], [[0.9] * 4, [0.9]])
    assert found.accuracy.value == pytest.approx(1 / 2)
    assert found.brier.value == pytest.approx((0.1**2 + 0.9**2) / 2)
    assert found.calibration_error.value == pytest.approx(0.9 - 1 / 2)
    assert [(one.low, one.high, one.n_verdicts) for one in found.curve if one.n_verdicts] == [(0.9, 1.0, 5)]


def test_the_ends_of_bins_belong_to_the_upper_one_and_1_to_the_last() -> None:
    found = calibrated([[True]] * 4, [[0.0], [0.3], [0.7], [1.0]])
    assert [one.n_verdicts for one in found.curve] == [1, 0, 0, 1, 0, 0, 0, 1, 0, 1]


def test_two_labels_make_it_the_brier_score_of_the_chance_of_either() -> None:
    """(confidence - right)**2 is (chance of yes - yes)**2, whichever of the two the grader says."""
    said, truth, sure = [True, False, True, False], [True, True, False, False], [0.9, 0.6, 0.7, 0.8]
    right = [[one == two] for one, two in zip(said, truth, strict=True)]
    chances = [one if yes else 1 - one for one, yes in zip(sure, said, strict=True)]
    assert calibrated(right, [[one] for one in sure]).brier.value == pytest.approx(brier_score_loss(truth, chances))


def test_nothing_is_not_defined() -> None:
    for found in (calibrated([], []), calibrated([[], []], [[], []])):
        assert {found.accuracy.value, found.brier.value, found.over_confidence.value} == {None}
        assert found.calibration_error.value is None
        assert {one.accuracy.value for one in found.curve} == {None}


def test_one_question_says_nothing_of_its_error() -> None:
    found = calibrated([[True], [False]], [[0.9], [0.9]], clusters=["q", "q"]).calibration_error
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize("confidence", [[[1.2]], [[-0.1]], [[float("nan")]], [[0.5, 0.5]], [[]], []])
def test_what_is_no_confidence_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match=r"^confidence"):
        calibrated([[True]], confidence)
    with pytest.raises(ValueError, match=r"^bins: got 0"):
        calibrated([[True]], [[0.5]], bins=0)
