"""Errors on a scale of numbers, against scikit-learn and by simulation, and the mean of bounded values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

from calibration_sets.scale import DER2_RUBRIC
from experiments.stats import Estimate
from experiments.stats.errors import ScoreErrors, score_error_bounds, score_errors
from experiments.stats.intervals import bounded_mean, clustered_wilson
from experiments.stats.raters import agreement

LABELS = DER2_RUBRIC.labels
STEPS = np.array(DER2_RUBRIC.values)


def errors(reference: list[str], counts: Any, clusters: Any = None, values: Any = STEPS) -> ScoreErrors:
    rows = range(len(reference)) if clusters is None else clusters
    return score_errors(reference, counts, rows, labels=LABELS, values=values)


def single(places: Any) -> Any:
    return np.eye(5, dtype=int)[places]


def drawn(seed: int, n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    people = rng.choice(5, n, p=[0.2, 0.05, 0.15, 0.2, 0.4])
    return people, np.clip(people + rng.choice([-2, -1, 0, 0, 0, 1, 1], n), 0, 4)


@pytest.mark.parametrize("seed", range(3))
def test_single_verdicts_give_the_textbook_figures(seed: int) -> None:
    people, grader = drawn(seed)
    reference = [LABELS[place] for place in people]
    found = errors(reference, single(grader))
    assert found.under_grading.value == pytest.approx(np.mean(grader < people))
    assert found.over_grading.value == pytest.approx(np.mean(grader > people))
    assert found.bias.value == pytest.approx(np.mean(STEPS[grader] - STEPS[people]))
    assert found.mean_absolute_error.value == pytest.approx(mean_absolute_error(STEPS[people], STEPS[grader]))


@pytest.mark.parametrize(("level", "weights"), [("ordinal", "linear"), ("interval", "quadratic")])
def test_weighted_kappas_are_those_of_scikit_learn(level: Any, weights: str) -> None:
    people, grader = drawn(5)
    reference = [LABELS[place] for place in people]
    rng = np.random.default_rng(1)
    found = agreement(reference, single(grader), range(200), labels=LABELS, scale_level=level, rng=rng, resamples=50)
    assert found.cohen_kappa.value == pytest.approx(cohen_kappa_score(people, grader, weights=weights))


def test_an_item_counts_once_however_many_verdicts_it_has() -> None:
    found = errors(["0.5", "0.5"], [[0, 0, 0, 0, 4], [0, 1, 1, 0, 0]])
    assert found.over_grading.value == pytest.approx((1 + 0) / 2)
    assert found.under_grading.value == pytest.approx((0 + 1 / 2) / 2)
    assert found.bias.value == pytest.approx((0.5 - 0.25 / 2) / 2)
    assert found.mean_absolute_error.value == pytest.approx((0.5 + 0.25 / 2) / 2)
    assert found.bias.repeats == 4


def test_units_are_those_of_the_scale() -> None:
    people, grader = drawn(2)
    reference = [LABELS[place] for place in people]
    one, hundred = errors(reference, single(grader)), errors(reference, single(grader), values=100 * STEPS + 7)
    for name in ("bias", "mean_absolute_error"):
        small, large = getattr(one, name), getattr(hundred, name)
        assert ends(large) == pytest.approx([100 * one for one in ends(small)])
    assert one.over_grading == hundred.over_grading


def test_what_is_missing_bounds_every_error_and_is_never_a_number() -> None:
    reference, counts = ["0", "1", "0.5"], [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    found = errors(reference, counts)
    assert found.bias.n == 2
    assert found.mean_absolute_error.value == 0
    bounds = score_error_bounds(reference, counts, 1, labels=LABELS, values=STEPS)
    assert bounds.under_grading == pytest.approx((0, 1 / 3))
    assert bounds.over_grading == pytest.approx((0, 0))
    assert bounds.bias == pytest.approx((-1 / 3, 0))
    assert bounds.mean_absolute_error == pytest.approx((0, 1 / 3))


def test_nothing_has_no_errors() -> None:
    found = errors(["0.5"], [[0] * 5])
    assert {getattr(found, name).value for name in ("under_grading", "over_grading", "bias")} == {None}
    assert found.mean_absolute_error == Estimate(None, None, None, 0.95, "wilson-clustered", 0, 0, 0)
    assert score_error_bounds([], [], 1, labels=LABELS, values=STEPS).bias is None


def test_no_error_has_an_interval_all_the_same() -> None:
    found = errors(["0", "1"] * 10, single([0, 4] * 10))
    assert (found.bias.value, found.mean_absolute_error.value) == (0, 0)
    assert found.bias.low is not None
    assert found.bias.low < 0
    assert found.mean_absolute_error.high is not None
    assert found.mean_absolute_error.high > 0


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 0.5, 0.75, 1], [0, 0.25, 0.5, 0.75, float("nan")]])
def test_values_that_are_not_those_of_the_scale_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^values"):
        errors([], [], values=values)


def test_a_mean_of_small_errors_is_known_better_than_a_share() -> None:
    rng = np.random.default_rng(4)
    values = 0.25 * (rng.random(300) < 0.3)
    bounded, share = bounded_mean(values, range(300), repeats=1), clustered_wilson(values, range(300), repeats=1)
    assert bounded.value == share.value
    assert width(bounded) < 0.6 * width(share)


@pytest.mark.parametrize("each", [1, 4])
def test_bounded_intervals_hold_the_mean_as_often_as_they_say(each: int) -> None:
    """400 data sets of 60 questions; with a coverage of .95 it would be fewer than 358 by five standard deviations."""
    rng = np.random.default_rng(each)
    truth, held = 0.25 * 0.3, 0
    for _ in range(400):
        hard = rng.beta(3, 7, 60)
        values = 0.25 * (rng.random((60, each)) < hard[:, None])
        found = bounded_mean(values.ravel(), np.repeat(np.arange(60), each).tolist(), repeats=1)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 358 <= held <= 396


def ends(estimate: Estimate) -> list[float]:
    found = [one for one in (estimate.value, estimate.low, estimate.high) if one is not None]
    assert len(found) == 3
    return found


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low
