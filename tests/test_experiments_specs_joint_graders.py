"""Panels and cascades are checked when an experiment is read, before anything is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.errors import SpecError
from experiments.specs.decisions import CascadeSpec, ChooseSpec, PanelSpec
from experiments.specs.experiment import list_experiments, load_experiment
from experiments.specs.joint_graders import find_name, name_graders, resolve_joint_graders

MODEL, LEXICAL = "replay/said.jsonl", "baseline/lexical"
BOTH = f"simpleqa@1.0.0 {MODEL}"


def panel(*members: str, name: str = "jury") -> str:
    listed = ", ".join(f'"{member}"' for member in members)
    return f'[choose]\n[[choose.panels]]\nname = "{name}"\nmembers = [{listed}]\n'


def cascade(first: str, then: str) -> str:
    return f'[choose]\n[[choose.cascades]]\nname = "chain"\nfirst = "{first}"\nthen = "{then}"\n'


def load(study: Any, rule: str) -> Any:
    study.write_experiment()
    study.experiment.write_text(study.experiment.read_text(encoding="utf-8") + rule, encoding="utf-8")
    return load_experiment(str(study.experiment))


@pytest.mark.parametrize("member", [MODEL, "simpleqa@1.0.0", BOTH])
def test_a_member_may_be_a_model_a_prompt_or_both_and_the_rule_is_kept_as_written(study: Any, member: str) -> None:
    rule = load(study, panel(member, LEXICAL)).decisions.choose
    assert rule.panels[0].members == [member, LEXICAL]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            panel(LEXICAL, "openai/nobody"),
            "study.toml: choose.panels[0] 'jury': members: 'openai/nobody', 0 graders of that name; "
            f"expected one of ['{BOTH}', '{LEXICAL}']",
        ),
        (panel(MODEL, BOTH), "study.toml: choose.panels[0] 'jury': members "),
        (panel(MODEL, LEXICAL, name=LEXICAL), "study.toml: choose: two are called 'baseline/lexical'"),
        (panel(MODEL, LEXICAL) + panel(MODEL, LEXICAL).partition("\n")[2], "study.toml: choose: two are called 'jury'"),
        (
            panel(MODEL, LEXICAL) + panel("jury", MODEL, name="other").partition("\n")[2],
            "study.toml: choose.panels[1] 'other': members: 'jury', 0 graders of that name",
        ),
        (cascade("nobody", LEXICAL), "study.toml: choose.cascades[0] 'chain': first: 'nobody'"),
        (cascade(LEXICAL, "nobody"), "study.toml: choose.cascades[0] 'chain': then: 'nobody'"),
        (cascade(MODEL, BOTH), "study.toml: choose.cascades[0] 'chain': first and then are both"),
    ],
)
def test_what_cannot_be_made_of_the_graders_is_an_error_of_the_file(study: Any, rule: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(study, rule)
    assert message in str(caught.value)
    assert "; expected " in str(caught.value)


def test_a_name_that_fits_two_graders_is_no_name(study: Any) -> None:
    last = "sampling = { repeats = 1 }\n"
    third = '[[graders]]\nprompt = "simpleqa@1.0.0"\nmodel = "replay/said.jsonl"\nsampling = { seed = 2 }\n'
    study.write_experiment({last: last + third})
    study.experiment.write_text(study.experiment.read_text("utf-8") + panel(MODEL, LEXICAL), encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"'replay/said.jsonl', 2 graders of that name; expected one of \['simpleqa@1.0.0 "
    ):
        load_experiment(str(study.experiment))


def test_a_cascade_cannot_begin_with_repeats_that_are_computed() -> None:
    rule = ChooseSpec(cascades=[CascadeSpec(name="c", first="a", then="b")])
    with pytest.raises(SpecError, match=r"x: choose.cascades\[0\] 'c': first: the repeats of 'a' are computed"):
        resolve_joint_graders(rule, ["a", "b"], where="x: choose", computed={"a"})
    assert resolve_joint_graders(rule, ["a", "b"], computed={"b"}) == rule


def test_members_get_their_whole_names() -> None:
    rule = ChooseSpec(panels=[PanelSpec(name="p", members=["m", "q@1.0.0"])])
    resolved = resolve_joint_graders(rule, ["p@1.0.0 m", "q@1.0.0 n"])
    assert resolved.panels[0].members == ["p@1.0.0 m", "q@1.0.0 n"]


@given(st.lists(st.tuples(st.sampled_from([None, "p@1.0.0#aa", "q@1.0.0#bb"]), st.sampled_from("mn")), max_size=5))
def test_every_grader_is_found_by_its_name(graders: list[tuple[str | None, str]]) -> None:
    ids = [f"{place}{place}{place}{place}{place}{place}rest" for place in range(len(graders))]
    names = name_graders([prompt for prompt, _ in graders], [model for _, model in graders], ids)
    assert len(set(names)) == len(names)
    places = list(range(len(names)))
    assert [find_name(names, name, grader_ids=ids) for name in names] == places
    assert [find_name(names, one, grader_ids=ids) for one in ids] == places


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("p@1.0.0 s/m", 0),
        ("p@1.0.0", 0),
        ("p", 0),
        ("s/m", 0),
        ("m", 0),
        ("baseline/lexical", 2),
        ("lexical", 2),
        ("q", 1),
    ],
)
def test_parts_of_a_name_that_fit_one_grader_find_it(wanted: str, place: int) -> None:
    assert find_name(["p@1.0.0 s/m", "q@2.0.0 s/n", "baseline/lexical"], wanted) == place


@pytest.mark.parametrize("wanted", ["", "s", "1.0.0", "nobody", "P@1.0.0"])
def test_other_parts_are_no_name(wanted: str) -> None:
    with pytest.raises(LookupError, match="0 graders of that name; expected one of"):
        find_name(["p@1.0.0 s/m", "q@2.0.0 s/n"], wanted)


def test_a_whole_name_comes_before_a_part_of_another() -> None:
    assert find_name(["m", "p@1.0.0 m"], "m") == 0
    with pytest.raises(LookupError, match=r"2 graders of that name; expected one of \['p@1.0.0 m', 'p@2.0.0 m'\]"):
        find_name(["p@1.0.0 m", "p@2.0.0 m"], "p")


def test_the_shipped_rules_are_of_their_own_graders() -> None:
    assert {"choose_grader", "vllm_local"} <= set(list_experiments())
    for name in ("choose_grader", "vllm_local"):
        assert load_experiment(name).decisions.choose is not None
