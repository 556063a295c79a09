"""The time of a thousand verdicts: of graders as it was measured, of panels and cascades as it adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from experiments.analyses.choice.choosing import Choice, choose_grader
from experiments.analyses.choice.choosing_page import choice_document, choice_fields
from experiments.reports import RunData, build_report
from experiments.reports.call_times import GraderTimes
from experiments.reports.document import Section, Table
from experiments.reports.render_text import render_document, render_text
from experiments.specs.decisions import CascadeSpec, ChooseSpec, PanelSpec

RULE = ChooseSpec(
    panels=[PanelSpec(name="panel", members=["a", "b"])], cascades=[CascadeSpec(name="cascade", first="a", then="b")]
)
GRADERS = {"a": ["CC", "CI", "II", "CC"], "b": ["C", "C", "C", "C"]}
FAST = GraderTimes(n_timed=8, n_valid=8, seconds=0.8, median=0.1, p95=0.2, pace=40.0)
SLOW = GraderTimes(n_timed=3, n_untimed=1, n_valid=2, seconds=6.0, median=2.0, p95=2.5)


def run_of(runs: Any, times: Mapping[str, GraderTimes], graders: Mapping[str, Sequence[str]] = GRADERS) -> RunData:
    items = [runs.item(number) for number in range(4)]
    results = [
        replace(
            runs.grader(runs.verdicts(items, letters, model), max(map(len, letters)), grader_id=model),
            model=model,
            prompt=None,
            times=times.get(model, GraderTimes()),
        )
        for model, letters in graders.items()
    ]
    return RunData("run-1", "exp", runs.labelled(items, list("CCII")), len(items), "robust", results)


def choose(data: RunData) -> Choice:
    return choose_grader(data, RULE, level=0.95)


def seconds_of(data: RunData) -> dict[str, float | None]:
    return {candidate.name: candidate.thousand_seconds for candidate in choose(data).candidates}


def time_table(data: RunData) -> Table:
    (section,) = (
        one for one in choice_document(choose(data)).sections if isinstance(one, Section) and one.heading == "Time"
    )
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return table


def test_joint_graders_take_the_time_of_the_calls_that_they_need(runs: Any) -> None:
    seconds = seconds_of(run_of(runs, {"a": FAST, "b": SLOW}))
    assert seconds["a"] == pytest.approx(1000 * 0.8 / 8)
    assert seconds["b"] == pytest.approx(1000 * 6.0 / 2)
    assert seconds["panel"] == pytest.approx(100 + 3000)
    # Both repeats of the first, and the second for the one item of four on which they differ.
    assert seconds["cascade"] == pytest.approx(2 * 100 + 0.25 * 3000)


def test_what_one_member_took_is_not_made_up(runs: Any) -> None:
    seconds = seconds_of(run_of(runs, {"a": FAST}))
    assert (seconds["b"], seconds["panel"], seconds["cascade"]) == (None, None, None)
    # A second grader that nothing is passed on to takes no time, known or not.
    sure = seconds_of(run_of(runs, {"a": FAST}, {"a": ["CC", "II", "II", "CC"], "b": ["C", "C", "C", "C"]}))
    assert sure["cascade"] == pytest.approx(2 * 100)


def test_the_page_has_a_line_for_each_and_says_how_much_was_not_timed(runs: Any) -> None:
    assert time_table(run_of(runs, {"a": FAST, "b": SLOW})).rows == (
        ("a", "100 s", "100 ms", "200 ms", "40", "0 of 8"),
        ("b", "50.0 min", "2.00 s", "2.50 s", "-", "1 of 4"),
        ("panel", "51.7 min", "-", "-", "-", "-"),
        ("cascade", "15.8 min", "-", "-", "-", "-"),
    )
    rows = {row[0]: row[1:] for row in time_table(run_of(runs, {"a": FAST, "b": GraderTimes(n_untimed=4)})).rows}
    assert rows["b"] == ("not recorded", "-", "-", "-", "4 of 4")
    assert rows["panel"][0] == "not recorded"


def test_a_run_without_any_time_says_so_in_a_line(runs: Any) -> None:
    text = render_document(choice_document(choose(run_of(runs, {}))), width=100)
    assert "Time is not recorded: the replies are of batch jobs" in " ".join(text.split())
    assert "replies a second" not in text


def test_plain_values_have_the_seconds_and_their_basis(runs: Any) -> None:
    candidates = {one["name"]: one for one in choice_fields(choose(run_of(runs, {"a": FAST, "b": SLOW})))["candidates"]}
    assert candidates["b"]["time"] == {
        "seconds_of_a_thousand": pytest.approx(3000),
        "n_timed": 3,
        "n_untimed": 1,
        "n_valid": 2,
        "seconds": 6.0,
        "median": 2.0,
        "p95": 2.5,
        "pace": None,
    }
    joint = candidates["cascade"]["time"]
    assert joint.pop("seconds_of_a_thousand") == pytest.approx(950)
    assert set(joint.values()) == {None}


def test_time_decides_nothing(runs: Any) -> None:
    without = choice_fields(choose(run_of(runs, {})))
    timed = choice_fields(choose(run_of(runs, {"a": SLOW, "b": FAST})))
    for fields in (without, timed):
        for candidate in fields["candidates"]:
            del candidate["time"]
    assert timed == without


def test_a_report_tells_times_only_if_asked(runs: Any) -> None:
    data = run_of(runs, {"a": FAST, "b": SLOW})
    # The same content in another run, which took longer, has the same report.
    assert build_report(data) == build_report(run_of(runs, {}))
    assert "time:" not in render_text(build_report(data))
    report = build_report(data, times=True)
    assert [one["time"]["seconds_of_a_thousand"] for one in report["graders"]] == [pytest.approx(100), 3000.0]
    text = " ".join(render_text(report).split())
    assert (
        "time: 50.0 min of calls for 1,000 verdicts; a call's median 2.00 s, 95% within 2.50 s; "
        "1 of 4 replies without a time"
    ) in text
