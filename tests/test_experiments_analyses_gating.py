"""Gates: rules are read by a pattern and decided by intervals; undecided is an outcome of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.analyses.gates.gate_rules import MEASURES, NotWorse, Rule, keeps, parse_not_worse, parse_rule
from experiments.analyses.gates.gating import (
    check_gate,
    check_not_worse,
    check_rule,
    total_outcome,
)
from experiments.analyses.gates.gating_page import decision_text, gate_document, gate_fields
from experiments.analyses.graded_samples import find_graded, match_samples, read_graded_samples
from experiments.analyses.measuring import Measured, item_values, measure
from experiments.errors import SpecError
from experiments.reports import build_report
from experiments.reports.render_text import render_document
from experiments.stats.comparisons import non_inferiority_test
from experiments.stats.estimate import Estimate
from experiments.stats.intervals import wilson


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("upper(false_negative_rate) <= 0.03", Rule("upper", "false_negative_rate", "<=", 0.03)),
        ("  lower ( kappa )>=.6 ", Rule("lower", "kappa", ">=", 0.6)),
        ("value(coverage)>= 99%", Rule("value", "coverage", ">=", 0.99)),
        ("upper(false_positive_rate) < 3 %", Rule("upper", "false_positive_rate", "<", 0.03)),
        ("lower(alpha_repeats) > -0.1", Rule("lower", "alpha_repeats", ">", -0.1)),
        ("value(error_rate) <= 1.", Rule("value", "error_rate", "<=", 1.0)),
    ],
)
def test_a_rule_is_read(text: str, expected: Rule) -> None:
    assert parse_rule(text) == expected
    assert parse_rule(parse_rule(text).text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "false_negative_rate <= 0.03",
        "upper(false_negative_rate) == 0.03",
        "upper(false_negative_rate) <= 3",
        "upper(false_negative_rate) <= -0.1",
        "upper(no_such_rate) <= 0.1",
        "median(error_rate) <= 0.1",
        "upper(error_rate) <= 0.1 and 1",
        "upper(error_rate) <= 1e-2",
        "upper(error_rate) <= nan",
        "__import__('os').system('true')",
        "upper(error_rate) <= 0.1\nupper(kappa) <= 1",
        "upper(error_rate) <= ٣",
        "lower(kappa) >= 1.5",
    ],
)
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SpecError, match="expected") as caught:
        parse_rule(text)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        rule = parse_rule(text)
    except SpecError:
        return
    assert rule.name in MEASURES


def test_a_margin_is_read() -> None:
    assert parse_not_worse("false_negative_rate by 1%") == NotWorse("false_negative_rate", 0.01)
    for text in ("kappa by 0.1", "false_negative_rate by 0", "false_negative_rate by 2", "false_negative_rate", "by 1"):
        with pytest.raises(SpecError, match="expected"):
            parse_not_worse(text)


def _measured(low: float | None, value: float | None, high: float | None) -> Measured:
    return Measured("error_rate", Estimate(value, low, high, 0.95, "wilson", 10, 10, 1), 1.0)


@pytest.mark.parametrize(
    ("rule", "ends", "outcome"),
    [
        ("upper(error_rate) <= 0.03", (0.0, 0.01, 0.03), "pass"),
        ("upper(error_rate) < 0.03", (0.0, 0.01, 0.03), "undecided"),
        ("upper(error_rate) <= 0.03", (0.01, 0.02, 0.05), "undecided"),
        ("upper(error_rate) <= 0.03", (0.04, 0.05, 0.06), "fail"),
        ("upper(error_rate) <= 0.03", (0.03, 0.05, 0.06), "undecided"),
        ("lower(error_rate) >= 0.5", (0.6, 0.7, 0.8), "pass"),
        ("lower(error_rate) >= 0.5", (0.4, 0.7, 0.8), "undecided"),
        ("lower(error_rate) >= 0.5", (0.1, 0.2, 0.4), "fail"),
        ("lower(error_rate) <= 0.03", (0.01, 0.2, 0.4), "pass"),
        ("lower(error_rate) <= 0.03", (0.1, 0.2, 0.4), "fail"),
        ("upper(error_rate) >= 0.5", (0.1, 0.2, 0.4), "fail"),
        ("value(error_rate) <= 0.2", (0.1, 0.2, 0.4), "pass"),
        ("value(error_rate) < 0.2", (0.1, 0.2, 0.4), "fail"),
        ("value(error_rate) <= 0.2", (None, 0.2, None), "pass"),
        ("upper(error_rate) <= 0.2", (None, 0.2, None), "undecided"),
        ("value(error_rate) <= 0.2", (None, None, None), "undecided"),
    ],
)
def test_the_outcome_follows_the_interval(rule: str, ends: tuple[Any, Any, Any], outcome: str) -> None:
    assert check_rule(parse_rule(rule), _measured(*ends)).outcome == outcome


def test_equal_to_within_rounding_is_equal() -> None:
    assert keeps("<=", 0.1 + 0.2, 0.3)
    assert not keeps("<", 0.1 + 0.2, 0.3)
    assert not keeps("<=", 0.3 + 1e-9, 0.3)


def test_a_value_rule_says_where_its_interval_reaches_across() -> None:
    assert "reaches across" in check_rule(parse_rule("value(error_rate) <= 0.3"), _measured(0.1, 0.2, 0.4)).why
    assert "reaches" not in check_rule(parse_rule("value(error_rate) <= 0.5"), _measured(0.1, 0.2, 0.4)).why


def test_a_failure_fails_all_and_an_undecided_rule_leaves_all_undecided() -> None:
    assert total_outcome(["pass", "undecided", "fail"]) == "fail"
    assert total_outcome(["pass", "undecided"]) == "undecided"
    assert total_outcome(["pass"]) == "pass"


ROWS = [("C", "CCC"), ("C", "CCI"), ("C", "III"), ("I", "III"), ("I", "ICI"), ("N", "NNN"), ("", "CIC"), ("I", "I-.")]


def test_measures_are_those_of_the_report(runs: Any) -> None:
    data = runs.run(ROWS)
    graded, section = read_graded_samples(data)[0], build_report(data)["graders"][0]
    for name in ("false_negative_rate", "false_positive_rate", "flip_rate", "pairwise_disagreement"):
        found = measure(graded, name, level=0.95)
        assert found.estimate.value == pytest.approx(section[name]["value"], abs=0)
        assert found.estimate.high == pytest.approx(section[name]["high"], abs=0)
    assert measure(graded, "alpha_repeats", level=0.95).estimate.low == section["alpha_repeats"]["low"]
    assert measure(graded, "kappa", level=0.95).estimate.value == section["agreement"]["cohen_kappa"]["value"]
    assert measure(graded, "coverage", level=0.95).estimate.value == pytest.approx(section["coverage"])
    assert measure(graded, "failure_rate", level=0.95).estimate.value == pytest.approx(2 / 24)


def test_the_error_rate_counts_verdicts_on_the_wrong_side(runs: Any) -> None:
    found = measure(read_graded_samples(runs.run(ROWS))[0], "error_rate", level=0.95)
    # Seven labelled items; an I for an N, or N for an I, is on the right side.
    assert found.estimate.value == pytest.approx((0 + 1 / 3 + 1 + 0 + 1 / 3 + 0 + 0) / 7)
    assert found.estimate.n == 7


def test_an_error_rate_of_single_verdicts_is_wilsons(runs: Any) -> None:
    graded = read_graded_samples(runs.run([("C", "C")] * 17 + [("C", "I")] * 3))[0]
    found, expected = measure(graded, "error_rate", level=0.9).estimate, wilson(3, 20, level=0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_grader_with_only_failures_is_undecided_not_passed(runs: Any) -> None:
    graded = read_graded_samples(runs.run([("C", "-"), ("I", "?")]))[0]
    for rule in ("upper(false_negative_rate) <= 3%", "value(error_rate) <= 100%", "lower(kappa) >= 0"):
        gate = check_gate(graded, [parse_rule(rule)], level=0.95)
        assert gate.outcome == "undecided"
        assert "2 of 2 are missing, and no rule here is about coverage" in decision_text(gate)
    assert check_gate(graded, [parse_rule("value(coverage) >= 99%")], level=0.95).outcome == "fail"


def test_one_class_leaves_the_other_rate_undecided(runs: Any) -> None:
    gate = check_gate(
        read_graded_samples(runs.run([("C", "C")] * 5))[0], [parse_rule("value(false_positive_rate) <= 0.5")], level=0.9
    )
    assert gate.outcome == "undecided"
    assert "not defined" in decision_text(gate)


def test_a_scale_without_a_right_label_is_named(runs: Any) -> None:
    data = runs.run(ROWS)
    scale = replace(data.calibration_set.scale, positive=None)
    graded = read_graded_samples(replace(data, calibration_set=replace(data.calibration_set, scale=scale)))[0]
    with pytest.raises(SpecError, match="no label counts as right"):
        measure(graded, "false_negative_rate", level=0.95)
    assert measure(graded, "kappa", level=0.95).estimate.value is not None


def _samples(runs: Any, new: list[tuple[str, str]], old: list[tuple[str, str]]) -> tuple[Any, Any]:
    first, second = (read_graded_samples(runs.run(rows))[0].sample for rows in (new, old))
    return first, second


def test_the_margin_is_tested_on_the_common_items(runs: Any) -> None:
    new = [("C", "CCI")] * 10 + [("I", "III")] * 10 + [("C", "III")] * 3
    old = [("C", "CCC")] * 5 + [("C", "CII")] * 5 + [("I", "ICI")] * 10
    first, second = _samples(runs, new, old)
    found = check_not_worse(NotWorse("error_rate", 0.2), first, second, level=0.95)
    expected = non_inferiority_test(
        [1 / 3] * 10 + [0] * 10,
        [0] * 5 + [2 / 3] * 5 + [1 / 3] * 10,
        list(range(20)),
        margin=0.2,
        lower_is_better=True,
        repeats=3,
    )
    assert found.n_common == 20
    assert found.test.p_value == pytest.approx(expected.p_value)
    assert found.test.estimate.high == pytest.approx(expected.estimate.high)
    assert found.outcome == "pass"


def test_worse_by_more_fails_and_little_data_decides_nothing(runs: Any) -> None:
    first, second = _samples(runs, [("C", "I")] * 30, [("C", "C")] * 30)
    assert check_not_worse(NotWorse("false_negative_rate", 0.1), first, second, level=0.95).outcome == "fail"
    first, second = _samples(runs, [("C", "I"), ("C", "C")], [("C", "C"), ("C", "C")])
    assert check_not_worse(NotWorse("false_negative_rate", 0.1), first, second, level=0.95).outcome == "undecided"
    assert check_not_worse(NotWorse("false_positive_rate", 0.1), first, second, level=0.95).outcome == "undecided"


def test_labels_of_the_checked_run_count_and_changes_are_counted(runs: Any) -> None:
    first, second = _samples(runs, [("C", "C")] * 4, [("C", "C")] * 3 + [("I", "C")])
    found = check_not_worse(NotWorse("false_negative_rate", 0.9), first, second, level=0.95)
    assert (found.n_relabelled, found.test.estimate.n, found.test.estimate.value) == (1, 4, 0.0)


def test_items_are_matched_by_content_in_either_order(runs: Any) -> None:
    first, second = _samples(runs, ROWS, ROWS[:5])
    ours, other = match_samples(first, second)
    assert [item.digest for item in ours.items] == [item.digest for item in other.items]
    assert np.array_equal(ours.counts, other.counts)
    turned = match_samples(second, first)
    assert np.array_equal(turned[0].counts, turned[1].counts)


def test_item_values_weigh_items_once(runs: Any) -> None:
    sample = read_graded_samples(runs.run(ROWS))[0].sample
    values = item_values(sample, sample.reference, "pairwise_disagreement")
    assert values[1] == pytest.approx(2 / 3)
    assert np.isnan(values[7])
    assert item_values(sample, sample.reference, "failure_rate")[7] == pytest.approx(2 / 3)
    assert int((~np.isnan(item_values(sample, sample.reference, "false_negative_rate"))).sum()) == 3


def test_a_grader_is_found_by_name_or_word_and_named_where_it_is_not(runs: Any) -> None:
    data = runs.run(ROWS)
    other = replace(data.graders[0], grader_id="g2", model="local/other", verdicts=[])
    graded = read_graded_samples(replace(data, graders=[*data.graders, other]))
    assert find_graded(graded, "local/other").name == "p@1.0.0 local/other"
    assert find_graded(graded, "other").name == "p@1.0.0 local/other"
    for name in (None, "p@1.0.0", "nobody"):
        with pytest.raises(SpecError, match=r"expected one of \['p@1.0.0 local/tiny'"):
            find_graded(graded, name)


def test_the_page_ends_in_the_decision_and_shows_no_control_character(runs: Any) -> None:
    data = runs.run(ROWS)
    hostile = replace(data, graders=[replace(data.graders[0], model="local/\x1b[31mred")])
    graded = read_graded_samples(hostile)[0]
    gate = check_gate(
        graded, [parse_rule("upper(error_rate) <= 3%")], level=0.95, baseline=graded,
        not_worse=[NotWorse("error_rate", 0.01)],
    )  # fmt: skip
    page = render_document(gate_document(gate))
    assert "\x1b" not in page
    assert page.rstrip().split("Decision")[1].strip("\n -").startswith("FAIL.")
    fields = gate_fields(gate)
    assert fields["schema"] == "autorater.gate/1"
    assert fields["comparisons"][0]["n_common"] == 8
