"""Figures of agreement and of missing verdicts that have misled, each with variants of its kind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from experiments.stats import (
    Agreement,
    Estimate,
    HumanAgreement,
    agreement,
    alpha_repeats,
    coverage,
    error_rate_bounds,
    human_agreement,
    pairwise_disagreement,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
Level = Literal["nominal", "ordinal", "interval"]


def compare(people: Sequence[str], grader: Sequence[str], labels: Sequence[str] = LABELS) -> Agreement:
    counts = [[int(label == given) for label in labels] for given in grader]
    clusters, rng = range(len(people)), np.random.default_rng(0)
    return agreement(people, counts, clusters, labels=labels, scale_level="nominal", rng=rng, resamples=50)


def alpha(counts: Sequence[Sequence[int]], labels: Sequence[str] = ("A", "B"), level: Level = "nominal") -> Estimate:
    rng = np.random.default_rng(0)
    return alpha_repeats(counts, range(len(counts)), labels=labels, scale_level=level, rng=rng, resamples=50)


def between_people(ratings: Sequence[Sequence[str | None]], labels: Sequence[str] = ("A", "B")) -> HumanAgreement:
    clusters, rng = range(len(ratings[0])), np.random.default_rng(0)
    return human_agreement(ratings, clusters, labels=labels, scale_level="nominal", rng=rng, resamples=50)


# --- one class ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("n", [1, 2, 5, 100])
@pytest.mark.parametrize("scale", [LABELS, LABELS[::-1], (*LABELS, "DISPUTED")])
def test_one_class_has_no_coefficient_and_keeps_its_agreement(label: str, n: int, scale: Sequence[str]) -> None:
    result = compare([label] * n, [label] * n, scale)
    coefficients = (result.cohen_kappa, result.gwet_ac1, result.krippendorff_alpha)
    assert [estimate.value for estimate in coefficients] == [None, None, None]
    assert (result.raw.value, result.raw.n) == (1.0, n)
    assert result.raw.low is not None
    assert result.raw.low < 1.0


def test_one_class_on_one_side_only_is_chance_level_and_not_undefined() -> None:
    result = compare(["CORRECT"] * 4, ["CORRECT", "CORRECT", "CORRECT", "INCORRECT"])
    assert (result.raw.value, result.cohen_kappa.value) == (0.75, 0.0)
    assert result.krippendorff_alpha.value == pytest.approx(1 - (2 / 8) / (2 * 7 * 1 / (8 * 7)))


@pytest.mark.parametrize(
    "counts", [[[3, 0], [3, 0]], [[0, 2], [0, 2], [0, 2]], [[10, 0]], [[2, 0], [5, 0], [1, 0]], [[1, 0], [0, 1]], []]
)
def test_no_variation_or_no_pair_has_no_alpha(counts: list[list[int]]) -> None:
    assert alpha(counts).value is None


def test_people_who_all_say_the_same_have_no_alpha_but_an_agreement() -> None:
    result = between_people([["A", "A", "A"], ["A", "A", "A"]])
    assert (result.alpha.value, result.pairwise_raw.value, result.pairwise_raw.n) == (None, 1.0, 3)


# --- rare classes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("both_right", "people_only", "grader_only", "both_wrong", "raw", "kappa", "ac1"),
    [
        (94, 3, 3, 0, 0.94, -0.0309, 0.9363),
        (90, 5, 5, 0, 0.90, -0.0526, 0.8895),
        (45, 5, 5, 45, 0.90, 0.8000, 0.8000),
        (98, 1, 0, 1, 0.99, 0.6622, 0.9897),
    ],
)
def test_kappa_and_ac1_part_where_a_class_is_rare(
    both_right: int, people_only: int, grader_only: int, both_wrong: int, raw: float, kappa: float, ac1: float
) -> None:
    people = ["R"] * (both_right + people_only) + ["W"] * (grader_only + both_wrong)
    grader = ["R"] * both_right + ["W"] * people_only + ["R"] * grader_only + ["W"] * both_wrong
    result = compare(people, grader, ("W", "R"))
    assert result.raw.value == pytest.approx(raw)
    assert result.cohen_kappa.value == pytest.approx(kappa, abs=5e-5)
    assert result.gwet_ac1.value == pytest.approx(ac1, abs=5e-5)
    assert result.prevalence["R"] == pytest.approx((both_right + people_only) / 100)


# --- worse than chance --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ([[1, 1], [1, 1]], 1 - 1 / (2 * 2 * 2 / (4 * 3))),
        ([[1, 1]] * 10, 1 - 1 / (2 * 10 * 10 / (20 * 19))),
        ([[2, 2], [2, 2]], 1 - (2 / 3) / (2 * 4 * 4 / (8 * 7))),
    ],
)
def test_alpha_below_zero_is_told(counts: list[list[int]], value: float) -> None:
    result = alpha(counts)
    assert result.value == pytest.approx(value)
    assert result.value is not None
    assert result.value < 0


def test_two_people_with_swapped_labels_have_an_alpha_of_minus_one_half() -> None:
    assert between_people([["A", "B"], ["B", "A"]]).alpha.value == pytest.approx(-0.5)


def test_a_grader_that_always_says_the_contrary() -> None:
    result = compare(["CORRECT", "INCORRECT"] * 5, ["INCORRECT", "CORRECT"] * 5)
    assert (result.raw.value, result.cohen_kappa.value) == (0.0, -1.0)


# --- unequal numbers of raters --------------------------------------------------------------------------------


def test_items_with_three_two_and_three_ratings() -> None:
    """Coincidences: three and two A alike, and of one A with two B a half each way."""
    observed = 2 * (1 * 2 / 2) / 8
    expected = 2 * 6 * 2 / (8 * 7)
    assert alpha([[3, 0], [2, 0], [1, 2]]).value == pytest.approx(1 - observed / expected)
    rated = between_people([["A", "A", "A"], ["A", "A", "B"], ["A", None, "B"]])
    assert rated.alpha.value == pytest.approx(1 - observed / expected)
    assert rated.pairwise_raw.value == pytest.approx((1 + 1 + 1 / 3) / 3)


def test_items_with_one_rating_say_nothing_of_agreement() -> None:
    assert alpha([[3, 0], [1, 2], [0, 1], [1, 0]]).value == alpha([[3, 0], [1, 2]]).value
    assert alpha([[3, 0], [1, 2], [0, 1]]).n == 2


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([["A", "A"], ["A", "B"]], "counts: not numbers"),
        ([[3, 0], [2]], "counts: wrong shape"),
        ([[3, 0, 0], [2, 0, 0]], "counts: wrong shape"),
        ([[-1, 4], [2, 0]], "counts: not a count, got -1"),
        ([[0.5, 0.5], [1, 0]], r"counts: not a count, got 0\.5"),
        ([[float("nan"), 1], [1, 0]], "counts: not a count, got nan"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(counts: list[list[int]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        alpha(counts)


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        ([["A", "B"], ["A"]], r"ratings\[1\]: wrong length, got 1; expected 2"),
        ([["A", "B"], ["A", "C"]], r"ratings\[1\]\[1\]: label not on the scale, got 'C'"),
        ([["A", "B"], ["A", ""]], r"label not on the scale, got ''"),
    ],
)
def test_strangers_and_gaps_among_people_are_refused(ratings: list[list[str | None]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        between_people(ratings)


# --- size ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_ten_thousand_items_of_five_judges_take_no_work_of_pairs(level: Level) -> None:
    counts = np.random.default_rng(1).multinomial(5, [0.2, 0.1, 0.7], size=10_000)
    started = time.process_time()
    found = alpha(counts.tolist(), LABELS, level)
    pairs = pairwise_disagreement(counts, range(len(counts)))
    assert time.process_time() - started < 20
    assert found.value == pytest.approx(0, abs=0.02)
    assert pairs.value == pytest.approx(1 - 0.2**2 - 0.1**2 - 0.7**2, abs=0.01)


# --- missing verdicts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("people", "counts", "expected", "false_negative", "share"),
    [
        ("R" * 10, [[0, 1]] * 5 + [[0, 0]] * 5, 1, (0.0, 0.5), 0.5),
        ("R" * 4, [[0, 1], [0, 1], [1, 0], [0, 0]], 1, (0.25, 0.5), 0.75),
        ("R" * 3, [[0, 0]] * 3, 1, (0.0, 1.0), 0.0),
        ("R" * 2, [[0, 2], [1, 1]], 2, (0.25, 0.25), 1.0),
        ("RRW", [[0, 3], [0, 1], [0, 0]], 3, (0.0, 1 / 3), 4 / 9),
    ],
)
def test_missing_verdicts_bound_a_rate(
    people: str, counts: list[list[int]], expected: int, false_negative: tuple[float, float], share: float
) -> None:
    bounds = error_rate_bounds(list(people), counts, expected, labels=("W", "R"), positive="R")
    assert bounds.false_negative == pytest.approx(false_negative)
    assert coverage(counts, expected) == pytest.approx(share)


def test_more_verdicts_than_were_asked_for_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"counts\[1\]: more verdicts than asked for, got 39; expected 20"):
        coverage([[0, 20], [19, 20]], 20)
