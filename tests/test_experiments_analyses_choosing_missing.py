"""Which grader where verdicts are missing: nobody is chosen by what did not come; and where there is only one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analyses.choice.choosing import Choice, choose_grader
from experiments.analyses.choice.choosing_page import choice_document, choice_fields
from experiments.analyses.choice.choosing_words import decision_text
from experiments.reports import RunData
from experiments.reports.render_text import render_document
from experiments.specs.decisions import ChooseSpec, LimitSpec
from graders.pricing import Cost

N = 120
PEOPLE = "CI" * (N // 2)
OTHER = {"C": "I", "I": "C"}


def letters(wrong: int, missing: int = 0, people: str = PEOPLE) -> list[str]:
    """The first ``missing`` verdicts do not come, the next ``wrong`` are wrong."""
    return [
        "-" if place < missing else OTHER[label] if place < missing + wrong else label
        for place, label in enumerate(people)
    ]


def _page(choice: Choice) -> str:
    return " ".join(render_document(choice_document(choice)).split())


def choose(
    runs: Any,
    graders: Mapping[str, Sequence[str]],
    *,
    costs: Mapping[str, float] | None = None,
    spec: ChooseSpec | None = None,
    people: str = PEOPLE,
) -> Choice:
    items = [runs.item(number) for number in range(len(people))]
    results = [
        replace(
            runs.grader(runs.verdicts(items, rows, model), max(map(len, rows)), grader_id=model),
            model=model,
            prompt=None,
            cost=None if costs is None else Cost(costs[model]),
        )
        for model, rows in graders.items()
    ]
    data = RunData("run-1", "exp", runs.labelled(items, list(people)), len(items), "robust", results)
    return choose_grader(data, spec, level=0.95)


def test_the_cheapest_is_not_taken_where_its_place_hangs_on_missing_verdicts(runs: Any) -> None:
    graders = {"cheap": letters(2, missing=24), "sound": letters(2), "dear": letters(1)}
    choice = choose(runs, graders, costs={"cheap": 0.1, "sound": 1.0, "dear": 9.0})
    assert set(choice.rule.members) == {"cheap", "sound", "dear"}
    assert choice.rule.hanging == ("cheap",)
    assert (choice.recommendation.name, choice.recommendation.hanging) == ("sound", ("cheap",))
    text = decision_text(choice)
    assert text.startswith("Not decided; if one must be taken, sound.")
    assert "Of those whose place does not hang on missing verdicts none is known to cost less than sound" in text
    # 2 wrong of 120 with the missing right, 26 with the missing wrong.
    assert (
        "cheap is without 24 of 120 verdicts: its error rate would be 1.7% with all of these right, 21.7% with" in text
    )
    assert "The place of cheap among the best hangs on missing verdicts" in text
    assert "24 of 120 items are left out for want of a verdict: cheap 24." in text
    assert "24 of 120 items are left out for want of a verdict: cheap 24;" in _page(choice)
    fields = choice_fields(choice)
    assert fields["set"]["hanging"] == ["cheap"]
    assert fields["set"]["without"] == {"cheap": 24}
    json.dumps(fields, allow_nan=False)


def test_a_few_missing_verdicts_that_could_change_nothing_are_said_and_weigh_nothing(runs: Any) -> None:
    choice = choose(runs, {"cheap": letters(2, missing=1), "dear": letters(2)}, costs={"cheap": 0.1, "dear": 1.0})
    assert choice.rule.hanging == ()
    assert choice.recommendation.name == "cheap"
    assert "cheap is without 1 of 120 verdicts: its error rate would be 1.7% with all of these right, 2.5%" in (
        decision_text(choice)
    )


def test_where_all_that_may_be_the_best_hang_nobody_is_recommended(runs: Any) -> None:
    # On the items that came 'gaps' makes no error and is alone; it lacks three times as many as the other gets wrong.
    people = "C" * N
    sound = ["I" if place % 8 == 7 else "C" for place in range(N)]
    choice = choose(runs, {"gaps": letters(0, missing=45, people=people), "sound": sound}, people=people)
    assert choice.rule.members == ("gaps",)
    assert choice.rule.if_wrong == ("sound",)
    assert choice.recommendation.name is None
    text = decision_text(choice)
    assert text.startswith("No grader is recommended.")
    assert "with every missing verdict wrong sound alone can be the best." in text


def test_failures_that_all_share_push_nobody_out(runs: Any) -> None:
    choice = choose(runs, {"one": letters(2, missing=12), "two": letters(4, missing=12)})
    assert choice.rule.hanging == ()
    assert choice.recommendation.name == "one"


def test_missing_repeats_of_an_item_count_by_their_share(runs: Any) -> None:
    half = [letter + ("-" if place < 60 else letter) for place, letter in enumerate(letters(0))]
    choice = choose(runs, {"half": half, "whole": [letter * 2 for letter in letters(0)]})
    assert choice.rule.left_out == 0
    assert choice.rule.hanging == ("half",)
    assert "half is without 60 of 240 verdicts: its error rate would be 0.0% with all of these right, 25.0%" in (
        decision_text(choice)
    )


def test_a_limit_is_kept_or_broken_only_whatever_the_missing_would_have_been(runs: Any) -> None:
    people = "C" * 60 + "I" * 60
    spec = ChooseSpec(lowest="false_negative_rate", limits={"false_positive_rate": LimitSpec(limit=0.1, margin=0.0)})
    clean = list(people)
    gaps = [*people[:60], *("-" * 12), *people[72:]]
    full = choose(runs, {"clean": clean, "gaps": gaps}, spec=spec, people=people)
    assert [full.rule.find(name).limits for name in ("clean", "gaps")] == ["kept", "not shown"]
    check = full.rule.find("gaps").checks[0]
    assert check.estimate.value == 0
    assert check.high is not None
    assert check.high > 0.2
    worse = [*people[:60], *("-" * 20), *("C" * 9), *people[89:]]
    found = choose(runs, {"clean": clean, "worse": worse}, spec=spec, people=people).rule.find("worse")
    # 9 of 40 that came are wrong, which would break the limit; 9 of 60 would not be shown to.
    assert found.checks[0].estimate.low is not None
    assert found.checks[0].estimate.low > 0.1
    assert found.limits == "not shown"


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_without_missing_verdicts_both_comparisons_are_one(runs: Any, data: st.DataObject) -> None:
    rows = {name: data.draw(st.lists(st.sampled_from("CI"), min_size=12, max_size=12)) for name in "abc"}
    choice = choose(runs, rows, people="CI" * 6)
    assert choice.rule.if_wrong == choice.rule.members
    assert choice.recommendation.hanging == ()
    assert "left out for want" not in decision_text(choice)


def test_a_run_with_one_grader_has_nothing_to_choose_between(runs: Any) -> None:
    choice = choose(runs, {"a": letters(6)})
    text = decision_text(choice)
    assert text.startswith("Nothing to choose between: a is the run's only grader. On 120 items of 120 questions")
    assert "error rate 5.0% [" in text
    page = _page(choice)
    for word in ("alone can be the best", "may be the best", "candidates were compared", "Cost and error", "All pairs"):
        assert word not in page, word


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (0, "It is shown to keep the limits (false positives not above 10.0%)."),
        (10, "It is not shown to keep the limits (false positives not above 10.0%)."),
        (60, "It is shown to break the limits (false positives not above 10.0%)."),
    ],
)
def test_one_grader_is_held_against_the_limits(runs: Any, wrong: int, said: str) -> None:
    spec = ChooseSpec(limits={"false_positive_rate": LimitSpec(limit=0.1, margin=0.0)})
    choice = choose(runs, {"a": letters(wrong)}, spec=spec)
    assert said in decision_text(choice)
    page = _page(choice)
    assert "false positives up to 10%" in page
    assert "points behind" not in page


def test_one_grader_without_a_verdict_says_so(runs: Any) -> None:
    text = decision_text(choose(runs, {"a": ["."] * N}))
    assert "It has verdicts on 0 of 120 items." in text
    assert "a is without 120 of 120 verdicts" in text


def test_one_that_is_left_after_the_others_had_no_verdicts_was_held_against_nobody(runs: Any) -> None:
    text = decision_text(choose(runs, {"a": letters(3), "dead": ["."] * N}))
    assert "Nobody else had verdicts enough to be compared with a." in text
    assert "alone can be the best" not in text
