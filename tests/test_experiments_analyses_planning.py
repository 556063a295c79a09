"""Plans: the planning statistics, fed with given numbers or with those of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.analyses.graded_samples import GradedSample, read_graded_samples
from experiments.analyses.plans.planning import (
    DifferenceQuestion,
    LabelsQuestion,
    RepeatsQuestion,
    ask_budget,
    plan_budget,
    plan_difference,
    plan_labels,
    plan_repeats,
)
from experiments.analyses.plans.planning_inputs import read_pair_figures, read_run_figures, sole_items_per_question
from experiments.analyses.plans.planning_notes import pair_notes, run_notes
from experiments.analyses.plans.planning_page import plan_document, plan_fields, plan_text
from experiments.errors import SpecError
from experiments.reports.render_text import render_document
from experiments.stats.errors import false_negative_rate
from experiments.stats.intervals import wilson
from experiments.stats.planning import (
    PlanLimits,
    detectable_difference,
    labels_for_half_width,
    planned_bounds,
    repeats_that_pay,
)
from graders.exact import VerdictDistribution
from graders.pricing import Cost

BUDGET = {
    "true_share": 0.5,
    "sensitivity": 0.95,
    "specificity": 0.97,
    "repeat_variance": 0.0,
    "measured_variance": False,
    "label_cost": 1.0,
    "call_cost": 0.002,
    "question_cost": 0.0,
    "limits": PlanLimits(),
}
ROWS = [("C", "CCI"), ("C", "CCC"), ("C", "III"), ("I", "III"), ("I", "ICI"), ("C", "CCC"), ("N", "NNN"), ("C", "CIC")]


def _graded(runs: Any, rows: list[tuple[str, str]] = ROWS, **changes: Any) -> GradedSample:
    data = runs.run(rows)
    return read_graded_samples(replace(data, graders=[replace(data.graders[0], **changes)]))[0]


def test_labels_are_those_of_the_statistic_and_the_table_brackets_them() -> None:
    found = plan_labels(LabelsQuestion(0.05, 0.02, class_share=0.4))
    assert found.labels == labels_for_half_width(0.05, 0.02)
    assert found.items == -(-found.labels * 10 // 4)
    widths = dict(found.others)
    assert widths[found.labels] <= 0.02 < widths[found.labels // 2]


def test_a_difference_shrinks_with_the_root_of_labels() -> None:
    found = plan_difference(DifferenceQuestion(500, 0.3))
    assert found.difference == pytest.approx(detectable_difference(0.3, 500))
    widths = dict(found.others)
    assert widths[2000] == pytest.approx(found.difference / 2, rel=0.01)


def test_repeats_are_weighed_against_their_cost() -> None:
    found = plan_repeats(RepeatsQuestion(0.05, 0.05, item_cost=1.0, call_cost=0.01))
    assert found.plan == repeats_that_pay(0.05, 0.05, item_cost=1.0, call_cost=0.01)
    assert found.plan.repeats == 10
    ratios = dict(found.others)
    assert ratios[1] == 1
    assert ratios[10] == pytest.approx(found.plan.variance_ratio)
    assert plan_repeats(RepeatsQuestion(0.05, 0.0, item_cost=1.0, call_cost=0.01)).plan.repeats == 1


def test_twice_the_budget_buys_a_smaller_error_and_a_cent_buys_nothing() -> None:
    found = plan_budget(ask_budget(200.0, **BUDGET))  # type: ignore[arg-type]
    errors = [plan.standard_error for _, plan in found.others if plan is not None]
    assert errors == sorted(errors, reverse=True)
    assert found.plan is not None
    assert found.plan.cost <= 200
    poor = plan_budget(ask_budget(0.01, **BUDGET))  # type: ignore[arg-type]
    assert poor.plan is None
    assert "too few" in render_document(plan_document(poor, []))


def test_a_measured_variance_is_cut_to_what_the_rates_allow_and_a_given_one_is_not() -> None:
    high = {**BUDGET, "repeat_variance": 0.2}
    assert plan_budget(ask_budget(200.0, **{**high, "measured_variance": True})).plan is not None  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="repeat_variance: impossible"):
        plan_budget(ask_budget(200.0, **high))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["true_share", "sensitivity", "specificity"])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_budget_is_planned_with_a_share_that_no_labels_can_show(name: str, share: float) -> None:
    where = name.replace("_", " ")
    with pytest.raises(SpecError, match=rf"plan: {where}: [01], which no number of labels can show; expected"):
        ask_budget(200.0, **{**BUDGET, name: share})  # type: ignore[arg-type]


def test_the_share_that_the_message_offers_is_what_so_many_labels_show() -> None:
    assert wilson(380, 380).low == pytest.approx(0.99, abs=1e-4)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.6, 1 - 1e-6), st.floats(0.6, 1 - 1e-6))
def test_no_plan_promises_an_error_of_zero(true_share: float, sensitivity: float, specificity: float) -> None:
    rates = {"true_share": true_share, "sensitivity": sensitivity, "specificity": specificity, "repeat_variance": 0.0}
    plan = plan_budget(ask_budget(200.0, **{**BUDGET, **rates})).plan  # type: ignore[arg-type]
    assert plan is not None
    assert plan.standard_error > 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda: plan_labels(LabelsQuestion(0.0, 0.02)),
        lambda: plan_labels(LabelsQuestion(0.05, 0.7)),
        lambda: plan_labels(LabelsQuestion(0.05, 0.02, class_share=0.0)),
        lambda: plan_difference(DifferenceQuestion(1, 0.3)),
        lambda: plan_difference(DifferenceQuestion(100, 0.3, power=0.01)),
        lambda: plan_repeats(RepeatsQuestion(0.0, 0.0, 1.0, 1.0)),
        lambda: ask_budget(200.0, **{**BUDGET, "sensitivity": 0.02}),  # type: ignore[arg-type]
    ],
)
def test_a_number_out_of_its_range_is_named(ask: Any) -> None:
    with pytest.raises(SpecError, match="expected"):
        ask()


def test_figures_of_a_run_are_counted_by_hand(runs: Any) -> None:
    found = read_run_figures(_graded(runs, cost=Cost(2.4)), "false_negative_rate")
    # Wrong shares 1/3, 0, 1, 0, 1/3 of the five right items.
    assert found.rate == found.measured.value == pytest.approx(1 / 3)
    assert found.class_share == 5 / 8
    assert (found.items_per_question, found.correlation, found.repeats) == (1.0, 0.0, 3)
    # Half the mean squared difference of an item's verdicts: two items with 2 of 3 pairs that differ.
    assert found.repeat_variance == pytest.approx(2 * (2 / 3) / 2 / 5)
    assert found.call_cost == pytest.approx(0.1)
    assert found.item_variance is not None
    total = found.item_variance + (found.repeat_variance or 0)
    assert found.repeat_share == pytest.approx((found.repeat_variance or 0) / total)


def test_single_verdicts_cannot_tell_repeats_from_items(runs: Any) -> None:
    found = read_run_figures(_graded(runs, [("C", "C"), ("C", "I"), ("I", "I")]), "error_rate")
    assert (found.repeat_share, found.repeat_variance, found.item_variance) == (None, None, None)
    assert any("cannot tell repeats" in note for note in run_notes(found))


def test_no_error_is_planned_for_by_the_end_of_its_interval(runs: Any) -> None:
    graded = _graded(runs, [("C", "CC")] * 20 + [("I", "II")] * 3)
    found = read_run_figures(graded, "false_negative_rate")
    sample = graded.sample
    expected = false_negative_rate(
        sample.labels_given, sample.counts, sample.clusters, labels=sample.scale.labels, positive="CORRECT"
    )
    assert (found.rate, found.rate_is_limit) == (expected.high, True)
    assert any("cannot be planned for" in note for note in run_notes(found))
    assert found.call_cost is None


def test_a_class_that_is_not_there_is_named(runs: Any) -> None:
    for rows in ([("C", "CC")], [("I", "--")], []):
        with pytest.raises(SpecError, match="not defined"):
            read_run_figures(_graded(runs, rows), "false_positive_rate")


def test_a_pair_is_compared_on_its_common_items(runs: Any) -> None:
    first, second = _graded(runs), _graded(runs, [(people, "CCC") for people, _ in ROWS[:6]])
    found = read_pair_figures(first, second, "error_rate")
    gaps = np.array([1 / 3, 0, 1, -1, 1 / 3 - 1, 0])
    assert found.n == 6
    assert found.difference == pytest.approx(gaps.mean())
    assert found.deviation == pytest.approx(gaps.std(ddof=1))
    assert "-5.6 points on 6 items" in pair_notes(found)[0]
    with pytest.raises(SpecError, match="never differ"):
        read_pair_figures(first, first, "error_rate")


def test_items_a_question_weigh_large_questions() -> None:
    assert sole_items_per_question(["a", "a", "a", "b"]) == 10 / 4
    assert sole_items_per_question([]) == 1


@pytest.mark.parametrize(
    "answer",
    [
        plan_labels(LabelsQuestion(0.05, 0.02, items_per_question=3, correlation=0.2, class_share=0.5)),
        plan_difference(DifferenceQuestion(200, 0.3)),
        plan_repeats(RepeatsQuestion(0.0, 0.1, 1.0, 0.0)),
        plan_budget(ask_budget(200.0, **BUDGET)),  # type: ignore[arg-type]
    ],
)
def test_every_page_ends_in_its_decision(answer: Any) -> None:
    page = render_document(plan_document(answer, ["a note \x1b"]))
    assert "\x1b" not in page
    fields = plan_fields(answer, ["a note"])
    assert fields["schema"] == "autorater.plan/1"
    assert " ".join(page.split("Decision")[1].split()).endswith(" ".join(fields["decision"].split()))


def test_the_ends_of_an_expected_interval_are_printed_as_they_are() -> None:
    found = plan_labels(LabelsQuestion(0.05, 0.02))
    assert (found.low, found.high) == planned_bounds(0.05, found.labels)
    assert found.high - 0.05 > 0.05 - found.low
    text = plan_text(found)
    assert f"expected to be [{100 * found.low:.1f}, {100 * found.high:.1f}], 4 points wide" in text
    assert "plus and minus" not in text


def _computed(runs: Any, passed: list[float]) -> GradedSample:
    """A grader whose chances of CORRECT on items that people call CORRECT are these, in each as if drawn ten times."""
    data = runs.run([("C", "C")] * len(passed))
    items = data.calibration_set.items
    exact = replace(
        data.graders[0],
        sampling={"method": "exact", "repeats": 10},
        cost=Cost(0.5),
        distributions={
            item.digest: VerdictDistribution(
                item.digest, {"CORRECT": chance, "INCORRECT": 1 - chance, "NOT_ATTEMPTED": 0.0}, outside=0.0
            )
            for item, chance in zip(items, passed, strict=True)
        },
    )
    return read_graded_samples(replace(data, graders=[exact]))[0]


def test_a_computed_grader_is_planned_for_without_noise_of_repeats(runs: Any) -> None:
    passed = [1.0, 0.9, 0.5, 0.8, 0.95, 0.7, 1.0, 0.6]
    found = read_run_figures(_computed(runs, passed), "error_rate")
    wrong = [1 - chance for chance in passed]
    mean = sum(wrong) / 8
    assert found.rate == pytest.approx(mean)
    assert found.computed
    assert (found.repeats, found.repeat_variance) == (10, 0.0)
    between = sum((one - mean) ** 2 for one in wrong) / 7
    assert found.item_variance == pytest.approx(between)
    within = sum(one * (1 - one) for one in wrong) / 8
    assert found.repeat_share == pytest.approx(within / (within + between))
    assert found.call_cost == pytest.approx(0.5 / 8)
    assert any("computed, not drawn" in note for note in run_notes(found))
    repeats = plan_repeats(RepeatsQuestion(found.item_variance or 0, found.repeat_variance or 0, 1.0, 0.01))
    assert repeats.plan.repeats == 1
