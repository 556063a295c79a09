"""Drift from the command line alone: anchors judged twice by a served model, or by the local engine, then compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_replies import ChangedModel, Ok
from fault_server import FaultServer, Script, cycle, mix
from typer.testing import CliRunner, Result

from cli import app

ANCHORS = """
name = "anchors"
set = "probes"
items = {{ sample = 60, stratify = "kind", exclude_kinds = ["long"] }}
sampling = {{ temperature = 1.0, repeats = 4, seed = {seed} }}
[[graders]]
prompt = "{prompt}"
model = "{model}"
{address}
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as serving:
        yield serving


@pytest.fixture
def served(tmp_path: Path, server: FaultServer) -> Path:
    path = tmp_path / "anchors.toml"
    address = f'base_url = "{server.openai_url}"'
    path.write_text(
        ANCHORS.format(seed=1, prompt="simpleqa_verified@1.0.0", model="openai-compatible/anchored", address=address),
        encoding="utf-8",
    )
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "120"})


def judge(server: FaultServer, script: Script, experiment: Path, month: str) -> Path:
    """The anchors judged into a store of their own, which is returned."""
    store = experiment.with_name(f"{month}.sqlite")
    server.script = script
    result = call("run", experiment, "--store", store)
    assert result.exit_code == 0, result.output
    return store


def compare(old: Path, new: Path, *options: str) -> tuple[int, dict[str, Any]]:
    result = call("drift", "anchors", "anchors", "--store", old, "--new-store", new, "--format", "json", *options)
    found: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, found


def test_the_same_noisy_model_shows_no_shift(server: FaultServer, served: Path) -> None:
    old, new = (judge(server, mix({Ok("A"): 0.3}, seed), served, str(seed)) for seed in (1, 2))
    # Which call gets which reply hangs on the order in which calls come in: a level that chance does not reach.
    code, found = compare(old, new, "--level", "0.9999")
    assert (code, found["outcome"]) == (0, "pass"), found["decision"]
    assert found["changes"] == []
    assert (found["n_common"], found["n_questions"] >= 20) == (60, True)
    assert found["movement"]["within"] > 0.1
    assert found["movement"]["between"] == pytest.approx(found["movement"]["within"], abs=0.05)
    assert found["decision"].startswith("NO SHIFT SHOWN.")


def test_another_served_model_is_named_and_by_itself_fails_nothing(server: FaultServer, served: Path) -> None:
    old = judge(server, cycle(Ok()), served, "old")
    new = judge(server, cycle(ChangedModel("anchored-2027-01-01")), served, "new")
    code, found = compare(old, new)
    assert (code, found["outcome"]) == (0, "pass"), found["decision"]
    (changed,) = found["changes"]
    assert (changed["what"], changed["old"], changed["new"]) == ("served models", "anchored", "anchored-2027-01-01")
    assert "Known to have changed: served models" in found["decision"]
    page = call("drift", "anchors", "anchors", "--store", old, "--new-store", new)
    assert "anchored-2027-01-01" in page.output


def test_a_shift_is_named_with_what_moved(server: FaultServer, served: Path) -> None:
    old = judge(server, mix({Ok("A"): 0.2}, 1), served, "old")
    new = judge(server, mix({Ok("A"): 0.8}, 1), served, "new")
    code, found = compare(old, new)
    assert (code, found["outcome"]) == (1, "fail")
    assert found["decision"].startswith("SHIFT.")
    assert "verdicts beyond repeats" in found["decision"].split(";")[0]
    assert "false_positive_rate" in found["decision"]
    rates = {one["name"]: one for one in found["rates"]}
    assert rates["false_positive_rate"]["difference"]["low"] > 0
    assert rates["false_positive_rate"]["adjusted"] <= 0.05
    assert found["moved_items"]


def test_calls_that_fail_in_the_second_run_alone_are_a_shift_of_their_rate(server: FaultServer, served: Path) -> None:
    old = judge(server, cycle(Ok()), served, "old")
    new = judge(server, mix({Ok("no letter here"): 0.4}, 3), served, "new")
    code, found = compare(old, new)
    assert (code, found["outcome"]) == (1, "fail")
    rates = {one["name"]: one for one in found["rates"]}
    assert rates["failure_rate"]["new"] == pytest.approx(0.4, abs=0.15)
    assert "failure_rate" in found["decision"].split("at 95.0%")[0]


@pytest.mark.slow
def test_the_local_engine_against_itself(weights: Path, tmp_path: Path) -> None:
    stores = []
    for seed in (1, 2):
        experiment = tmp_path / f"{seed}.toml"
        text = ANCHORS.format(seed=seed, prompt="simpleqa_short@1.0.0", model="local/smollm2", address="")
        text = text.replace("repeats = 4", "repeats = 2").replace("sample = 60", "sample = 12")
        experiment.write_text(text, encoding="utf-8")
        stores.append(tmp_path / f"{seed}.sqlite")
        result = call("run", experiment, "--store", stores[-1])
        assert result.exit_code == 0, result.output
    code, found = compare(*stores)
    assert (code, found["outcome"]) == (0, "pass"), found["decision"]
    assert [one["what"] for one in found["changes"]] == ["sampling: seed"]
    assert found["n_common"] == 12
    assert found["movement"]["within"] > 0
