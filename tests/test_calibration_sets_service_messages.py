"""A service's message in place of a response is no answer; an answer about such messages is one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.service_messages import is_service_message
from calibration_sets.writer import write_set
from experiments.reports import build_report, render_json
from experiments.running.plan import build_plan, pending_requests
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.providers import open_client


def item(response: str, reference: str = "Oslo", item_id: str = "i") -> Item:
    return Item(item_id, "Which city?", parse_reference(reference), response, item_id)


@pytest.mark.parametrize(
    "response",
    [
        "You have reached your session limit",
        "You've hit your usage limit.",
        "Rate limit exceeded, try again in 20 s",
        "429 Too Many Requests",
        "Error: 503",
        "HTTP/1.1 502 Bad Gateway",
        "insufficient_quota",
    ],
)
def test_messages_of_services(response: str) -> None:
    assert is_service_message(item(response))


@pytest.mark.parametrize(
    ("response", "reference"),
    [
        ("Oslo", "Oslo"),
        ("", "Oslo"),
        ("I don't know.", "Oslo"),
        ("Too many requests", "Too Many Requests"),
        ("503 Service Unavailable", "Service Unavailable"),
        ("You have reached Oslo, at the limit of the fjord.", "Oslo"),
        ("500 people", "500"),
        ("It had reached its limit by 1905.", "1905"),
    ],
)
def test_answers(response: str, reference: str) -> None:
    assert not is_service_message(item(response, reference))


def test_such_a_response_is_not_graded_and_not_counted_as_a_label(tmp_path: Path) -> None:
    items = (item("Oslo", item_id="a"), item("You have reached your session limit", item_id="b"))
    labels = tuple(HumanLabel(one.item_id, one.digest, "r", "CORRECT", "x@1.0.0") for one in items)
    write_set(
        CalibrationSet("s", "1.0.0", "x@1.0.0", SIMPLEQA, "human", "MIT", "here", "d", items, labels), tmp_path / "set"
    )
    path = tmp_path / "e.toml"
    path.write_text('name = "e"\nset = "set"\nsampling = { repeats = 1 }\n[[graders]]\nmodel = "baseline/lexical"\n')
    asked = load_experiment(str(path))
    with RunStore(tmp_path / "s.sqlite") as store:
        assert [request.item.item_id for request in pending_requests(asked, asked.graders[0], store)] == ["a"]
        run_experiment(asked, store, open_client)
        assert build_plan(asked, store).n_pending == 0
        data, _ = load_run_data(store, "e")
    grader = json.loads(render_json(build_report(data)))["graders"][0]
    assert (grader["n_expected"], grader["n_verdicts"]) == (2, 1)
    assert grader["failures"] == {"not_answered": 1}
    assert grader["not_answered"] == {"service_message": 1}
    assert grader["false_negative_rate"]["value"] == 0.0
    assert grader["false_negative_rate_bounds"] == [0.0, 0.5]
