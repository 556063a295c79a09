"""The pages of the plans: what they start from, what they find, and what may be made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from experiments.analyses.plans.planning import BudgetAnswer, DifferenceAnswer, LabelsAnswer, RepeatsAnswer
from experiments.reports.document import Block, Document, Paragraph, Section, Table
from experiments.reports.figures import percent
from experiments.stats.planning import BudgetPlan

__all__ = ["Answer", "plan_document", "plan_fields"]

SCHEMA = "autorater.plan/1"

Answer = LabelsAnswer | DifferenceAnswer | RepeatsAnswer | BudgetAnswer
"""What a plan can answer."""

_NAMES = {
    LabelsAnswer: "labels",
    DifferenceAnswer: "difference",
    RepeatsAnswer: "repeats",
    BudgetAnswer: "budget",
}


def plan_fields(answer: Answer, notes: Sequence[str]) -> dict[str, Any]:
    """A plan as plain JSON values; ``notes`` say where its numbers come from."""
    return {
        "schema": SCHEMA,
        "plan": _NAMES[type(answer)],
        **asdict(answer),
        "notes": list(notes),
        "decision": plan_text(answer),
    }


def plan_document(answer: Answer, notes: Sequence[str]) -> Document:
    """A plan as a page."""
    blocks: list[Block] = [Paragraph(text) for text in (_assumed(answer), *notes)]
    return Document(
        (
            Section(f"Plan: {_NAMES[type(answer)]}", 1, (*blocks, _table(answer))),
            Section("Decision", 2, (Paragraph(plan_text(answer)),)),
        )
    )


def _assumed(answer: Answer) -> str:
    if isinstance(answer, LabelsAnswer):
        asked = answer.question
        return (
            f"Expected rate {percent(asked.rate)} over {percent(asked.class_share)} of items, level "
            f"{percent(asked.level)}; {_questions(asked.items_per_question, asked.correlation)}; verdicts an "
            f"item: {asked.repeats}, of whose variance {percent(asked.repeat_share)} lies between repeats."
        )
    if isinstance(answer, DifferenceAnswer):
        pair = answer.question
        return (
            f"Two graders or wordings on the same items; standard deviation of an item's difference "
            f"{pair.deviation:.3g}; {_questions(pair.items_per_question, pair.correlation)}; power "
            f"{percent(pair.power)}, two-sided test at level {percent(pair.level)}."
        )
    if isinstance(answer, RepeatsAnswer):
        weighed = answer.question
        return (
            f"Variance {weighed.item_variance:.4g} between items and {weighed.repeat_variance:.4g} between the "
            f"verdicts of one item; an item costs {_dollars(weighed.item_cost)} and a verdict "
            f"{_dollars(weighed.call_cost)}."
        )
    score, costs = answer.question.score, answer.question.costs
    return (
        f"Expected: {percent(score.true_share)} right answers; the grader passes {percent(score.sensitivity)} of the "
        f"right ones and refuses {percent(score.specificity)} of the wrong ones; variance between verdicts of an item "
        f"{score.repeat_variance:.3g}. A label costs {_dollars(costs.label)}, a verdict {_dollars(costs.call)}, a "
        f"question {_dollars(costs.question)}."
    )


def _questions(items: float, correlation: float) -> str:
    if items == 1:
        return "one item a question"
    return f"{items:.3g} items a question with correlation {correlation:.3g}"


def _table(answer: Answer) -> Table:
    if isinstance(answer, LabelsAnswer):
        rows = [(f"{n:,}", f"{100 * half:.2f}") for n, half in answer.others]
        return Table(("labels", "half the width, points"), tuple(rows), n_text=0)
    if isinstance(answer, DifferenceAnswer):
        rows = [(f"{n:,}", f"{100 * found:.2f}") for n, found in answer.others]
        return Table(("labels", "smallest difference, points"), tuple(rows), n_text=0)
    if isinstance(answer, RepeatsAnswer):
        rows = [(str(n), f"{ratio:.3f}") for n, ratio in answer.others]
        return Table(("repeats", "variance for the money, 1 repeat = 1"), tuple(rows), n_text=0)
    bought = [(_dollars(budget), *_bought(plan)) for budget, plan in answer.others]
    columns = ("budget", "questions", "repeats", "labels", "cost", "standard error, points", "from calibration")
    return Table(columns, tuple(bought), n_text=0)


def _bought(plan: BudgetPlan | None) -> tuple[str, ...]:
    if plan is None:
        return ("-",) * 6
    return (
        f"{plan.questions:,}",
        str(plan.repeats),
        f"{plan.labels:,}",
        _dollars(plan.cost),
        f"{100 * plan.standard_error:.2f}",
        percent(plan.calibration_share),
    )


def plan_text(answer: Answer) -> str:
    """What may be made of a plan."""
    if isinstance(answer, LabelsAnswer):
        return _labels_text(answer)
    if isinstance(answer, DifferenceAnswer):
        return _difference_text(answer)
    return _repeats_text(answer) if isinstance(answer, RepeatsAnswer) else _budget_text(answer)


def _labels_text(answer: LabelsAnswer) -> str:
    asked = answer.question
    more = f" That takes about {answer.items:,} items labelled in all." if answer.items > answer.labels else ""
    return (
        f"Label {answer.labels:,} items of this class: the interval of {percent(asked.rate)} is then expected to be "
        f"[{100 * answer.low:.1f}, {100 * answer.high:.1f}], {100 * (answer.high - answer.low):.3g} points wide.{more} "
        "If the rate turns out nearer to 50%, the interval is wider."
    )


def _difference_text(answer: DifferenceAnswer) -> str:
    asked = answer.question
    return (
        f"With {asked.labels:,} items the comparison finds a difference of {100 * answer.difference:.2f} points or "
        f"more in {percent(asked.power)} of cases; a smaller one may well be missed, so that its absence would show "
        "nothing. With several comparisons the level of each is stricter and the difference larger."
    )


def _repeats_text(answer: RepeatsAnswer) -> str:
    plan = answer.plan
    optimum = "no number is too large" if plan.optimum is None else f"the exact optimum is {plan.optimum:.2f}"
    gain = f"{percent(1 - plan.variance_ratio)} less variance than single verdicts for the same money"
    return (
        f"Verdicts to ask for on each item: {plan.repeats} ({optimum}): "
        f"{gain if plan.repeats > 1 else 'more do not pay'}. This is about the precision of a mean; repeats "
        "also show how inconsistent a grader is, which takes two at least."
    )


def _budget_text(answer: BudgetAnswer) -> str:
    plan, budget = answer.plan, _dollars(answer.question.budget)
    if plan is None:
        return f"{budget} are too few for one question and the fewest labels."
    return (
        f"{budget} buy {plan.questions:,} questions, verdicts on each: {plan.repeats}, and {plan.labels:,} labelled "
        f"items: the corrected score has a standard error of {100 * plan.standard_error:.2f} points, "
        f"{percent(plan.calibration_share)} of its variance from the calibration items. Items count as independent: "
        "with several items a question the error is larger. The plan is as good as the error rates that it expects."
    )


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4g}"
