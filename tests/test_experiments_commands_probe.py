"""``autorater probe`` end to end: a grader of rules, and a served model whose letter never changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from batch_server import BatchServer
from fault_replies import Ok
from fault_server import FaultServer, cycle
from typer.testing import CliRunner, Result

from calibration_sets.loader import load_set
from experiments.commands.probe import probe
from experiments.errors import BudgetError, ExperimentError, RunNotFoundError
from experiments.store.run_store import RunStore
from graders.errors import UnsupportedError
from graders.prompt_library import load_prompt
from graders.prompt_mutations import MUTATIONS

app = typer.Typer()
app.command()(probe)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "probe.sqlite"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """Says A to everything."""
    with FaultServer(cycle(Ok("A"))) as serving:
        yield serving


def call(store: Path, *options: str) -> Result:
    return CliRunner().invoke(app, [*options, "--store", str(store)])


def served(server: FaultServer, *options: str) -> list[str]:
    return [
        "--model", "openai-compatible/always-a", "--base-url", server.openai_url, "--prompt", "simpleqa_verified@1.0.0",
        *options,
    ]  # fmt: skip


def fields_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_rules_grader_is_probed_without_a_prompt(store: Path) -> None:
    result = call(store, "--model", "baseline/lexical", "--show", "3")
    assert result.exit_code == 0, result.output
    page = " ".join(result.stdout.split())
    assert "539 of the 539 items of probes 1.0.0" in page
    assert "instruction_only 0.0% [0.0, 30.8] 10 10 100.0%" in page
    assert "Shown to be weak, with the upper limit below 90.0%: instruction_only (0.0%), vague_number (0.0%)" in page
    assert "No mutation of the prompt was tried." in page
    assert page.count(" question ") >= 3


def test_a_stored_run_is_printed_again_and_held_to_another_floor(store: Path, tmp_path: Path) -> None:
    first = call(store, "--model", "baseline/lexical", "--sample", "52")
    again = call(store, "--run", "probe")
    assert again.stdout == first.stdout
    lower = call(store, "--run", "probe", "--floor", "0.05", "--out", str(tmp_path / "page.txt"))
    assert lower.exit_code == 0
    assert "held to a pass rate of 5.0%" in " ".join((tmp_path / "page.txt").read_text(encoding="utf-8").split())


def test_letters_permuted_are_read_back_and_shown_to_move_a_model_that_looks_at_none(
    store: Path, server: FaultServer
) -> None:
    options = served(server, "--sample", "104", "--seed", "3", "--format", "json")
    found = fields_of(call(store, *options))
    (grader,) = found["graders"]
    labels = load_set("probes").consensus().labels
    with RunStore(store, must_exist=True) as opened:
        ((record, _),) = opened.list_runs()
        items = opened.load_set_snapshot(record.run_id)["items"]
    given = [labels[item["item_id"]] for item in items]
    assert len(given) == found["n_items"] == 104
    assert grader["all"]["pass_rate"]["value"] == pytest.approx(given.count("CORRECT") / 104)
    effects = {effect["mutation"]: effect for effect in grader["mutations"]}
    assert list(effects) == list(MUTATIONS)
    # An A stands for NOT_ATTEMPTED where letters are permuted.
    assert effects["letters-permuted"]["pass_rate"]["value"] == pytest.approx(given.count("NOT_ATTEMPTED") / 104)
    assert effects["letters-permuted"]["n_worse"] == given.count("CORRECT")
    assert effects["letters-permuted"]["n_better"] == given.count("NOT_ATTEMPTED")
    assert effects["examples-reversed"]["comparison"]["difference"]["estimate"]["value"] == 0
    assert found["schema"] == "autorater.probe/1"
    injected = next(kind for kind in grader["kinds"] if kind["kind"] == "injection")
    assert injected["pass_rate"]["value"] == 0


def test_nothing_is_paid_twice_and_more_repeats_only_add(store: Path, server: FaultServer) -> None:
    call(store, *served(server, "--sample", "26", "--mutation", "letters-permuted"))
    assert len(server.requests) == 2 * 26
    texts = [str(request.body["messages"]) for request in server.requests]
    assert sum("## B: CORRECT" in text for text in texts) == 26
    again = call(store, *served(server, "--sample", "26", "--mutation", "letters-permuted"))
    assert again.exit_code == 0
    assert len(server.requests) == 2 * 26
    call(store, *served(server, "--sample", "26", "--mutation", "none", "--repeats", "2"))
    assert len(server.requests) == 3 * 26


def test_a_dry_run_calls_nobody_and_leaves_no_file(store: Path, server: FaultServer) -> None:
    result = call(store, *served(server, "--dry-run"))
    assert result.exit_code == 0, result.output
    assert "simpleqa_verified+letters-permuted@1.0.0#" in result.stdout
    assert not server.requests
    assert not store.exists()
    call(store, *served(server, "--sample", "26", "--mutation", "none"))
    paid = call(store, *served(server, "--sample", "26", "--mutation", "none", "--dry-run"))
    (row,) = [line for line in paid.stdout.splitlines() if line.split()[:2] == ["26", "1"]]
    assert row.split()[2:6] == ["26", "26", "0", "0"]


def test_a_limit_of_cost_needs_a_price(store: Path, server: FaultServer) -> None:
    result = call(store, *served(server, "--max-cost", "1"))
    assert isinstance(result.exception, BudgetError)
    assert not server.requests


def test_a_mutation_that_does_not_fit_is_left_out_and_told(store: Path) -> None:
    options = ["--model", "local/smollm2", "--prompt", "simpleqa_short@1.0.0", "--dry-run"]
    result = call(store, *options)
    assert "note: left out, simpleqa_short@1.0.0: letters-permuted: its verdicts are no letters" in result.output
    assert "simpleqa_short+examples-grouped@1.0.0#" in result.stdout
    named = call(store, *options, "--mutation", "letters-permuted")
    assert isinstance(named.exception, ExperimentError)
    assert str(named.exception).startswith("--mutation: simpleqa_short@1.0.0: letters-permuted")


def test_a_prompt_of_another_rubric_decides_nothing(store: Path, server: FaultServer) -> None:
    assert load_prompt("simpleqa_abstention_is_wrong@1.0.0").rubric not in load_set("probes").rubrics
    options = served(server, "--sample", "26", "--mutation", "none")
    options[options.index("simpleqa_verified@1.0.0")] = "simpleqa_abstention_is_wrong@1.0.0"
    page = " ".join(call(store, *options).stdout.split())
    assert "no weakness is shown or ruled out" in page
    assert "Shown to be weak" not in page


def test_the_first_rubric_has_its_own_labels(store: Path, server: FaultServer) -> None:
    options = served(server, "--mutation", "none", "--format", "json")
    options[options.index("simpleqa_verified@1.0.0")] = "simpleqa@1.0.0"
    (grader,) = fields_of(call(store, *options))["graders"]
    labels = load_set("probes").consensus("simpleqa@1.0.0").labels
    assert grader["rubric"] == grader["grader_rubric"] == "simpleqa@1.0.0"
    assert grader["all"]["n_items"] == len(labels)
    assert sum(grader["n_unlabelled"].values()) == 539 - len(labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--model: none"),
        (["--run", "probe", "--model", "baseline/lexical"], "--run: given with --model"),
        (["--run", "probe", "--dry-run"], "--run: given with --dry-run"),
        (["--model", "baseline/lexical", "--floor", "0"], "--floor: 0; expected a share above 0"),
        (["--model", "baseline/lexical", "--floor", "nan"], "--floor: nan; expected"),
        (["--model", "baseline/lexical", "--max-cost", "-1"], "--max-cost: -1; expected dollars"),
        (["--model", "baseline/lexical", "--wait"], "--wait: given without --batch"),
        (["--model", "baseline/lexical", "--level", "0.5"], "--level: 0.5; expected a number between 0.5 and 1"),
        (["--run", "probe", "--batch"], "--run: given with --batch"),
        (["--model", "baseline/lexical", "--repeats", "0"], "autorater probe: sampling.repeats"),
        (["--model", "baseline/lexical", "--sample", "0"], "autorater probe: items.sample"),
        (["--model", "baseline/lexical", "--exclude-kind", "nope"], "autorater probe: items.exclude_kinds"),
        (["--model", "baseline/lexical", "--mutation", "letters-permuted"], "--mutation: baseline/lexical reads no"),
        (["--model", "nobody/knows"], "autorater probe: graders[0]"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(store: Path, options: list[str], message: str) -> None:
    result = call(store, *options)
    assert isinstance(result.exception, ExperimentError), result.output
    assert str(result.exception).startswith(message)
    assert "\n" not in str(result.exception)
    assert not store.exists()


def test_a_run_that_is_not_there(store: Path) -> None:
    call(store, "--model", "baseline/lexical", "--sample", "26")
    assert isinstance(call(store, "--run", "other").exception, RunNotFoundError)


def test_the_probes_can_go_as_a_batch_job(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "k")
    options = [
        "--model", "openai/gpt-4.1-mini-2025-04-14", "--prompt", "simpleqa_verified@1.0.0", "--key-variable", "A_KEY",
        "--sample", "26", "--mutation", "none", "--batch",
    ]  # fmt: skip
    with BatchServer() as serving:
        serving.finishes_at_once = False
        options += ["--base-url", f"{serving.url}/v1"]
        out = call(store, *options)
        assert out.exit_code == 0, out.output
        assert len(serving.jobs) == 1
        live = call(store, *[one for one in options if one != "--batch"])
        assert "in batch jobs that are out" in str(live.exception)
        serving.finish()
        (grader,) = fields_of(call(store, *options, "--format", "json"))["graders"]
        assert grader["all"]["coverage"] == 1
        assert len(serving.jobs) == 1


def test_another_level_is_that_of_all_intervals(store: Path) -> None:
    first = fields_of(call(store, "--model", "baseline/lexical", "--sample", "52", "--format", "json"))
    wider = fields_of(call(store, "--run", "probe", "--level", "0.99", "--format", "json"))
    (one,), (two,) = first["graders"], wider["graders"]
    assert (one["all"]["pass_rate"]["level"], two["all"]["pass_rate"]["level"]) == (0.95, 0.99)
    assert two["all"]["pass_rate"]["low"] < one["all"]["pass_rate"]["low"]


def test_a_setting_that_a_model_does_not_take_can_be_left_to_the_service(store: Path) -> None:
    options = ["--model", "openai/gpt-5.1-2025-11-13", "--prompt", "simpleqa_verified@1.0.0", "--dry-run"]
    refused = call(store, *options)
    assert isinstance(refused.exception, UnsupportedError)
    left = call(store, *options, "--on-unsupported", "provider-default")
    assert left.exit_code == 0, left.output
    assert "left to the service" in left.output
