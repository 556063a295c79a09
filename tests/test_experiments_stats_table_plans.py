"""Plans and predictions take no items: what must rise or fall with what, and what is the same in another unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import pytest
import statistics_data as made
from statistics_table import STATISTICS

from experiments.stats.planning import (
    Costs,
    ExpectedScore,
    budget_plan,
    design_effect,
    detectable_difference,
    detectable_difference_unpaired,
    labels_for_half_width,
    paired_power,
    planned_half_width,
    repeats_that_pay,
)
from experiments.stats.planning.label_counts import HalfWidthMethod
from experiments.stats.repeats import predicted_crossed_variance, predicted_difference_variance, predicted_variance

METHODS = get_args(HalfWidthMethod)


def rising(values: list[float]) -> bool:
    return all(first < second for first, second in pairwise(values))


def over(function: Callable[..., Any], name: str, several: list[Any], **fixed: Any) -> list[float]:
    return [float(function(**{name: one}, **fixed)) for one in several]


@pytest.mark.parametrize("method", METHODS)
def test_more_is_needed_for_less(method: Any) -> None:
    """Labels for a half-width: fewer for a wider one, more for a higher level and for items that say the same."""
    plan = {"rate": 0.2, "half_width": 0.05, "method": method}
    wider = over(labels_for_half_width, "half_width", [0.2, 0.1, 0.05, 0.02], rate=0.2, method=method)
    assert rising(wider)
    assert rising(over(labels_for_half_width, "level", [0.5, 0.8, 0.95, 0.99], **plan))
    several = {**plan, "items_per_question": 5.0}
    assert rising(over(labels_for_half_width, "correlation", [0.0, 0.3, 0.7], **several))
    for n in (50, 200, 1000):
        half = planned_half_width(0.2, n, method=method)
        assert labels_for_half_width(0.2, half * (1 + 1e-9), method=method) <= n
        assert planned_half_width(0.2, 4 * n, method=method) == pytest.approx(half / 2, rel=0.1)
        assert planned_half_width(0.8, n, method=method) == pytest.approx(half)


def test_repeats_help_only_where_they_differ() -> None:
    assert labels_for_half_width(0.2, 0.05, repeats=10) >= labels_for_half_width(0.2, 0.05)
    needed = over(labels_for_half_width, "repeats", [10, 3, 1], rate=0.2, half_width=0.05, repeat_share=0.5)
    assert rising(needed)


def test_a_design_without_clusters_or_repeats_has_no_effect() -> None:
    plain_design = {"items_per_question": 1.0, "correlation": 0.0, "repeats": 1, "repeat_share": 0.0}
    assert design_effect(**plain_design) == pytest.approx(1.0)  # type: ignore[arg-type]
    rest = {"correlation": 0.3, "repeats": 2, "repeat_share": 0.2}
    assert rising(over(design_effect, "items_per_question", [1, 2, 5, 20], **rest))
    assert rising(
        over(design_effect, "repeats", [20, 5, 2, 1], items_per_question=3, correlation=0.3, repeat_share=0.2)
    )


def test_power_rises_with_what_should_raise_it() -> None:
    assert rising(over(paired_power, "n", [20, 50, 100, 200], difference=0.1, deviation=0.4))
    assert rising(over(paired_power, "difference", [0.0, 0.05, 0.1, 0.2], deviation=0.4, n=100))
    assert rising(over(paired_power, "deviation", [1.0, 0.5, 0.4, 0.2], difference=0.1, n=100))
    assert rising(over(paired_power, "level", [0.99, 0.95, 0.8], difference=0.1, deviation=0.4, n=100))
    assert paired_power(-0.1, 0.4, 100) == pytest.approx(paired_power(0.1, 0.4, 100))
    assert paired_power(1.0, 4.0, 100) == pytest.approx(paired_power(0.1, 0.4, 100))
    assert paired_power(0.0, 0.4, 100) == pytest.approx(0.05)


def test_smaller_differences_need_more() -> None:
    assert rising(over(detectable_difference, "n", [400, 100, 50, 20], deviation=0.4))
    assert rising(over(detectable_difference, "power", [0.5, 0.8, 0.9], deviation=0.4, n=100))
    assert detectable_difference(0.8, 100) == pytest.approx(2 * detectable_difference(0.4, 100))
    found = detectable_difference(0.4, 100, power=0.8)
    assert paired_power(found, 0.4, 100) == pytest.approx(0.8, abs=1e-6)
    assert rising(over(detectable_difference_unpaired, "n", [400, 100, 50], rate=0.3, other_n=100))
    assert rising(over(detectable_difference_unpaired, "other_n", [400, 100, 50], rate=0.3, n=100))
    assert rising(over(detectable_difference_unpaired, "level", [0.8, 0.95, 0.99], rate=0.3, n=100, other_n=100))


def test_repeats_pay_by_ratios_alone() -> None:
    def plan(item: float, repeat: float, label: float, call: float) -> Any:
        return repeats_that_pay(item, repeat, item_cost=label, call_cost=call)

    assert plan(2.0, 6.0, 10.0, 0.5) == replace(plan(20.0, 60.0, 1.0, 0.05))
    several = [plan(1.0, repeat, 10.0, 1.0).repeats for repeat in (0.0, 0.1, 1.0, 4.0, 20.0)]
    assert several == sorted(several)
    assert several[0] == 1 < several[-1]
    assert all(plan(1.0, repeat, 10.0, 1.0).variance_ratio <= 1.0 for repeat in (0.0, 0.1, 1.0, 4.0))


def test_more_money_buys_no_less() -> None:
    score = ExpectedScore(0.4, 0.9, 0.85, 0.05)
    plans = [budget_plan(budget, score, Costs(2.0, 0.1, 0.2)) for budget in (50.0, 200.0, 1000.0, 5000.0)]
    errors = [plan.standard_error for plan in plans if plan is not None]
    assert len(errors) == 4
    assert rising([-one for one in errors])
    assert all(
        plan.cost <= budget + 1e-9 for plan, budget in zip(plans, (50.0, 200.0, 1000.0, 5000.0), strict=True) if plan
    )
    unit = budget_plan(20_000.0, score, Costs(200.0, 10.0, 20.0))
    assert unit is not None
    assert plans[1] is not None
    assert (unit.questions, unit.repeats, unit.labels) == (plans[1].questions, plans[1].repeats, plans[1].labels)


def designs() -> Iterator[dict[str, int]]:
    yield from (
        {"questions": 50, "items": 2, "repeats": 3, name: 8 * one}
        for name, one in (("questions", 50), ("items", 2), ("repeats", 3))
    )


def test_no_larger_design_is_predicted_to_vary_more() -> None:
    data = made.example(n=300, questions=120)
    one, several = STATISTICS["correctness_components"](data), STATISTICS["crossed_correctness_components"](data)
    small = {"questions": 50, "items": 2, "repeats": 3}
    alone = predicted_variance(one, **small)
    pair = predicted_difference_variance(several, **small)
    new = predicted_crossed_variance(several, graders=2, same_graders=False, **small)
    same = predicted_crossed_variance(several, graders=2, same_graders=True, **small)
    assert alone is not None
    assert pair is not None
    assert new is not None
    assert same is not None
    assert same <= new
    for larger in designs():
        assert (predicted_variance(one, **larger) or 9) <= alone
        assert (predicted_difference_variance(several, **larger) or 9) <= pair
        assert (predicted_crossed_variance(several, graders=2, same_graders=False, **larger) or 9) <= new
    assert (predicted_crossed_variance(several, graders=9, same_graders=False, **small) or 9) < new
    many = {**small, "questions": 100}
    assert predicted_variance(one, **many) == pytest.approx(alone / 2)
    assert predicted_difference_variance(several, **many) == pytest.approx(pair / 2)
