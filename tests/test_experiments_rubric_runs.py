"""Rubric graders end to end: an experiment against a loopback server, from the file to the printed report."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rubric_server import Say, steps_near
from rubric_studies import made_set, run_study

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.importers import import_saf
from calibration_sets.scale import SCALES
from calibration_sets.writer import write_set
from experiments.reports import build_report, render_text
from experiments.running.verdict_import import import_verdicts
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

Graded = Callable[..., dict[str, Any]]


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    def run(found: CalibrationSet, prompt: str, say: Say, *, repeats: int = 2, items: str = "") -> dict[str, Any]:
        run_id = run_study(tmp_path, found, prompt, say, repeats=repeats, items=items)
        with RunStore(tmp_path / "runs.sqlite") as store:
            data, _ = load_run_data(store, run_id)
        return build_report(data)

    return run


def texts(report: dict[str, Any]) -> str:
    return " ".join(render_text(report).split())


def test_a_rubric_on_real_scores(graded: Graded, calibration_data: Path) -> None:
    found = import_saf(calibration_data / "saf" / "saf_english.jsonl").calibration_set
    report = graded(found, "der2_rubric", steps_near, items="[items]\nsample = 120\nstratify = 'label'")
    grader = report["graders"][0]
    errors = grader["score_errors"]
    assert set(grader["failures"]) == {"off_scale", "unparsed"}
    assert grader["n_verdicts"] == 240 - sum(grader["failures"].values())
    assert grader["false_negative_rate"]["value"] is None
    assert 0.1 < errors["over_grading"]["value"] < 0.35
    low, high = errors["bounds"]["mean_absolute_error"]
    assert low < errors["mean_absolute_error"]["value"] < high
    assert errors["kappa_linear"] == grader["agreement"]["cohen_kappa"]
    assert errors["alpha_ordinal"] == grader["agreement"]["krippendorff_alpha"]
    assert errors["alpha_interval"]["value"] > 0.8
    shown = texts(report)
    assert "under-graded over-graded coverage" in shown
    assert "mean error (bias)" in shown
    assert re.search(r"mean absolute error 0\.\d{3} \[0\.\d{3}, .*? 0\.\d{3} to 0\.\d{3}", shown)
    assert "Gwet's AC1, unweighted" in shown
    assert "false negatives" not in shown
    assert {"training", "unseen_answers"} <= set(grader["by_kind"])
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize(
    ("scale", "labels", "replies"),
    [
        ("der2_rubric", ["0", "0.5", "1"], ["Fine.\nscore: 0.25", "0.5", "score: 0.6"]),
        ("der2_errors", ["FORMAL", "MISSING", "PROCESS"], ["reasons: FORMAL", "reasons: MISSING, PROCESS", "?"]),
    ],
)
def test_imported_replies_are_read_as_written_ones(
    tmp_path: Path, scale: str, labels: list[str], replies: list[str]
) -> None:
    write_set(made_set(scale, labels), tmp_path / "made")
    rows = [json.dumps({"item": f"i{n}", "text": text}) for n, text in enumerate(replies)]
    (tmp_path / "said.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with RunStore(tmp_path / "runs.sqlite") as store:
        run = import_verdicts(tmp_path / "said.jsonl", str(tmp_path / "made"), store, grader="old")
        data, _ = load_run_data(store, run)
    grader = build_report(data)["graders"][0]
    assert (grader["n_verdicts"], sum(grader["failures"].values())) == (2, 1)
    name = "score_errors" if scale == "der2_rubric" else "label_sets"
    assert grader[name] is not None


def test_no_verdict_is_no_score(graded: Graded) -> None:
    labels = ["0", "0.5", "1", "0.75"] * 4
    errors = graded(made_set("der2_rubric", labels), "der2_rubric", lambda *_: "score: 0.6")["graders"][0]
    assert (errors["n_verdicts"], errors["failures"]) == (0, {"off_scale": 32})
    assert errors["score_errors"]["bias"]["value"] is None
    assert errors["score_errors"]["bounds"]["over_grading"] == pytest.approx([0, 0.75])


def test_an_index_by_respondent_beside_that_of_people(graded: Graded) -> None:
    labels = ["CORRECT", "INCORRECT", "INCORRECT", "NOT_ATTEMPTED", "CORRECT", "PARTIAL_ANSWER"] * 4
    found = made_set("omniscience", labels, respondents="st")
    letters = SCALES["omniscience"].letters

    def say(truth: str, _: random.Random) -> str:
        return letters["CORRECT" if truth == "PARTIAL_ANSWER" else truth]

    report = graded(found, "omniscience", say)
    scores = report["graders"][0]["omniscience"]
    assert list(scores) == ["s", "t"]
    people, grader = scores["t"]["people"], scores["t"]["grader"]
    assert people["index"]["value"] == pytest.approx(100 * (0 - 4) / 12)
    assert people["hallucination_rate"]["value"] == pytest.approx(4 / (4 + 4 + 4))
    assert grader["index"]["value"] == pytest.approx(100 * (4 - 4) / 12)
    assert grader["hallucination_rate"]["value"] == pytest.approx(4 / (4 + 4))
    assert grader["bounds"] is None
    assert scores["s"]["people"]["hallucination_rate"]["value"] == 1
    assert "Index and hallucination rate" in texts(report)
    assert "'autorater score' gives the index corrected for them" in texts(report)


def test_a_confidence_is_held_against_people(graded: Graded) -> None:
    labels = ["CORRECT", "INCORRECT"] * 10

    def say(truth: str, chance: random.Random) -> str:
        right = chance.random() < 0.7
        verdict = "yes" if (truth == "CORRECT") == right else "no"
        return f"verdict: {verdict}" if chance.random() < 0.1 else f"verdict: {verdict}\nconfidence: 95"

    report = graded(made_set("binary", labels), "yes_no_confidence", say, repeats=4)
    grader = report["graders"][0]
    found = grader["confidence"]
    assert grader["failures"] == {"unparsed": 80 - grader["n_verdicts"]}
    assert found["accuracy"] == grader["agreement"]["raw"]
    assert found["over_confidence"]["value"] == pytest.approx(0.95 - found["accuracy"]["value"])
    assert found["calibration_error"]["value"] == pytest.approx(abs(found["over_confidence"]["value"]))
    assert [one["n_verdicts"] for one in found["curve"]] == [0] * 9 + [grader["n_verdicts"]]
    assert f"the same by chance {found['error_by_chance']:.3f}" in texts(report)


def test_concepts_are_counted_and_other_lists_left_out(graded: Graded) -> None:
    labels = ["ALL", "SOME", "NONE", "SOME"] * 3
    reference = "Energy is kept\nDrag is left out"

    def say(truth: str, chance: random.Random) -> str:
        used = {"ALL": ["energy is kept", "Drag is left out"], "SOME": ["Drag is left out"], "NONE": []}[truth]
        missing = [one for one in ("energy is kept", "Drag is left out") if one not in used]
        foreign = ["Momentum"] if truth == "SOME" else []
        if truth == "NONE":
            missing = ["Energy is kept"]  # and forgets the other one
        counts = {"true_positives": len(used), "false_negatives": len(missing), "false_positives": len(foreign)}
        return json.dumps({"used": used, "missing": missing, "foreign": foreign, **counts})

    report = graded(made_set("der2_concepts", labels, reference=reference), "der2_concepts", say)
    grader = report["graders"][0]
    found = grader["concepts"]
    assert grader["agreement"]["raw"]["value"] == 1
    assert (found["n_verdicts"], found["n_other_lists"], found["n_expected"]) == (18, 6, 24)
    assert found["counts"] == {"true_positives": 2 * (3 * 2 + 6), "false_positives": 2 * 6, "false_negatives": 2 * 6}
    assert found["micro_precision"]["value"] == pytest.approx(12 / 18)
    assert found["macro_precision"]["value"] == pytest.approx((3 * 1 + 6 * 1 / 2) / 9)
    shown = texts(report)
    assert "6 verdicts whose lists are not the reference's concepts are left out" in shown
    assert shown.count("false negatives") == 1  # where it is said that there are none
    assert "Error rates" not in shown
    assert re.search(r"# grader agreement coverage .* 1 judge 100\.0% \[", shown)


def test_reasons_agree_as_sets(graded: Graded) -> None:
    labels = ["PROCESS", "FORMAL", "MISSING + MISUSED", "PROCESS + MISSING"] * 5

    def say(truth: str, _: random.Random) -> str:
        return f"It began early.\nreasons: {truth.replace(' + ', ', ').replace('MISUSED', 'FORMAL')}"

    report = graded(made_set("der2_errors", labels), "der2_errors", say)
    grader = report["graders"][0]
    found = grader["label_sets"]
    assert grader["agreement"]["raw"]["value"] == pytest.approx(3 / 4)
    assert grader["agreement"]["krippendorff_alpha"]["value"] < found["alpha_masi"]["value"] < 1
    assert found["kappas"]["PROCESS"]["value"] == 1
    assert found["kappas"]["MISUSED"]["value"] == 0
    assert found["prevalence"] == {"PROCESS": 0.5, "FORMAL": 0.25, "MISSING": 0.5, "MISUSED": 0.25}
    shown = texts(report)
    assert "alpha, MASI distance" in shown
    assert "not defined" not in shown.partition("Grader 1")[2]
    assert "- A dash: no item" not in shown
    assert "A dash: no item of that label has a verdict." in shown


def test_other_graders_have_none_of_it(graded: Graded) -> None:
    letters = SCALES["simpleqa"].letters
    grader = graded(made_set("simpleqa", ["CORRECT", "INCORRECT"] * 3), "simpleqa", lambda truth, _: letters[truth])
    fields = grader["graders"][0]
    assert {fields[name] for name in ("score_errors", "label_sets", "omniscience", "confidence", "concepts")} == {None}
    assert "false negatives" in texts(grader)
