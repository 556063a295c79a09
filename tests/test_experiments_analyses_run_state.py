"""What a run is, how far it is, and which commands apply to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.analyses.runs.run_state import RunState, read_run_state
from experiments.analyses.runs.run_state_page import run_state_document, run_state_fields
from experiments.reports.inputs import RunData
from experiments.reports.render_text import render_document
from experiments.respondents.records import AnsweringRecord, QuestionRecord, RespondentRecord
from experiments.specs.decisions import ChooseSpec, DecisionSpecs

ROWS = [("C", "CC-C"), ("I", "IIII"), ("C", "CCCC")]


def state_of(data: RunData, specs: DecisionSpecs | None = None) -> RunState:
    return read_run_state(data, specs or DecisionSpecs(), recorded_at="2026-01-02T03:04:05.678+00:00", level=0.95)


def commands(state: RunState) -> list[str]:
    return [step.command.split()[1] for step in state.steps]


def with_graders(data: RunData, **changes: list[Any]) -> RunData:
    """The run with its grader once for each value of the changed fields."""
    (results,) = data.graders
    n_graders = len(next(iter(changes.values())))
    graders = tuple(
        replace(
            results,
            grader_id=f"g{place}",
            verdicts=[replace(one, grader_id=f"g{place}") for one in results.verdicts],
            **{name: values[place] for name, values in changes.items()},
        )
        for place in range(n_graders)
    )
    return replace(data, graders=graders)


def test_valid_and_failed_verdicts_are_counted(runs: Any) -> None:
    (grader,) = state_of(runs.run(ROWS)).graders
    assert (grader.n_expected, grader.n_valid, grader.failures) == (12, 11, {"unparsed": 1})
    assert (grader.n_not_asked, grader.n_to_ask) == (0, 0)


def test_only_calls_that_went_wrong_or_were_not_made_are_asked_again(runs: Any) -> None:
    data = runs.run(ROWS)
    (results,) = data.graders
    details = iter(["not_asked", "timeout", "timeout"])
    verdicts = [
        replace(one, label=None, failure="not_answered", detail=detail) if (detail := next(details, "")) else one
        for one in results.verdicts
    ]
    state = state_of(replace(data, graders=(replace(results, verdicts=verdicts),)))
    (grader,) = state.graders
    assert (grader.n_not_asked, grader.n_to_ask, grader.failures["timeout"]) == (1, 3, 2)
    assert commands(state)[0] == "run"
    imported = replace(results, verdicts=verdicts, sampling={"repeats": 4, "channel": None})
    state = state_of(replace(data, graders=(imported,)))
    assert state.graders[0].n_to_ask == 0
    assert "run" not in commands(state)


@pytest.mark.parametrize(
    ("prompts", "models", "expected"),
    [
        (["p@1#0"], ["a"], {"report", "gate", "score", "queue", "review"}),
        (["p@1#0", "p@1#0"], ["a", "b"], {"report", "choose", "gate", "score", "queue", "review"}),
        (["p@1#0", "q@1#0"], ["a", "a"], {"report", "choose", "ab", "gate", "score", "queue", "review"}),
        (["p@1#0", "q@1#0"], ["a", "b"], {"report", "choose", "gate", "score", "queue", "review"}),
        ([None, None], ["a", "b"], {"report", "choose", "gate", "score", "queue", "review"}),
    ],
)
def test_commands_that_apply(runs: Any, prompts: list[str | None], models: list[str], expected: set[str]) -> None:
    state = state_of(with_graders(runs.run(ROWS), prompt=prompts, model=models))
    assert set(commands(state)) == expected


def test_a_run_that_nobody_labelled_is_labelled_first(runs: Any) -> None:
    data = runs.run(ROWS)
    state = state_of(replace(data, calibration_set=replace(data.calibration_set, human_labels=())))
    assert state.n_labelled == 0
    assert commands(state) == ["report", "queue", "review"]


def test_labels_of_changed_items_do_not_count(runs: Any) -> None:
    data = runs.run(ROWS)
    labels = tuple(replace(one, item_digest="before") for one in data.calibration_set.human_labels)
    state = state_of(replace(data, calibration_set=replace(data.calibration_set, human_labels=labels)))
    assert (state.n_labelled, state.n_stale) == (0, 3)
    assert "3 labels are of items that have changed since" in render_document(run_state_document(state))


def test_a_run_that_asked_for_its_responses(runs: Any) -> None:
    respondents = tuple(RespondentRecord(f"r{place}", "m", f"w{place}@1.0.0", 3) for place in range(2))
    answering = AnsweringRecord((QuestionRecord("q", "q"),), 1, respondents)
    state = state_of(replace(runs.run(ROWS), answering=answering))
    assert state.respondents == {"models": 1, "wordings": 2, "questions": 1, "responses": 3}
    assert commands(state) == ["report", "ab", "score"]


def test_a_run_without_graders(runs: Any) -> None:
    state = state_of(replace(runs.run(ROWS), graders=()))
    assert state.steps == ()
    assert "The run has no grader." in render_document(run_state_document(state))


def test_a_recorded_rule_is_shown(runs: Any) -> None:
    state = state_of(runs.run(ROWS), DecisionSpecs(choose=ChooseSpec(lowest="error_rate")))
    assert run_state_fields(state)["rules"]["choose"]["lowest"] == "error_rate"
    assert '"lowest": "error_rate"' in render_document(run_state_document(state), width=160)


def test_a_run_of_a_hostile_name_gives_a_command_that_is_one_word(runs: Any) -> None:
    state = state_of(replace(runs.run(ROWS), run_id="a; rm -rf $HOME\x1b-1"))
    assert state.steps[0].command == "autorater report 'a; rm -rf $HOME\x1b-1'"
    shown = render_document(run_state_document(state))
    assert "\\x1b" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_page_keeps_its_width(runs: Any, width: int) -> None:
    data = with_graders(runs.run(ROWS), model=["local/tiny", "service/" + "long" * 12])
    shown = render_document(run_state_document(state_of(data)), width=width)
    assert max(map(len, shown.splitlines())) <= width
    assert "11/12" in shown
