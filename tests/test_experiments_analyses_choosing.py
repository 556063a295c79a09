"""Which grader: rates, the set that may be the best under a rule, pairs, costs, and what is recommended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import LabelScale
from experiments.analyses.choice.candidate_rates import LEAST_ITEMS
from experiments.analyses.choice.candidates import read_labelled
from experiments.analyses.choice.choice_rule import apply_rule
from experiments.analyses.choice.choosing import Choice, choose_grader, read_all_candidates
from experiments.analyses.choice.choosing_page import choice_document, choice_fields
from experiments.analyses.choice.choosing_words import decision_text
from experiments.analyses.choice.separation import POWER
from experiments.errors import SpecError
from experiments.reports import GraderResults, RunData, build_report
from experiments.reports.render_text import render_document
from experiments.specs.decisions import ChooseSpec, LimitSpec
from experiments.stats.comparisons import adjust_p_values, best_set, compare_all
from experiments.stats.errors import false_positive_rate
from experiments.stats.planning import paired_power
from experiments.stats.repeats import exact_error_rates
from graders.exact import VerdictDistribution
from graders.pricing import Cost
from graders.verdict import Verdict

LABELS = {"C": "CORRECT", "I": "INCORRECT", "N": "NOT_ATTEMPTED"}
BINARY = LabelScale("two", ("INCORRECT", "CORRECT"), "nominal", positive="CORRECT")


def page(choice: Choice) -> str:
    return render_document(choice_document(choice))


def contest_of(
    runs: Any,
    people: str,
    graders: Mapping[str, Sequence[str]],
    *,
    costs: Mapping[str, Cost] | None = None,
    kinds: Sequence[str | None] | None = None,
    per_question: int = 1,
) -> RunData:
    """A run: people's letter for each item; for each model a word of letters an item, one a repeat."""
    items = [
        replace(runs.item(number, kind=kinds[number] if kinds else None), cluster_id=f"q{number // per_question}")
        for number in range(len(people))
    ]
    results = [
        replace(
            runs.grader(
                runs.verdicts(items, letters, model), max((len(row) for row in letters), default=1), grader_id=model
            ),
            model=model,
            prompt=None,
            cost=(costs or {}).get(model),
        )
        for model, letters in graders.items()
    ]
    return RunData("run-1", "exp", runs.labelled(items, list(people)), len(items), "robust", results)


PEOPLE = "CCCCCCCCCCIIIIINNNNN" * 3


def spoiled(people: str, every: int, to: str = "I") -> list[str]:
    """Single verdicts that are people's, but for every so many-th."""
    return [
        (to if label != to else "C") if every and number % every == 0 else label for number, label in enumerate(people)
    ]


def test_rates_are_those_of_the_report(runs: Any) -> None:
    letters = ["CCI", "C-I", "III", "CCC", "IIN", "NNN", "---", "C?C"]
    data = contest_of(runs, "CCCCIIIN", {"a": letters, "b": ["C"] * 8}, per_question=2)
    choice = choose_grader(data, None, level=0.9)
    report = build_report(data, level=0.9)
    for own, candidate, section in zip(choice.rates, choice.candidates, report["graders"], strict=True):
        for rate in ("false_negative_rate", "false_positive_rate"):
            shown = own.rates[rate]
            assert (shown.value, shown.low, shown.high) == tuple(section[rate][key] for key in ("value", "low", "high"))
            bounds = own.bounds[rate]
            assert (None if bounds is None else list(bounds)) == section[f"{rate}_bounds"]
        assert own.rates["error_rate"].value == pytest.approx(1 - section["agreement"]["raw"]["value"], abs=1e-12)
        assert candidate.coverage == section["coverage"]
        assert dict(candidate.failures) == section["failures"]
    assert choice.rates[0].flip_rate is not None
    assert choice.rates[0].flip_rate.value == report["graders"][0]["flip_rate"]["value"]
    assert choice.rates[1].flip_rate is None


def test_error_rate_counts_every_other_label_and_weighs_items_equally(runs: Any) -> None:
    # Shares of wrong labels: 1/3, 1/1 (a wrong label on the right side), 0, and no verdict.
    data = contest_of(runs, "CNIC", {"a": ["CCI", "I--", "III", "---"]})
    choice = choose_grader(data, None, level=0.95)
    own = choice.rates[0]
    assert own.rates["error_rate"].value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert own.rates["false_positive_rate"].value == 0
    # All missing right: 1/3, 1/3, 0, 0; all wrong: 1/3, 1, 0, 1.
    assert own.bounds["error_rate"] == pytest.approx(((1 / 3 + 1 / 3) / 4, (1 / 3 + 1 + 1) / 4))


