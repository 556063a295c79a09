"""How many labels, what difference, how many repeats, what a budget buys: answers with what they assume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from experiments.errors import SpecError
from experiments.stats.planning import (
    BudgetPlan,
    Costs,
    ExpectedScore,
    PlanLimits,
    RepeatPlan,
    budget_plan,
    detectable_difference,
    labels_for_half_width,
    planned_bounds,
    repeats_that_pay,
)

__all__ = [
    "BudgetAnswer",
    "BudgetQuestion",
    "DifferenceAnswer",
    "DifferenceQuestion",
    "LabelsAnswer",
    "LabelsQuestion",
    "RepeatsAnswer",
    "RepeatsQuestion",
    "ask_budget",
    "plan_budget",
    "plan_difference",
    "plan_labels",
    "plan_repeats",
]

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class LabelsQuestion:
    """How many labels give an interval of ``half_width`` to a ``rate``; ``class_share`` is that of items that count."""

    rate: float
    half_width: float
    level: float = 0.95
    items_per_question: float = 1.0
    correlation: float = 0.0
    repeats: int = 1
    repeat_share: float = 0.0
    class_share: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelsAnswer:
    """Labels of the class, items to label in all to get so many, and the half-widths of other numbers of labels.

    ``low`` and ``high`` are the ends of the expected interval, which is not symmetric about the rate.
    """

    question: LabelsQuestion
    labels: int
    items: int
    low: float
    high: float
    others: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class DifferenceQuestion:
    """What difference ``labels`` items can show whose differences spread by ``deviation``."""

    labels: int
    deviation: float
    items_per_question: float = 1.0
    correlation: float = 0.0
    power: float = 0.8
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class DifferenceAnswer:
    """The smallest difference found with the power, and that of other numbers of labels."""

    question: DifferenceQuestion
    difference: float
    others: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class RepeatsQuestion:
    """Variances between items and between repeats, and what an item and a call cost."""

    item_variance: float
    repeat_variance: float
    item_cost: float
    call_cost: float
    most: int = 100


@dataclass(frozen=True, slots=True)
class RepeatsAnswer:
    """The repeats that pay, and what other numbers give for the same money (variance over that of one repeat)."""

    question: RepeatsQuestion
    plan: RepeatPlan
    others: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class BudgetQuestion:
    """A budget, what is expected of the score and its grader, what things cost, what can be had."""

    budget: float
    score: ExpectedScore
    costs: Costs
    limits: PlanLimits


@dataclass(frozen=True, slots=True)
class BudgetAnswer:
    """What the budget buys at best, ``None`` where it is too small, and what half and twice of it buy."""

    question: BudgetQuestion
    plan: BudgetPlan | None
    others: tuple[tuple[float, BudgetPlan | None], ...]


def plan_labels(question: LabelsQuestion) -> LabelsAnswer:
    """Fewest labels for a half-width.

    Raises
    ------
    SpecError
        If a number is out of its range; so do all plans.
    """
    if not 0 < question.class_share <= 1:
        raise SpecError(f"class_share: {question.class_share:g}; expected above 0 and at most 1")
    labels = _asked(
        lambda: labels_for_half_width(
            question.rate,
            question.half_width,
            level=question.level,
            items_per_question=question.items_per_question,
            correlation=question.correlation,
            repeats=question.repeats,
            repeat_share=question.repeat_share,
        )
    )
    low, high = _bounds(question, labels)
    sizes = sorted({max(1, labels // 4), max(1, labels // 2), labels, 2 * labels, 4 * labels})
    return LabelsAnswer(
        question,
        labels,
        _whole(labels / question.class_share),
        low,
        high,
        tuple((n, _half_width(question, n)) for n in sizes),
    )


def _half_width(question: LabelsQuestion, n: int) -> float:
    low, high = _bounds(question, n)
    return (high - low) / 2


def _bounds(question: LabelsQuestion, n: int) -> tuple[float, float]:
    return planned_bounds(
        question.rate,
        n,
        level=question.level,
        items_per_question=question.items_per_question,
        correlation=question.correlation,
        repeats=question.repeats,
        repeat_share=question.repeat_share,
    )


def plan_difference(question: DifferenceQuestion) -> DifferenceAnswer:
    """The smallest difference that a paired comparison can be expected to find."""

    def smallest(labels: int) -> float:
        return detectable_difference(
            question.deviation,
            labels,
            items_per_question=question.items_per_question,
            correlation=question.correlation,
            power=question.power,
            level=question.level,
        )

    found = _asked(lambda: smallest(question.labels))
    fewest = _whole(2 * question.items_per_question)
    sizes = sorted({max(fewest, question.labels // 2), question.labels, 2 * question.labels, 4 * question.labels})
    return DifferenceAnswer(question, found, tuple((n, smallest(n)) for n in sizes))


def plan_repeats(question: RepeatsQuestion) -> RepeatsAnswer:
    """The number of repeats an item that gives the smallest variance for the money."""
    plan = _asked(
        lambda: repeats_that_pay(
            question.item_variance,
            question.repeat_variance,
            item_cost=question.item_cost,
            call_cost=question.call_cost,
            most=question.most,
        )
    )
    sizes = sorted({n for n in (1, 2, 3, 5, 10, plan.repeats) if n <= question.most})
    return RepeatsAnswer(question, plan, tuple((n, _price(question, n) / _price(question, 1)) for n in sizes))


def _price(question: RepeatsQuestion, repeats: int) -> float:
    """Variance times cost, as :func:`repeats_that_pay` weighs it."""
    variance = question.item_variance + question.repeat_variance / repeats
    return variance * (question.item_cost + repeats * question.call_cost)


_OPEN_SHARE = (
    "expected a number above 0 and below 1, as 0.99, where the 95% interval of 380 labels without an error still ends"
)


def ask_budget(
    budget: float,
    *,
    true_share: float,
    sensitivity: float,
    specificity: float,
    repeat_variance: float,
    measured_variance: bool,
    label_cost: float,
    call_cost: float,
    question_cost: float,
    limits: PlanLimits,
) -> BudgetQuestion:
    """The question of a budget; a variance that was measured is cut to what the error rates allow.

    Raises
    ------
    SpecError
        If a number is out of its range; 0 and 1 are out of a share's, as no sample shows them and nothing would vary.
    """
    for where, share in (("true share", true_share), ("sensitivity", sensitivity), ("specificity", specificity)):
        if share in (0, 1):
            raise SpecError(f"plan: {where}: {share:g}, which no number of labels can show; {_OPEN_SHARE}")
    within = true_share * sensitivity * (1 - sensitivity) + (1 - true_share) * specificity * (1 - specificity)
    variance = min(repeat_variance, within) if measured_variance else repeat_variance
    return _asked(
        lambda: BudgetQuestion(
            budget,
            ExpectedScore(true_share, sensitivity, specificity, variance),
            Costs(label_cost, call_cost, question_cost),
            limits,
        )
    )


def plan_budget(question: BudgetQuestion) -> BudgetAnswer:
    """What a budget buys, and half and twice of it."""

    def bought(budget: float) -> BudgetPlan | None:
        return budget_plan(budget, question.score, question.costs, limits=question.limits)

    plan = _asked(lambda: bought(question.budget))
    return BudgetAnswer(
        question,
        plan,
        tuple((budget, bought(budget)) for budget in (question.budget / 2, question.budget, 2 * question.budget)),
    )


def _asked(ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    except ValueError as error:
        raise SpecError(f"plan: {error}") from error


def _whole(number: float) -> int:
    """Rounded up, whatever the last bit of a quotient says."""
    return int(-(-number * (1 - 1e-12) // 1))
