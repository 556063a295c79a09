"""Reports of graders whose repeats are computed, and of label bias: what stands where, and what is never mixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration_sets.scale import SIMPLEQA
from experiments.reports import RunData, build_report, render_json, render_markdown, render_text
from graders.exact import VerdictDistribution
from graders.verdict import Verdict

LABELS = SIMPLEQA.labels
WRONG, NONE, RIGHT = (LABELS.index(name) for name in ("INCORRECT", "NOT_ATTEMPTED", "CORRECT"))

Row = tuple[str, Sequence[float] | None]


def chances(*, right: float, wrong: float = 0.0) -> list[float]:
    row = [0.0] * 3
    row[RIGHT], row[WRONG] = right, wrong
    row[NONE] = 1 - right - wrong
    return row


def exact_run(runs: Any, rows: Sequence[Row], *, kinds: Sequence[str | None] | None = None) -> RunData:
    """A run of one exact grader: people's letters and the chances of the labels of each item."""
    data: RunData = runs.run([(people, "C") for people, _ in rows], kinds=kinds)
    items = data.calibration_set.items
    distributions, verdicts = {}, []
    for item, (_, row) in zip(items, rows, strict=True):
        shares = None if row is None else dict(zip(LABELS, row, strict=True))
        failure = "refused" if row is None else None
        distributions[item.digest] = VerdictDistribution(item.digest, shares, failure, None if row is None else 0.01)
        likeliest = None if shares is None else max(shares, key=shares.__getitem__)
        verdicts.append(Verdict(item.digest, "g1", 0, likeliest, failure, "robust"))
    sampling = {**data.graders[0].sampling, "method": "exact", "repeats": 10}
    grader = replace(data.graders[0], sampling=sampling, verdicts=verdicts, distributions=distributions)
    return replace(data, graders=[grader])


def section(data: RunData) -> dict[str, Any]:
    found: dict[str, Any] = build_report(data)["graders"][0]
    return found


ROWS: list[Row] = [
    ("C", chances(right=0.7, wrong=0.3)),
    ("C", chances(right=1.0)),
    ("I", chances(right=0.4, wrong=0.6)),
]


def test_rates_are_chances_not_likeliest_labels(runs: Any) -> None:
    grader = section(exact_run(runs, ROWS))
    assert grader["false_negative_rate"]["value"] == pytest.approx((0.3 + 0) / 2)
    assert grader["false_positive_rate"]["value"] == pytest.approx(0.4)
    assert grader["agreement"]["raw"]["value"] == pytest.approx((0.7 + 1 + 0.6) / 3)
    assert grader["pairwise_disagreement"]["value"] == pytest.approx((2 * 0.7 * 0.3 + 0 + 2 * 0.6 * 0.4) / 3)
    flips = [1 - 0.7**10 - 0.3**10, 0, 1 - 0.6**10 - 0.4**10]
    assert grader["flip_rate"]["value"] == pytest.approx(sum(flips) / 3)
    assert grader["confusion"]["rates"][RIGHT][RIGHT] == pytest.approx((0.7 + 1) / 2)
    assert grader["exact"] == {"draws": 10, "outside_mean": pytest.approx(0.01), "outside_most": pytest.approx(0.01)}


def test_majority_of_one_has_the_interval_of_the_rate(runs: Any) -> None:
    grader = section(exact_run(runs, ROWS))
    assert grader["majority"]["1"]["false_negative_rate"] == pytest.approx(grader["false_negative_rate"])
    three = grader["majority"]["3"]["false_positive_rate"]["value"]
    assert three == pytest.approx(0.4**3 + 3 * 0.4**2 * 0.6)


def test_alpha_of_draws_that_were_not_made_is_not_defined_with_a_word_why(runs: Any) -> None:
    grader = section(exact_run(runs, ROWS))
    for name in ("alpha_repeats", "agreement.cohen_kappa"):
        assert "computed" in grader["not_defined"][name]
    assert "not defined (computed and never drawn)" in render_text(build_report(exact_run(runs, ROWS)))


