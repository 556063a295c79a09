"""Gates where verdicts are missing: what they could overturn is no pass, unless a rule says how many may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analyses.completing import SELF_CONSISTENCY, complete_sample
from experiments.analyses.gates.gate_rules import MEASURES, parse_not_worse, parse_rule
from experiments.analyses.gates.gating import Gate, check_gate, check_rule
from experiments.analyses.gates.gating_page import decision_text, gate_document, gate_fields
from experiments.analyses.graded_samples import GradedSample, read_graded_samples
from experiments.analyses.measuring import measure
from experiments.analyses.score_values import SCORE_MEASURES
from experiments.reports.exact_sample import with_distributions
from experiments.reports.render_text import render_document
from experiments.stats.errors import bounded_error_rates
from graders.exact import VerdictDistribution

ERROR_RATES = ("false_negative_rate", "false_positive_rate", "error_rate")
LETTERS = "CIN"


def graded(runs: Any, rows: Sequence[tuple[str, str]]) -> GradedSample:
    found: GradedSample = read_graded_samples(runs.run(rows))[0]
    return found


def gate(one: GradedSample, *rules: str, **options: Any) -> Gate:
    return check_gate(one, [parse_rule(rule) for rule in rules], level=0.95, **options)


def gappy(missing: int, right: int) -> list[tuple[str, str]]:
    """As many items of either class, alternating; verdicts that came are right."""
    return [("CI"[place % 2], "-" if place < missing else "CI"[place % 2]) for place in range(missing + right)]


@pytest.mark.parametrize("name", [*ERROR_RATES, "flip_rate", "pairwise_disagreement"])
@pytest.mark.parametrize("end", ["upper", "value", "lower"])
def test_what_the_missing_could_overturn_is_undecided_for_every_rate(runs: Any, name: str, end: str) -> None:
    rows = [(label, "---" if place < 180 else label * 3) for place, (label, _) in enumerate(gappy(0, 300))]
    found = gate(graded(runs, rows), f"{end}({name}) <= 8%")
    assert found.outcome == "undecided"
    assert "but the missing verdicts could overturn that" in found.rules[0].why
    assert f"The missing verdicts leave {name} open from 0.0% to " in decision_text(found)


def test_lower_limits_on_agreement_are_held_the_same_way(runs: Any) -> None:
    rows = [(label, "--" if place < 120 else label * 2) for place, (label, _) in enumerate(gappy(0, 300))]
    found = gate(graded(runs, rows), "lower(kappa) >= 0.8", "lower(alpha_repeats) >= 0.8")
    assert [check.outcome for check in found.rules] == ["undecided", "undecided"]


def test_a_rule_on_what_may_be_missing_answers_for_it(runs: Any) -> None:
    one = graded(runs, gappy(20, 280))
    assert gate(one, "upper(error_rate) <= 5%").outcome == "undecided"
    for ruled in ("value(coverage) >= 90%", "value(failure_rate) <= 10%"):
        found = gate(one, "upper(error_rate) <= 5%", ruled)
        assert found.outcome == "pass"
        assert "could overturn that, and a rule says how many may be missing" in decision_text(found)
    assert gate(one, "upper(error_rate) <= 5%", "value(coverage) >= 99%").outcome == "fail"


def test_missing_verdicts_that_could_change_nothing_leave_a_pass(runs: Any) -> None:
    found = gate(graded(runs, gappy(1, 399)), "upper(error_rate) <= 5%", "lower(kappa) >= 0.9")
    assert found.outcome == "pass"
    text = decision_text(found)
    assert "overturn" not in text
    assert "The missing verdicts leave error_rate open from 0.0% to 0.2%." in text
    assert gate_fields(found)["rules"][0]["bounds"] == [0.0, 1 / 400]


def test_missing_verdicts_of_the_other_class_do_not_touch_a_rate(runs: Any) -> None:
    rows = [("C", "C")] * 200 + [("I", "-")] * 200
    assert gate(graded(runs, rows), "upper(false_negative_rate) <= 5%").outcome == "pass"


def test_a_failure_stays_one(runs: Any) -> None:
    rows = [("C", "I")] * 30 + [("C", "-")] * 300
    assert gate(graded(runs, rows), "upper(error_rate) <= 5%").outcome == "fail"


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(LETTERS), st.text(LETTERS + "-", min_size=2, max_size=2)), min_size=2, max_size=8
    )
)
def test_bounds_of_error_rates_are_those_of_the_statistics(runs: Any, rows: list[tuple[str, str]]) -> None:
    one = graded(runs, rows)
    sample = one.sample
    expected = bounded_error_rates(
        sample.labels_given,
        sample.counts,
        sample.clusters,
        expected=sample.expected,
        labels=sample.scale.labels,
        positive="CORRECT",
    )
    for name, bounded in zip(
        ERROR_RATES, (expected.false_negative, expected.false_positive, expected.wrong_side), strict=True
    ):
        measured = measure(one, name, level=0.95)
        if measured.within is None:
            assert bounded.missing == 0
            continue
        assert [end.value for end in measured.within] == pytest.approx([bounded.best.value, bounded.worst.value])


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(LETTERS), st.text(LETTERS + "-", min_size=3, max_size=3)), min_size=2, max_size=3
    )
)
@pytest.mark.parametrize("name", ["error_rate", "flip_rate", "pairwise_disagreement"])
def test_no_way_to_fill_in_goes_beyond_the_bounds(runs: Any, name: str, rows: list[tuple[str, str]]) -> None:
    # One repeat is kept, so that there is a number; every way to fill the gaps is tried.
    rows = [(people, "C" + letters[1:]) for people, letters in rows]
    n_gaps = sum(letters.count("-") for _, letters in rows)
    bounds = measure(graded(runs, rows), name, level=0.95).within
    if bounds is None or n_gaps > 4:
        return
    values = []
    for filling in product(LETTERS, repeat=n_gaps):
        letters = iter(filling)
        whole = [(people, "".join(next(letters) if one == "-" else one for one in row)) for people, row in rows]
        values.append(measure(graded(runs, whole), name, level=0.95).estimate.value)
    assert (min(values), max(values)) == pytest.approx((bounds[0].value, bounds[1].value))


def test_no_way_to_fill_in_gives_a_lower_kappa(runs: Any) -> None:
    rows = [("C", "C")] * 6 + [("I", "I")] * 5 + [("N", "N")] * 3 + [("C", "-"), ("I", "-"), ("N", "-")]
    bounds = measure(graded(runs, rows), "kappa", level=0.95).within
    assert bounds is not None
    values = [
        measure(graded(runs, [*rows[:-3], ("C", a), ("I", b), ("N", c)]), "kappa", level=0.95).estimate.value
        for a, b, c in product(LETTERS, repeat=3)
    ]
    assert min(values) == pytest.approx(bounds[1].value)
    assert max(values) == pytest.approx(bounds[0].value) == pytest.approx(1.0)


@pytest.mark.parametrize("name", [one for one in MEASURES if one not in ("coverage", "failure_rate", *SCORE_MEASURES)])
@pytest.mark.parametrize("worse", [False, True])
def test_a_completed_sample_has_every_verdict_and_keeps_those_that_came(runs: Any, name: str, worse: bool) -> None:
    sample = graded(runs, [("C", "CI-"), ("I", "---"), ("N", "NNN"), ("C", "--C"), ("", "C--")]).sample
    found = complete_sample(sample, sample.reference, name, worse=worse)
    assert (found.valid == 3).all()
    assert (found.counts >= sample.counts).all()
    assert found.counts[2].tolist() == sample.counts[2].tolist()


def test_a_computed_sample_is_completed_by_its_chances(runs: Any) -> None:
    one = graded(runs, [("C", "C"), ("I", "-")])
    chances = {"CORRECT": 0.7, "INCORRECT": 0.3, "NOT_ATTEMPTED": 0.0}
    known = VerdictDistribution(one.sample.items[0].digest, chances)
    exact = with_distributions(one.sample, {known.item_digest: known}, draws=5)
    for name, expected in (("error_rate", [0.0, 0.0, 1.0]), *((own, [1 / 3] * 3) for own in SELF_CONSISTENCY)):
        found = complete_sample(exact, exact.reference, name, worse=True)
        assert found.shares[1].tolist() == pytest.approx(expected)  # type: ignore[attr-defined]
        assert found.shares[0].tolist() == exact.shares[0].tolist()  # type: ignore[attr-defined]


def test_a_rule_that_is_met_either_way_stays_met(runs: Any) -> None:
    measured = measure(graded(runs, gappy(60, 60)), "error_rate", level=0.95)
    assert check_rule(parse_rule("upper(error_rate) <= 80%"), measured).outcome == "pass"
    assert check_rule(parse_rule("upper(error_rate) >= 1%"), measured).outcome == "pass"


def _against(runs: Any, ours: list[tuple[str, str]], other: list[tuple[str, str]], *rules: str) -> Gate:
    return gate(
        graded(runs, ours), *rules, baseline=graded(runs, other), not_worse=[parse_not_worse("error_rate by 5%")]
    )


def test_a_comparison_says_whom_it_lost_its_items_through(runs: Any) -> None:
    whole = gappy(0, 300)
    found = _against(runs, gappy(184, 116), whole)
    (check,) = found.comparisons
    assert (check.n_items, check.n_common, check.n_about, check.test.estimate.n) == (300, 300, 300, 116)
    assert (check.n_without, check.n_without_baseline) == (184, 0)
    assert found.outcome == "undecided"
    text = " ".join(render_document(gate_document(found)).split())
    assert "of this run's 300 items 300 are in the baseline's run too, 300 of them" in text
    assert "and 116 are compared. Left out for want of verdicts of this grader: 184, of the baseline: 0." in text
    assert "the missing verdicts could overturn that" in text
    assert "it is +61.3 points." in text


def test_the_baselines_missing_verdicts_count_as_right(runs: Any) -> None:
    # All that came are alike; the baseline's missing ones may have been right where this grader is wrong.
    ours = [("C", "I")] * 60 + [("C", "C")] * 240
    other = [("C", "-")] * 60 + [("C", "C")] * 240
    found = _against(runs, ours, other)
    assert found.comparisons[0].n_without_baseline == 60
    assert found.outcome == "undecided"
    assert _against(runs, ours, other, "value(coverage) >= 99%").outcome == "pass"


def test_a_comparison_with_all_verdicts_says_nothing_of_missing_ones(runs: Any) -> None:
    found = _against(runs, gappy(0, 300), gappy(0, 300))
    assert found.outcome == "pass"
    assert found.comparisons[0].worst is None
    assert "compared." not in decision_text(found)
    assert gate_fields(found)["comparisons"][0]["completed"] is None


def test_missing_repeats_count_too_where_no_item_is_lost(runs: Any) -> None:
    whole = [(label, label * 2) for label, _ in gappy(0, 200)]
    half = [(label, label + ("-" if place < 80 else label)) for place, (label, _) in enumerate(whole)]
    found = _against(runs, half, whole)
    assert found.comparisons[0].n_without == 0
    assert found.outcome == "undecided"


def test_a_comparison_of_failures_is_about_the_missing_ones_themselves(runs: Any) -> None:
    found = gate(
        graded(runs, gappy(0, 300)),
        baseline=graded(runs, gappy(30, 270)),
        not_worse=[parse_not_worse("failure_rate by 5%")],
    )
    assert found.outcome == "pass"
    assert found.comparisons[0].worst is None
    assert np.isfinite(found.comparisons[0].test.estimate.value or np.nan)
