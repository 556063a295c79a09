"""The report of an export is that of the store, in every figure that rests on counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from parquet_runs import check_same, exported, made_set, ran_report, random_run, record
from rubric_server import steps_near
from rubric_studies import made_set as rubric_set
from rubric_studies import run_study
from typer.testing import CliRunner

import cli
from calibration_sets.scale import SCALES, SIMPLEQA, LabelScale
from experiments.reports import render_markdown, render_text
from experiments.specs.experiment import Analyses
from experiments.store.run_records import GraderRecord, write_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.verdict import FAILURES, Completion

WIDE = LabelScale("wide", tuple(f"label {number}" for number in range(7)), positive="label 6")


@pytest.mark.parametrize("scale", [*SCALES.values(), WIDE], ids=lambda scale: scale.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_scale_with_failures_ties_disputes_and_shared_contents(
    tmp_path: Path, scale: LabelScale, seed: int
) -> None:
    run_id = random_run(tmp_path / "s.sqlite", scale, seed=seed)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    labels, failing = of_store["graders"][0]["labels"], of_store["graders"][1]
    assert min(labels["n_tied"], labels["n_unlabelled"], labels["n_disputed"], of_store["set"]["n_same_content"]) > 0
    assert set(failing["failures"]) == set(FAILURES)
    assert set(failing["not_answered"]) == {"timeout", "rate_limit", "not_asked"}
    assert failing["labels"]["rubric"] == "other@1.0.0"
    assert failing["costly_items"]
    check_same(exported(tmp_path / "s.sqlite", run_id, tmp_path / "export", rows_a_part=50), of_store)


def test_a_run_with_nothing_in_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id = record(store, made_set(SIMPLEQA, rng, n_items=4, raters=0), {"g": {}}, repeats=2)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    assert of_store["graders"][0]["n_verdicts"] == 0
    check_same(exported(tmp_path / "s.sqlite", run_id, tmp_path / "export"), of_store)


def test_models_whose_names_are_no_text(tmp_path: Path) -> None:
    found = made_set(SIMPLEQA, np.random.default_rng(0), n_items=12, raters=1)
    with RunStore(tmp_path / "s.sqlite") as store:
        run_id = record(store, found, {"g": {}}, repeats=1)
        for digest in {item.digest for item in found.items}:
            said = Completion(None, "served\ud800\0", fingerprint="\udc00", stated_label="CORRECT")
            store.append("g", CompletionKey(digest, 0), said)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    assert "served\ud800\0" in of_store["graders"][0]["served"]
    check_same(exported(tmp_path / "s.sqlite", run_id, tmp_path / "export"), of_store)


def test_a_grader_of_scores_that_was_asked_for_them(tmp_path: Path) -> None:
    found = rubric_set("der2_rubric", ["0", "0.5", "1", "0.75"] * 8)
    run_id = run_study(tmp_path, found, "der2_rubric", steps_near, repeats=3)
    of_store = ran_report(tmp_path / "runs.sqlite", run_id)
    assert of_store["graders"][0]["score_errors"]["bias"]["value"] is not None
    check_same(exported(tmp_path / "runs.sqlite", run_id, tmp_path / "export"), of_store)


def test_pages_say_the_same_and_name_what_is_left_out(tmp_path: Path) -> None:
    run_id = random_run(tmp_path / "s.sqlite", SIMPLEQA, seed=4)
    of_store = ran_report(tmp_path / "s.sqlite", run_id)
    of_export = exported(tmp_path / "s.sqlite", run_id, tmp_path / "x")
    for render in (render_text, render_markdown):
        here, there = render(of_export), render(of_store)
        assert "Most inconsistent items" in there
        assert "Range check" in there
        assert "Most inconsistent items" not in here
        assert "Range check" not in here
        assert "graders.most_inconsistent: needs the texts of items" in " ".join(here.split())
        assert "Left out" not in there
        tables = there[there.index("Error rates") : there.index("Most inconsistent items")].splitlines()[:-2]
        assert "\n".join(tables) in here


def test_a_grader_whose_repeats_are_computed_is_left_out_by_number(tmp_path: Path) -> None:
    found = made_set(SIMPLEQA, np.random.default_rng(1), n_items=30, raters=1)
    settings = {"temperature": 1.0, "repeats": 5, "seed": 0, "max_tokens": 64, "channel": "word"}
    graders = [
        GraderRecord(name, f"imported/{name}", None, None, "word", SIMPLEQA, settings | more)
        for name, more in (("computed", {"method": "exact"}), ("drawn", {"method": "sampled"}))
    ]
    with RunStore(tmp_path / "s.sqlite") as store:
        for digest in {item.digest for item in found.items}:
            chances = {"INCORRECT": -2.0, "NOT_ATTEMPTED": -3.0, "CORRECT": -0.2 if digest < "8" else -4.0}
            computed = Completion("x", "served", label_logprobs=chances)
            store.append("computed", CompletionKey(digest, 0), computed)
            store.append("drawn", CompletionKey(digest, 0), Completion("CORRECT", "served"))
        write_run(
            store,
            run_id="made-1",
            name="made",
            calibration_set=found,
            n_items_in_set=30,
            set_digest=found.digest,
            graders=graders,
            analyses=Analyses(),
        )
    of_store, report = (
        ran_report(tmp_path / "s.sqlite", "made-1"),
        exported(tmp_path / "s.sqlite", "made-1", tmp_path / "x"),
    )
    assert [grader["exact"] is not None for grader in of_store["graders"]] == [True, False]
    assert "log-probabilities" in report["left_out"]["graders.1"]
    assert "log-probabilities" in render_text(report)
    (drawn,) = report["graders"]
    assert drawn["number"] == 2
    assert drawn["false_negative_rate"] == of_store["graders"][1]["false_negative_rate"]
    rows = pq.read_table(tmp_path / "x" / "verdicts" / "grader=computed" / "part-00000.parquet").to_pylist()
    items = pq.read_table(tmp_path / "x" / "items.parquet").to_pylist()
    digests = {item["content"]: item["digest"] for item in items}
    assert {(digests[row["content"]] < "8", row["label"]) for row in rows} == {(True, "CORRECT"), (False, "INCORRECT")}
    assert len(rows) == len(digests)


def test_the_command_reports_a_folder_as_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = random_run(tmp_path / "s.sqlite", SIMPLEQA, seed=6)
    monkeypatch.chdir(tmp_path)

    def ask(*words: str) -> str:
        result = CliRunner().invoke(cli.app, list(words), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    ask("export", run_id, "--out", "x", "--store", "s.sqlite")
    (tmp_path / "s.sqlite").unlink()
    report = json.loads(ask("report", "x", "--format", "json"))
    assert report["schema"] == "autorater.report/1"
    assert "Left out" in ask("report", "x")
    ask("report", "x", "--format", "md", "--out", "r.md")
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Report of run")


def test_a_folder_of_a_runs_name_without_an_export_hides_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_run(tmp_path / "s.sqlite", SIMPLEQA, seed=6)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    result = CliRunner().invoke(cli.app, ["report", "made", "--store", "s.sqlite"])
    assert result.exit_code == 0, result.output
    assert "Most inconsistent items" in result.stdout
