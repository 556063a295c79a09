"""Reports of graders that people have run on NQ301, against counts made without our code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import BINARY
from experiments.reports import GraderResults, RunData, build_report
from graders.verdict import Verdict

RUBRIC = "nq301@1.0.0"
GRADERS = ("bem", "gpt-4", "text-davinci-003")


@pytest.fixture(scope="module")
def rows(calibration_data: Path) -> list[dict[str, Any]]:
    lines = (calibration_data / "nq301" / "nq301.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    items = [
        Item(row["id"], row["question"], Reference("/".join(row["target"]), ""), row["response"], row["question_id"])
        for row in rows
    ]
    people = tuple(
        HumanLabel(item.item_id, item.digest, f"annotator-{rater}", label, RUBRIC)
        for item, row in zip(items, rows, strict=True)
        for rater, label in enumerate(row["annotators"])
        if label is not None
    )
    whole = CalibrationSet("nq301", "1.0.0", RUBRIC, BINARY, "human", "MIT", "", "", tuple(items), people)
    graders = []
    for name in GRADERS:
        given = {item.digest: row["graders"].get(name) for item, row in zip(items, rows, strict=True)}
        verdicts = [
            Verdict(digest, name, 0, label, None if label else "not_answered", "label")
            for digest, label in given.items()
        ]
        graders.append(GraderResults(name, None, None, f"imported/{name}", {"repeats": 1}, [], [], verdicts))
    return build_report(RunData("nq301", "nq301", whole, len(items), "label", graders))


@pytest.mark.parametrize("number", range(len(GRADERS)))
def test_counts_rates_and_kappa(rows: list[dict[str, Any]], report: dict[str, Any], number: int) -> None:
    name, grader = GRADERS[number], report["graders"][number]
    pairs = [(row["label"], row["graders"].get(name)) for row in rows]
    judged = [(label, verdict) for label, verdict in pairs if verdict is not None]
    counts = [[judged.count((label, verdict)) for verdict in BINARY.labels] for label in BINARY.labels]
    assert grader["confusion"]["counts"] == counts
    assert grader["false_negative_rate"]["value"] == pytest.approx(counts[1][0] / sum(counts[1]))
    assert grader["false_positive_rate"]["value"] == pytest.approx(counts[0][1] / sum(counts[0]))
    assert grader["agreement"]["cohen_kappa"]["value"] == pytest.approx(cohen_kappa_score(*zip(*judged, strict=True)))
    assert (grader["n_items"], grader["n_verdicts"]) == (1490, len(judged))
    assert grader["failures"].get("not_answered", 0) == pairs.count(("CORRECT", None)) + pairs.count(
        ("INCORRECT", None)
    )
    assert (grader["false_negative_rate_bounds"] is not None) == (len(judged) < 1490)


def test_people_are_the_ceiling(rows: list[dict[str, Any]], report: dict[str, Any]) -> None:
    agreeing = []
    for row in rows:
        given = [label for label in row["annotators"] if label is not None]
        same = sum(given.count(label) * (given.count(label) - 1) for label in set(given))
        agreeing.append(same / (len(given) * (len(given) - 1)))
    assert report["human_agreement"]["pairwise_raw"]["value"] == pytest.approx(sum(agreeing) / len(agreeing))
    assert report["set"]["n_disputed"] == sum(share < 1 for share in agreeing)
    assert report["human_agreement"]["alpha"]["clusters"] == len({row["question_id"] for row in rows})
