"""The command ``autorater score``: from stores to a page, JSON and files, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from score_runs import Answer, draw
from typer.testing import CliRunner

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.writer import write_set
from experiments.commands.score import score
from experiments.errors import ExperimentError
from experiments.running.runner import run_experiment
from experiments.specs.experiment import list_experiments, load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client
from graders.providers.replay import Recorded, write_recording
from graders.verdict import Completion

app = typer.Typer()
app.command()(score)
LETTER = {"CORRECT": "A", "INCORRECT": "B", "NOT_ATTEMPTED": "C"}
SHARES = {"alpha": (0.2, 0.1, 0.7), "beta": (0.5, 0.2, 0.3)}

EXPERIMENT = """
name = "{name}"
set = "{name}-set"
sampling = {{ temperature = 1.0, repeats = 2, seed = {seed} }}
[[graders]]
prompt = "simpleqa@1.0.0"
model = "replay/said.jsonl"
"""


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def items_of(name: str, answers: list[Answer]) -> list[Item]:
    return [
        Item(
            f"{name}-{place}",
            f"{one.question}?",
            parse_reference("right"),
            f"response {place} of {name}",
            one.question,
            respondent=one.respondent,
        )
        for place, one in enumerate(answers)
    ]


def write_items(folder: Path, name: str, items: list[Item], answers: list[Answer], *, labels: bool) -> None:
    given = tuple(
        HumanLabel(item.item_id, item.digest, "rater", str(one.truth), "simpleqa@1.0.0")
        for item, one in zip(items, answers, strict=True)
        if labels
    )
    made = CalibrationSet(
        name=f"{name}-set",
        version="1.0.0",
        rubric="simpleqa@1.0.0",
        scale=SIMPLEQA,
        label_source="human",
        licence="CC0-1.0",
        source="made up",
        description="Made up.",
        items=tuple(items),
        human_labels=given,
    )
    write_set(made, folder / f"{name}-set")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of two respondents, a calibration of the same grader, and one of a grader with another seed."""
    folder = tmp_path_factory.mktemp("score")
    answers = {
        "bench": draw(1, 150, SHARES, repeats=2),
        "cal": draw(2, 150, {"gamma": (0.4, 0.2, 0.4)}, prefix="c", repeats=2),
    }
    items = {name: items_of(name, own) for name, own in answers.items()}
    write_recording(
        folder / "said.jsonl",
        [
            Recorded(item.digest, repeat, Completion(text=LETTER[said], served_model="recorded"))
            for name in items
            for item, one in zip(items[name], answers[name], strict=True)
            for repeat, said in enumerate(one.verdicts)
        ],
    )
    with RunStore(folder / "s.sqlite") as opened:
        for name, seed in (("bench", 1), ("cal", 1), ("other", 2)):
            source = "cal" if name == "other" else name
            write_items(folder, name, items[source], answers[source], labels=name != "bench")
            (folder / f"{name}.toml").write_text(EXPERIMENT.format(name=name, seed=seed), encoding="utf-8")
            run_experiment(load_experiment(str(folder / f"{name}.toml")), opened, open_client)
    return folder / "s.sqlite"


def test_a_page_that_ends_in_the_decision(store: Path) -> None:
    result = invoke("bench", "--calibration", "cal", "--store", str(store))
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Scores of bench-")
    words = " ".join(result.output.split())
    assert "Of 1 pair (Holm-adjusted), 0 are decided. Decided only if the grader errs alike on both, " in words
    assert "of their own could show: alpha over beta." in words
    assert words.endswith("People's labels are taken as the truth.")


def test_json_to_a_file_and_the_same_each_time(store: Path, tmp_path: Path) -> None:
    texts = []
    for name in ("one.json", "two.json"):
        options = ("--format", "json", "--out", str(tmp_path / name), "--method", "bootstrap", "--store", str(store))
        result = invoke("bench", "--calibration", "cal", *options)
        assert result.exit_code == 0, result.output
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    fields = json.loads(texts[0])
    assert fields["schema"] == "autorater.score/1"
    assert [one["status"] for one in fields["respondents"]] == ["corrected"] * 2
    assert fields["respondents"][0]["corrected"]["f1"]["method"] == "inversion-bootstrap"
    assert fields["respondents"][0]["error_budget"]["f1"]["repeats"] is not None


def test_a_figure_of_corrected_scores_where_there_are_some(store: Path, tmp_path: Path) -> None:
    options = ("--store", str(store), "--figures", str(tmp_path / "figures"))
    result = invoke("bench", "--calibration", "cal", *options)
    assert result.exit_code == 0, result.output
    assert "wrote 1 figure to " in result.stderr
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"corrected_scores.{form}" for form in ("svg", "pdf", "csv")}
    assert "no figures: bench-" in invoke("bench", *options).stderr


