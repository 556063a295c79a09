"""Agreement of a grader with people, and of people with each other."""

from __future__ import annotations

import warnings
from typing import Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from experiments.stats import Agreement, HumanAgreement, agreement, human_agreement, wilson

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
WEIGHTS = {"nominal": None, "ordinal": "linear", "interval": "quadratic"}
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30)
Level = Literal["nominal", "ordinal", "interval"]


def compare(
    reference: list[str],
    grader: list[str],
    labels: tuple[str, ...] = LABELS,
    scale_level: Level = "nominal",
    resamples: int = 200,
) -> Agreement:
    """Agreement of single verdicts, each item a question of its own."""
    counts = [[int(label == given) for label in labels] for given in grader]
    return agreement(
        reference,
        counts,
        range(len(reference)),
        labels=labels,
        scale_level=scale_level,
        rng=np.random.default_rng(0),
        resamples=resamples,
    )


def textbook_ac1(reference: list[str], grader: list[str]) -> float:
    margins = [(reference.count(label) + grader.count(label)) / (2 * len(grader)) for label in LABELS]
    chance = sum(margin * (1 - margin) for margin in margins) / (len(LABELS) - 1)
    raw = sum(first == second for first, second in zip(reference, grader, strict=True)) / len(grader)
    return (raw - chance) / (1 - chance)


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
@settings(max_examples=40, deadline=None)
@given(pairs=PAIRS)
def test_single_verdicts_give_the_textbook_coefficients(scale_level: Level, pairs: list[tuple[str, str]]) -> None:
    reference, grader = [first for first, _ in pairs], [second for _, second in pairs]
    result = compare(reference, grader, scale_level=scale_level, resamples=5)
    assert result.raw.value == pytest.approx(np.mean([first == second for first, second in pairs]))
    if len({*reference, *grader}) == 1:
        assert (result.cohen_kappa.value, result.gwet_ac1.value, result.krippendorff_alpha.value) == (None,) * 3
        return
    kappa = cohen_kappa_score(reference, grader, labels=LABELS, weights=WEIGHTS[scale_level])
    codes = [[LABELS.index(label) for label in row] for row in (reference, grader)]
    alpha = krippendorff.alpha(np.array(codes, dtype=float), level_of_measurement=scale_level)
    assert result.cohen_kappa.value == pytest.approx(kappa, abs=1e-9)
    assert result.krippendorff_alpha.value == pytest.approx(alpha, abs=1e-9)
    assert result.gwet_ac1.value == pytest.approx(textbook_ac1(reference, grader), abs=1e-9)


def test_high_agreement_with_a_kappa_below_zero() -> None:
    """94 of 100 agree, yet nearly all are right: kappa is negative and AC1 is not."""
    result = compare(["good"] * 97 + ["bad"] * 3, ["good"] * 94 + ["bad"] * 3 + ["good"] * 3, ("bad", "good"))
    assert result.raw.value == 0.94
    assert result.cohen_kappa.value == pytest.approx((0.94 - 0.9418) / (1 - 0.9418))
    assert result.cohen_kappa.value == pytest.approx(-0.0309, abs=5e-5)
    assert result.gwet_ac1.value == pytest.approx((0.94 - 0.0582) / (1 - 0.0582))
    assert result.gwet_ac1.value == pytest.approx(0.9363, abs=5e-5)
    assert result.prevalence == {"bad": 0.03, "good": 0.97}


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("n", [1, 5])
def test_one_class_only_is_not_defined_but_the_raw_agreement_is(scale_level: Level, label: str, n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare([label] * n, [label] * n, scale_level=scale_level)
    assert (result.raw.value, result.raw.n, result.raw.low) == (1.0, n, pytest.approx(wilson(n, n).low))
    for estimate in (result.cohen_kappa, result.gwet_ac1, result.krippendorff_alpha):
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, n)


def test_perfect_agreement_on_two_classes_has_a_width() -> None:
    result = compare(["INCORRECT", "CORRECT"] * 20, ["INCORRECT", "CORRECT"] * 20)
    for estimate in (result.cohen_kappa, result.gwet_ac1, result.krippendorff_alpha):
        assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "wilson-clustered")
        assert estimate.low is not None
        assert 0.5 < estimate.low < 0.95
    assert result.cohen_kappa.low == pytest.approx(1 - (wilson(0, 40).high or 0) / 0.5)


def test_perfect_agreement_in_few_questions_is_bounded_by_minus_one() -> None:
    """Thirty items of three questions, one of another class: little is expected to disagree, little is known."""
    labels = ["INCORRECT"] + ["CORRECT"] * 29
    counts = [[1, 0, 0]] + [[0, 0, 1]] * 29
    result = agreement(
        labels, counts, list(range(3)) * 10, labels=LABELS, scale_level="nominal", rng=np.random.default_rng(0)
    )
    assert (result.cohen_kappa.low, result.cohen_kappa.value) == (-1.0, 1.0)


def test_opposite_labels_are_not_clipped() -> None:
    result = compare(["a", "b"], ["b", "a"], ("a", "b"))
    assert result.krippendorff_alpha.value == pytest.approx(-0.5, abs=1e-12)
    assert result.cohen_kappa.value == pytest.approx(-1.0)
    assert result.raw.value == 0.0
    assert (result.krippendorff_alpha.low, result.krippendorff_alpha.high) == (None, None)