def test_pairs_and_set_are_those_of_the_statistics(runs: Any) -> None:
    graders = {"a": spoiled(PEOPLE, 11), "b": spoiled(PEOPLE, 7), "c": spoiled(PEOPLE, 2)}
    data = contest_of(runs, PEOPLE, graders, per_question=2)
    choice = choose_grader(data, None, level=0.95)
    wrong = np.column_stack([[float(s != r) for s, r in zip(own, PEOPLE, strict=True)] for own in graders.values()])
    order = sorted(range(len(PEOPLE)), key=lambda number: f"item-{number:03}")
    clusters = [f"q{number // 2}" for number in order]
    pairs = compare_all(wrong[order], clusters, names=list(graders), rng=np.random.default_rng(20261130))
    assert choice.pairs == pairs
    assert choice.family == adjust_p_values([pair.difference.p_value for pair in pairs])
    best = best_set(wrong[order], clusters, names=list(graders), rng=np.random.default_rng(20261130))
    assert set(choice.rule.members) == set(best.members)
    assert "c" not in choice.rule.members
    assert choice.rule.members[0] == "a"


def test_the_rate_that_is_to_be_lowest_decides_on_its_own_items(runs: Any) -> None:
    strict, lax = ["I" if label == "C" else label for label in PEOPLE], ["C"] * len(PEOPLE)
    data = contest_of(runs, PEOPLE, {"strict": strict, "lax": lax})
    lowest_fn = choose_grader(data, ChooseSpec(lowest="false_negative_rate"), level=0.95)
    lowest_fp = choose_grader(data, ChooseSpec(lowest="false_positive_rate"), level=0.95)
    assert lowest_fn.rule.members == ("lax",)
    assert lowest_fn.rule.n == PEOPLE.count("C")
    assert lowest_fp.rule.members == ("strict",)
    assert lowest_fp.rule.n == len(PEOPLE) - PEOPLE.count("C")


def test_a_limit_puts_out_only_who_is_shown_to_break_it(runs: Any) -> None:
    # False positives among 90: none, 9 and 80; false negatives among 90: 45, 9 and none.
    people = "C" * 90 + "I" * 90
    careful = ["I"] * 45 + ["C"] * 45 + ["I"] * 90
    middling = ["I"] * 9 + ["C"] * 81 + ["C"] * 9 + ["I"] * 81
    lax = ["C"] * 170 + ["I"] * 10
    data = contest_of(runs, people, {"careful": careful, "middling": middling, "lax": lax})
    spec = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.08, margin=0.02)})
    choice = choose_grader(data, spec, level=0.95)
    verdicts = {standing.name: standing.limits for standing in choice.rule.standings}
    assert verdicts == {"careful": "kept", "middling": "not shown", "lax": "broken"}
    # Only careful is shown to keep the limit: it is the best of those, and middling may be better.
    assert set(choice.rule.members) == {"careful", "middling"}
    assert choice.recommendation.name == "careful"
    assert not choice.recommendation.provisional
    assert "whether the limits are kept by middling" in decision_text(choice)
    wide = choose_grader(
        data,
        ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.25)}),
        level=0.95,
    )
    assert wide.rule.members == ("middling",)


def test_one_that_may_break_the_limit_pushes_nobody_out(runs: Any) -> None:
    people = "C" * 60 + "I" * 60
    keeps = ["I"] * 20 + ["C"] * 40 + ["I"] * 60
    perhaps = ["C"] * 60 + ["C"] * 6 + ["I"] * 54
    data = contest_of(runs, people, {"keeps": keeps, "perhaps": perhaps})
    spec = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.1)})
    choice = choose_grader(data, spec, level=0.95)
    assert [standing.limits for standing in choice.rule.standings] == ["kept", "not shown"]
    assert set(choice.rule.members) == {"keeps", "perhaps"}


