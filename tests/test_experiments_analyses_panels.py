"""Panels and cascades, made of stored verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analyses.choice.candidates import Candidate, read_labelled
from experiments.analyses.choice.choosing import choose_grader, read_all_candidates
from experiments.analyses.choice.choosing_page import choice_document
from experiments.errors import SpecError
from experiments.reports import RunData
from experiments.reports.render_text import render_document
from experiments.specs.decisions import CascadeSpec, ChooseSpec, PanelSpec
from graders.pricing import Cost

PANEL = ChooseSpec(panels=[PanelSpec(name="panel", members=["a", "b", "c"])])
CASCADE = ChooseSpec(cascades=[CascadeSpec(name="cascade", first="a", then="b")])


def run_of(
    runs: Any, people: str, graders: Mapping[str, Sequence[str]], costs: Mapping[str, Cost] | None = None
) -> RunData:
    items = [runs.item(number) for number in range(len(people))]
    results = [
        replace(
            runs.grader(runs.verdicts(items, letters, model), max(map(len, letters)), grader_id=model),
            model=model,
            prompt=None,
            cost=(costs or {}).get(model),
        )
        for model, letters in graders.items()
    ]
    return RunData("run-1", "exp", runs.labelled(items, list(people)), len(items), "robust", results)


def joint(data: RunData, spec: ChooseSpec) -> Candidate:
    candidates = read_all_candidates(read_labelled(data).contest, spec)
    return candidates[-1]


def letters_of(candidate: Candidate, data: RunData) -> list[dict[str, int]]:
    labels = data.calibration_set.scale.labels
    return [
        {label[0]: int(count) for label, count in zip(labels, row, strict=True) if count} for row in candidate.counts
    ]


def test_a_panel_votes_repeat_by_repeat(runs: Any) -> None:
    data = run_of(runs, "CC", {"a": ["CI", "CN"], "b": ["CI", "II"], "c": ["IC", "NC"]})
    panel = joint(data, PANEL)
    # Item 0: CCI is C, IIC is I. Item 1: CIN is a tie, NIC is one too.
    assert letters_of(panel, data) == [{"C": 1, "I": 1}, {}]
    assert dict(panel.failures) == {"tie": 2}
    assert panel.expected == 2
    assert panel.coverage == 0.5
    assert np.isnan(panel.shares[1]).all()


def test_a_member_with_one_verdict_casts_it_in_every_repeat(runs: Any) -> None:
    data = run_of(runs, "C", {"a": ["CIC"], "b": ["CIIC"], "c": ["C"]})
    panel = joint(data, PANEL)
    # Three repeats, as a has: CCC, IIC, CIC.
    assert letters_of(panel, data) == [{"C": 2, "I": 1}]
    assert panel.expected == 3


def test_a_member_without_a_verdict_does_not_vote(runs: Any) -> None:
    data = run_of(runs, "CCC", {"a": ["-", "-", "-"], "b": ["C", "?", "C"], "c": ["C", ".", "I"]})
    panel = joint(data, PANEL)
    assert letters_of(panel, data) == [{"C": 1}, {}, {}]
    assert dict(panel.failures) == {"no_vote": 1, "tie": 1}


def test_a_panel_costs_what_its_members_cost_together(runs: Any) -> None:
    graders = {"a": ["CC"], "b": ["CC"], "c": ["C"]}
    costs = {"a": Cost(0.002), "b": Cost(0.004, complete=False), "c": Cost(0.005)}
    cost = joint(run_of(runs, "C", graders, costs), PANEL).thousand
    assert cost is not None
    assert cost.amount == pytest.approx(1 + 2 + 5)
    assert not cost.complete
    assert joint(run_of(runs, "C", graders, {"a": Cost(1.0), "b": Cost(1.0)}), PANEL).thousand is None


def test_a_cascade_passes_on_where_repeats_differ_or_are_missing(runs: Any) -> None:
    data = run_of(runs, "CCCC", {"a": ["III", "CCI", "CC-", "---"], "b": ["CC", "CI", "NN", "I-"]})
    cascade = joint(data, CASCADE)
    assert letters_of(cascade, data) == [{"I": 2}, {"C": 1, "I": 1}, {"N": 2}, {"I": 1}]
    assert dict(cascade.failures) == {"not_given_by_second": 1}
    assert "3 of 4 items passed on" in cascade.notes[0]
    assert not cascade.repeats


def test_a_cascade_pays_all_repeats_of_the_first_and_the_second_for_its_share(runs: Any) -> None:
    graders = {"a": ["CC", "CI", "II", "CC"], "b": ["C", "C", "C", "C"]}
    # A verdict of a costs $0.001, one of b $0.01; a quarter is passed on.
    data = run_of(runs, "CCCC", graders, {"a": Cost(0.008), "b": Cost(0.04)})
    cost = joint(data, CASCADE).thousand
    assert cost is not None
    assert cost.amount == pytest.approx(2 * 1 + 0.25 * 10)
    # What is never asked costs nothing, known or not.
    sure = run_of(runs, "CC", {"a": ["CC", "II"], "b": ["C", "C"]}, {"a": Cost(0.004)})
    assert joint(sure, CASCADE).thousand == Cost(pytest.approx(2.0))  # type: ignore[arg-type]
    unsure = run_of(runs, "CC", {"a": ["CI", "II"], "b": ["C", "C"]}, {"a": Cost(0.004)})
    assert joint(unsure, CASCADE).thousand is None


def test_a_first_grader_that_was_asked_once_is_said_to_be(runs: Any) -> None:
    cascade = joint(run_of(runs, "CC", {"a": ["C", "-"], "b": ["C", "I"]}), CASCADE)
    assert "only its failures are passed on" in cascade.notes[0]


def test_panels_and_cascades_are_candidates_like_others(runs: Any) -> None:
    people = "CI" * 30
    noisy = {
        name: [
            "".join("CI"[(label == "I") ^ (number % 6 == place)] for _ in "12") for number, label in enumerate(people)
        ]
        for place, name in enumerate("abc")
    }
    spec = ChooseSpec(panels=PANEL.panels, cascades=CASCADE.cascades)
    choice = choose_grader(run_of(runs, people, noisy), spec, level=0.95)
    assert [candidate.name for candidate in choice.candidates] == ["a", "b", "c", "panel", "cascade"]
    assert choice.rule.members == ("panel",)
    assert choice.rates[3].rates["error_rate"].value == 0
    assert choice.rates[4].flip_rate is None
    assert "majority of a, b, c" in render_document(choice_document(choice))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            ChooseSpec(panels=[PanelSpec(name="p", members=["a", "z"])]),
            r"choose.panels\[0\] 'p': members: 'z', 0 graders of that name",
        ),
        (ChooseSpec(panels=[PanelSpec(name="p", members=["a", "a"])]), "expected different graders"),
        (ChooseSpec(panels=[PanelSpec(name="a", members=["a", "b"])]), "two are called 'a'"),
        (ChooseSpec(cascades=[CascadeSpec(name="x", first="a", then="a")]), "expected two graders"),
        (ChooseSpec(cascades=[CascadeSpec(name="x", first="q", then="a")]), r"choose.cascades\[0\] 'x': first: 'q'"),
    ],
)
def test_what_cannot_be_built_is_named(runs: Any, spec: ChooseSpec, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        joint(run_of(runs, "C", {"a": ["C"], "b": ["C"]}), spec)


def test_a_cascade_cannot_begin_with_computed_repeats(runs: Any) -> None:
    data = run_of(runs, "C", {"a": ["C"], "b": ["C"]})
    exact = replace(data.graders[0], sampling={"method": "exact", "repeats": 5}, distributions={})
    with pytest.raises(SpecError, match="are computed"):
        joint(replace(data, graders=[exact, data.graders[1]]), CASCADE)


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.text("CIN-", min_size=2, max_size=2)] * 3), min_size=1, max_size=6))
def test_every_vote_is_a_label_a_tie_or_nobody_s_and_the_order_of_members_is_nothing(
    runs: Any, rows: list[tuple[str, str, str]]
) -> None:
    data = run_of(runs, "C" * len(rows), {name: [row[place] for row in rows] for place, name in enumerate("abc")})
    panel = joint(data, PANEL)
    assert panel.counts.sum() + sum(panel.failures.values()) == panel.expected * len(rows)
    turned = joint(data, ChooseSpec(panels=[PanelSpec(name="panel", members=["c", "a", "b"])]))
    assert (turned.counts == panel.counts).all()
    assert turned.failures == panel.failures