def test_bounds_of_missing_items_hold_the_rate(runs: Any) -> None:
    grader = section(exact_run(runs, [*ROWS, ("C", None)]))
    assert grader["failures"] == {"refused": 1}
    assert grader["false_negative_rate_bounds"] == pytest.approx([(0.3 + 0 + 0) / 3, (0.3 + 0 + 1) / 3])
    low, high = grader["false_positive_rate_bounds"]
    assert low == high == pytest.approx(grader["false_positive_rate"]["value"])


def test_no_cell_holds_a_chance_and_a_count(runs: Any) -> None:
    data = exact_run(runs, ROWS)
    text = render_text(build_report(data))
    matrix = text[text.index("Confusion matrix") : text.index("Failures")]
    assert "the mean chance of a label" in matrix
    assert "number of verdicts" not in matrix
    assert "85.0%" in matrix
    assert "85.0% (" not in matrix
    assert "One label throughout" not in text
    assert "without replacement" not in text


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_such_graders_are_marked(runs: Any, render: Any) -> None:
    shown = " ".join(render(build_report(exact_run(runs, ROWS))).replace("\\", "").split())
    assert "exact at temperature 2.0, one call an item" in shown


def test_the_least_certain_items_are_listed_with_their_chances(runs: Any) -> None:
    listed = section(exact_run(runs, ROWS))["most_inconsistent"]
    assert [entry["item_id"] for entry in listed] == ["item-002", "item-000"]
    assert listed[0]["shares"]["INCORRECT"] == pytest.approx(0.6)


def test_kinds_split_chances_too(runs: Any) -> None:
    parts = section(exact_run(runs, ROWS, kinds=["a", "a", "b"]))["by_kind"]
    assert parts["a"]["false_negative_rate"]["value"] == pytest.approx(0.15)
    assert parts["b"]["false_positive_rate"]["value"] == pytest.approx(0.4)


def test_order_of_items_moves_no_byte(runs: Any) -> None:
    data = biased_run(runs, n_questions=30)
    grader = data.graders[0]
    turned = replace(
        data,
        calibration_set=replace(data.calibration_set, items=data.calibration_set.items[::-1]),
        graders=[
            replace(
                grader,
                verdicts=list(grader.verdicts)[::-1],
                label_logprobs=dict(reversed(list(grader.label_logprobs.items()))),
            )
        ],
    )
    assert render_json(build_report(turned)) == render_json(build_report(data))


def biased_run(runs: Any, *, n_questions: int, without: int = 0, signal: float = 3.0) -> RunData:
    """A grader with a signal that its liking for INCORRECT hides; the last ``without`` items lack log-probabilities."""
    rng = np.random.default_rng(0)
    letters = ["CIN"[number % 3] for number in range(n_questions)]
    data: RunData = runs.run([(letter, "I") for letter in letters])
    known = {}
    for item, letter in list(zip(data.calibration_set.items, letters, strict=True))[: n_questions - without]:
        logits = rng.normal(0, 0.5, 3)
        logits[WRONG] += 6.0
        logits[{"C": RIGHT, "I": WRONG, "N": NONE}[letter]] += signal
        known[item.digest] = dict(zip(LABELS, (logits - np.log(np.exp(logits).sum())).tolist(), strict=True))
    return replace(data, graders=[replace(data.graders[0], label_logprobs=known)])


