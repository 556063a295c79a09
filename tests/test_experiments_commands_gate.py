"""``autorater gate`` on stored runs: exit codes, options, the same page each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.gate import gate
from experiments.errors import ExperimentError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

app = typer.Typer()
app.command()(gate)


@pytest.fixture
def store(study: Any) -> Path:
    path = study.folder.parent / "s.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return path


def _gate(store: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["study", "--store", str(store), *options])


REPLAYED = ("--grader", "replay/said.jsonl")


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("value(false_negative_rate) <= 3%", 0),
        ("upper(false_negative_rate) <= 3%", 3),
        ("value(false_positive_rate) <= 3%", 1),
        ("lower(pairwise_disagreement) >= 0.9", 1),
    ],
)
def test_exit_codes(store: Path, rule: str, code: int) -> None:
    result = _gate(store, *REPLAYED, "--rule", rule)
    assert result.exit_code == code, result.output
    assert {0: "PASS", 1: "FAIL", 3: "UNDECIDED"}[code] in result.output


def test_the_same_store_gives_the_same_page(store: Path) -> None:
    options = (*REPLAYED, "--rule", "lower(kappa) >= 0.1", "--rule", "lower(alpha_repeats) >= 0.1")
    assert _gate(store, *options).output == _gate(store, *options).output


def test_a_run_is_not_worse_than_itself_or_undecided(store: Path) -> None:
    margin = ("--not-worse", "false_positive_rate by 90%", "--not-worse", "false_positive_rate by 1%")
    result = _gate(store, *REPLAYED, "--baseline", "study", *margin, "--format", "json")
    page = json.loads(result.output)
    assert [check["outcome"] for check in page["comparisons"]] == ["pass", "undecided"]
    assert page["comparisons"][0]["difference"]["value"] == 0
    assert result.exit_code == 3


def test_another_grader_of_the_baseline(store: Path) -> None:
    options = ("--baseline", "study", "--baseline-grader", "baseline/lexical", "--not-worse", "error_rate by 1%")
    result = _gate(store, *REPLAYED, *options)
    assert "baseline/lexical" in result.output
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*REPLAYED,), "--rule: none given"),
        ((*REPLAYED, "--rule", "upper(x) <= 1"), "expected one of"),
        ((*REPLAYED, "--rule", "value(kappa) <= 1", "--baseline", "study"), "--baseline: given without --not-worse"),
        ((*REPLAYED, "--not-worse", "error_rate by 1%"), "--not-worse: given without --baseline"),
        ((*REPLAYED, "--rule", "value(kappa) <= 1", "--level", "2"), "--level: 2"),
        (("--rule", "value(kappa) <= 1"), "2 graders in run"),
        ((*REPLAYED, "--rule", "value(kappa) <= 1", "--out", "/no/such/folder/x"), "no folder"),
    ],
)
def test_what_a_person_must_mend(store: Path, options: tuple[str, ...], message: str) -> None:
    result = _gate(store, *options)
    assert isinstance(result.exception, ExperimentError)
    assert message in str(result.exception)


def test_the_page_goes_to_a_file(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "gate.txt"
    result = _gate(store, *REPLAYED, "--rule", "value(false_negative_rate) <= 3%", "--out", str(out))
    assert result.exit_code == 0
    assert out.read_text(encoding="utf-8").splitlines()[0].startswith("Gate: simpleqa@1.0.0")


def test_no_store_is_made(tmp_path: Path) -> None:
    missing = tmp_path / "none.sqlite"
    assert isinstance(_gate(missing, "--rule", "value(kappa) <= 1").exception, ExperimentError)
    assert not missing.exists()