def test_the_calibration_may_lie_in_another_store(store: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.sqlite"
    shutil.copy(store, elsewhere)
    options = ("--calibration", "cal", "--store", str(store), "--format", "json")
    one = invoke("bench", *options)
    two = invoke("bench", *options, "--calibration-store", str(elsewhere))
    assert one.exit_code == two.exit_code == 0
    assert one.output == two.output


def test_no_calibration_is_an_uncorrected_page(store: Path) -> None:
    result = invoke("bench", "--store", str(store))
    assert result.exit_code == 0
    words = " ".join(result.output.split())
    assert "No calibration: nothing is corrected." in words
    assert "Uncorrected: no calibration data." in words
    assert " as graded): no calibration data." in words
    assert "uncorrected: " not in words


def test_another_grader_is_refused_and_can_be_assumed(store: Path) -> None:
    refused = invoke("bench", "--calibration", "other", "--store", str(store))
    assert isinstance(refused.exception, ExperimentError)
    assert "expected that grader, or --grader NAME with --other-grader-assumed" in str(refused.exception)
    assumed = ("--grader", "replay/said.jsonl", "--other-grader-assumed")
    result = invoke("bench", "--calibration", "other", "--store", str(store), *assumed)
    assert result.exit_code == 0, result.exception
    assert "is assumed by who asked for this page" in " ".join(result.output.split())


def test_sets_against_each_other(store: Path) -> None:
    result = invoke("bench", "--against", "cal", "--store", str(store))
    assert result.exit_code == 0, result.exception
    assert "Differences between sets" not in result.output, "no respondent is in both"
    words = " ".join(result.output.split())
    assert "Only in bench-set 1.0.0, and so not compared: alpha, beta." in words
    assert "Only in cal-set 1.0.0, and so not compared: gamma." in words
    same = invoke("bench", "--against", "bench", "--store", str(store))
    assert isinstance(same.exception, ExperimentError)
    assert "the same items and verdicts as bench-" in str(same.exception)
    other = invoke("bench", "--against", "other", "--store", str(store))
    assert str(other.exception).startswith("--against other-")


def test_choices(store: Path) -> None:
    options = ("--rank-by", "accuracy_given_attempted", "--strata", "respondent", "--box", "0.05", "--penalty", "2")
    result = invoke("bench", "--calibration", "cal", "--store", str(store), "--format", "json", *options)
    choice = json.loads(result.output)["choice"]
    assert (choice["rank_by"], choice["fields"], choice["box"], choice["penalty"]) == (
        "accuracy_given_attempted",
        ["respondent"],
        0.05,
        2.0,
    )
    reweighted = invoke("bench", "--calibration", "cal", "--store", str(store), "--reweight", "respondent")
    assert "Uncorrected: no labelled item with respondent alpha" in " ".join(reweighted.output.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rank-by", "best"), "--rank-by: no score 'best'; expected one of"),
        (("--level", "1.5"), "--level: 1.5; expected"),
        (("--level", "nan"), "--level: nan; expected"),
        (("--box", "nan"), "--box: nan; expected"),
        (("--box", "1.01"), "--box: 1.01; expected"),
        (("--penalty", "inf"), "--penalty: inf; expected"),
        (("--penalty=-1",), "--penalty: -1; expected"),
        (("--calibration", "nothing"), "no such run"),
        (("--calibration", "cal", "--calibration-store", "none.sqlite"), "(or --calibration-store PATH)"),
        (("--out", "/nowhere/at/all.json"), "--out"),
        (("--grader", "nobody"), "--grader: 'nobody'"),
    ],
)
def test_what_a_person_must_mend(store: Path, options: tuple[str, ...], message: str) -> None:
    result = invoke("bench", "--store", str(store), *options)
    assert isinstance(result.exception, ExperimentError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_help_has_examples() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    assert "autorater score verified --calibration mine" in result.output
    assert "--other-grader-assumed" in result.output


def test_the_shipped_experiment_loads_with_a_folder_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "labels_simpleqa_verified"
    assert name in list_experiments()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExperimentError, match="no such set"):
        load_experiment(name)
    answers = draw(3, 5, SHARES)
    write_items(tmp_path, "mine", items_of("mine", answers), answers, labels=False)
    (tmp_path / "mine-set").rename(tmp_path / "simpleqa_verified_labels")
    asked = load_experiment(name)
    assert (asked.name, len(asked.calibration_set.items), asked.calibration_set.human_labels) == (name, 10, ())
    assert asked.graders[0].sampling.repeats == 3
