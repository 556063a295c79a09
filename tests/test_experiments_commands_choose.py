"""``autorater choose`` from the command line to its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.choose import choose
from experiments.errors import ExperimentError, RunNotFoundError, SpecError, StoreError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import list_experiments, load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

RULE = """
[choose]
lowest = "false_negative_rate"
limits.false_positive_rate = { limit = 0.5, margin = 0.5 }

[[choose.panels]]
name = "both"
members = ["replay/said.jsonl", "baseline/lexical"]

[[choose.cascades]]
name = "then lexical"
first = "replay/said.jsonl"
then = "baseline/lexical"
"""


def ask(*arguments: str) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(choose)
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def store(study: Any) -> Path:
    """A store with the small study's run, its rule included."""
    study.experiment.write_text(study.experiment.read_text(encoding="utf-8") + RULE, encoding="utf-8")
    path: Path = study.folder.parent / "s.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    return path


def test_the_page_is_read_from_the_store_and_ends_in_the_decision(store: Path, study: Any) -> None:
    study.recording.unlink()
    before = store.read_bytes()
    result = ask("study", "--store", str(store))
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert text.startswith("Which grader: study-")
    assert "Rule, recorded with the run: lowest false negatives among those with false positives" in text
    assert "both: majority of" in text
    assert "then lexical:" in text
    assert "2 of 8 items passed on" in text
    assert text.endswith("How high a grader scores anybody was not looked at.")
    assert ask("study", "--store", str(store)).output == result.output
    assert store.read_bytes() == before


def test_json_has_the_whole_choice(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "choice.json"
    result = ask("study", "--store", str(store), "--format", "json", "--out", str(out))
    assert result.exit_code == 0, result.output
    fields = json.loads(out.read_text(encoding="utf-8"))
    assert fields["schema"] == "autorater.choose/1"
    assert [entry["form"] for entry in fields["candidates"]] == ["grader", "grader", "panel", "cascade"]
    assert fields["rule"]["stated"] is True
    # Items 1 and 3 are wrong in one of three repeats, of eight.
    assert fields["candidates"][0]["error_rate"]["value"] == pytest.approx(2 / 24)
    assert fields["set"]["rate"] == "false_negative_rate"
    assert len(fields["pairs"]) == 6
    assert fields["decision"]


def test_without_a_rule_the_lowest_error_rate_decides(study: Any) -> None:
    path = study.folder.parent / "plain.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment)), opened, open_client)
    text = " ".join(ask("study", "--store", str(path)).output.split())
    assert "the experiment states none): lowest error rate." in text
    assert "By the default rule, as the experiment states none (lowest error rate), 2 candidates were compared" in text


def test_moved_items_are_listed_with_their_texts(store: Path) -> None:
    arguments = ("study", "--store", str(store), "--moved", "replay/said.jsonl", "baseline/lexical")
    result = ask(*arguments)
    assert result.exit_code == 0, result.output
    # The majority of the recorded grader is right everywhere; the baseline passes all.
    assert "Right to wrong (4 of 4 shown)" in result.output
    assert '"Which number is number 1?"' in result.output
    assert "Right to wrong (1 of 4 shown)" in ask(*arguments, "--most", "1").output
    fields = json.loads(ask(*arguments, "--format", "json").output)
    # Those with three verdicts of three come before those with two.
    assert [item["item_id"] for item in fields["items"]] == ["i5", "i7", "i1", "i3"]
    assert fields["n_moved"] == {"right to wrong": 4, "wrong to right": 0, "wrong to wrong": 0}
    assert fields["items"][2]["first_verdicts"] == {"INCORRECT": 2, "NOT_ATTEMPTED": 0, "CORRECT": 1}


def test_a_panel_can_be_one_of_the_two(store: Path) -> None:
    result = ask("study", "--store", str(store), "--moved", "both", "baseline/lexical")
    assert result.exit_code == 0, result.output
    assert "From both to baseline/lexical" in result.output


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (
            ["study", "--moved", "replay/said.jsonl", "nobody"],
            SpecError,
            "--moved: 'nobody', 0 graders of that name; expected",
        ),
        (["study", "--moved", "both", "both"], SpecError, "expected two graders"),
        (["study", "--most", "3"], SpecError, "--most: 3; expected 1 or more, and --moved"),
        (["study", "--moved", "both", "baseline/lexical", "--most", "0"], SpecError, "--most: 0"),
        (["another"], RunNotFoundError, "another"),
    ],
)
def test_what_a_person_must_mend_is_one_line(
    store: Path, arguments: list[str], kind: type[ExperimentError], message: str
) -> None:
    result = ask(*arguments, "--store", str(store))
    assert isinstance(result.exception, kind)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    result = ask("study", "--store", str(tmp_path / "none.sqlite"))
    assert isinstance(result.exception, StoreError)
    assert list(tmp_path.iterdir()) == []


def test_help_has_examples() -> None:
    text = ask("--help").output
    assert "autorater choose choose_grader" in text
    assert "[choose]" in text


def test_the_shipped_example_needs_no_key_and_its_rule_can_be_built() -> None:
    assert "choose_grader" in list_experiments()
    asked = load_experiment("choose_grader")
    models = {grader.model for grader in asked.graders}
    assert models == {"local/smollm2", "baseline/lexical"}
    rule = asked.decisions.choose
    assert rule is not None
    titles = {f"{grader.prompt.title.partition('#')[0]} {grader.model}" for grader in asked.graders if grader.prompt}
    assert rule.cascades[0].first in titles
    assert rule.cascades[0].then in models


@pytest.mark.slow
def test_the_shipped_example_ends_in_a_decision(tmp_path: Path, weights: Path) -> None:
    path = tmp_path / "s.sqlite"
    with RunStore(path) as opened:
        run_experiment(load_experiment("choose_grader", limit=3), opened, open_client)
    result = ask("choose_grader", "--store", str(path))
    assert result.exit_code == 0, result.output
    assert "Decision" in result.output
    assert "model then matching" in result.output
