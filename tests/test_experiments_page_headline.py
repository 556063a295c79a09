"""The sentence at the top: the rule's decision with its numbers, or what is known without one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from figure_runs import answering_run, full_run, only_failures, small_run, without_labels, wordings_run

from experiments.analyses.choice.choosing_words import decision_text
from experiments.analyses.run_decisions import decide_run
from experiments.page.headline import Headline, build_headline
from experiments.reports import RunData, build_report
from experiments.reports.figures import percent, rate_text
from experiments.specs.decisions import AbSpec, ChooseSpec, DecisionSpecs, LimitSpec, PanelSpec
from graders.pricing import Cost


def headline_of(data: RunData, specs: DecisionSpecs | None = None) -> Headline:
    decided = decide_run(data, specs or DecisionSpecs(), level=0.95)
    return build_headline(build_report(data), decided, answering=data.answering is not None)


def test_several_graders_are_chosen_between() -> None:
    data = full_run(n=300)
    found = headline_of(data)
    choice = decide_run(data, DecisionSpecs(), level=0.95).choice
    assert choice is not None
    chosen = choice.recommendation.name
    graders = build_report(data)["graders"]
    (own,) = [one for one in graders if f"{one['prompt'].partition('#')[0]} {one['model']}" == chosen]
    told = [
        f"false {kind}s {rate_text(own[f'false_{kind}_rate'])} "
        f"({percent(own[f'false_{kind}_rate_bounds'][1])} if all missing verdicts were wrong)"
        for kind in ("negative", "positive")
    ]
    assert choice.finalists == (chosen,)
    assert found.sentence == f"Take {chosen}: {', '.join(told)}; of 4 it alone can be the best."
    assert found.paragraphs == (("Which grader", decision_text(choice)),)


def test_what_the_data_do_not_decide_comes_before_what_would_be_taken() -> None:
    data = wordings_run(n=20, n_wordings=2, n_models=2)
    choice = decide_run(data, DecisionSpecs(), level=0.95).choice
    assert choice is not None
    assert len(choice.finalists) > 1
    (own,) = [one for one in build_report(data)["graders"] if choice.recommendation.name.endswith(one["model"])][:1]
    assert not own["false_negative_rate_bounds"]
    sentence = headline_of(data).sentence
    assert sentence.startswith(
        f"Not decided: {len(choice.finalists)} of 4 graders are not distinguishable from the best. If one must be "
        f"taken, {choice.recommendation.name}, "
    )
    assert "missing" not in sentence
    assert decision_text(choice).startswith("Not decided; if one must be taken, ") or choice.recommendation.tied
    priced = replace(data, graders=[replace(one, cost=Cost(place)) for place, one in enumerate(data.graders, start=1)])
    assert ", by its cost: false negatives " in headline_of(priced).sentence


def test_equal_graders_are_told_to_be_equal() -> None:
    data = small_run(n=40)
    (one,) = data.graders
    other = replace(one, model="made/two", grader_id="other")
    other = replace(other, verdicts=[replace(verdict, grader_id="other") for verdict in one.verdicts])
    sentence = headline_of(replace(data, graders=[one, other])).sentence
    assert "If one must be taken, plain@1.0.0 made/one, with 1 more exactly equal in the rate observed: " in sentence


def test_limits_that_nobody_is_shown_to_keep_make_it_provisional_or_none() -> None:
    tight = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.05)})
    assert headline_of(full_run(n=24), DecisionSpecs(choose=tight)).sentence.startswith(
        "Not decided: no grader is shown to keep the limits"
    )
    broken = ChooseSpec(limits={"error_rate": LimitSpec(limit=0.0)})
    assert headline_of(full_run(), DecisionSpecs(choose=broken)).sentence.startswith("No grader is recommended: ")


def test_a_rule_on_wordings_comes_first() -> None:
    rule = AbSpec(control="wording_0@1.0.0", **{"raise": "accuracy"}, may_not_fall={"specificity": 0.2})
    data = wordings_run(n=200, n_wordings=3)
    found = headline_of(data, DecisionSpecs(ab=rule))
    assert found.sentence.startswith("Adopt wording_2@1.0.0 in place of wording_0@1.0.0: accuracy +")
    assert found.sentence.endswith("on 100 questions in 2 models.")
    assert [title for title, _ in found.paragraphs] == ["Which wording of the grader's prompt", "Which grader"]
    two = wordings_run(n=200, n_wordings=2)
    last = two.graders[-1]
    lost = [replace(one, label=None, failure="unparsed") for one in last.verdicts[:80]]
    gaps = replace(two, graders=[*two.graders[:-1], replace(last, verdicts=[*lost, *last.verdicts[80:]])])
    unsure = headline_of(gaps, DecisionSpecs(ab=rule))
    assert unsure.sentence.startswith("Not decided, on 100 questions in 2 models: wording_1@1.0.0 would be adopted if ")
    kept = headline_of(wordings_run(n=200), DecisionSpecs(ab=rule.model_copy(update={"control": "wording_2@1.0.0"})))
    assert kept.sentence.startswith("Keep wording_2@1.0.0: none of the 2 other wordings meets the rule, ")


@pytest.mark.parametrize(("accuracy", "told"), [(9.0, ", shown to be under 5%"), (0.6, ", not shown to be under 20%")])
def test_one_grader_is_held_against_bounds_that_help(accuracy: float, told: str) -> None:
    data = small_run(n=300, accuracy=accuracy)
    grader = build_report(data)["graders"][0]
    wrong, passed = (rate_text(grader[f"false_{kind}_rate"]) for kind in ("negative", "positive"))
    sentence = headline_of(data).sentence
    assert sentence.startswith(f"plain@1.0.0 made/one: false negatives {wrong}{told}; false positives {passed}, ")
    for bound in re.findall(r"(?<!not) shown to be under (\d+)%", sentence):
        assert min(grader[f"false_{kind}_rate"]["high"] for kind in ("negative", "positive")) < int(bound) / 100


def test_a_bound_is_not_claimed_where_verdicts_are_missing() -> None:
    data = small_run(n=300, accuracy=9.0, missing=0.02)
    sentence, grader = headline_of(data).sentence, build_report(data)["graders"][0]
    assert "shown to be under" not in sentence
    assert f", {percent(grader['false_negative_rate_bounds'][1])} if all missing verdicts were wrong;" in sentence


def test_without_a_verdict_nothing_is_shown() -> None:
    sentence = headline_of(only_failures()).sentence
    assert sentence.startswith("plain@1.0.0 made/one: false negatives not defined (no valid verdict of 3), n = 3; ")
    assert "under" not in sentence


def test_graders_between_which_no_rule_can_choose_are_not_ranked() -> None:
    bad = ChooseSpec(panels=[PanelSpec(name="p", members=["x", "y"])])
    data = full_run(n=24)
    sentence = headline_of(data, DecisionSpecs(choose=bad)).sentence
    (why,) = decide_run(data, DecisionSpecs(choose=bad), level=0.95).notes
    assert sentence.startswith(f"No choice is made between these 4 graders ({why}). wording_number_0@1.0.0 ")
    first = build_report(data)["graders"][0]
    assert f": agreement {rate_text(first['agreement']['raw'])}, {percent(first['coverage'])} of verdicts" in sentence
    assert sentence.endswith("; and 1 more.")


def test_without_a_label_that_counts_as_right_the_reason_and_the_agreement_are_given() -> None:
    data = full_run(n=24, n_graders=2)
    scale = replace(data.calibration_set.scale, positive=None)
    data = replace(data, calibration_set=replace(data.calibration_set, scale=scale))
    sentence = headline_of(data).sentence
    why = f"as no label counts as right on the scale {scale.name}"
    assert sentence.startswith(f"No choice is made between these 2 graders, {why}. The nearest first: ")
    assert rate_text(build_report(data)["graders"][0]["agreement"]["raw"]) in sentence


def test_without_labels_it_says_so_and_how_far_repeats_differ() -> None:
    data = without_labels(full_run())
    best = min(one["pairwise_disagreement"]["value"] for one in build_report(data)["graders"])
    sentence = headline_of(data).sentence
    assert sentence.startswith("No item has a label, so nothing here says how often a grader is wrong; ")
    assert f"differ in {100 * best:.1f}% [" in sentence
    assert headline_of(without_labels(small_run())).sentence.endswith("and no item has two verdicts to compare.")


def test_answers_that_nobody_labelled_are_chosen_between_by_their_rule_alone() -> None:
    data: Any = answering_run()
    assert headline_of(data).sentence.startswith("Nobody has labelled these answers")
    rule = AbSpec(control="old@1.0.0", **{"raise": "accuracy"})
    sentence = headline_of(data, DecisionSpecs(ab=rule)).sentence
    assert sentence.startswith(("Keep old@1.0.0: ", "Adopt new@1.0.0 "))
