"""``autorater plan``: from numbers, or from a stored run, where numbers that are given count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.plan import plan_app
from experiments.errors import ExperimentError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.stats.planning import labels_for_half_width
from experiments.store.run_store import RunStore
from graders.providers import open_client

app = typer.Typer()
app.add_typer(plan_app, name="plan")

REPLAYED = ("--run", "study", "--grader", "replay/said.jsonl")
PAIR = ("--run", "study", "--first", "replay/said.jsonl", "--second", "baseline/lexical")


@pytest.fixture
def store(study: Any) -> Path:
    path = study.folder.parent / "s.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return path


def _plan(*options: str) -> Result:
    return CliRunner().invoke(app, ["plan", *options])


def test_labels_from_numbers_need_no_store() -> None:
    result = _plan("labels", "--rate", "0.05", "--half-width", "0.02", "--format", "json")
    assert json.loads(result.output)["labels"] == labels_for_half_width(0.05, 0.02)


def test_labels_from_a_run_and_what_is_given_counts(store: Path) -> None:
    options = ("labels", "--half-width", "0.05", *REPLAYED, "--store", str(store), "--format", "json")
    page = json.loads(_plan(*options).output)
    assert page["question"]["rate"] == pytest.approx(1 / 12)
    assert page["question"]["items_per_question"] == 2
    assert page["question"]["repeats"] == 3
    assert json.loads(_plan(*options, "--rate", "0.3").output)["question"]["rate"] == 0.3


def test_the_other_plans(store: Path) -> None:
    at = ("--store", str(store))
    costs = ("--label-cost", "1", "--call-cost", "0.002")
    for options, words in (
        (("difference", *PAIR, *at), "smallest difference"),
        (("difference", "--labels", "500", "--differ", "0.1"), "3.97"),
        (("repeats", *REPLAYED, *costs, *at), "Verdicts to ask for"),
        (
            ("repeats", "--item-variance", "0.08", "--repeat-variance", "0.04", *costs),
            "Verdicts to ask for on each item: 16 ",
        ),
        (("budget", "200", *REPLAYED, *costs, *at), "$200.00 buy"),
        (("budget", "200", "--true-share", "0.5", "--sensitivity", ".95", "--specificity", ".97", *costs), "labelled"),
    ):
        result = _plan(*options)
        assert result.exit_code == 0, (options, result.exception)
        assert words in " ".join(result.output.split())
        assert _plan(*options).output == result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("labels", "--half-width", "0.02"), "--rate: none given"),
        (("labels", "--half-width", "0.02", "--rate", "2"), "rate: not a rate"),
        (("difference", "--labels", "500"), "--deviation: none given"),
        (("difference", "--differ", "0.1"), "--labels: none given"),
        (("difference", "--differ", "2"), "--differ: 2"),
        (("difference", "--run", "study"), "expected --first and --second"),
        (("repeats", "--label-cost", "1", *REPLAYED), "--call-cost: not given"),
        (("repeats", "--label-cost", "1", "--call-cost", "1"), "--item-variance: not given"),
        (("budget", "200", "--label-cost", "1", "--call-cost", "1"), "--true-share: not given"),
        (("labels", "--half-width", "0.02", *REPLAYED, "--level", "2"), "--level: 2"),
        (("labels", "--half-width", "0.02", "--rate", "0.1", "--level", "2"), "--level: 2; expected"),
    ],
)
def test_what_a_person_must_mend(store: Path, options: tuple[str, ...], message: str) -> None:
    result = _plan(*options, "--store", str(store))
    assert isinstance(result.exception, ExperimentError), result.output
    assert message in str(result.exception)
