"""What a budget buys: repeats, items, and labels for calibration.

Two-stage sampling [Cochran 1977, section 10.6]: an item costs something once, and each of its verdicts costs something;
the variance of an item mean is that of items plus that of repeats over their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BudgetPlan", "Costs", "ExpectedScore", "PlanLimits", "RepeatPlan", "budget_plan", "repeats_that_pay"]


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs in one unit: of a calibration item's label by people, of a verdict, of a question's answer."""

    label: float
    call: float
    question: float = 0.0

    def __post_init__(self) -> None:
        for where, amount in (("label", self.label), ("call", self.call), ("question", self.question)):
            _check_amount(where, amount)
        if self.call == 0 and not (self.label and self.question):
            raise ValueError(
                f"call: items for nothing, got label {self.label}, call 0, question {self.question};"
                " expected a cost of each item above 0"
            )


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """What is expected of a score and its grader.

    ``true_share`` is the share of right answers, in benchmark and calibration set alike; ``sensitivity`` and
    ``specificity`` are the chances that the grader passes a right answer and refuses a wrong one.
    ``repeat_variance`` is the mean over items of the variance between an item's verdicts, at most that within the
    true classes.
    """

    true_share: float
    sensitivity: float
    specificity: float
    repeat_variance: float = 0.0

    def __post_init__(self) -> None:
        _check_share("true_share", self.true_share)
        _check_share("sensitivity", self.sensitivity)
        _check_share("specificity", self.specificity)
        _check_amount("repeat_variance", self.repeat_variance)
        if self.sensitivity + self.specificity <= 1:
            raise ValueError(
                f"sensitivity, specificity: not identified, got {self.sensitivity} and {self.specificity};"
                " expected a sum above 1"
            )


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """The most questions, calibration labels and repeats that can be had, and the fewest labels that must be."""

    questions: int = 10_000
    labels: int = 10_000
    repeats: int = 20
    fewest_labels: int = 2

    def __post_init__(self) -> None:
        _check_limit("questions", self.questions)
        _check_limit("labels", self.labels)
        _check_limit("repeats", self.repeats)
        _check_limit("fewest_labels", self.fewest_labels)


@dataclass(frozen=True, slots=True)
class RepeatPlan:
    """The number of repeats an item that gives the smallest variance for the money.

    ``optimum`` is the best real number, ``None`` where no number is too large. ``variance_ratio`` is the variance
    of the mean over what single verdicts give for the same money: 1 where one repeat is best.
    """

    repeats: int
    optimum: float | None
    variance_ratio: float


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """Questions of a benchmark, verdicts an item and labelled calibration items, with what they cost.

    ``standard_error`` is that of the corrected score; ``calibration_share`` is the part of its variance that comes
    from the calibration items, the rest comes from the questions.
    """

    questions: int
    repeats: int
    labels: int
    cost: float
    standard_error: float
    calibration_share: float


def repeats_that_pay(
    item_variance: float, repeat_variance: float, *, item_cost: float, call_cost: float, most: int = 100
) -> RepeatPlan:
    """Repeats an item that make the variance of a mean smallest under any budget.

    Parameters
    ----------
    item_variance
        Variance that no repeat can lessen: of items, with the clusters of questions if there are any (the sum over
        the components of the component times the items that share it).
    repeat_variance
        Variance of one verdict between the repeats of an item.
    item_cost
        Cost of an item before any call: its label, its answer.
    call_cost
        Cost of one verdict, in the same unit.
    most
        Repeats that can be had.

    Returns
    -------
    RepeatPlan
        The optimum is ``sqrt(item_cost / call_cost * repeat_variance / item_variance)`` [Cochran 1977, section
        10.6]; of the two whole numbers beside it the better is chosen, the smaller where they are equal.

    Raises
    ------
    ValueError
        A negative variance or cost, no variance at all, no cost at all, ``most`` below 1.
    """
    _check_pair("item_variance", item_variance, "repeat_variance", repeat_variance)
    _check_pair("item_cost", item_cost, "call_cost", call_cost)
    _check_limit("most", most)
    optimum: float | None = None
    if not item_cost * repeat_variance:
        optimum = 0.0
    elif call_cost * item_variance:
        optimum = math.sqrt(item_cost / call_cost * repeat_variance / item_variance)
    floor = most if optimum is None else min(max(math.floor(optimum), 1), most)

    def price(repeats: int) -> float:
        return (item_variance + repeat_variance / repeats) * (item_cost + repeats * call_cost)

    repeats = min((floor, min(floor + 1, most)), key=price)
    return RepeatPlan(repeats, optimum, price(repeats) / price(1))


