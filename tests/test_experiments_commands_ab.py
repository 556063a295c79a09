"""``autorater ab``: from an experiment's file through a run to the page, its exit codes and its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from experiments.commands.ab import ab
from experiments.errors import ExperimentError
from experiments.respondents.responses import as_asking, as_grading
from experiments.running.runner import run_experiment
from experiments.specs.experiment import list_experiments, load_experiment
from experiments.store.run_records import record_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.providers import open_client
from graders.providers.replay import Recorded, write_recording
from graders.verdict import Completion

APP = typer.Typer()
APP.command()(ab)

EXPERIMENT = """
name = "wording"
set = "small"
sampling = { temperature = 1.0, repeats = 2, seed = 1 }

[[graders]]
prompt = "simpleqa@1.0.0"
model = "replay/one/said.jsonl"

[[graders]]
prompt = "simpleqa_guessing_was_free@1.0.0"
model = "replay/two/said.jsonl"
"""

RULE = """
[ab]
control = "simpleqa"
raise = "accuracy"
may_not_fall = { specificity = 0.5 }
"""


def record(study: Any, folder: str, wrong: set[int], *, n: int = 8) -> None:
    """A recorded grader that errs on some items, and was never asked of the last ``8 - n``."""
    (study.folder / folder).mkdir(exist_ok=True)
    write_recording(
        study.folder / folder / "said.jsonl",
        [
            Recorded(item.digest, repeat, Completion("AB"[(place % 2) ^ (place in wrong)], "recorded"))
            for place, item in enumerate(study.items[:n])
            for repeat in range(2)
        ],
    )


@pytest.fixture
def store(study: Any) -> Path:
    record(study, "one", set(range(8)))
    record(study, "two", set())
    return Path(study.folder.parent / "s.sqlite")


def grade(study: Any, store: Path, rule: str) -> None:
    file = study.folder / "wording.toml"
    file.write_text(EXPERIMENT + rule, encoding="utf-8")
    with RunStore(store) as opened:
        run_experiment(load_experiment(str(file)), opened, open_client)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(APP, list(arguments))


def test_the_page_ends_in_the_decision_of_the_rule(study: Any, store: Path) -> None:
    grade(study, store, RULE)
    result = call("wording", "--store", str(store))
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "Rule, written before the run: adopt a wording that raises accuracy against simpleqa" in text
    assert "Adopt simpleqa_guessing_was_free@1.0.0: it meets the rule" in text.split("Decision")[-1]
    assert result.stdout == call("wording", "--store", str(store)).stdout


def test_without_a_rule_there_is_no_decision(study: Any, store: Path) -> None:
    grade(study, store, "")
    result = call("wording", "--store", str(store), "--control", "simpleqa_guessing_was_free")
    assert "No decision: the experiment wrote no rule before the run" in " ".join(result.stdout.split())
    assert "Effect against simpleqa_guessing_was_free@1.0.0" in result.stdout


def test_json_goes_to_a_file(study: Any, store: Path, tmp_path: Path) -> None:
    grade(study, store, RULE)
    out = tmp_path / "ab.json"
    assert call("wording", "--store", str(store), "--format", "json", "--out", str(out)).exit_code == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["schema"] == "autorater.ab/1"
    assert found["chosen"] == "simpleqa_guessing_was_free@1.0.0"
    assert found["rule"]["raise"] == "accuracy"
    effect = found["comparisons"][0]["effects"]["accuracy"]["effects"][0]["difference"]
    assert effect["estimate"]["value"] == 1.0
    assert len(found["cells"]) == 2
    assert found["decision"].startswith("Adopt")


def test_a_peek_is_refused_with_one_line(study: Any, store: Path) -> None:
    file = study.folder / "wording.toml"
    file.write_text(EXPERIMENT + RULE, encoding="utf-8")
    with RunStore(store) as opened:
        record_run(load_experiment(str(file)), opened)
    result = call("wording", "--store", str(store))
    assert isinstance(result.exception, ExperimentError)
    assert "4 of 4 questions lack what is still to be asked for" in str(result.exception)
    assert "\n" not in str(result.exception)
    assert result.stdout == ""


def test_an_anytime_rule_may_be_looked_at(study: Any, store: Path) -> None:
    file = study.folder / "wording.toml"
    file.write_text(EXPERIMENT + RULE + 'stopping = "anytime"\n', encoding="utf-8")
    with RunStore(store) as opened:
        record_run(load_experiment(str(file)), opened)
        early = call("wording", "--store", str(store))
    assert early.exit_code == 0, early.output
    assert "0 of 4 questions" in " ".join(early.stdout.split())
    grade(study, store, RULE + 'stopping = "anytime"\n')
    late = call("wording", "--store", str(store))
    assert "4 of 4 questions" in " ".join(late.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "nothing"),
        (("wording", "--grader", "g"), "--grader: 'g'; expected none"),
        (("wording", "--control", "nothing"), "--control: 'nothing', 0 wordings"),
        (("wording", "--calibration", "c", "--calibration-store", "none.sqlite"), "(or --calibration-store PATH)"),
    ],
)
def test_mistakes_are_named(study: Any, store: Path, arguments: tuple[str, ...], message: str) -> None:
    grade(study, store, "")
    result = call(*arguments, "--store", str(store))
    assert isinstance(result.exception, ExperimentError)
    assert message in str(result.exception)


def test_help_has_examples() -> None:
    text = call("--help").stdout
    assert "autorater ab ab_grader_wording" in text
    assert "stopping" in text


def test_the_shipped_example_is_a_grid_with_a_rule() -> None:
    assert "ab_grader_wording" in list_experiments()
    asked = load_experiment("ab_grader_wording")
    rule = asked.decisions.ab
    assert rule is not None
    assert rule.control in {str(grader.prompt.title).partition("#")[0] for grader in asked.graders if grader.prompt}
    assert {grader.model for grader in asked.graders} == {"local/smollm2"}
    assert len({grader.prompt.rubric for grader in asked.graders if grader.prompt}) == 1


ANSWERS = """
name = "answers"
set = "small"
RULE
[answering]
prompts = ["question_only", "always_answer"]

