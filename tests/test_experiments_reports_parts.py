"""Parts of a run and single items: kinds, disputes, rubrics, inconsistent items, ranges, two parsers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from calibration_sets.references.reference import AcceptableRange, Reference
from experiments.reports import RunData, build_report, render_text
from experiments.reports.pages import _without_provider

RUBRIC = "rules@1.0.0"
RANGE = Reference("8,282", "8,282", ranges=(AcceptableRange(Decimal(8199), Decimal(8365), Decimal(8282), None),))
SMALL = [("C", "CC"), ("C", "CI"), ("C", "II"), ("I", "IC"), ("N", "NN")]


def test_ties_and_unlabelled_items_count_for_repeats_only(runs: Any) -> None:
    report = build_report(runs.run([("CC", "CC"), ("CI", "CI"), ("", "II"), ("CCI", "IC")]))
    about, grader = report["set"], report["graders"][0]
    assert (about["n_labelled"], about["n_tied"], about["n_unlabelled"], about["n_disputed"]) == (2, 1, 1, 2)
    assert grader["false_negative_rate"]["value"] == pytest.approx((0 + 1 / 2) / 2)
    assert grader["flip_rate"]["n"] == 4
    assert grader["flip_rate"]["value"] == pytest.approx(2 / 4)
    assert about["label_counts"] == {"CORRECT": 2, "INCORRECT": 0, "NOT_ATTEMPTED": 0}


def test_disputed_items_are_a_stratum_of_their_own(runs: Any) -> None:
    report = build_report(runs.run([("CIC", "II"), ("CC", "CC"), ("CI", "CI"), ("", "CC")]))
    parts = report["graders"][0]["by_dispute"]
    assert (parts["disputed"]["n_items"], parts["disputed"]["n_labelled"]) == (2, 1)
    assert parts["disputed"]["false_negative_rate"]["value"] == 1
    assert parts["undisputed"]["n_items"] == 1
    assert parts["undisputed"]["false_negative_rate"]["value"] == 0
    assert report["human_agreement"]["n_raters"] == 3
    assert report["human_agreement"]["pairwise_raw"]["value"] == pytest.approx((1 / 3 + 1 + 0) / 3)


def test_one_rater_has_no_ceiling_and_no_stratum(runs: Any) -> None:
    report = build_report(runs.run(SMALL))
    assert report["human_agreement"] is None
    assert report["graders"][0]["by_dispute"] == {}


def test_kinds_split_every_count(runs: Any) -> None:
    data = runs.run([*SMALL, ("C", "-C")], kinds=["exact", "exact", "other", "other", None, None])
    grader = build_report(data)["graders"][0]
    assert list(grader["by_kind"]) == ["(no kind)", "exact", "other"]
    for name in ("n_items", "n_expected", "n_verdicts", "n_labelled"):
        assert sum(part[name] for part in grader["by_kind"].values()) == grader[name]
    exact = grader["by_kind"]["exact"]
    assert exact["false_negative_rate"]["value"] == pytest.approx((0 + 1 / 2) / 2)
    assert exact["agreement"]["raw"]["value"] == pytest.approx((1 + 1 / 2) / 2)
    assert exact["false_positive_rate"]["value"] is None
    assert "false_positive_rate" in exact["not_defined"]


def test_labels_are_joined_under_the_graders_rubric(runs: Any) -> None:
    data = runs.run([("C", "C"), ("C", "C")])
    other = tuple(
        replace(label, rubric="rules@2.0.0", label="INCORRECT") for label in data.calibration_set.human_labels
    )
    both = replace(data.calibration_set, human_labels=data.calibration_set.human_labels + other)
    graders = [replace(data.graders[0], rubric=rubric) for rubric in ("rules@2.0.0", None, "rules@3.0.0")]
    report = build_report(replace(data, calibration_set=both, graders=graders))
    second, own, third = report["graders"]
    assert second["false_positive_rate"]["value"] == 1
    assert own["false_negative_rate"]["value"] == 0
    assert (third["rubric"], third["labels"]["rubric"]) == ("rules@3.0.0", RUBRIC)
    crossed = [warning for warning in report["warnings"] if "labels were given under" in warning]
    assert crossed == [
        f"grader 3 (local/tiny): labels were given under {RUBRIC}, the grader follows rules@3.0.0",
    ]


def test_labels_of_an_older_wording_are_left_out(runs: Any) -> None:
    data = runs.run([("C", "C"), ("C", "I")])
    old = data.calibration_set.human_labels
    stale = replace(data.calibration_set, human_labels=(old[0], replace(old[1], item_digest="0" * 64)))
    report = build_report(replace(data, calibration_set=stale))
    assert report["set"]["n_labelled"] == 1
    assert report["graders"][0]["false_negative_rate"]["value"] == 0
    assert any("1 labels were given to an older wording" in warning for warning in report["warnings"])


def test_items_with_equal_content_share_verdicts(runs: Any) -> None:
    first = runs.item(1)
    twin = replace(first, item_id="twin")
    data = RunData(
        "r", "e", runs.labelled([first, twin], ["C", "I"]), 2, "robust", [runs.grader(runs.verdicts([first], ["C"]), 1)]
    )
    report = build_report(data)
    grader = report["graders"][0]
    assert (grader["n_expected"], grader["n_verdicts"]) == (2, 2)
    assert grader["false_negative_rate"]["value"] == 0
    assert grader["false_positive_rate"]["value"] == 1
    assert report["set"]["n_same_content"] == 1
    silent = replace(data, graders=[runs.grader(runs.verdicts([first], ["."]), 1)])
    assert build_report(silent)["graders"][0]["not_answered"] == {"timeout": 2}


def test_most_inconsistent_items_come_first_and_only_those(runs: Any) -> None:
    rows = [("C", "CCCC"), ("C", "CCCI"), ("C", "CCII"), ("C", "CIN-"), ("", "CI--")]
    entries = runs.graded(rows)["most_inconsistent"]
    assert [entry["item_id"] for entry in entries] == ["item-003", "item-002", "item-004", "item-001"]
    assert entries[0]["verdicts"] == {"INCORRECT": 1, "NOT_ATTEMPTED": 1, "CORRECT": 1}
    assert entries[0]["failures"] == {"unparsed": 1}
    assert entries[1]["entropy"] == pytest.approx(1.0)
    assert entries[2]["human_label"] is None


def test_ten_most_inconsistent_items_at_most(runs: Any) -> None:
    assert len(runs.graded([("C", "CI")] * 25)["most_inconsistent"]) == 10


def test_range_check_contradicts_grader_and_people_apart(runs: Any) -> None:
    responses = ["8,333", "9,000", "8,333", "about eight or nine", "8,199"]
    items = [runs.item(n, reference=RANGE, response=text) for n, text in enumerate(responses)]
    letters = ["III", "CCI", "CCC", "III", "CIN"]
    data = RunData(
        "r",
        "e",
        runs.labelled(items, ["C", "I", "N", "C", "C"]),
        5,
        "robust",
        [runs.grader(runs.verdicts(items, letters), 3)],
    )
    report = build_report(data)
    found = report["graders"][0]["range_disagreements"]
    assert [(entry["item_id"], entry["outcome"], entry["majority"]) for entry in found] == [
        ("item-000", "in", "INCORRECT"),
        ("item-001", "out", "CORRECT"),
    ]
    people = report["range_check"]["human_disagreements"]
    assert [(entry["item_id"], entry["outcome"], entry["rubric"]) for entry in people] == [("item-002", "in", RUBRIC)]
    assert report["range_check"]["outcomes"] == {"in": 3, "out": 1, "undecided": 1}
    assert "never the verdict" in render_text(report, width=300)


def test_two_parsers_side_by_side(runs: Any) -> None:
    items = [runs.item(number) for number in range(5)]
    ours = runs.verdicts(items, ["C", "-", "I", ".", "N"])
    theirs = [replace(verdict, rule="official") for verdict in runs.verdicts(items, ["C", "N", "C", ".", "N"])]
    data = RunData(
        "r",
        "e",
        runs.labelled(items, ["C", "C", "I", "I", "I"]),
        4,
        "robust",
        [runs.grader(ours, 1)],
        compare_rule={"g1": theirs},
    )
    moved = build_report(data)["graders"][0]["parser_comparison"]
    assert moved["rules"] == ["robust", "official"]
    assert moved["labels"] == ["INCORRECT", "NOT_ATTEMPTED", "CORRECT", None]
    assert moved["counts"] == [[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]]
    assert (moved["n"], moved["n_moved"]) == (5, 2)
    assert moved["false_negative_rate"]["value"] == pytest.approx((0 + 1) / 2)
    assert moved["false_positive_rate"]["value"] == pytest.approx((1 + 0) / 2)
    text = render_text(build_report(data))
    assert "The official parser reads 2 of 5 replies otherwise than the robust one" in text


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("replay/deep/said.jsonl", "said.jsonl"),
        ("openrouter/meta-llama/llama-3:free", "llama-3:free"),
        ("imported/team/their model", "team/their model"),
        ("imported/<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("</script>alone", "</script>alone"),
        ("a name with 1/2 in it", "a name with 1/2 in it"),
        ("plain", "plain"),
        ("imported/", "imported/"),
    ],
)
def test_the_summary_leaves_out_a_provider_and_nothing_of_a_name(model: str, shown: str) -> None:
    assert _without_provider(model) == shown
