"""``autorater runs``: a store's runs listed, one shown, two compared, and no model called."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from calibration_sets.scale import SIMPLEQA
from experiments.commands.runs import runs_app
from experiments.errors import ExperimentError, RunNotFoundError, SpecError, StoreError
from experiments.reports import build_report
from experiments.running.runner import run_experiment
from experiments.specs.experiment import Analyses, load_experiment
from experiments.specs.grader_reading import GraderRecord
from experiments.store.run_descriptions import describe_runs
from experiments.store.run_holdings import list_holdings
from experiments.store.run_records import load_run_data, write_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.capabilities import Price
from graders.providers import open_client
from graders.verdict import CallFailure, Completion, Usage

Make = Callable[[str], Path]


@pytest.fixture
def made(study: Any) -> Make:
    """Runs the study, as its files are, into a store of that name."""

    def make(name: str) -> Path:
        path = study.folder.parent / name
        with RunStore(path) as opened:
            run_experiment(load_experiment(str(study.experiment)), opened, open_client)
        return path

    return make


def call(*options: object) -> Result:
    return CliRunner().invoke(runs_app, [str(option) for option in options])


def shown(*options: object) -> str:
    result = call(*options)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def fields(*options: object) -> Any:
    result = call(*options, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# list


def test_no_command_lists_and_so_do_its_options(made: Make) -> None:
    path = made("one.sqlite")
    listed = call("list", "--store", path).output
    assert call("--store", path).output == listed
    assert CliRunner(env={"AUTORATER_STORE": str(path)}).invoke(runs_app, []).output == listed
    assert "study-" in listed


def test_the_list_says_what_is_stored_of_what_was_asked(study: Any, made: Make) -> None:
    study.write_recording({(place, repeat): "A" for place in range(8) for repeat in range(2)})
    listed = fields("list", "--store", made("one.sqlite"))
    (run,) = listed["runs"]
    assert listed["schema"] == "autorater.runs/1"
    assert (run["experiment"], run["set_name"], run["n_items"], run["n_items_in_set"]) == ("study", "small 1.0.0", 8, 8)
    assert [(one["model"], one["n_stored"], one["n_asked"]) for one in run["graders"]] == [
        ("replay/said.jsonl", 16, 24),
        ("baseline/lexical", 8, 8),
    ]
    assert (run["n_stored"], run["n_asked"], run["rules"]) == (24, 32, [])
    assert run["cost"] == {"dollars": 0.0, "complete": True}


def test_a_recorded_rule_is_listed(study: Any, made: Make) -> None:
    text = study.experiment.read_text(encoding="utf-8")
    study.experiment.write_text(f'{text}\n[choose]\nlowest = "false_negative_rate"\n', encoding="utf-8")
    path = made("one.sqlite")
    assert fields("list", "--store", path)["runs"][0]["rules"] == ["choose"]
    assert "Rules recorded with the run" in shown("show", "study", "--store", path)


def test_runs_that_share_a_grader_count_their_own_items(study: Any, made: Make) -> None:
    path = made("one.sqlite")
    with RunStore(path) as opened:
        run_experiment(load_experiment(str(study.experiment), limit=3), opened, open_client)
    listed = fields("--store", path)["runs"]
    assert [(run["n_items"], run["n_stored"], run["n_asked"]) for run in listed] == [(8, 32, 32), (3, 12, 12)]


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    RunStore(path).close()
    assert "None: 'autorater run quickstart' makes the first" in shown("--store", path)
    assert fields("--store", path)["runs"] == []
    assert isinstance(call("--store", tmp_path / "none.sqlite").exception, StoreError)


def _rewrite(path: Path, change: Callable[[dict[str, Any]], Any], *, begins: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT run_id, payload FROM runs WHERE run_id LIKE ?", (f"{begins}%",)).fetchall()
        for run_id, payload in rows:
            changed = json.dumps(change(json.loads(payload)))
            connection.execute("UPDATE runs SET payload = ? WHERE run_id = ?", (changed, run_id))


def test_a_run_of_an_earlier_version_is_listed_in_full(made: Make) -> None:
    path = made("one.sqlite")
    before = fields("--store", path)
    later = ("n_items", "set", "decisions")
    _rewrite(path, lambda payload: {key: payload[key] for key in payload if key not in later}, begins="study")
    assert fields("--store", path) == before
    assert "study-" in shown("show", "study", "--store", path)


def test_a_damaged_run_is_named_and_the_others_are_listed(study: Any, made: Make) -> None:
    path = made("one.sqlite")
    text = study.experiment.read_text(encoding="utf-8")
    study.experiment.write_text(text.replace('"study"', '"other"', 1), encoding="utf-8")
    made("one.sqlite")
    _rewrite(path, lambda _: [], begins="study")
    listed = call("--store", path)
    assert "other-" in listed.output
    assert isinstance(listed.exception, StoreError)
    assert "the record of run study-" in str(listed.exception)
    assert isinstance(call("show", "study", "--store", path).exception, StoreError)
    assert "other-" in shown("show", "other", "--store", path)


PRICE = Price(input=2.0, output=10.0)


def priced(store: RunStore, run_id: str, items: Any, grader_id: str, price: Price | None) -> None:
    record = GraderRecord(
        grader_id=grader_id,
        model=f"openai/{grader_id}",
        prompt="p@1.0.0#0",
        rubric=None,
        channel="letter",
        scale=SIMPLEQA,
        sampling={"repeats": 2, "temperature": 1.0, "channel": "letter"},
        price=None if price is None else asdict(price),
    )
    write_run(
        store,
        run_id=run_id,
        name="priced",
        calibration_set=items,
        n_items_in_set=len(items.items),
        set_digest=items.digest,
        graders=[record],
        analyses=Analyses(),
    )


@pytest.mark.parametrize("price", [PRICE, Price(input=0.0, output=0.0), None])
def test_the_list_s_cost_is_the_report_s(tmp_path: Path, runs: Any, price: Price | None) -> None:
    items = runs.run([("C", "CC"), ("I", "II"), ("C", "CI")]).calibration_set
    with RunStore(tmp_path / "s.sqlite") as store:
        priced(store, "priced-1", items, "g", price)
        for place, item in enumerate(items.items[:2]):
            store.append("g", CompletionKey(item.digest, 0), Completion("A", "m", usage=Usage(100 + place, 7)))
        store.append("g", CompletionKey(items.items[2].digest, 1), CallFailure("timeout", "late", Usage(50, 0)))
        store.append("g", CompletionKey("elsewhere", 0), Completion("A", "m", usage=Usage(10**6, 10**6)))
        (run,) = list_holdings(store, describe_runs(store).runs)
        report = build_report(load_run_data(store, "priced-1")[0])
    (grader,) = run.graders
    told = report["graders"][0]["cost"]
    assert (grader.n_stored, grader.n_asked) == (2, 6)
    assert told == (None if grader.cost is None else {"dollars": grader.cost.amount, "complete": grader.cost.complete})
    if price is PRICE:
        assert grader.cost is not None
        assert grader.cost.amount == pytest.approx((251 * 2 + 14 * 10) / 1e6)


def test_a_run_of_which_one_grader_has_no_price_costs_at_least(tmp_path: Path, runs: Any) -> None:
    items = runs.run([("C", "CC")]).calibration_set
    with RunStore(tmp_path / "s.sqlite") as store:
        priced(store, "known-1", items, "known", PRICE)
        store.append("known", CompletionKey(items.items[0].digest, 0), Completion("A", "m", usage=Usage(100, None)))
        (run,) = list_holdings(store, describe_runs(store).runs)
    assert run.cost is not None
    assert not run.cost.complete
    assert math.isclose(run.cost.amount, 2e-4)


# show


def test_a_run_is_shown_with_what_is_missing_and_what_to_do(study: Any, made: Make) -> None:
    study.write_recording({(place, repeat): "A" if place else "no idea" for place in range(8) for repeat in range(2)})
    path = made("one.sqlite")
    state = fields("show", "study", "--store", path)
    replayed, lexical = state["graders"]
    assert (replayed["n_expected"], replayed["n_valid"], replayed["failures"]) == (
        24,
        14,
        {"not_recorded": 8, "unparsed": 2},
    )
    assert (replayed["n_not_asked"], replayed["n_to_ask"]) == (0, 8)
    assert (lexical["n_valid"], lexical["failures"], lexical["n_to_ask"]) == (8, {}, 0)
    assert [step["command"].split()[1] for step in state["next"]] == [
        "run", "report", "choose", "gate", "score", "queue", "review",
    ]  # fmt: skip
    text = shown("show", "study", "--store", path)
    assert "grader 1, without a label: not_recorded 8, unparsed 2" in text
    assert "asks for the 8 verdicts that are missing" in text
    assert replayed["grader_id"] in text
    assert state["set_digest"] in text


def test_what_nobody_asked_yet_is_no_failure(tmp_path: Path, runs: Any) -> None:
    items = runs.run([("C", "CC"), ("I", "II")]).calibration_set
    with RunStore(tmp_path / "s.sqlite") as store:
        priced(store, "priced-1", items, "g", None)
        store.append("g", CompletionKey(items.items[0].digest, 0), Completion("A", "m"))
    (grader,) = fields("show", "priced", "--store", tmp_path / "s.sqlite")["graders"]
    assert (grader["n_valid"], grader["n_not_asked"], grader["n_to_ask"], grader["failures"]) == (1, 3, 3, {})
    assert grader["cost"] is None


def test_a_run_without_a_verdict_can_only_go_on(tmp_path: Path, runs: Any) -> None:
    items = runs.run([("C", "CC")]).calibration_set
    with RunStore(tmp_path / "s.sqlite") as store:
        priced(store, "priced-1", items, "g", None)
    state = fields("show", "priced", "--store", tmp_path / "s.sqlite")
    assert [step["command"] for step in state["next"]] == ["autorater run"]


def test_a_finished_run_of_one_grader_is_not_asked_to_choose(tmp_path: Path, runs: Any) -> None:
    items = runs.run([("C", "CC")]).calibration_set
    with RunStore(tmp_path / "s.sqlite") as store:
        priced(store, "priced-1", items, "g", None)
        for repeat in range(2):
            store.append("g", CompletionKey(items.items[0].digest, repeat), Completion("A", "m"))
    commands = [step["command"] for step in fields("show", "priced", "--store", tmp_path / "s.sqlite")["next"]]
    assert not any(command.startswith(("autorater choose", "autorater run ", "autorater ab")) for command in commands)
    assert commands[0] == "autorater report priced-1"


def test_a_run_that_is_not_there(made: Make) -> None:
    assert isinstance(call("show", "nope", "--store", made("one.sqlite")).exception, RunNotFoundError)


def test_a_page_goes_to_a_file(made: Make, tmp_path: Path) -> None:
    path, out = made("one.sqlite"), tmp_path / "state.txt"
    assert call("show", "study", "--store", path, "--out", out).stderr.endswith(f"wrote {out}\n")
    assert out.read_text(encoding="utf-8") == call("show", "study", "--store", path).stdout


# compare


def test_two_stores_are_compared(study: Any, made: Make) -> None:
    old = made("old.sqlite")
    study.write_recording({(place, repeat): "B" for place in range(8) for repeat in range(3)})
    options = ("compare", "study", "study", "--store", old, "--other-store", made("new.sqlite"))
    found = fields(*options)
    assert [pair["matched_by"] for pair in found["graders"]] == ["id", "prompt and model"]
    replayed = found["graders"][1]
    assert [one["name"] for one in replayed["measures"]][:2] == ["false_negative_rate", "false_positive_rate"]
    assert replayed["measures"][0]["second"]["value"] == 1
    assert shown(*options) == shown(*options)
    assert "'autorater gate' holds a grader" in shown(*options)


def test_one_store_s_completions_are_not_tested_against_themselves(study: Any, made: Make) -> None:
    path = made("one.sqlite")
    with RunStore(path) as opened:
        first = opened.find_run("study").run_id
        run_experiment(load_experiment(str(study.experiment), limit=3), opened, open_client)
        second = next(record.run_id for record, _ in opened.list_runs() if record.run_id != first)
    found = fields("compare", first, second, "--store", path)
    assert all(pair["same_completions"] and pair["n_common"] == 3 for pair in found["graders"])
    assert found["items"]["n_items"] == [8, 3]


def test_graders_of_one_run_can_be_compared(made: Make) -> None:
    options = (
        "compare",
        "study",
        "study",
        "--store",
        made("one.sqlite"),
        "--pair",
        "replay/said.jsonl=baseline/lexical",
    )
    (pair,) = fields(*options)["graders"]
    assert (pair["second"], pair["matched_by"]) == ("baseline/lexical", "--pair")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "both runs are one; expected two, or --other-store, or --pair"),
        (("--pair", "a"), "--pair 'a': no two graders; expected GRADER_OF_A=GRADER_OF_B"),
        (("--pair", "=a"), "--pair '=a': no two graders"),
        (("--level", "2"), "--level: 2; expected a number between 0.5 and 1"),
    ],
)
def test_what_cannot_be_compared(made: Make, options: tuple[str, ...], message: str) -> None:
    error = call("compare", "study", "study", "--store", made("one.sqlite"), *options).exception
    assert isinstance(error, SpecError)
    assert isinstance(error, ExperimentError)
    assert message in str(error)


def test_the_store_alone_is_enough(study: Any, made: Make) -> None:
    path = made("one.sqlite")
    shutil.rmtree(study.folder)
    for options in (["list"], ["show", "study"], ["compare", "study", "study", "--other-store", path]):
        if "--other-store" in options:
            path = shutil.copy(path, path.parent / "two.sqlite")
        assert call(*options, "--store", path).exit_code == 0


@pytest.mark.parametrize("command", ["list", "show", "compare"])
def test_help_has_examples(command: str) -> None:
    assert "Example" in call(command, "--help").output
    assert "autorater runs" in call("--help").output
