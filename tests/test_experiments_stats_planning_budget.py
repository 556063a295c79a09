"""Repeats that pay and budget plans, against closed forms and brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from experiments.stats.planning.planning_budget import Costs, ExpectedScore, PlanLimits, budget_plan, repeats_that_pay

POSITIVE = st.floats(0.001, 10)
SCORE = ExpectedScore(true_share=0.4, sensitivity=0.95, specificity=0.9, repeat_variance=0.02)
COSTS = Costs(label=2.0, call=0.1, question=0.5)


def variance_of(score: ExpectedScore, questions: Any, repeats: Any, labels: Any) -> Any:
    """Rogan and Gladen's variance, written out by true class and stage."""
    share, se, sp = score.true_share, score.sensitivity, score.specificity
    passed = share * se + (1 - share) * (1 - sp)
    saved = score.repeat_variance * (1 - 1 / repeats)
    of_classes = share**2 * se * (1 - se) / (share * labels) + (1 - share) ** 2 * sp * (1 - sp) / ((1 - share) * labels)
    return ((passed * (1 - passed) - saved) / questions + of_classes - saved / labels) / (se + sp - 1) ** 2


@given(item=POSITIVE, repeat=POSITIVE, item_cost=POSITIVE, call_cost=POSITIVE)
def test_repeats_are_the_best_whole_number_and_beside_cochrans_optimum(
    item: float, repeat: float, item_cost: float, call_cost: float
) -> None:
    """Brute force over 1 to 100 repeats, and the closed form of Cochran 1977, section 10.6."""
    plan = repeats_that_pay(item, repeat, item_cost=item_cost, call_cost=call_cost)
    numbers = np.arange(1, 101)
    prices = (item + repeat / numbers) * (item_cost + numbers * call_cost)
    assert_allclose(prices[plan.repeats - 1], prices.min(), rtol=1e-12)
    assert_allclose(plan.variance_ratio, prices.min() / prices[0], rtol=1e-9)
    assert plan.optimum is not None
    assert_allclose(plan.optimum, math.sqrt(item_cost / call_cost * repeat / item), rtol=1e-12)
    assert plan.repeats == 100 or abs(plan.repeats - plan.optimum) < 1


@pytest.mark.parametrize(
    ("arguments", "repeats", "optimum"),
    [
        ({"item_variance": 0.1, "repeat_variance": 0.0, "item_cost": 1.0, "call_cost": 0.1}, 1, 0.0),
        ({"item_variance": 0.1, "repeat_variance": 0.1, "item_cost": 0.0, "call_cost": 0.1}, 1, 0.0),
        ({"item_variance": 0.0, "repeat_variance": 0.1, "item_cost": 0.0, "call_cost": 0.1}, 1, 0.0),
        ({"item_variance": 0.0, "repeat_variance": 0.1, "item_cost": 1.0, "call_cost": 0.1}, 7, None),
        ({"item_variance": 0.1, "repeat_variance": 0.1, "item_cost": 1.0, "call_cost": 0.0}, 7, None),
        ({"item_variance": 0.1, "repeat_variance": 0.1, "item_cost": 4.0, "call_cost": 1.0}, 2, 2.0),
        ({"item_variance": 0.1, "repeat_variance": 0.1, "item_cost": 2.0, "call_cost": 1.0}, 1, 2**0.5),
    ],
)
def test_edges_of_repeats(arguments: dict[str, float], repeats: int, optimum: float | None) -> None:
    """The last: one and two repeats give the same variance for the money, and the fewer are taken."""
    plan = repeats_that_pay(arguments.pop("item_variance"), arguments.pop("repeat_variance"), **arguments, most=7)
    assert plan.repeats == repeats
    assert plan.optimum == (None if optimum is None else pytest.approx(optimum))
    assert plan.variance_ratio <= 1


