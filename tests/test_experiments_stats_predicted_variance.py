"""What variance components predict for other designs."""

from __future__ import annotations

import numpy as np
import pytest
from component_samples import NESTED, crossed, nested, raw

from experiments.stats import clustered_standard_error
from experiments.stats.repeats.predicted_variance import (
    predicted_crossed_variance,
    predicted_difference_variance,
    predicted_variance,
)
from experiments.stats.repeats.variance_components import Component, CrossedComponents, VarianceComponents


def test_prediction_at_hand_is_the_cluster_robust_variance() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((12, 1, 1)) + rng.random((12, 3, 1)) + rng.random((12, 3, 4))
    result = nested(scores.reshape(36, 4), np.repeat(range(12), 3))
    assert all((value or 0) > 0 for value in raw(result, NESTED))
    error = clustered_standard_error(scores.mean(axis=2).ravel() / 3, np.repeat(range(12), 3).tolist())
    predicted = predicted_variance(result, questions=12, items=3, repeats=4)
    assert predicted == pytest.approx((3 * (error or 0)) ** 2, abs=1e-12)


@pytest.mark.parametrize(("questions", "repeats"), [(20, 10), (20, 2), (10, 5)])
def test_repeats_that_agree_add_nothing(questions: int, repeats: int) -> None:
    """Half of the questions right in every repeat: sqrt(.25 / (G - 1)), .1147 for twenty, not .0354."""
    right = np.arange(questions) % 2
    result = nested(np.repeat(right, repeats).reshape(questions, repeats), range(questions), far=1)
    error = (predicted_variance(result, questions=questions, items=1, repeats=repeats) or 0) ** 0.5
    assert error == pytest.approx((0.25 / (questions - 1)) ** 0.5)
    if (questions, repeats) == (20, 10):
        assert error == pytest.approx(0.1147, abs=5e-5)


def component(value: float | None) -> Component:
    estimate = nested([[0.0]], ["q"]).item.raw
    return Component(estimate, value)


def test_predictions_by_hand() -> None:
    unknown = component(None).raw
    one = VarianceComponents(component(0.12), component(0.06), component(0.04), unknown, unknown)
    assert predicted_variance(one, questions=10, items=3, repeats=2) == pytest.approx(0.12 / 10 + 0.06 / 30 + 0.04 / 60)
    parts = [component(value) for value in (0.01, 0.12, 0.06, 0.05, 0.03, 0.04)]
    many = CrossedComponents(*parts, unknown, unknown)
    design = {"questions": 10, "items": 3, "repeats": 2}
    shared = 0.12 / 10 + 0.06 / 30 + 0.05 / 40 + 0.03 / 120 + 0.04 / 240
    assert predicted_crossed_variance(many, graders=4, same_graders=True, **design) == pytest.approx(shared)
    assert predicted_crossed_variance(many, graders=4, same_graders=False, **design) == pytest.approx(shared + 0.01 / 4)
    difference = 2 * (0.05 / 10 + 0.03 / 30 + 0.04 / 60)
    assert predicted_difference_variance(many, **design) == pytest.approx(difference)


def test_what_was_never_varied_cannot_be_predicted() -> None:
    scores = np.random.default_rng(0).random((10, 1))
    single = nested(scores, range(10))
    assert predicted_variance(single, questions=10, items=1, repeats=1) == pytest.approx(np.var(scores, ddof=1) / 10)
    assert predicted_variance(single, questions=10, items=1, repeats=2) is None
    assert predicted_variance(single, questions=10, items=2, repeats=1) is None
    layers = crossed(np.stack([scores, scores**2]), range(10))
    assert predicted_difference_variance(layers, questions=10, items=1, repeats=1) is not None
    assert predicted_crossed_variance(layers, graders=2, questions=10, items=1, repeats=3, same_graders=True) is None


def test_predicted_difference_equals_the_variance_of_paired_differences() -> None:
    """Two graders: twice the interactions and repeats is the variance of item differences over n."""
    scores = np.random.default_rng(2).random((2, 30, 3))
    result = crossed(scores, range(30))
    differences = scores[0].mean(axis=1) - scores[1].mean(axis=1)
    predicted = predicted_difference_variance(result, questions=30, items=1, repeats=3)
    grader_question = result.grader_question.raw.value or 0.0
    expected = np.var(differences, ddof=1) / 30 + 2 * (max(grader_question, 0.0) - grader_question) / 30
    assert predicted == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["questions", "items", "repeats"])
def test_an_empty_design_is_refused(name: str) -> None:
    design = {"questions": 2, "items": 2, "repeats": 2, name: 0}
    with pytest.raises(ValueError, match=rf"^{name}: too few, got 0; expected 1 or more"):
        predicted_variance(nested([[0.0, 1.0]], ["q"]), **design)