def test_limits_are_held_against_intervals_for_all_at_once(runs: Any) -> None:
    data = contest_of(runs, PEOPLE, {name: spoiled(PEOPLE, 5, "C") for name in "abcd"})
    limits = {"false_positive_rate": LimitSpec(limit=0.5), "false_negative_rate": LimitSpec(limit=0.5)}
    choice = choose_grader(data, ChooseSpec(limits=limits), level=0.95)  # type: ignore[arg-type]
    assert choice.rule.limit_level == pytest.approx(1 - 0.05 / 8)
    assert choice.rule.set_level == pytest.approx(0.975)
    check = choice.rule.standings[0].checks[0]
    contest = choice.contest
    expected = false_positive_rate(
        contest.reference,
        choice.candidates[0].counts,
        contest.clusters,
        labels=contest.scale.labels,
        positive="CORRECT",
        level=1 - 0.05 / 8,
    )
    assert (check.estimate.low, check.estimate.high) == pytest.approx((expected.low, expected.high))


def test_where_nobody_is_shown_to_keep_the_limits_the_choice_is_provisional(runs: Any) -> None:
    people = "CI" * 10
    data = contest_of(runs, people, {"good": list(people), "bad": ["I" if one == "C" else "C" for one in people]})
    spec = ChooseSpec(limits={"false_positive_rate": LimitSpec(limit=0.01)})
    choice = choose_grader(data, spec, level=0.95)
    assert [standing.limits for standing in choice.rule.standings] == ["not shown", "broken"]
    assert choice.rule.provisional == ("good",)
    assert choice.recommendation.provisional
    assert decision_text(choice).startswith("For now take good, provisionally: no grader is shown to keep the limits.")


def test_where_all_break_the_limits_nobody_is_recommended(runs: Any) -> None:
    data = contest_of(runs, "I" * 40 + "C" * 4, {"a": ["C"] * 44, "b": ["C"] * 44})
    choice = choose_grader(data, ChooseSpec(limits={"false_positive_rate": LimitSpec(limit=0.1)}), level=0.95)
    assert choice.rule.members == ()
    assert choice.recommendation.name is None
    assert decision_text(choice).startswith("No grader is recommended.")


def test_the_cheapest_of_the_set_is_recommended_and_never_one_outside(runs: Any) -> None:
    graders = {"dear": spoiled(PEOPLE, 12), "cheap": spoiled(PEOPLE, 10), "free": ["I"] * len(PEOPLE)}
    costs = {"dear": Cost(3.0), "cheap": Cost(0.6), "free": Cost(0.0)}
    choice = choose_grader(contest_of(runs, PEOPLE, graders, costs=costs), None, level=0.95)
    assert set(choice.rule.members) == {"dear", "cheap"}
    assert (choice.recommendation.name, choice.recommendation.by) == ("cheap", "cost")
    # $0.60 for 60 verdicts.
    assert choice.find("cheap").thousand == Cost(pytest.approx(10.0))  # type: ignore[arg-type]
    assert choice.front_over_cost
    assert set(choice.front.front) == {"dear", "cheap", "free"}
    text = page(choice)
    assert "$10.00" in text
    assert "free" in text


def test_a_cost_that_is_only_a_lower_bound_is_said_so_and_not_weighed(runs: Any) -> None:
    graders = {"known": spoiled(PEOPLE, 10), "at least": spoiled(PEOPLE, 10)}
    costs = {"known": Cost(6.0), "at least": Cost(0.06, complete=False)}
    choice = choose_grader(contest_of(runs, PEOPLE, graders, costs=costs), None, level=0.95)
    assert choice.recommendation.name == "known"
    assert choice.recommendation.unpriced == ("at least",)
    assert choice.front.unknown == ("at least",)
    assert "at least $1.00" in page(choice)
    assert "Cost not known, so not weighed: at least." in decision_text(choice)


def test_without_any_cost_the_lowest_rate_is_recommended(runs: Any) -> None:
    choice = choose_grader(
        contest_of(runs, PEOPLE, {"a": spoiled(PEOPLE, 10), "b": spoiled(PEOPLE, 12)}), None, level=0.95
    )
    assert (choice.recommendation.name, choice.recommendation.by) == ("b", "rate")
    assert not choice.front_over_cost
    assert "unknown" in page(choice)
    assert "No cost of these is known" in decision_text(choice)