[[answering.models]]
model = "local/smollm2"

[[graders]]
prompt = "simpleqa@1.0.0"
model = "openai/gpt-4.1-2025-04-14"
sampling = { repeats = 1 }
"""
LABELLED = """
name = "labelled"
set = "small"

[[graders]]
prompt = "simpleqa@1.0.0"
model = "openai/gpt-4.1-2025-04-14"
sampling = { repeats = 1 }
"""
ANSWER_RULE = """
[ab]
control = "question_only"
raise = "accuracy"
STOPPING
"""


def answer_and_label(study: Any, answers: Path, labels: Path, *, stopping: str = "fixed-size") -> None:
    """Answers right under one of two wordings, and a labelled set, both judged without an error by one grader."""
    rule = ANSWER_RULE.replace("STOPPING", f'stopping = "{stopping}"')
    for name, text in (("answers", ANSWERS.replace("RULE", rule)), ("labelled", LABELLED)):
        (study.folder / f"{name}.toml").write_text(text, encoding="utf-8")
    asked = load_experiment(str(study.folder / "answers.toml"))
    assert asked.answering is not None
    with RunStore(answers) as opened:
        for one in asked.answering.respondents:
            for place, bare in enumerate(as_asking(asked).calibration_set.items):
                text = "wrong" if one.prompt == "question_only@1.0.0" and place else "right"
                opened.append(one.grader.grader_id, CompletionKey(bare.digest, 0), Completion(text, "served"))
        grading = as_grading(asked, opened)
        record_run(grading, opened)
        for item in grading.calibration_set.items:
            said = Completion("A" if item.response == "right" else "B", "judge")
            opened.append(grading.graders[0].grader_id, CompletionKey(item.digest, 0), said)
    with RunStore(labels) as opened:
        known = load_experiment(str(study.folder / "labelled.toml"))
        record_run(known, opened)
        for place, item in enumerate(study.items):
            said = Completion("AB"[place % 2], "judge")
            opened.append(known.graders[0].grader_id, CompletionKey(item.digest, 0), said)


def test_answers_are_corrected_by_a_labelled_run_of_the_same_or_another_store(study: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    answer_and_label(study, one, one)
    answer_and_label(study, one, other)
    plain = call("answers", "--store", str(one))
    same = call("answers", "--store", str(one), "--calibration", "labelled")
    elsewhere = call("answers", "--store", str(one), "--calibration", "labelled", "--calibration-store", str(other))
    assert (plain.exit_code, same.exit_code, elsewhere.exit_code) == (0, 0, 0), same.output
    assert same.stdout == elsewhere.stdout
    text = " ".join(same.stdout.split())
    assert "Scores are corrected for the grader's errors by 8 labelled items of 4 questions" in text
    assert "As graded and corrected" in text
    assert "corrected" not in plain.stdout.replace("uncorrected", "").replace("not corrected", "")
    found = json.loads(call("answers", "--store", str(one), "--calibration", "labelled", "--format", "json").stdout)
    assert found["facts"]["corrected_by"].startswith("8 labelled items")
    effect = found["comparisons"][0]["effects"]["accuracy"]["fixed"]["estimate"]
    as_graded = found["as_graded"]["comparisons"][0]["effects"]["accuracy"]["fixed"]["estimate"]
    assert effect["value"] == as_graded["value"] == 7 / 8
    assert effect["low"] < as_graded["low"]


def test_looks_while_answers_come_are_not_corrected(study: Any, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    answer_and_label(study, store, store, stopping="anytime")
    assert call("answers", "--store", str(store)).exit_code == 0
    result = call("answers", "--store", str(store), "--calibration", "labelled")
    assert isinstance(result.exception, ExperimentError)
    assert '--calibration with ab.stopping = "anytime"; expected one of the two' in str(result.exception)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--calibration", "wording"), "--calibration: wording-"),
        (("--calibration", "nothing"), "nothing"),
        (("--calibration-grader", "g"), "--calibration-grader, --other-grader-assumed: no calibration"),
        (("--other-grader-assumed",), "no calibration; expected --calibration RUN"),
    ],
)
def test_a_calibration_where_none_belongs_is_named(
    study: Any, store: Path, arguments: tuple[str, ...], message: str
) -> None:
    grade(study, store, RULE)
    result = call("wording", "--store", str(store), *arguments)
    assert isinstance(result.exception, ExperimentError)
    assert message in str(result.exception)
