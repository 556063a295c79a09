"""Which decisions a run has data for, and what is said where one cannot be made."""

from __future__ import annotations

from dataclasses import replace

from figure_runs import (
    answering_run,
    full_run,
    make_grader,
    make_items,
    make_run,
    make_truths,
    small_run,
    without_labels,
    wordings_run,
)
from score_runs import Answer
from score_runs import run as score_run

from calibration_sets.scale import LabelScale
from experiments.analyses.run_decisions import decide_run
from experiments.specs.decisions import AbSpec, ChooseSpec, DecisionSpecs, PanelSpec

NO_RULES = DecisionSpecs()


def test_a_labelled_run_is_a_choice_and_no_comparison_of_wordings() -> None:
    decided = decide_run(full_run(n=20, n_graders=2, repeats=1), NO_RULES, level=0.9)
    assert decided.choice is not None
    assert decided.choice.level == 0.9
    assert decided.wordings is None
    assert decided.notes == ()


def test_prompts_that_meet_in_a_model_are_compared() -> None:
    decided = decide_run(wordings_run(n=16), NO_RULES, level=0.9)
    assert decided.choice is not None
    assert decided.wordings is not None
    assert decided.wordings.control == "wording_0@1.0.0"


def test_the_rules_of_the_experiment_decide() -> None:
    ab = AbSpec.model_validate({"control": "wording_1@1.0.0", "raise": "accuracy"})
    rules = DecisionSpecs(choose=ChooseSpec(lowest="false_positive_rate"), ab=ab)
    decided = decide_run(wordings_run(n=16), rules, level=0.9)
    assert decided.choice is not None
    assert decided.choice.rule.rate == "false_positive_rate"
    assert decided.wordings is not None
    assert decided.wordings.control == "wording_1@1.0.0"
    assert len(decided.wordings.decisions) == 2


def test_a_rule_that_does_not_fit_is_told_and_the_rest_is_there() -> None:
    panel = PanelSpec(name="p", members=["nobody", "neither"])
    ab = AbSpec.model_validate({"control": "wording_0@1.0.0", "raise": "f1"})
    decided = decide_run(wordings_run(n=16), DecisionSpecs(choose=ChooseSpec(panels=[panel]), ab=ab), level=0.9)
    assert decided.choice is None
    assert decided.wordings is None
    assert len(decided.notes) == 2
    assert any("'nobody'" in note for note in decided.notes)
    assert any("ab.raise: 'f1'" in note for note in decided.notes)


def test_runs_that_are_about_neither_say_nothing() -> None:
    nobody = without_labels(wordings_run(n=8))
    no_graders = replace(small_run(), graders=())
    scale = LabelScale("letters", ("A", "B"))
    answers = [Answer(f"q{place}", None, "A", ("A",)) for place in range(4)]
    without_right = score_run("letters", answers, scale=scale)
    for data in (nobody, no_graders, without_right):
        decided = decide_run(data, NO_RULES, level=0.95)
        assert (decided.choice, decided.wordings, decided.notes) == (None, None, ())


def test_a_comparison_that_is_not_finished_is_told() -> None:
    data = wordings_run(n=8)
    first = data.graders[0]
    verdicts = [
        replace(verdict, label=None, failure="not_answered", detail="not_asked") if place == 0 else verdict
        for place, verdict in enumerate(first.verdicts)
    ]
    decided = decide_run(
        replace(data, graders=(replace(first, verdicts=verdicts), *data.graders[1:])), NO_RULES, level=0.95
    )
    assert decided.choice is not None
    assert decided.wordings is None
    (note,) = decided.notes
    assert "1 of 4 questions lack" in note


def test_answers_are_compared_by_their_wordings_and_chosen_between_by_nobody() -> None:
    decided = decide_run(answering_run(n=12), NO_RULES, level=0.95)
    assert decided.choice is None
    assert decided.wordings is not None
    assert decided.wordings.facts.kind == "answer"
    one = decide_run(answering_run(["only@1.0.0"], n=12), NO_RULES, level=0.95)
    assert (one.choice, one.wordings, one.notes) == (None, None, ())


def test_one_prompt_of_several_models_is_no_comparison() -> None:
    items = make_items(8)
    truths = make_truths(items)
    graders = [make_grader("p@1.0.0#a", f"made/{name}", items, truths) for name in ("one", "two")]
    assert decide_run(make_run(items, truths, graders), NO_RULES, level=0.95).wordings is None