def test_failed_verdicts_make_those_that_came_dearer(runs: Any) -> None:
    data = contest_of(runs, "CCCC", {"a": ["CC", "C-", "--", "C?"]}, costs={"a": Cost(0.8)})
    assert choose_grader(data, None, level=0.95).candidates[0].thousand == Cost(200.0)


def test_a_grader_with_only_failures_is_shown_and_not_compared(runs: Any) -> None:
    graders = {"good": spoiled(PEOPLE, 10), "dead": ["."] * len(PEOPLE), "bad": ["I"] * len(PEOPLE)}
    choice = choose_grader(contest_of(runs, PEOPLE, graders, costs={"dead": Cost(1.0)}), None, level=0.95)
    assert dict(choice.rule.not_compared) == {"dead": "verdicts on 0 of 60 items"}
    assert choice.rule.members == ("good",)
    assert choice.rates[1].rates["error_rate"].value is None
    assert choice.rates[1].bounds["error_rate"] == (0.0, 1.0)
    assert choice.candidates[1].thousand is None
    text = page(choice)
    assert "not_answered 60" in text
    assert "dead has verdicts on 0 of 60 items and was not compared." in decision_text(choice)


def test_one_grader_is_the_only_one_and_no_pair(runs: Any) -> None:
    choice = choose_grader(contest_of(runs, "CI", {"a": ["C", "I"]}), None, level=0.95)
    assert choice.pairs == ()
    assert choice.separations == ()
    assert choice.recommendation.name == "a"
    assert "a is the run's only grader" in decision_text(choice)
    assert "fewer than ten questions" in decision_text(choice)


def test_one_class_only_leaves_the_other_rate_undefined(runs: Any) -> None:
    data = contest_of(runs, "IIII", {"a": list("IIII"), "b": list("IICI")})
    choice = choose_grader(data, ChooseSpec(lowest="false_negative_rate"), level=0.95)
    assert choice.rates[0].rates["false_negative_rate"].value is None
    assert choice.recommendation.name is None
    assert choice.rule.members == ()
    assert "nothing is decided" in decision_text(choice)
    assert "nan" not in page(choice).lower().replace("finance", "")


def test_no_labelled_item_or_no_right_label_is_an_error(runs: Any) -> None:
    data = contest_of(runs, "CC", {"a": ["C", "C"]})
    bare = replace(data, calibration_set=replace(data.calibration_set, human_labels=()))
    with pytest.raises(SpecError, match="no labelled item; expected"):
        choose_grader(bare, None, level=0.95)
    scale = LabelScale("none", ("INCORRECT", "NOT_ATTEMPTED", "CORRECT"), "nominal", positive=None)
    neutral = replace(data, calibration_set=replace(data.calibration_set, scale=scale))
    with pytest.raises(SpecError, match="counts as right"):
        choose_grader(neutral, None, level=0.95)


def test_unequal_repeats_weigh_items_equally(runs: Any) -> None:
    data = contest_of(runs, "CC", {"a": ["CCCI", "I"]})
    assert choose_grader(data, None, level=0.95).rates[0].rates["error_rate"].value == pytest.approx((1 / 4 + 1) / 2)


def test_a_computed_grader_is_judged_by_its_chances(runs: Any) -> None:
    data = contest_of(runs, "CCII", {"a": ["C", "C", "I", "I"], "b": ["C", "C", "C", "I"]})
    items, labels = data.calibration_set.items, data.calibration_set.scale.labels
    passed = [0.9, 0.6, 0.2, 0.0]
    chances = [{"CORRECT": chance, "INCORRECT": 1 - chance, "NOT_ATTEMPTED": 0.0} for chance in passed]
    exact = replace(
        data.graders[0],
        sampling={"method": "exact", "repeats": 10},
        distributions={
            item.digest: VerdictDistribution(item.digest, row, outside=0.0)
            for item, row in zip(items, chances, strict=True)
        },
    )
    choice = choose_grader(replace(data, graders=[exact, data.graders[1]]), None, level=0.95)
    expected = exact_error_rates(
        ["CORRECT", "CORRECT", "INCORRECT", "INCORRECT"],
        np.array([[row[label] for label in labels] for row in chances]),
        [item.cluster_id for item in items],
        labels=labels,
        positive="CORRECT",
        draws=10,
    )
    own = choice.rates[0]
    assert (own.rates["false_negative_rate"], own.rates["false_positive_rate"]) == expected
    assert own.flip_rate is not None
    assert own.flip_rate.value is not None
    assert own.flip_rate.value > 0


