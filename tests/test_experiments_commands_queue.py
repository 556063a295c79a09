"""``autorater queue`` draws a file for people and reads it back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import cli
from calibration_sets.errors import SetFileError
from experiments.commands.queue import queue_app
from experiments.errors import ExperimentError, ImportFileError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

app = typer.Typer()
app.add_typer(queue_app, name="queue")


@pytest.fixture
def store(study: Any) -> Path:
    path = study.folder.parent / "s.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return path


def _queue(store: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["queue", *options, "--store", str(store)])


def _label_all(path: Path, label: str) -> None:
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"label": label} for row in rows)


def test_a_queue_is_drawn_labelled_and_read_back(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "queue.csv"
    drawn = _queue(store, "study", "--most", "5", "--random-share", "0.4", "--out", str(out))
    assert drawn.exit_code == 0, drawn.output
    assert "probability 1" in drawn.output
    assert isinstance(_queue(store, "rates", str(out)).exception, ImportFileError)
    _label_all(out, "CORRECT")
    result = _queue(store, "rates", str(out), "--format", "json")
    page = json.loads(result.output)
    assert page["n_rows"] == 5
    assert [one["name"] for one in page["graders"]] == ["simpleqa@1.0.0 replay/said.jsonl", "baseline/lexical"]
    assert page["graders"][0]["false_positive_rate"]["value"] is None
    assert page["positive_share"]["value"] == 1


def test_draw_is_the_default_and_help_names_both(store: Path) -> None:
    assert _queue(store, "study", "--most", "3").output == _queue(store, "draw", "study", "--most", "3").output
    shown = CliRunner().invoke(app, ["queue", "--help"])
    assert "draw" in shown.output
    assert "rates" in shown.output
    assert json.loads(_queue(store, "--most", "3", "study", "--format", "json").output)["n_items"] == 8


def test_one_graders_verdicts(store: Path) -> None:
    page = json.loads(_queue(store, "study", "--grader", "replay/said.jsonl", "--format", "json").output)
    assert set(page["rows"][0]["verdicts"]) == {"simpleqa@1.0.0 replay/said.jsonl"}
    assert page["flagged"]["graders disagree"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("study", "--most", "0"), "--most: 0"),
        (("study", "--random-share", "0"), "--random-share: 0"),
        (("study", "--out", "queue.txt"), "expected .csv"),
        (("study", "--grader", "nobody"), "expected one of"),
        (("none-such",), "no such run"),
    ],
)
def test_what_a_person_must_mend(store: Path, options: tuple[str, ...], message: str) -> None:
    result = _queue(store, *options)
    assert isinstance(result.exception, ExperimentError), result.output
    assert message in str(result.exception)


def test_labels_without_probabilities_are_refused(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    with RunStore(store) as opened:
        run_id = opened.find_run("study").run_id
    file.write_text(f"run,item_digest,label\n{run_id},0,CORRECT\n", encoding="utf-8")
    result = _queue(store, "rates", str(file))
    assert isinstance(result.exception, SetFileError)
    assert "no column" in str(result.exception)


def test_a_labelled_queue_becomes_no_set_and_no_grader(study: Any, store: Path, tmp_path: Path) -> None:
    """Whatever was made of it would show plain rates over items that graders find hard."""
    out = tmp_path / "queue.csv"
    _queue(store, "study", "--most", "5", "--out", str(out))
    _label_all(out, "CORRECT")
    columns = ("question", "reference", "response", "label")
    mapping = [part for name in columns for part in ("--column", f"{name}={name}")]
    as_set = CliRunner().invoke(
        cli.app,
        ["sets", "import", "table", str(out), "--to", str(tmp_path / "made"), "--rubric", "simpleqa@1.0.0",
         "--licence", "internal", *mapping],
    )  # fmt: skip
    as_grader = CliRunner().invoke(
        cli.app,
        ["import", "verdicts", str(out), "--set", str(study.folder / "small"), "--store", str(store), "--grader", "us",
         "--column", "digest=item_digest"],
    )  # fmt: skip
    for result in (as_set, as_grader):
        assert isinstance(result.exception, SetFileError), result.output
        assert "queue.csv: a review queue" in str(result.exception)
        assert "'autorater queue rates'" in str(result.exception)
    assert not (tmp_path / "made").exists()
