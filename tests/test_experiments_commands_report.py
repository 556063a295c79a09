"""``autorater report``: times only where they are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.report import report
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client


def ask(*arguments: str) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(report)
    return CliRunner().invoke(app, list(arguments))


def make_store(study: Any, name: str) -> Path:
    path: Path = study.folder.parent / name
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return path


def test_two_runs_of_the_same_content_have_the_same_report_but_for_their_times(study: Any) -> None:
    stores = [str(make_store(study, name)) for name in ("a.sqlite", "b.sqlite")]
    first, second = (ask("study", "--store", store, "--format", "json") for store in stores)
    assert first.exit_code == 0, first.output
    assert first.output == second.output
    assert not any("time" in grader for grader in json.loads(first.output)["graders"])
    timed = [json.loads(ask("study", "--store", store, "--format", "json", "--times").output) for store in stores]
    replayed, lexical = (grader["time"] for grader in timed[0]["graders"])
    assert replayed["seconds_of_a_thousand"] is None
    assert lexical["seconds_of_a_thousand"] > 0
    for one in timed:
        for grader in one["graders"]:
            del grader["time"]
    assert timed[0] == json.loads(first.output)


@pytest.mark.parametrize("form", ["text", "md"])
def test_pages_have_a_line_for_each_grader(study: Any, form: str) -> None:
    store = str(make_store(study, "s.sqlite"))
    text = " ".join(ask("study", "--store", store, "--format", form, "--times").output.split())
    assert text.count("- time: ") == 2
    assert "- time: not recorded" in text
    assert "of calls for 1,000 verdicts; a call's median" in text
    assert "time: " not in ask("study", "--store", store, "--format", form).output