def test_parts_need_enough_items_and_few_questions_are_marked(runs: Any) -> None:
    kinds = ["many"] * 20 + ["few questions"] * LEAST_ITEMS + ["few"] * (LEAST_ITEMS - 1)
    people = "CI" * 19 + "C"
    data = contest_of(runs, people, {"a": spoiled(people, 5), "b": list(people)}, kinds=kinds, per_question=2)
    strata = {stratum.value: stratum for stratum in choose_grader(data, None, level=0.95).strata}
    assert {value: len(stratum.candidates) for value, stratum in strata.items()} == {
        "few": 0,
        "few questions": 2,
        "many": 2,
    }
    assert strata["few questions"].few_clusters
    assert not strata["many"].few_clusters
    assert strata["many"].candidates[0].rates["error_rate"].value == pytest.approx(4 / 20)
    text = " ".join(page(choose_grader(data, None, level=0.95)).split())
    assert "5*" in text
    assert "fewer than ten questions: a doubtful interval" in text


def test_the_questions_that_would_separate_are_the_fewest_with_enough_power(runs: Any) -> None:
    graders = {"a": spoiled(PEOPLE, 10), "b": spoiled(PEOPLE, 6)}
    choice = choose_grader(contest_of(runs, PEOPLE, graders, per_question=2), None, level=0.95)
    (plan,) = choice.separations
    estimate = choice.pairs[0].difference.estimate
    assert plan.needed is not None
    assert estimate.low is not None
    assert estimate.high is not None
    error = (estimate.high - estimate.low) / 2 / float(stats.t.ppf(0.975, estimate.clusters - 1))
    spread = error * estimate.clusters**0.5
    assert paired_power(plan.difference, spread, plan.needed) >= POWER
    assert paired_power(plan.difference, spread, plan.needed - 1) < POWER
    assert plan.more_questions == plan.needed - 30
    assert plan.more_labels == 2 * (plan.needed - 30)


def test_no_number_of_questions_separates_what_does_not_differ(runs: Any) -> None:
    people = "CI" * 20
    left = ["I", "C", *people[2:]]
    right = [*people[:-2], "I", "C"]
    for graders, reason in (
        ({"a": left, "b": right}, "no difference was observed"),
        ({"a": list(people), "b": list(people)}, "they are alike on every question"),
    ):
        choice = choose_grader(contest_of(runs, people, graders), None, level=0.95)
        assert choice.separations[0].needed is None
        assert reason in str(choice.separations[0].reason)
        assert "that is all of them, so the data do not choose" in decision_text(choice)


def test_a_difference_that_is_the_same_on_every_question_is_not_called_none(runs: Any) -> None:
    graders = {"a": ["CI"] * 3, "b": ["CC"] * 3}
    choice = choose_grader(contest_of(runs, "CCC", graders), None, level=0.95)
    (plan,) = choice.separations
    assert plan.needed is None
    assert str(plan.reason).startswith("they differ by the same 50.0 points on each of 3 questions")


def test_labels_of_other_content_and_ties_are_left_out_and_said(runs: Any) -> None:
    data = contest_of(runs, "CCCI", {"a": list("CCCC")})
    people = data.calibration_set
    stale = replace(people.human_labels[0], item_digest="0" * 64)
    item = people.items[1]
    torn = HumanLabel(item.item_id, item.digest, "rater-9", "INCORRECT", people.rubric)
    changed = replace(people, human_labels=(stale, *people.human_labels[1:], torn))
    choice = choose_grader(replace(data, calibration_set=changed), None, level=0.95)
    assert len(choice.contest.items) == 2
    text = page(choice)
    assert "2 of 4 items have no agreed label" in text
    assert "1 labels are of content that has changed" in text


def test_all_graders_are_held_to_the_rubric_that_the_report_holds_them_to(runs: Any) -> None:
    data = contest_of(runs, "CC", {"a": list("CI"), "b": list("II")})
    people = data.calibration_set
    other = tuple(replace(label, rubric="other@1.0.0", label="INCORRECT") for label in people.human_labels)
    both = replace(data, calibration_set=replace(people, human_labels=people.human_labels + other))
    follow = replace(both, graders=[replace(grader, rubric="other@1.0.0") for grader in both.graders])
    choice = choose_grader(follow, None, level=0.95)
    assert choice.labelled.rubric == "other@1.0.0"
    assert choice.contest.reference == ("INCORRECT", "INCORRECT")
    mixed = replace(both, graders=[both.graders[0], replace(both.graders[1], rubric="other@1.0.0")])
    choice = choose_grader(mixed, None, level=0.95)
    assert choice.labelled.rubric == people.rubric
    assert any("another rubric is followed by: b" in note for note in choice.labelled.notes)


