"""A rule about wordings that cannot be applied is an error of the file, before anything is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import autorater
from hypothesis import given
from hypothesis import strategies as st

from experiments.analyses.wordings.grader_wordings import QUANTITIES
from experiments.errors import SpecError
from experiments.specs.decisions import AbSpec
from experiments.specs.experiment import list_experiments, load_experiment
from experiments.specs.wording_rule import GRADER_QUANTITIES, check_wording_rule, name_wordings

GRADERS = """
name = "t"
set = "small"
[[graders]]
prompt = "simpleqa@1.0.0"
model = "replay/said.jsonl"
[[graders]]
prompt = "simpleqa_guessing_was_free@1.0.0"
model = "replay/said.jsonl"
"""
ANSWERS = """
name = "t"
set = "small"
[answering]
prompts = ["question_only", "always_answer"]
[[answering.models]]
model = "local/smollm2"
[[graders]]
model = "baseline/lexical"
"""
BOTH = "['simpleqa@1.0.0', 'simpleqa_guessing_was_free@1.0.0']"


def rule(control: str = "simpleqa", raises: str = "accuracy", more: str = "") -> str:
    return f'[ab]\ncontrol = "{control}"\nraise = "{raises}"\n{more}\n'


def write(study: Any, text: str) -> str:
    path = study.folder / "t.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GRADERS + rule("simpleqq"), f"ab.control: 'simpleqq', 0 wordings of that name; expected one of {BOTH}"),
        (GRADERS + rule("question_only"), "ab.control: 'question_only', 0 wordings of that name; expected one of"),
        (GRADERS.partition('[[graders]]\nprompt = "simpleqa_g')[0] + rule(),
         "ab: the grader prompts are ['simpleqa@1.0.0']; expected two or more"),
        ('name = "t"\nset = "small"\n[[graders]]\nmodel = "baseline/lexical"\n' + rule(),
         "ab: the grader prompts are []; expected two or more"),
        (GRADERS + rule(raises="f1"), f"ab.raise: 'f1'; expected one of {list(GRADER_QUANTITIES)}"),
        (GRADERS + rule(more="may_not_fall = { correct = 0.1 }"), "ab.may_not_fall: 'correct'; expected one of"),
        (GRADERS + rule(more="may_not_fall = { accuracy = 0.1 }"), "ab.may_not_fall: 'accuracy', which is to rise"),
        (GRADERS + rule(more="may_not_fall = { specificity = 0.0 }"), "ab.may_not_fall.specificity: 0; expected"),
        (GRADERS + rule(more='stopping = "anytime"\nscope = "sampled"'), 'ab.scope: "sampled"; expected "fixed"'),
        (GRADERS + rule(more='stopping = "anytime"\nmay_not_fall = { specificity = 1.0 }'),
         "ab.may_not_fall.specificity: 1, as far as it can fall; expected a smaller margin"),
        (GRADERS + rule(more='missing = "worst"'), "ab.missing: text 'worst'; expected 'ignorable'"),
        (ANSWERS + rule("simpleqa"), "ab.control: 'simpleqa', 0 wordings of that name; expected one of ['question"),
        (ANSWERS + rule("question_only", "sensitivity"), "ab.raise: 'sensitivity'; expected one of ['correct'"),
        (ANSWERS + rule("question_only", "f1", 'stopping = "anytime"'), "ab.raise: 'f1' is a ratio"),
        (ANSWERS + rule("question_only", more='stopping = "anytime"\nmay_not_fall = { f1 = 0.1 }'),
         "ab.may_not_fall: 'f1' is a ratio"),
        (ANSWERS.replace(', "always_answer"', "") + rule("question_only"),
         "ab: the answer prompts are ['question_only@1.0.0']; expected two or more"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_applied_is_named_by_its_key(study: Any, text: str, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_experiment(write(study, text))
    assert str(caught.value).startswith("t.toml: ab")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        GRADERS + rule(),
        GRADERS + rule("simpleqa@1.0.0", more='missing = "ignorable"\nstopping = "anytime"'),
        ANSWERS + rule("question_only", "f1", "may_not_fall = { accuracy_given_attempted = 0.01 }"),
        ANSWERS + rule("question_only", "penalised", 'stopping = "anytime"\nmay_not_fall = { index = 1.0 }'),
    ],
)
def test_a_rule_that_can_is_kept(study: Any, text: str) -> None:
    assert load_experiment(write(study, text)).decisions.ab is not None


def test_a_dry_run_shows_it(study: Any) -> None:
    found = autorater(study.folder, "run", write(study, GRADERS + rule("simpleqq")), "--dry-run")
    assert found.code == 2
    assert "t.toml: ab.control: 'simpleqq'" in found.err


def test_a_key_that_is_left_out_does_not_change_a_runs_id(study: Any) -> None:
    plain = load_experiment(write(study, GRADERS + rule()))
    assert "missing" not in str(plain.decisions.model_dump(mode="json", by_alias=True, exclude_none=True))
    other = load_experiment(write(study, GRADERS + rule(more='missing = "ignorable"')))
    assert plain.run_id != other.run_id


def test_what_is_measured_of_a_grader_is_what_a_rule_may_name() -> None:
    assert tuple(QUANTITIES) == GRADER_QUANTITIES


def test_texts_of_one_title_are_told_apart() -> None:
    assert name_wordings(["p@1#a", "p@1#b", "q@1#c", "q@1#c"]) == ["p@1#a", "p@1#b", "q@1", "q@1"]


@given(st.lists(st.sampled_from(["p@1.0.0", "p@2.0.0", "q@1.0.0"]), max_size=3), st.sampled_from(["p", "q", "q@1.0.0"]))
def test_a_rule_is_refused_in_one_line_or_finds_its_control(wordings: list[str], control: str) -> None:
    spec = AbSpec.model_validate({"control": control, "raise": "accuracy"})
    fits = [one for one in set(wordings) if control in (one, one.partition("@")[0])]
    if len(set(wordings)) > 1 and len(fits) == 1:
        check_wording_rule(spec, wordings, "grader", "x.toml")
        return
    with pytest.raises(SpecError, match=r"^x\.toml: ab.*; expected .*$"):
        check_wording_rule(spec, wordings, "grader", "x.toml")


def test_the_shipped_rules_can_be_applied() -> None:
    held = [name for name in list_experiments() if name.startswith("ab_")]
    assert len(held) >= 2
    for name in held:
        assert load_experiment(name).decisions.ab is not None
