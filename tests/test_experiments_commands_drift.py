"""``autorater drift`` over two stores, or two runs that asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.drift import drift
from experiments.errors import ExperimentError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

app = typer.Typer()
app.command()(drift)

Make = Callable[[str], Path]


@pytest.fixture
def made(study: Any) -> Make:
    """Runs the study, with its recording as it is, into a store of that name."""

    def make(name: str) -> Path:
        path = study.folder.parent / name
        with RunStore(path) as opened:
            run_experiment(load_experiment(str(study.experiment)), opened, open_client)
        return path

    return make


def _drift(*options: str) -> Result:
    return CliRunner().invoke(app, ["study", "study", *options])


REPLAYED = ("--grader", "replay/said.jsonl")


def test_another_store_is_compared(study: Any, made: Make) -> None:
    old = made("old.sqlite")
    study.write_recording({(place, repeat): "C" for place in range(8) for repeat in range(3)})
    new = made("new.sqlite")
    options = (*REPLAYED, "--store", str(old), "--new-store", str(new))
    result = _drift(*options, "--format", "json")
    page = json.loads(result.output)
    assert (page["n_common"], page["movement"]["n_moved"]) == (8, 8)
    assert page["outcome"] == "fail"
    assert result.exit_code == 1
    assert _drift(*options).output == _drift(*options).output
    assert "SHIFT." in _drift(*options).output


def test_eight_items_without_a_shift_are_undecided(made: Make) -> None:
    result = _drift(*REPLAYED, "--store", str(made("old.sqlite")), "--new-store", str(made("new.sqlite")))
    assert result.exit_code == 3
    assert "4 questions could hardly have shown a shift" in " ".join(result.output.split())


def test_another_seed_in_one_store(study: Any, made: Make) -> None:
    path = made("one.sqlite")
    with RunStore(path) as opened:
        first = opened.find_run("study").run_id
    study.write_experiment({"seed = 1": "seed = 2"})
    made("one.sqlite")
    with RunStore(path) as opened:
        second = next(record.run_id for record, _ in opened.list_runs() if record.run_id != first)
    result = CliRunner().invoke(app, [first, second, *REPLAYED, "--store", str(path)])
    assert result.exit_code == 3, result.exception
    assert "sampling: seed" in result.output


def test_the_same_completions_are_no_second_round(made: Make) -> None:
    path = made("one.sqlite")
    for new_store in ((), ("--new-store", str(path.parent / "." / path.name))):
        result = _drift(*REPLAYED, "--store", str(path), *new_store)
        assert isinstance(result.exception, ExperimentError)
        assert "asked again" in str(result.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "2 graders in run"),
        ((*REPLAYED, "--level", "1"), "--level: 1"),
        ((*REPLAYED, "--new-grader", "nobody"), "--new-grader: 'nobody'"),
        (
            (*REPLAYED, "--new-store", "none.sqlite"),
            "none.sqlite: no such store; expected the file of an earlier run (or --new-store PATH)",
        ),
    ],
)
def test_what_a_person_must_mend(made: Make, options: tuple[str, ...], message: str) -> None:
    result = _drift("--store", str(made("one.sqlite")), *options)
    assert isinstance(result.exception, ExperimentError)
    assert message in str(result.exception)