def test_the_same_run_gives_the_same_page_and_values_that_json_can_hold(runs: Any) -> None:
    data = contest_of(runs, PEOPLE, {"a": spoiled(PEOPLE, 10), "b": spoiled(PEOPLE, 6), "c": ["-"] * 60})
    first, second = (choose_grader(data, None, level=0.95) for _ in range(2))
    assert page(first) == page(second)
    fields = json.loads(json.dumps(choice_fields(first), allow_nan=False))
    assert fields == json.loads(json.dumps(choice_fields(second), allow_nan=False))
    assert fields["schema"] == "autorater.choose/1"
    assert fields["decision"] == decision_text(first)
    assert page(first).rstrip().endswith("looked at.")


def test_hostile_names_and_kinds_do_not_reach_the_terminal(runs: Any) -> None:
    people = "CI" * 10
    kinds = ["a\x1b[31m"] * 10 + ["b"] * 10
    text = page(choose_grader(contest_of(runs, people, {"x\x1b[2J": list(people)}, kinds=kinds), None, level=0.95))
    assert "\x1b" not in text


@settings(max_examples=25)
@given(st.data())
def test_order_of_items_and_graders_moves_no_set_and_the_best_is_always_in_it(runs: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 14))
    people = "".join(data.draw(st.lists(st.sampled_from("CIN"), min_size=n, max_size=n)))
    names = ["a", "b", "c"]
    graders = {
        name: ["".join(data.draw(st.lists(st.sampled_from("CIN-"), min_size=2, max_size=2))) for _ in people]
        for name in names
    }
    run = contest_of(runs, people, graders)
    choice = choose_grader(run, None, level=0.95)
    means = {one.name: one.mean for one in choice.rule.standings if one.mean is not None}
    if means:
        assert min(means, key=lambda name: (means[name], name)) in choice.rule.members or len(means) < len(names)
        assert choice.recommendation.name in choice.rule.members
    turned = replace(run, graders=list(reversed(run.graders)))
    shuffled = replace(
        turned, calibration_set=replace(run.calibration_set, items=tuple(reversed(run.calibration_set.items)))
    )
    other = choose_grader(shuffled, None, level=0.95)
    assert {one.name: one.mean for one in other.rule.standings if one.mean is not None} == means
    assert {own.name: own.rates for own in choice.rates} == {own.name: own.rates for own in other.rates}
    page(choice)


def test_the_best_that_keeps_the_limits_is_missed_no_more_often_than_promised(runs: Any) -> None:
    # Chances of a false negative and of a false positive. Of those that pass at most 10% of wrong answers, "b" refuses
    # the fewest right ones; "a" refuses fewer but breaks the limit.
    truth = {"a": (0.05, 0.15), "b": (0.1, 0.05), "c": (0.14, 0.05), "d": (0.3, 0.02)}
    spec = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.1)})
    people = "CI" * 100
    missed = recommended_wrongly = 0
    worlds = 60
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        graders = {}
        for name, (negative, positive) in truth.items():
            chance = np.where([label == "C" for label in people], 1 - negative, positive)
            graders[name] = ["C" if draw else "I" for draw in rng.random(len(people)) < chance]
        data = contest_of(runs, people, graders)
        contest = read_labelled(data).contest
        rule = apply_rule(read_all_candidates(contest, spec), contest, spec, level=0.8)
        missed += "b" not in rule.members
        recommended_wrongly += rule.find("a").limits == "kept"
    most = int(stats.binom.ppf(0.999, worlds, 0.2))
    assert missed <= most
    assert recommended_wrongly <= most


