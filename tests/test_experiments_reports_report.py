"""Figures of a report against arithmetic done by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration_sets.scale import SIMPLEQA, LabelScale
from experiments.reports import build_report, render_json, render_markdown, render_text
from graders.verdict import Usage

ESTIMATE = {"value", "low", "high", "level", "method", "n", "clusters", "repeats"}
SMALL = [("C", "CC"), ("C", "CI"), ("C", "II"), ("I", "IC"), ("N", "NN")]


def estimates(node: Any) -> Iterator[dict[str, Any]]:
    """Every estimate of a report, wherever it stands."""
    if isinstance(node, dict):
        if "method" in node or {"low", "high"} & node.keys():
            yield node
        for inner in node.values():
            yield from estimates(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from estimates(inner)


def test_error_rates_are_means_of_item_means(runs: Any) -> None:
    grader = runs.graded(SMALL)
    assert grader["false_negative_rate"]["value"] == pytest.approx((0 + 1 / 2 + 1) / 3)
    assert grader["false_positive_rate"]["value"] == pytest.approx((1 / 2 + 0) / 2)
    assert (grader["false_negative_rate"]["n"], grader["false_positive_rate"]["n"]) == (3, 2)
    assert (grader["n_items"], grader["n_verdicts"], grader["n_expected"], grader["coverage"]) == (5, 10, 10, 1.0)
    assert grader["false_negative_rate_bounds"] is None


def test_confusion_has_people_in_rows_worst_first(runs: Any) -> None:
    confusion = runs.graded(SMALL)["confusion"]
    assert confusion["labels"] == ["INCORRECT", "NOT_ATTEMPTED", "CORRECT"]
    assert confusion["counts"] == [[1, 0, 1], [0, 2, 0], [3, 0, 3]]
    assert confusion["rates"][2] == pytest.approx([(0 + 1 / 2 + 1) / 3, 0, (1 + 1 / 2 + 0) / 3])
    assert confusion["n_items"] == [1, 1, 3]


def test_repeats_and_agreement_by_hand(runs: Any) -> None:
    grader = runs.graded(SMALL)
    assert grader["flip_rate"]["value"] == pytest.approx(2 / 5)
    assert grader["pairwise_disagreement"]["value"] == pytest.approx((0 + 1 + 0 + 1 + 0) / 5)
    assert grader["alpha_repeats"]["value"] == pytest.approx(1 - (4 / 10) / (1 - (4 * 3 + 4 * 3 + 2 * 1) / (10 * 9)))
    chance = 3 / 5 * 2 / 5 + 1 / 5 * 2 / 5 + 1 / 5 * 1 / 5
    assert grader["agreement"]["raw"]["value"] == pytest.approx((1 + 1 / 2 + 0 + 1 / 2 + 1) / 5)
    assert grader["agreement"]["cohen_kappa"]["value"] == pytest.approx((0.6 - chance) / (1 - chance))
    even = (0.5 * 0.5 + 0.3 * 0.7 + 0.2 * 0.8) / 2
    assert grader["agreement"]["gwet_ac1"]["value"] == pytest.approx((0.6 - even) / (1 - even))
    assert grader["agreement"]["prevalence"] == pytest.approx(
        {"CORRECT": 3 / 5, "INCORRECT": 1 / 5, "NOT_ATTEMPTED": 1 / 5}
    )


def test_majority_counts_ties_apart(runs: Any) -> None:
    majority = runs.graded(SMALL)["majority"]
    assert list(majority) == ["1", "2"]
    assert majority["1"]["false_negative_rate"]["value"] == pytest.approx((0 + 1 / 2 + 1) / 3)
    assert majority["2"]["false_negative_rate"]["value"] == pytest.approx(1 / 3)
    assert majority["2"]["false_negative_ties"]["value"] == pytest.approx(1 / 3)
    assert majority["2"]["false_positive_ties"]["value"] == pytest.approx(1 / 2)


def test_ten_repeats_report_small_odd_majorities_and_all(runs: Any) -> None:
    assert sorted(map(int, runs.graded([("C", "C" * 10), ("I", "I" * 10)])["majority"])) == [1, 3, 5, 10]


def test_failures_are_never_labels_and_give_bounds(runs: Any) -> None:
    grader = runs.graded([("C", "CC"), ("C", "C-"), ("C", "?."), ("I", "I ")])
    assert grader["false_negative_rate"]["value"] == 0
    assert grader["false_negative_rate"]["n"] == 2
    assert grader["false_negative_rate_bounds"] == pytest.approx([0, (0 + 1 / 2 + 1) / 3])
    assert grader["false_positive_rate_bounds"] == pytest.approx([0, 1 / 2])
    assert grader["failures"] == {"ambiguous": 1, "not_answered": 2, "unparsed": 1}
    assert grader["not_answered"] == {"not_asked": 1, "timeout": 1}
    assert grader["n_verdicts"] + sum(grader["failures"].values()) == grader["n_expected"] == 8
    assert grader["coverage"] == pytest.approx(4 / 8)
    assert grader["rate_coverage"] == pytest.approx(
        {"false_negative_rate": 3 / 6, "false_positive_rate": 1 / 2, "agreement": 4 / 8}
    )
    assert grader["confusion"]["n_missing"] == [1, 0, 3]


def test_errored_items_do_not_vanish_from_the_denominator(runs: Any) -> None:
    report = build_report(runs.run([("C", "C")] * 5 + [("C", "-")] * 5))
    grader = report["graders"][0]
    assert (grader["n_items"], grader["n_verdicts"], grader["coverage"]) == (10, 5, 0.5)
    assert grader["false_negative_rate_bounds"] == [0.0, 0.5]
    for text in (render_text(report), render_markdown(report)):
        assert "5 valid verdicts of 10 asked for" in text
        assert "0.0% to 50.0%" in text
        assert "5 of 10 verdicts missing" in text


def test_a_grader_without_any_label_has_no_rates(runs: Any) -> None:
    grader = runs.graded([("C", "--"), ("I", "..")])
    for name in ("false_negative_rate", "false_positive_rate", "flip_rate", "pairwise_disagreement", "alpha_repeats"):
        assert grader[name]["value"] is None
        assert "no valid verdict" in grader["not_defined"][name]
    assert grader["false_negative_rate_bounds"] == [0.0, 1.0]
    assert grader["confusion"]["rates"] == [[None] * 3] * 3
    assert grader["agreement"]["raw"]["value"] is None


def test_one_class_is_not_defined_with_its_agreement(runs: Any) -> None:
    report = build_report(runs.run([("C", "C")] * 5))
    grader = report["graders"][0]
    for name in ("cohen_kappa", "gwet_ac1", "krippendorff_alpha"):
        assert grader["agreement"][name]["value"] is None
        assert grader["not_defined"][f"agreement.{name}"] == "one class, agreement 100%, n = 5"
    assert grader["agreement"]["raw"]["value"] == 1
    for text in (render_text(report, width=100), render_markdown(report)):
        assert "not defined (one class), agreement 100%, n = 5" in text
    assert any("one class only, all 5 labels are CORRECT" in warning for warning in report["warnings"])


def test_a_set_without_right_answers_has_no_false_negatives(runs: Any) -> None:
    grader = runs.graded([("I", "CI"), ("N", "NN")])
    assert grader["false_negative_rate"]["value"] is None
    assert grader["not_defined"]["false_negative_rate"] == "no item that people called CORRECT, n = 0 of 2 labelled"
    assert grader["false_positive_rate"]["value"] == pytest.approx((1 / 2 + 0) / 2)


def test_a_scale_without_a_right_label_has_no_error_rates(runs: Any) -> None:
    scale = LabelScale("grades", SIMPLEQA.labels, level="ordinal")
    data = runs.run(SMALL)
    data = replace(data, calibration_set=replace(data.calibration_set, scale=scale))
    grader = build_report(data)["graders"][0]
    assert grader["false_negative_rate"]["value"] is None
    assert grader["not_defined"]["false_positive_rate"] == "scale grades names no label as right"
    assert grader["agreement"]["kappa_weights"] == "linear"
    assert grader["majority"] == {}
    assert "Cohen's kappa, linear weights" in render_text(build_report(data))


def test_one_repeat_has_no_repeat_statistics(runs: Any) -> None:
    report = build_report(runs.run([("C", "C"), ("I", "C")]))
    grader = report["graders"][0]
    assert grader["flip_rate"]["value"] is None
    assert grader["not_defined"]["alpha_repeats"] == "one verdict an item, n = 2"
    assert any("one verdict an item" in warning for warning in report["warnings"])


def test_ten_of_ten_consistent_items_are_no_proof(runs: Any) -> None:
    report = build_report(runs.run([("C", "CCC")] * 5 + [("I", "III")] * 5))
    flip = report["graders"][0]["flip_rate"]
    assert flip["value"] == 0
    assert 1 - flip["high"] == pytest.approx(0.7225, abs=5e-4)
    assert "10 of 10 items with two or more valid verdicts, 100.0% [72.2, 100.0]" in render_text(report, width=200)


def test_usage_and_settings_are_told(runs: Any) -> None:
    data = runs.run(SMALL)
    told = replace(
        data.graders[0],
        usage=Usage(1200, 34, None),
        served_models=["b", "a", "b"],
        effective_sampling=[{"temperature": 1.0, "top_k": float("inf")}, {"temperature": 1.0, "top_k": float("inf")}],
    )
    grader = build_report(replace(data, graders=[told]))["graders"][0]
    assert grader["usage"] == {
        "input_tokens": 1200,
        "output_tokens": 34,
        "cached_tokens": None,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
    }
    assert grader["served_models"] == ["a", "b"]
    assert grader["effective_sampling"] == [{"temperature": 1.0, "top_k": "inf"}]


def test_the_summary_line_holds_the_headline_figures(runs: Any) -> None:
    report = build_report(runs.run([("C", "CCCC"), ("C", "CCCI"), ("I", "III-")]))
    (line,) = [line for line in render_text(report).split("\n") if line.startswith("1  tiny")]
    figures = [word for word in line.split() if not set(word) & set("█▊·")]
    assert figures[2] == "12.5%"  # false negatives: (0 + 1/4) / 2
    assert figures[5] == "0.0%"  # false positives
    assert figures[8:12] == ["91.7%", "33.3%", "4", "16.7%"]  # 11/12 valid, one of 3 flips, (0 + 1/2 + 0) / 3


def test_nothing_at_all_is_still_a_report(runs: Any) -> None:
    report = build_report(runs.run([]))
    assert report["graders"][0]["coverage"] is None
    assert "0 items of 0 in the set" in render_text(report)
    assert "0 items of 0 in the set" in render_markdown(report)
    assert json.loads(render_json(report)) == report


def test_every_estimate_has_the_eight_fields(runs: Any) -> None:
    data = runs.run([*SMALL, ("CIC", "-."), ("CI", "CN")], kinds=["a", None, "b", "a", "b", "a", None])
    report = build_report(replace(data, compare_rule={"g1": list(data.graders[0].verdicts)}))
    found = list(estimates(report))
    assert len(found) > 40
    for estimate in found:
        assert estimate.keys() == ESTIMATE
        if estimate["value"] is None:
            assert (estimate["low"], estimate["high"]) == (None, None)


ROWS = st.lists(
    st.tuples(st.text("CIN", max_size=3), st.text("CIN-?. ", min_size=3, max_size=3)), min_size=1, max_size=12
)


@settings(max_examples=25, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 1000))
def test_order_moves_no_byte_and_counts_add_up(runs: Any, rows: list[tuple[str, str]], seed: int) -> None:
    data = runs.run(rows, kinds=[None if len(letters) % 2 else "odd" for _, letters in rows])
    shuffle = random.Random(seed)

    def mixed(values: Sequence[Any]) -> list[Any]:
        return shuffle.sample(list(values), len(values))

    old = data.calibration_set
    moved = replace(
        data,
        calibration_set=replace(old, items=tuple(mixed(old.items)), human_labels=tuple(mixed(old.human_labels))),
        graders=[replace(data.graders[0], verdicts=mixed(data.graders[0].verdicts))],
    )
    report = build_report(data)
    assert render_json(build_report(moved)) == render_json(report)
    grader = report["graders"][0]
    assert grader["n_verdicts"] + sum(grader["failures"].values()) == grader["n_expected"] == 3 * len(rows)
    assert sum(map(sum, grader["confusion"]["counts"])) <= grader["n_verdicts"] == sum(grader["verdicts"].values())
    for field in ("false_negative_rate", "false_positive_rate"):
        bounds, value = grader[f"{field}_bounds"], grader[field]["value"]
        assert value is not None or field in grader["not_defined"]
        if bounds is not None:
            assert 0 <= bounds[0] <= bounds[1] <= 1
