"""A stored run as frames: documented columns and types, failures that are no numbers, the report's own figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import SmallRuns, Study
from figure_runs import answering_run
from typer.testing import CliRunner

import cli
import experiments
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import DER2_RUBRIC
from experiments import RunFrames, load_run
from experiments.errors import RunNotFoundError, SpecError, StoreError
from experiments.frames import columns
from experiments.frames.columns import Column
from experiments.reports import RunData
from graders.verdict import Verdict

FRAMES: dict[str, tuple[Column, ...]] = {
    "verdicts": columns.VERDICTS,
    "items": columns.ITEMS,
    "human_labels": columns.HUMAN_LABELS,
    "failures": columns.FAILURES,
    "graders": columns.GRADERS,
    "report": columns.ESTIMATES,
}


def frame_of(run: RunFrames, name: str) -> pd.DataFrame:
    make: Callable[[], pd.DataFrame] = getattr(run, name)
    return make()


@pytest.fixture
def store(study: Study) -> Path:
    """The study's store, with one reply that says nothing and one call that is missing in the recording."""
    letters = {
        (place, repeat): "A" if place % 2 == 0 or (repeat == 2 and place < 4) else "B"
        for place in range(8)
        for repeat in range(3)
    }
    letters[(5, 1)] = "I would rather not say."
    del letters[(6, 0)]
    study.write_recording(letters)
    path = study.folder / "store.sqlite"
    result = CliRunner().invoke(cli.app, ["run", str(study.experiment), "--store", str(path)])
    assert result.exit_code == 0, result.output
    return path