def read_judges(folder: Path) -> RunData:
    """Eleven graders of Judging the Judges, as the authors published their verdicts."""
    rows = [
        row
        for line in (folder / "judging_judges_v1" / "judging_judges_v1_labels.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
        if (row := json.loads(line))["label"] in BINARY.labels
    ]
    # Responses were not published; each is named by its system, since content is what verdicts are kept by.
    items = [
        Item(row["id"], row["question"], Reference("x", "x"), f"answer {row['id']}", row["question"]) for row in rows
    ]
    labels = tuple(
        HumanLabel(item.item_id, item.digest, "people", row["label"], "rules@1.0.0")
        for item, row in zip(items, rows, strict=True)
    )
    judged = CalibrationSet(
        "judges", "1.0.0", "rules@1.0.0", BINARY, "human", "MIT", "published", "", tuple(items), labels
    )
    graders = [
        GraderResults(
            name,
            None,
            None,
            name,
            {"repeats": 1},
            [],
            [],
            [
                Verdict(item.digest, name, 0, row["graders"][name], None, "robust", "")
                for item, row in zip(items, rows, strict=True)
                if row["graders"].get(name) in BINARY.labels
            ],
        )
        for name in sorted(rows[0]["graders"])
    ]
    return RunData("judges-1", "judges", judged, len(items), "robust", graders)


def test_eleven_published_graders_leave_two(calibration_data: Path) -> None:
    choice = choose_grader(read_judges(calibration_data), None, level=0.95)
    assert set(choice.rule.members) == {"GPT-4", "Llama3-70B"}
    assert (choice.rule.n, choice.rule.clusters) == (3465, 400)
    assert sum(bool(row.significant) for row in choice.family.rows) == 43
    assert len(choice.pairs) == 55
    shown = {own.name: own.rates for own in choice.rates}
    assert shown["GPT-4"]["false_negative_rate"].value == pytest.approx(0.053, abs=5e-4)
    assert shown["Llama3-70B"]["false_positive_rate"].value == pytest.approx(0.201, abs=5e-4)
    assert choice.recommendation.name == "Llama3-70B"
    assert set(choice.front.front) == {"Llama3-70B", "GPT-4", "Llama-70B", "Contains", "EM"}
    text = decision_text(choice)
    assert "2 are not distinguishable from the best: Llama3-70B, GPT-4; the other 9 are shown to be worse" in text
    # The rule decides: with at most two wrong answers in a hundred passed, it is another grader.
    spec = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.02, margin=0.01)})
    careful = apply_rule(choice.candidates, choice.contest, spec, level=0.95)
    assert set(careful.members) <= {"Contains", "EM"}
    assert {one.limits for one in careful.standings if one.name not in {"Contains", "EM"}} == {"broken"}


@pytest.mark.parametrize("cost", [None, 1.0])
def test_an_exact_tie_is_called_one(runs: Any, cost: float | None) -> None:
    words = spoiled(PEOPLE, 10)
    costs = None if cost is None else {name: Cost(cost) for name in ("z", "b", "worse")}
    data = contest_of(runs, PEOPLE, {"z": words, "b": words, "worse": spoiled(PEOPLE, 2)}, costs=costs)
    choice = choose_grader(data, None, level=0.95)
    assert choice.rule.members == ("z", "b")
    assert (choice.recommendation.name, choice.recommendation.tied) == ("b", ("z",))
    text = decision_text(choice)
    assert text.startswith("A tie: take any of b, z.")
    equal = "the rate observed" if cost is None else "cost and rate"
    assert f"b and z are exactly equal in {equal}: that b stands first is the order of names and no evidence" in text
    assert choice_fields(choice)["recommendation"]["tied"] == ["z"]


def test_a_tie_of_rates_is_broken_by_cost_and_one_of_costs_by_the_rate(runs: Any) -> None:
    words = spoiled(PEOPLE, 10)
    cheaper = contest_of(runs, PEOPLE, {"a": words, "z": words}, costs={"a": Cost(2.0), "z": Cost(1.0)})
    choice = choose_grader(cheaper, None, level=0.95)
    assert (choice.recommendation.name, choice.recommendation.by, choice.recommendation.tied) == ("z", "cost", ())
    better = contest_of(runs, PEOPLE, {"a": words, "z": spoiled(PEOPLE, 12)}, costs={"a": Cost(1.0), "z": Cost(1.0)})
    choice = choose_grader(better, None, level=0.95)
    assert (choice.recommendation.name, choice.recommendation.tied) == ("z", ())
    assert decision_text(choice).startswith("Not decided; if one must be taken, z.")