@given(
    budget=st.floats(5, 60),
    label=st.floats(0.2, 3),
    call=st.floats(0.05, 0.5),
    question=st.floats(0, 1),
    share=st.floats(0.05, 0.95),
    sensitivity=st.floats(0.7, 0.99),
    specificity=st.floats(0.7, 0.99),
    part=st.floats(0, 1),
)
def test_budget_plan_is_the_best_of_all_plans(
    budget: float,
    label: float,
    call: float,
    question: float,
    share: float,
    sensitivity: float,
    specificity: float,
    part: float,
) -> None:
    """Brute force over questions, repeats and labels, with the variance written out anew."""
    within = share * sensitivity * (1 - sensitivity) + (1 - share) * specificity * (1 - specificity)
    score = ExpectedScore(share, sensitivity, specificity, part * within)
    costs, limits = Costs(label, call, question), PlanLimits(questions=40, labels=30, repeats=4)
    plan = budget_plan(budget, score, costs, limits=limits)
    repeats, labels, questions = np.meshgrid(np.arange(1, 5), np.arange(2, 31), np.arange(1, 41))
    paid = questions * (question + repeats * call) + labels * (label + repeats * call)
    variances = variance_of(score, questions, repeats, labels)[paid <= budget * (1 + 1e-12)]
    if not len(variances):
        assert plan is None
        return
    assert plan is not None
    assert_allclose(plan.standard_error**2, variances.min(), rtol=1e-9)
    assert_allclose(variance_of(score, plan.questions, plan.repeats, plan.labels), variances.min(), rtol=1e-9)
    assert plan.cost <= budget * (1 + 1e-9)


def test_large_budgets_are_split_as_neyman_says() -> None:
    """Ratio of questions to labels: ``sqrt`` of their variances over their prices [Cochran 1977, section 5.5]."""
    plan = budget_plan(1e5, SCORE, COSTS, limits=PlanLimits(questions=10**6, labels=10**6))
    assert plan is not None
    price = np.array([COSTS.question, COSTS.label]) + plan.repeats * COSTS.call
    saved = 0.02 * (1 - 1 / plan.repeats)
    variances = np.array([0.44 * 0.56, 0.4 * 0.0475 + 0.6 * 0.09]) - saved
    wanted = np.sqrt(variances / price)
    assert_allclose(plan.questions / plan.labels, wanted[0] / wanted[1], rtol=0.01)
    assert_allclose(plan.calibration_share, variances[1] / plan.labels / (plan.standard_error * 0.85) ** 2, rtol=1e-9)


def test_a_perfect_grader_needs_the_fewest_labels_and_one_verdict() -> None:
    plan = budget_plan(100, ExpectedScore(0.4, 1.0, 1.0), COSTS, limits=PlanLimits(fewest_labels=3))
    assert plan is not None
    assert (plan.labels, plan.repeats, plan.calibration_share) == (3, 1, 0.0)
    assert_allclose(plan.standard_error, (0.24 / plan.questions) ** 0.5)


@given(budget=st.floats(20, 500), more=st.floats(1, 100))
def test_more_money_is_never_worse(budget: float, more: float) -> None:
    one, other = budget_plan(budget, SCORE, COSTS), budget_plan(budget + more, SCORE, COSTS)
    assert one is not None
    assert other is not None
    assert other.standard_error <= one.standard_error * (1 + 1e-9)


def test_limits_are_kept_and_the_rest_goes_to_labels() -> None:
    plan = budget_plan(1e4, SCORE, COSTS, limits=PlanLimits(questions=100, labels=50, repeats=3))
    assert plan is not None
    assert (plan.questions, plan.labels, plan.repeats) == (100, 50, 3)


def test_too_small_a_budget_buys_nothing() -> None:
    assert budget_plan(4.0, SCORE, COSTS) is None
    assert budget_plan(4.8, SCORE, COSTS) is not None  # one question and two labels, one verdict each


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: repeats_that_pay(-1, 1, item_cost=1, call_cost=1), "item_variance: not an amount, got -1"),
        (lambda: repeats_that_pay(0, 0, item_cost=1, call_cost=1), "item_variance, repeat_variance: nothing to weigh"),
        (lambda: repeats_that_pay(1, 1, item_cost=0, call_cost=0), "item_cost, call_cost: nothing to weigh"),
        (lambda: repeats_that_pay(1, math.nan, item_cost=1, call_cost=1), "repeat_variance: not an amount, got nan"),
        (lambda: repeats_that_pay(1, 1, item_cost=1, call_cost=1, most=0), "most: too few, got 0"),
        (lambda: Costs(label=0, call=0, question=1), "call: items for nothing"),
        (lambda: Costs(label=-1, call=1), "label: not an amount"),
        (lambda: ExpectedScore(1.2, 0.9, 0.9), "true_share: not a share, got 1.2; expected a number from 0 to 1"),
        (lambda: ExpectedScore(0.5, 0.5, 0.5), "sensitivity, specificity: not identified, got 0.5 and 0.5"),
        (lambda: PlanLimits(repeats=0), "repeats: too few, got 0; expected 1 or more"),
        (lambda: budget_plan(-1, SCORE, COSTS), "budget: not an amount"),
        (lambda: budget_plan(10, ExpectedScore(0.5, 0.9, 0.9, 0.2), COSTS), "repeat_variance: impossible, got 0.2"),
    ],
)
def test_what_cannot_be_planned(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()
