"""Drift: the same grader on the same items, and what is known to have changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from calibration_sets.scale import BINARY
from experiments.analyses.gates.drift import find_changes, find_disagreements, find_drift
from experiments.analyses.gates.drift_page import drift_document, drift_fields, drift_text
from experiments.analyses.graded_samples import GradedSample, read_graded_samples
from experiments.errors import SpecError
from experiments.reports.render_text import render_document
from experiments.stats.comparisons import AdjustedPValue, adjust_p_values
from experiments.stats.estimate import Estimate

SAME = [("C", "CCC"), ("C", "CCI"), ("I", "III"), ("I", "IIC")] * 6


def _graded(runs: Any, rows: list[tuple[str, str]], run_id: str = "run-1", **changes: Any) -> GradedSample:
    data = runs.run(rows)
    return read_graded_samples(replace(data, run_id=run_id, graders=[replace(data.graders[0], **changes)]))[0]


def test_the_same_verdicts_show_no_shift(runs: Any) -> None:
    found = find_drift(_graded(runs, SAME), _graded(runs, SAME, "run-2"), level=0.95)
    assert (found.outcome, found.n_common, found.changes, found.moved) == ("pass", 24, (), ())
    assert all(shift.comparison.difference.estimate.value == 0 for shift in found.rates)
    assert drift_text(found).startswith("NO SHIFT SHOWN.")


def test_noise_of_repeats_is_no_shift(runs: Any) -> None:
    old = [("C", "CCI"), ("C", "CII")] * 12
    new = [("C", "CII"), ("C", "CCI")] * 12
    found = find_drift(_graded(runs, old), _graded(runs, new, "run-2"), level=0.95)
    assert found.movement.n_moved == 24
    # The majority moves on all of them, and yet a verdict differs from the other run's no more than from its own.
    assert found.movement.excess.value == pytest.approx(5 / 9 - 2 / 3)
    assert found.outcome == "pass"


def test_a_shift_is_shown_and_its_items_are_listed(runs: Any) -> None:
    new = [("C", "III") if people == "C" else (people, said) for people, said in SAME]
    found = find_drift(_graded(runs, SAME), _graded(runs, new, "run-2"), level=0.95)
    assert found.outcome == "fail"
    assert found.movement.n_moved == len(found.moved) == 12
    assert (found.moved[0].old, found.moved[0].new) == ({"CORRECT": 3}, {"INCORRECT": 3})
    false_negative = found.rates[0]
    assert (false_negative.old, false_negative.new) == pytest.approx((1 / 6, 1.0))
    assert "verdicts beyond repeats, false_negative_rate" in drift_text(found)


def test_p_values_are_adjusted_as_one_family(runs: Any) -> None:
    new = [(people, "ICI" if place % 3 else said) for place, (people, said) in enumerate(SAME)]
    found = find_drift(_graded(runs, SAME), _graded(runs, new, "run-2"), level=0.95)
    raw = [found.movement.p_value, *(shift.comparison.difference.p_value for shift in found.rates)]
    expected = [row.adjusted for row in adjust_p_values(raw).rows]
    assert [found.adjusted_movement, *(shift.adjusted for shift in found.rates)] == expected


def test_answers_that_fail_are_a_shift_too(runs: Any) -> None:
    new = [(people, "---") for people, _ in SAME]
    found = find_drift(_graded(runs, SAME), _graded(runs, new, "run-2"), level=0.95)
    assert found.outcome == "fail"
    assert "failure_rate" in drift_text(found)
    assert (found.n_verdicts, found.n_expected) == ((72, 0), (72, 72))
    assert found.rates[0].new is None


@pytest.mark.parametrize("n", [0, 3])
def test_few_or_no_items_leave_it_undecided(runs: Any, n: int) -> None:
    found = find_drift(_graded(runs, SAME[:n]), _graded(runs, SAME, "run-2"), level=0.95)
    assert (found.outcome, found.n_common) == ("undecided", n)
    assert drift_text(found).startswith("UNDECIDED.")
    render_document(drift_document(found))


def test_single_verdicts_are_tested_by_their_rates(runs: Any) -> None:
    old, new = [("C", "C")] * 20, [("C", "I")] * 20
    found = find_drift(_graded(runs, old), _graded(runs, new, "run-2"), level=0.95)
    assert found.movement.p_value is None
    assert found.outcome == "fail"
    assert "Single verdicts show no noise" in render_document(drift_document(found))


def test_single_verdicts_that_trade_places_are_undecided(runs: Any) -> None:
    old, new = [("C", "C"), ("C", "I")] * 20, [("C", "I"), ("C", "C")] * 20
    found = find_drift(_graded(runs, old), _graded(runs, new, "run-2"), level=0.95)
    assert found.rates[0].comparison.difference.p_value == 1
    assert found.outcome == "undecided"
    assert "40 moved, and no repeats tell that from noise" in drift_text(found)
    assert find_drift(_graded(runs, old), _graded(runs, old, "run-2"), level=0.95).outcome == "pass"


def test_unlabelled_items_count_for_movement(runs: Any) -> None:
    old, new = [("", "CCC")] * 15, [("", "III")] * 15
    found = find_drift(_graded(runs, old), _graded(runs, new, "run-2"), level=0.95)
    assert found.outcome == "fail"
    assert found.rates[0].comparison.difference.p_value is None
    assert "Not tested for want of items: false_negative_rate, false_positive_rate." in drift_text(found)


def test_what_changed_is_named_and_fails_nothing_by_itself(runs: Any) -> None:
    old = _graded(runs, SAME, served_models=["m-1"], fingerprints={"f1": 72}, effective_sampling=[{"temperature": 2}])
    new = _graded(
        runs,
        SAME,
        "run-2",
        served_models=["m-2", "m-1"],
        fingerprints={"f2": 72},
        effective_sampling=[{"temperature": 1}],
        prompt="p@1.0.1#1",
    )
    found = find_drift(old, new, level=0.95)
    assert [(change.what, change.old, change.new) for change in found.changes] == [
        ("effective sampling", "temperature 2", "temperature 1"),
        ("fingerprints", "f1", "f2"),
        ("prompt", "p@1.0.0#0", "p@1.0.1#1"),
        ("served models", "m-1", "m-1, m-2"),
    ]
    assert found.outcome == "pass"
    assert "Known to have changed: effective sampling, fingerprints, prompt, served models" in drift_text(found)
    assert find_changes(old, old) == ()


def test_a_setting_that_was_asked_otherwise_is_named(runs: Any) -> None:
    old = _graded(runs, SAME)
    new = _graded(runs, SAME, sampling={**old.results.sampling, "seed": 7})
    assert [(change.what, change.new) for change in find_changes(old, new)] == [("sampling: seed", "7")]


def test_labels_that_changed_are_counted(runs: Any) -> None:
    new = [("I", "CCC"), *SAME[1:]]
    found = find_drift(_graded(runs, SAME), _graded(runs, new, "run-2"), level=0.95)
    assert found.n_relabelled == 1
    assert "1 of them have another label" in render_document(drift_document(found))


def test_another_scale_is_refused(runs: Any) -> None:
    data = runs.run([("C", "C")])
    binary = replace(data, calibration_set=replace(data.calibration_set, scale=BINARY))
    with pytest.raises(SpecError, match="scale"):
        find_drift(_graded(runs, SAME), read_graded_samples(binary)[0], level=0.95)


def test_the_page_ends_in_the_decision(runs: Any) -> None:
    new = [("C", "III")] * 24
    found = find_drift(_graded(runs, SAME), _graded(runs, new, "run-2", model="local/\x1b[2J"), level=0.95)
    page = render_document(drift_document(found))
    assert "\x1b" not in page
    assert page.split("Decision")[1].strip("\n -").startswith("SHIFT.")
    fields = drift_fields(found)
    assert fields["schema"] == "autorater.drift/1"
    assert len(fields["moved_items"]) == found.movement.n_moved
    assert render_document(drift_document(found)) == page


def shifts(pairs: list[tuple[float, float, float, float]], level: float = 0.95) -> list[tuple[str, bool, bool]]:
    """Disagreements of tests with these ends of the interval, raw p and adjusted p."""
    names = ["verdicts beyond repeats", "false_negative_rate", "false_positive_rate"][: len(pairs)]
    estimates = [Estimate((low + high) / 2, low, high, level, "m", 9, 9, 1) for low, high, _, _ in pairs]
    rows = [
        AdjustedPValue(name, p, adjusted, adjusted <= 1 - level)
        for name, (_, _, p, adjusted) in zip(names, pairs, strict=True)
    ]
    return [(one.name, one.significant, one.alone) for one in find_disagreements(names, estimates, rows, level)]


def test_where_interval_and_p_value_differ_both_ways_are_found() -> None:
    agreed = [(0.1, 0.2, 0.001, 0.003), (-0.1, 0.1, 0.5, 0.5)]
    assert shifts(agreed) == []
    below_zero = [(-0.2, -0.1, 1.0, 1.0), (-0.2, -0.1, 0.03, 0.06)]
    assert shifts(below_zero) == [("false_negative_rate", False, True)], "less movement than repeats is no shift"
    assert shifts([(-0.1, 0.3, 0.01, 0.03)]) == [("verdicts beyond repeats", True, True)]
    assert shifts([(0.0, 0.3, 0.9, 0.9), (0.01, 0.3, 0.08, 0.2)]) == [("false_negative_rate", False, False)]


def test_a_disagreement_is_told_and_the_p_value_decides(runs: Any) -> None:
    """Four of twelve items move one way: an exact p of .125, while the interval may leave out 0."""
    old = [("C", "C")] * 12 + [("I", "I")] * 12
    new = [("C", "C")] * 12 + [("I", "C")] * 5 + [("I", "I")] * 7
    found = find_drift(_graded(runs, old), _graded(runs, new, "run-2"), level=0.95)
    rate = found.rates[1]
    assert rate.comparison.difference.p_value == pytest.approx(2 / 2**5)
    assert rate.comparison.difference.estimate.low is not None
    assert rate.comparison.difference.estimate.low > 0
    assert [(one.name, one.significant) for one in found.disagreements] == [("false_positive_rate", False)]
    assert "false_positive_rate: the interval leaves out 0 but p is not small; the p-value decides" in drift_text(found)
    assert drift_fields(found)["disagreements"] == [
        {"name": "false_positive_rate", "significant": False, "alone": False}
    ]
