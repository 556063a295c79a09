"""Variance components of verdicts, of data that cannot tell them apart, and of bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from component_samples import CROSSED, NESTED, crossed, nested, raw
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats import pairwise_disagreement
from experiments.stats.errors.error_split import error_split
from experiments.stats.repeats.variance_components import (
    Component,
    correctness_components,
    crossed_correctness_components,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


# --- what the data cannot tell ------------------------------------------------------------------------------------


def test_what_is_not_told_apart_is_contained_in_the_next_one_up() -> None:
    scores = np.random.default_rng(3).normal(size=(12, 2))
    single = nested(scores[:, :1], np.repeat(range(6), 2))
    assert single.repeat == Component(single.repeat.raw, None)
    assert single.item.raw.value == pytest.approx(
        np.mean([np.var(pair, ddof=1) for pair in scores[:, 0].reshape(6, 2)])
    )
    assert single.item_correlation.value is None
    alone = nested(scores, range(12))
    assert raw(alone, ("item",)) == [None]
    assert alone.question.raw.value == pytest.approx(np.var(scores.mean(axis=1), ddof=1) - np.mean(scores.var(axis=1)))
    both = nested(scores[:, :1], range(12))
    assert raw(both, NESTED) == [pytest.approx(np.var(scores[:, 0], ddof=1)), None, None]
    one = nested(scores, ["q"] * 12)
    assert raw(one, ("question",)) == [None]
    assert (one.item.raw.high or 0) > (one.item.raw.low or 0)


def test_crossed_data_without_repeats_or_second_items_equal_the_two_way_analysis() -> None:
    """Interaction and residual are one: MS of the table without replication; grader and question as by hand."""
    table = np.random.default_rng(4).normal(size=(4, 9)) + np.arange(4)[:, None]
    result = crossed(table[:, :, None], range(9))
    residual = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()
    error = (residual**2).sum() / (3 * 8)
    assert raw(result, ("item", "grader_item", "repeat")) == [None, None, None]
    assert result.grader_question.raw.value == pytest.approx(error, abs=1e-9)
    assert result.grader.raw.value == pytest.approx(np.var(table.mean(axis=1), ddof=1) - error / 9, abs=1e-9)
    assert result.question.raw.value == pytest.approx(np.var(table.mean(axis=0), ddof=1) - error / 4, abs=1e-9)


def test_graders_that_share_no_item_are_not_crossed() -> None:
    scores = np.full((2, 8, 2), np.nan)
    scores[0, :4], scores[1, 4:] = np.random.default_rng(5).normal(size=(2, 4, 2))
    result = crossed(scores, [0, 0, 1, 1, 0, 0, 1, 1])
    assert raw(result, ("question", "item", "grader_question", "grader_item")) == [None] * 4
    assert result.repeat.raw.value is not None
    assert result.agreement.value is None


@pytest.mark.parametrize("scores", [np.zeros((0, 3)), np.full((4, 2), np.nan), np.zeros((3, 0))])
def test_without_scores_nothing_is_defined(scores: np.ndarray) -> None:
    result = nested(scores, range(len(scores)))
    assert raw(result, NESTED) == [None] * 3
    assert (result.item_correlation.value, result.question.raw.n, result.question.truncated) == (None, 0, None)
    layers = crossed(scores[None], range(len(scores)))
    assert raw(layers, CROSSED) == [None] * 6


def test_one_score_has_no_variance() -> None:
    result = nested([[1.0]], ["q"])
    assert raw(result, NESTED) == [None] * 3
    assert (result.item.raw.n, result.item.raw.clusters, result.item.raw.repeats) == (1, 1, 1)


# --- correctness ----------------------------------------------------------------------------------------------


def verdicts(n: int = 40, graders: int = 3) -> tuple[list[str], np.ndarray, list[int]]:
    rng = np.random.default_rng(11)
    sizes = rng.integers(0, 6, size=(graders, n))
    counts = np.array([[rng.multinomial(size, rng.dirichlet([1, 1, 2])) for size in row] for row in sizes])
    return rng.choice(LABELS, n).tolist(), counts, [row // 3 for row in range(n)]


def test_counts_of_verdicts_equal_their_scores() -> None:
    reference, counts, clusters = verdicts()
    scores = np.full((3, 40, 5), np.nan)
    for grader, item in np.ndindex(3, 40):
        given_labels = np.repeat(LABELS, counts[grader, item])
        right = (given_labels == "CORRECT") == (reference[item] == "CORRECT")
        scores[grader, item, : len(right)] = right
    rng = np.random.default_rng(0)
    one = correctness_components(
        reference, counts[0], clusters, labels=LABELS, positive="CORRECT", resamples=20, rng=rng
    )
    assert raw(one, NESTED) == pytest.approx(raw(nested(scores[0], clusters, far=1), NESTED), abs=1e-12)
    several = crossed_correctness_components(
        reference, counts, clusters, labels=LABELS, positive="CORRECT", resamples=20, rng=np.random.default_rng(0)
    )
    expected = crossed(scores, clusters, far=1)
    assert raw(several, CROSSED) == pytest.approx(raw(expected, CROSSED), abs=1e-12)
    assert several.repeat.raw.low == pytest.approx(expected.repeat.raw.low, abs=0.02)


def test_repeat_component_is_the_random_part_and_half_the_disagreement() -> None:
    reference, counts, clusters = verdicts()
    rng = np.random.default_rng(0)
    result = correctness_components(reference, counts[0], clusters, labels=LABELS, positive="CORRECT", rng=rng)
    split = error_split(reference, counts[0], clusters, labels=LABELS, positive="CORRECT").wrong_side
    sides = np.column_stack([counts[0][:, :2].sum(axis=1), counts[0][:, 2]])
    assert result.repeat.raw.value == pytest.approx(split.random.value, abs=1e-12)
    assert result.repeat.raw.value == pytest.approx((pairwise_disagreement(sides, clusters).value or 0) / 2, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_order_of_items_and_repeats_and_names_of_questions_change_no_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(2, 20, 3))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    clusters, order = rng.integers(0, 7, 20), rng.permutation(20)
    names = [f"q{9 - cluster}" for cluster in clusters[order]]
    moved = rng.permuted(scores[:, order], axis=2)
    assert crossed(moved, names) == crossed(scores, clusters)
    assert nested(moved[0], names) == nested(scores[0], clusters)


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "far", "message"),
    [
        ([0.0, 1.0], 1.0, r"^scores: wrong shape, got \(2,\); expected \(n, repeats\)"),
        ([[0.0, np.inf]], 1.0, r"^scores: not a finite number, got inf"),
        ([[0.0, 2.0]], 1.0, r"^scores: differ by 2.0, got largest_difference=1.0; expected no less"),
        ([[0.0, 1.0]], 0.0, r"^largest_difference: not a distance, got 0.0"),
        ([[0.0, 1.0], [0.0, 1.0]], 1.0, r"^clusters: wrong length, got 1; expected 2"),
    ],
)
def test_bad_scores_are_refused(scores: Any, far: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nested(scores, ["q"], far=far)


def test_bad_verdicts_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"^counts: no grader, got none"):
        crossed_correctness_components(["CORRECT"], [], "a", labels=LABELS, positive="CORRECT", rng=rng)
    with pytest.raises(ValueError, match=r"^reference\[0\]: label not on the scale, got 'MAYBE'"):
        correctness_components(["MAYBE"], [[0, 0, 1]], "a", labels=LABELS, positive="CORRECT", rng=rng)
    with pytest.raises(ValueError, match=r"^level: not a confidence level"):
        correctness_components(["CORRECT"], [[0, 0, 1]], "a", labels=LABELS, positive="CORRECT", level=2, rng=rng)


def test_a_raw_correlation_beyond_one_is_inside_its_interval() -> None:
    scores = np.array([[[0.0], [np.nan], [np.nan]], [[0.0], [1.0], [1.0]]])
    consistency = crossed(scores, ["a", "a", "b"], far=1.0).consistency
    assert consistency.value == pytest.approx(2.0)
    assert consistency.low is not None
    assert consistency.high is not None
    assert consistency.low < consistency.value <= consistency.high
