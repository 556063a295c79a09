"""Reports of the sizes that people have stay quick: nothing grows with pairs of verdicts."""

from __future__ import annotations

import random
import time

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from experiments.reports import GraderResults, RunData, build_report, render_json, render_markdown, render_text
from graders.verdict import Verdict


def large_run(n_items: int, repeats: int, n_graders: int) -> RunData:
    draw = random.Random(1)
    items = tuple(
        Item(f"i{n}", f"q{n // 3}", Reference("a", "a"), f"r{n}", f"q{n // 3}", kind=f"k{n % 12}")
        for n in range(n_items)
    )
    people = tuple(
        HumanLabel(item.item_id, item.digest, f"p{rater}", draw.choice(SIMPLEQA.labels), "r@1")
        for item in items
        for rater in range(3)
    )
    whole = CalibrationSet("large", "1", "r@1", SIMPLEQA, "human", "", "", "", items, people)
    graders = [
        GraderResults(
            f"g{number}",
            None,
            None,
            "replay/x",
            {"repeats": repeats},
            [],
            [],
            [
                Verdict(item.digest, f"g{number}", repeat, draw.choice(SIMPLEQA.labels), None, "robust")
                for item in items
                for repeat in range(repeats)
            ],
        )
        for number in range(n_graders)
    ]
    return RunData("r", "e", whole, n_items, "robust", graders)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "repeats", "n_graders"), [(10_000, 1, 3), (1_000, 10, 5)])
def test_a_large_report_takes_seconds(n_items: int, repeats: int, n_graders: int) -> None:
    data = large_run(n_items, repeats, n_graders)
    start = time.process_time()
    report = build_report(data)
    assert len(render_json(report)) > len(render_markdown(report)) > 0
    assert render_text(report)
    assert time.process_time() - start < 5
    assert report["graders"][0]["n_verdicts"] == n_items * repeats