def test_coefficients_of_repeats_are_those_of_the_mean_draw() -> None:
    """The table of two repeats is the mean of the tables of the first and of the second."""
    reference = ["CORRECT", "CORRECT", "INCORRECT", "INCORRECT", "NOT_ATTEMPTED"]
    counts = [[0, 0, 2], [1, 0, 1], [2, 0, 0], [1, 0, 1], [0, 1, 1]]
    result = agreement(reference, counts, range(5), labels=LABELS, scale_level="nominal", rng=np.random.default_rng(0))
    assert result.raw.value == pytest.approx((1 + 1 / 2 + 1 + 1 / 2 + 1 / 2) / 5)
    chance = 2 / 5 * 2 / 5 + 2 / 5 * 1.5 / 5 + 1 / 5 * 0.5 / 5
    # grader's margins: CORRECT 2 / 5, INCORRECT 2 / 5, NOT_ATTEMPTED .5 / 5 ... by adding the rows of shares
    margins = np.array(counts).sum(axis=0) / 10
    chance = float(margins @ [2 / 5, 1 / 5, 2 / 5])
    assert result.cohen_kappa.value == pytest.approx((0.7 - chance) / (1 - chance))
    assert result.raw.repeats == result.gwet_ac1.repeats == 2


def test_items_without_a_verdict_are_left_out_everywhere() -> None:
    counts = [[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 1]]
    with_failure = agreement(
        ["CORRECT", "NOT_ATTEMPTED", "INCORRECT", "INCORRECT"],
        counts,
        "abcd",
        labels=LABELS,
        scale_level="nominal",
        rng=np.random.default_rng(0),
    )
    without = compare(["CORRECT", "INCORRECT", "INCORRECT"], ["CORRECT", "INCORRECT", "CORRECT"], resamples=1000)
    assert with_failure == without
    assert with_failure.prevalence["NOT_ATTEMPTED"] == 0.0


@pytest.mark.parametrize("reference", [[], ["CORRECT"], ["CORRECT", "INCORRECT"]])
def test_without_a_verdict_nothing_is_defined(reference: list[str]) -> None:
    result = agreement(
        reference,
        [[0, 0, 0]] * len(reference),
        range(len(reference)),
        labels=LABELS,
        scale_level="ordinal",
        rng=np.random.default_rng(0),
    )
    for estimate in (result.raw, result.cohen_kappa, result.gwet_ac1, result.krippendorff_alpha):
        assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
    assert result.prevalence == {}


def test_one_question_has_a_value_and_no_interval() -> None:
    counts = [[0, 0, 1], [1, 0, 0], [0, 0, 1]]
    result = agreement(
        ["CORRECT", "INCORRECT", "INCORRECT"],
        counts,
        "qqq",
        labels=LABELS,
        scale_level="nominal",
        rng=np.random.default_rng(0),
    )
    assert result.cohen_kappa.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert (result.cohen_kappa.low, result.cohen_kappa.high, result.cohen_kappa.clusters) == (None, None, 1)


def test_ten_thousand_items_of_distinct_questions_have_a_narrow_interval() -> None:
    rng = np.random.default_rng(0)
    reference, counts = rng.choice(LABELS, 10_000), rng.multinomial(100, [0.1, 0.2, 0.7], size=10_000)
    result = agreement(reference, counts, range(10_000), labels=LABELS, scale_level="nominal", rng=rng)
    assert (result.cohen_kappa.high or 0) - (result.cohen_kappa.low or 0) < 0.02


def rate_humans(ratings: list[list[str | None]], scale_level: Level = "nominal") -> HumanAgreement:
    n = len(ratings[0]) if ratings else 0
    return human_agreement(
        ratings, range(n), labels=("A", "B", "C"), scale_level=scale_level, rng=np.random.default_rng(0)
    )


@pytest.mark.parametrize("scale_level", ["nominal", "ordinal", "interval"])
def test_human_alpha_equals_the_library_with_missing_labels(scale_level: Level) -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, size=(4, 25)).astype(float)
    codes[rng.random(codes.shape) < 0.4] = np.nan
    ratings = [[None if np.isnan(code) else "ABC"[int(code)] for code in row] for row in codes]
    result = rate_humans(ratings, scale_level)
    expected = krippendorff.alpha(codes, level_of_measurement=scale_level, value_domain=[0.0, 1.0, 2.0])
    assert result.alpha.value == pytest.approx(expected)
    assert result.n_raters == 4
    assert (result.alpha.low or 1) < expected < (result.alpha.high or -1)


def test_human_pairs_are_averaged_by_item() -> None:
    ratings: list[list[str | None]] = [["A", "A", "B"], ["A", "B", None], ["B", None, None], [None, None, None]]
    result = rate_humans(ratings)
    assert result.pairwise_raw.value == pytest.approx((1 / 3 + 0) / 2)
    assert (result.pairwise_raw.n, result.pairwise_raw.repeats, result.n_raters) == (2, 3, 3)


@pytest.mark.parametrize(
    "ratings", [[], [["A", "B"]], [["A", "B"], [None, None]], [["A", None], [None, "B"]], [[None], [None]]]
)
def test_without_two_people_on_an_item_there_is_no_ceiling(ratings: list[list[str | None]]) -> None:
    result = rate_humans(ratings)
    assert (result.alpha.value, result.pairwise_raw.value, result.pairwise_raw.n) == (None, None, 0)
    assert result.n_raters == sum(any(row) for row in ratings)


def test_people_who_say_one_label_have_raw_agreement_only() -> None:
    result = rate_humans([["A", "A"], ["A", "A"], ["A", "A"]])
    assert (result.alpha.value, result.pairwise_raw.value) == (None, 1.0)
    assert result.pairwise_raw.low == pytest.approx(wilson(2, 2).low)


def test_human_labels_off_the_scale_name_rater_and_item() -> None:
    with pytest.raises(ValueError, match=r"^ratings\[1\].*: label not on the scale, got 'D'; expected one of "):
        rate_humans([["A", "B"], [None, "D"]])
    with pytest.raises(ValueError, match=r"^ratings\[1\]: wrong length, got 1; expected 2"):
        rate_humans([["A", "B"], ["A"]])