def report_of(store: Path) -> dict[str, Any]:
    result = CliRunner().invoke(cli.app, ["report", "study", "--store", str(store), "--format", "json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("name", FRAMES)
def test_columns_and_types_are_the_documented_ones(store: Path, name: str) -> None:
    frame = frame_of(load_run(store, "study"), name)
    assert list(frame.columns) == [column.name for column in FRAMES[name]]
    assert [str(kind) for kind in frame.dtypes] == [column.dtype for column in FRAMES[name]]
    assert len(frame) > 0


@pytest.mark.parametrize("name", FRAMES)
def test_the_page_says_what_the_columns_are(name: str) -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    part = page.partition(f"\n### `{name}()`")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", part, re.MULTILINE)
    assert rows == [(column.name, column.dtype, column.meaning) for column in FRAMES[name]]


def test_a_frame_without_rows_keeps_its_types(runs: SmallRuns) -> None:
    run = RunFrames(runs.run([("C", "C"), ("I", "I")]))
    failures = run.failures()
    assert len(failures) == 0
    assert [str(kind) for kind in failures.dtypes] == [column.dtype for column in columns.FAILURES]


def test_verdicts_have_a_label_or_a_failure_and_every_repeat_has_a_row(store: Path) -> None:
    verdicts = load_run(store, "study").verdicts()
    assert len(verdicts) == 8 * 3 + 8
    assert (verdicts["label"].isna() != verdicts["failure"].isna()).all()
    failed = verdicts[verdicts["failure"].notna()]
    assert failed["agrees"].isna().all()
    recorded = failed[failed["grader"] == "simpleqa@1.0.0 replay/said.jsonl"]
    told = {(row.item_id, row.repeat): row.failure for row in recorded.itertuples()}
    assert told == {("i5", 1): "unparsed", ("i6", 0): "not_answered"}


def test_agreement_by_hand(store: Path) -> None:
    """Items 1 and 3 have one wrong verdict of three each, as the recording has them."""
    verdicts = load_run(store, "study").verdicts()
    recorded = verdicts[verdicts["grader"] == "simpleqa@1.0.0 replay/said.jsonl"]
    wrong = recorded[recorded["agrees"].eq(False).fillna(False)]
    assert sorted(zip(wrong["item_id"], wrong["repeat"], strict=True)) == [("i1", 2), ("i3", 2)]
    shares = recorded[recorded["reference"] == "INCORRECT"].groupby("item_id")["agrees"].mean()
    report = report_of(store)["graders"][0]
    assert 1 - shares.mean() == pytest.approx(report["false_positive_rate"]["value"])


def test_labels_are_ordered_where_the_scale_is(runs: SmallRuns) -> None:
    named = RunFrames(runs.run([("C", "C")])).verdicts()["label"]
    assert not named.cat.ordered
    items = [runs.item(number) for number in range(2)]
    steps = [
        Verdict(item.digest, "g1", 0, label, None, "robust") for item, label in zip(items, ("1", "0.25"), strict=True)
    ]
    scaled = runs.labelled(items, ["", ""], scale=DER2_RUBRIC)
    label = RunFrames(RunData("r", "e", scaled, 2, "robust", [runs.grader(steps, 1)])).verdicts()["label"]
    assert label.cat.ordered
    assert list(label.cat.categories) == ["0", "0.25", "0.5", "0.75", "1"]
    assert label.max() == "1"


def test_the_report_frame_is_the_report(store: Path) -> None:
    run, report = load_run(store, "study"), report_of(store)
    frame = run.report()
    assert run.report_fields == report
    for number, section in enumerate(report["graders"], start=1):
        own = frame[(frame["number"] == number) & frame["by"].isna()].set_index("measure")
        for measure in ("false_negative_rate", "false_positive_rate", "flip_rate", "alpha_repeats"):
            row, told = own.loc[measure], section[measure]
            for field in ("value", "low", "high"):
                assert told[field] is None if pd.isna(row[field]) else row[field] == told[field]
            assert (row["n"], row["clusters"], row["repeats"]) == (told["n"], told["clusters"], told["repeats"])
            if told["value"] is None:
                assert row["not_defined"] == section["not_defined"][measure]
    kinds = frame[(frame["number"] == 1) & (frame["by"] == "kind") & (frame["measure"] == "false_positive_rate")]
    told = {kind: part["false_positive_rate"]["value"] for kind, part in report["graders"][0]["by_kind"].items()}
    assert {row.part: None if pd.isna(row.value) else row.value for row in kinds.itertuples()} == told


def test_every_estimate_of_the_report_has_one_row(store: Path) -> None:
    def count(value: object) -> int:
        if isinstance(value, dict):
            return 1 if {"value", "low", "high", "clusters"} <= value.keys() else sum(map(count, value.values()))
        return 0

    report = report_of(store)
    frame = load_run(store, "study").report()
    assert len(frame) == sum(map(count, report["graders"])) + count(report["human_agreement"])
    assert not frame.duplicated(["number", "measure", "by", "part"]).any()


def test_failures_add_up_to_those_of_the_report(store: Path) -> None:
    run, report = load_run(store, "study"), report_of(store)
    failures, graders = run.failures(), run.graders()
    for section in report["graders"]:
        own = failures[failures["grader_id"] == section["grader_id"]]
        assert own.groupby("failure", observed=True)["n"].sum().to_dict() == section["failures"]
        unanswered = own[own["failure"] == "not_answered"]
        assert dict(zip(unanswered["detail"], unanswered["n"], strict=True)) == section["not_answered"]
    missing = (graders["n_expected"] - graders["n_verdicts"]).sum()
    assert failures["n"].sum() == missing == 2
    assert failures["share"].tolist() == pytest.approx([1 / 24, 1 / 24])
    assert (graders["coverage"] == graders["n_verdicts"] / graders["n_expected"]).all()


def test_graders_say_how_they_were_asked(store: Path) -> None:
    graders = load_run(store, "study").graders()
    assert graders["temperature"].tolist() == [2.0, 2.0]
    assert graders["repeats"].tolist() == [3, 1]
    assert graders["prompt"].isna().tolist() == [False, True]
    assert not graders["computed"].any()


def test_items_and_labels(runs: SmallRuns) -> None:
    data = runs.run([("CC", "C"), ("CI", "I"), ("", "N")], kinds=["plain", None, None])
    run = RunFrames(data)
    items = run.items()
    assert items["label"].isna().tolist() == [False, True, True]
    assert items["n_raters"].tolist() == [2, 2, 0]
    assert items["disputed"].tolist() == [False, True, pd.NA]
    assert items["kind"].isna().tolist() == [False, True, True]
    labels = run.human_labels()
    assert len(labels) == 4
    assert not labels["stale"].any()


def test_a_label_of_another_text_is_stale_and_counts_nowhere(runs: SmallRuns) -> None:
    data = runs.run([("C", "C")])
    item = data.calibration_set.items[0]
    old = HumanLabel(item.item_id, "0" * 64, "rater-0", "INCORRECT", data.calibration_set.rubric)
    stale = runs.labelled(data.calibration_set.items, [""])
    object.__setattr__(stale, "human_labels", (old,))
    object.__setattr__(data, "calibration_set", stale)
    run = RunFrames(data)
    assert run.human_labels()["stale"].tolist() == [True]
    assert run.items()["label"].isna().all()
    assert run.verdicts()["reference"].isna().all()


def test_items_of_the_same_content_have_rows_of_their_own(runs: SmallRuns) -> None:
    item = runs.item(0)
    twin = type(item)("twin", item.question, item.reference, item.response, item.cluster_id)
    data = runs.run([("C", "CC")])
    object.__setattr__(data, "calibration_set", runs.labelled([item, twin], ["C", "I"]))
    verdicts = RunFrames(data).verdicts()
    assert verdicts["item_id"].tolist() == ["item-000", "item-000", "twin", "twin"]
    assert verdicts["agrees"].tolist() == [True, True, False, False]


@pytest.mark.parametrize("word", ["NA", "None", "null", "nan", "N/A", "<NA>", ""])
def test_words_that_look_like_nothing_stay_words(runs: SmallRuns, word: str) -> None:
    """The code of Namibia, a middle name that is None, a literal: an answer is text, whatever it spells."""
    reference = parse_reference(word)
    item = Item(word or "empty", f"{word}?", reference, word, word or "q", kind=word, topic=word, respondent=word)
    label = HumanLabel(item.item_id, item.digest, word, "CORRECT", "rules@1.0.0")
    labelled = replace(runs.labelled([item], [""]), human_labels=(label,))
    verdicts = runs.verdicts([item], ["C"])
    run = RunFrames(RunData("r", "e", labelled, 1, "robust", [runs.grader(verdicts, 1)]))
    row = run.items().iloc[0]
    assert [row["response"], row["target"], row["kind"], row["topic"], row["respondent"]] == [word] * 5
    assert row["question"] == f"{word}?"
    assert run.human_labels()["rater"].tolist() == [word]
    assert run.verdicts()["item_id"].tolist() == [item.item_id]


def test_a_missing_repeat_is_a_failure(runs: SmallRuns) -> None:
    verdicts = RunFrames(runs.run([("C", "C "), ("I", "II")])).verdicts()
    assert verdicts["failure"].astype("string").fillna("-").tolist() == ["-", "not_answered", "-", "-"]
    assert verdicts["detail"].tolist()[1] == "not_asked"


def test_what_is_not_there_is_named(store: Path, tmp_path: Path) -> None:
    with pytest.raises(RunNotFoundError, match="another"):
        load_run(store, "another")
    with pytest.raises(StoreError, match=r"none\.sqlite"):
        load_run(tmp_path / "none.sqlite", "study")
    assert not (tmp_path / "none.sqlite").exists()


def test_the_official_parser_is_refused_where_nobody_answers_with_letters(tmp_path: Path) -> None:
    file = 'name = "words"\nset = "published_examples"\n[[graders]]\nmodel = "baseline/lexical"\n'
    (tmp_path / "words.toml").write_text(file + "sampling = { repeats = 1 }\n", encoding="utf-8")
    path = tmp_path / "s.sqlite"
    assert CliRunner().invoke(cli.app, ["run", str(tmp_path / "words.toml"), "--store", str(path)]).exit_code == 0
    with pytest.raises(SpecError, match="official"):
        load_run(path, "words", parser="official")


def test_the_official_parser_reads_the_silent_reply_as_a_label(store: Path) -> None:
    robust, official = load_run(store, "study"), load_run(str(store), "study", parser="official")
    assert robust.failures()["failure"].tolist() == ["unparsed", "not_answered"]
    assert official.failures()["failure"].tolist() == ["not_answered"]


def test_public_names_load_only_when_asked_for() -> None:
    code = (
        "import sys, experiments; print('pandas' in sys.modules); experiments.load_run; print('pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]
    for name in experiments.__all__:
        assert getattr(experiments, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_name"):
        experiments.no_such_name  # noqa: B018


def test_a_run_of_models_that_answer_has_verdicts_and_no_report() -> None:
    """`autorater report` prints counts of answers for it; error rates of "graders" would be about nobody."""
    run = RunFrames(answering_run(n=4))
    assert len(run.verdicts()) > 0
    assert len(run.items()) > 0
    for name in ("report", "graders", "failures"):
        with pytest.raises(SpecError, match="it asked models that answer, and nobody labelled"):
            frame_of(run, name)