def test_label_bias_is_taken_away_and_shown_before_and_after(runs: Any) -> None:
    data = biased_run(runs, n_questions=60, without=3)
    bias = section(data)["label_bias"]
    assert (bias["n_items"], bias["n_without"], bias["n_folds"], bias["held_out_by"]) == (57, 3, 57, "question")
    assert bias["before"]["balanced_accuracy"]["value"] == pytest.approx(1 / 3)
    assert bias["after"]["balanced_accuracy"]["value"] > 0.9
    assert bias["before"]["false_negative_rate"]["value"] == 1
    assert bias["after"]["false_negative_rate"]["value"] < 0.1
    assert bias["gain"]["low"] > 0
    assert bias["offsets"]["INCORRECT"] > max(bias["offsets"]["CORRECT"], bias["offsets"]["NOT_ATTEMPTED"])
    text = render_text(build_report(data))
    assert "Label bias" in text
    assert "57 items, 57 questions, each of them held out in turn" in text
    assert "left out, without log-probabilities of all labels: 3 labelled items" in text


def test_the_graders_own_rates_are_those_of_the_grader_as_it_comes(runs: Any) -> None:
    data = biased_run(runs, n_questions=60)
    plain = replace(data, graders=[replace(data.graders[0], label_logprobs={})])
    with_bias, without = section(data), section(plain)
    assert without["label_bias"] is None
    assert {**with_bias, "label_bias": None} == without


def test_a_small_set_has_no_calibration_and_says_how_small(runs: Any) -> None:
    data = biased_run(runs, n_questions=12)
    bias = section(data)["label_bias"]
    assert (bias["before"], bias["after"], bias["gain"]["value"]) == (None, None, None)
    assert "INCORRECT 4" in bias["not_defined"]
    assert "Not defined (questions with a label:" in render_text(build_report(data))


def test_a_gain_that_may_be_none_is_called_so(runs: Any) -> None:
    text = render_text(build_report(biased_run(runs, n_questions=30, signal=0.0)))
    gain = next(line for line in text.splitlines() if "likeliest label: accuracy" in line)
    assert "which may be none" in gain


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_items_with_broken_log_probabilities_are_left_out(runs: Any, bad: float) -> None:
    data = biased_run(runs, n_questions=60)
    digest = data.calibration_set.items[0].digest
    known = {**data.graders[0].label_logprobs, digest: {**data.graders[0].label_logprobs[digest], "CORRECT": bad}}
    bias = section(replace(data, graders=[replace(data.graders[0], label_logprobs=known)]))["label_bias"]
    assert (bias["n_items"], bias["n_without"]) == (59, 1)


def test_served_models_and_backends_that_change_are_told_with_their_counts(runs: Any) -> None:
    data = runs.run([("C", "CC"), ("I", "II")])
    changed = replace(
        data.graders[0],
        served_models=["m-1", "m-2"],
        served_counts={"m-1": 3, "m-2": 1},
        fingerprints={"fp-a": 2, "fp-b": 2},
    )
    warnings = build_report(replace(data, graders=[changed]))["warnings"]
    assert any("served model changed within the run: m-1 (3), m-2 (1)" in warning for warning in warnings)
    assert any("2 fingerprints, fp-a (2), fp-b (2)" in warning for warning in warnings)


def test_an_item_that_takes_many_times_the_tokens_is_named(runs: Any) -> None:
    data = runs.run([("C", "C")] * 5)
    digests = [item.digest for item in data.calibration_set.items]
    tokens = dict(zip(digests, [100, 100, 1_000, 100, 999], strict=True))
    report = build_report(replace(data, graders=[replace(data.graders[0], item_tokens=tokens)]))
    assert [entry["item_id"] for entry in report["graders"][0]["costly_items"]] == ["item-002"]
    told = "1 items take 10x the median of tokens or more, 43% of all; most: item-002, 1,000 tokens"
    assert any(told in warning for warning in report["warnings"])


def test_the_guide_names_every_key_of_these_sections(runs: Any) -> None:
    guide = (Path(__file__).resolve().parent.parent / "docs" / "report.md").read_text(encoding="utf-8")
    grader, bias = section(exact_run(runs, ROWS)), section(biased_run(runs, n_questions=60))["label_bias"]
    names = {*grader, *grader["exact"], *grader["usage"], *bias, *bias["before"]}
    assert not {name for name in names if f"`{name}`" not in guide}