def budget_plan(
    budget: float, score: ExpectedScore, costs: Costs, *, limits: PlanLimits | None = None
) -> BudgetPlan | None:
    """Questions, repeats and calibration labels that make a corrected score most precise within a budget.

    Parameters
    ----------
    budget
        What may be spent, in the unit of the costs.
    score, costs, limits
        What is expected, what it costs, and what can be had. Questions and calibration items get equally many
        verdicts each.

    Returns
    -------
    BudgetPlan or None
        The best of all whole numbers; ``None`` where the budget is too small for a question and the fewest labels.

    Raises
    ------
    ValueError
        A budget or cost that is negative, items that cost nothing, sensitivity + specificity not above 1, shares
        outside 0 to 1, a repeat variance above that within the classes, a limit below 1.

    Notes
    -----
    The variance of the corrected score is ``V / J**2 / questions + W / J**2 / labels`` by the delta method [Rogan and
    Gladen 1978], with J = sensitivity + specificity - 1, V the variance of an item mean of the grader, and W its part
    within the true classes. Items count as independent.
    """
    _check_amount("budget", budget)
    limits = limits or PlanLimits()
    total, within, youden = _score_variances(score)
    best: BudgetPlan | None = None
    for repeats in range(1, limits.repeats + 1):
        saved = score.repeat_variance * (1 - 1 / repeats)
        variances = (total - saved) / youden**2, max(within - saved, 0.0) / youden**2
        plan = _best_split(budget, costs, limits, variances, repeats)
        if plan and (best is None or plan.standard_error < best.standard_error * (1 - 1e-12)):
            best = plan
    return best


def _best_split(
    budget: float, costs: Costs, limits: PlanLimits, variances: tuple[float, float], repeats: int
) -> BudgetPlan | None:
    """Every number of labels, each with all the questions that the rest of the budget buys."""
    question_price, label_price = costs.question + repeats * costs.call, costs.label + repeats * costs.call
    labels = np.arange(limits.fewest_labels, min(limits.labels, int(_bought(budget, label_price))) + 1)
    left = np.asarray(budget - labels * label_price, dtype=np.float64)
    questions = np.minimum(limits.questions, _bought(left, question_price))
    labels, questions = labels[questions >= 1], questions[questions >= 1]
    if not len(labels):
        return None
    by_question, by_label = variances[0] / questions, variances[1] / labels
    variance = by_question + by_label
    first = int(np.flatnonzero(variance <= variance.min() * (1 + 1e-12))[0])
    return BudgetPlan(
        questions=int(questions[first]),
        repeats=repeats,
        labels=int(labels[first]),
        cost=float(questions[first] * question_price + labels[first] * label_price),
        standard_error=float(variance[first]) ** 0.5,
        calibration_share=float(by_label[first] / variance[first]) if variance[first] else 0.0,
    )


def _bought(budget: float | NDArray[np.float64], price: float) -> NDArray[np.float64]:
    """Whole items for the money; a price that divides it to within rounding is paid in full."""
    return np.asarray(np.floor(budget / price * (1 + 1e-12) + 1e-12), dtype=np.float64)


def _score_variances(score: ExpectedScore) -> tuple[float, float, float]:
    """Variance of a single verdict, its part within the true classes, and J."""
    share, youden = score.true_share, score.sensitivity + score.specificity - 1
    passed = share * score.sensitivity + (1 - share) * (1 - score.specificity)
    within = share * score.sensitivity * (1 - score.sensitivity)
    within += (1 - share) * score.specificity * (1 - score.specificity)
    if score.repeat_variance > within + 1e-12:
        raise ValueError(
            f"repeat_variance: impossible, got {score.repeat_variance}; expected at most {within:g}, the variance of a"
            " verdict within the true classes"
        )
    return passed * (1 - passed), within, youden


def _check_amount(where: str, amount: float) -> None:
    if not 0 <= amount < math.inf:
        raise ValueError(f"{where}: not an amount, got {amount}; expected a number from 0")


def _check_pair(where: str, amount: float, other_where: str, other: float) -> None:
    _check_amount(where, amount)
    _check_amount(other_where, other)
    if not amount + other:
        raise ValueError(f"{where}, {other_where}: nothing to weigh, got 0 and 0; expected one above 0")


def _check_share(where: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"{where}: not a share, got {share}; expected a number from 0 to 1")


def _check_limit(where: str, limit: int) -> None:
    if limit < 1:
        raise ValueError(f"{where}: too few, got {limit}; expected 1 or more")
