"""The parts of a corrected score's variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from experiments.stats.correction import (
    ErrorBudget,
    GradedItems,
    LabelledItems,
    NotIdentifiedError,
    RatedItems,
    correct_scores,
    error_budget,
)
from experiments.stats.scores.score_functions import SCORES

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
TWO = ("INCORRECT", "CORRECT")
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
MATRIX = np.array([[0.9, 0.04, 0.06], [0.05, 0.85, 0.1], [0.1, 0.02, 0.88]])
PI = np.array([0.4, 0.2, 0.4])

Items = tuple[NDArray[np.int64], NDArray[np.int64]]


def graded(rng: np.random.Generator, n: int, *, repeats: int, systematic: bool = False) -> Items:
    """People's labels and counts. ``systematic``: an item has one verdict, which all its repeats give."""
    people = rng.choice(3, p=PI, size=n)
    size = 1 if systematic else repeats
    counts = np.array([rng.multinomial(size, MATRIX[a]) for a in people])
    return people, counts * (repeats // size)


def budget(benchmark: Items, calibration: Items, score: str = "correct", *, copies: int = 1) -> ErrorBudget:
    people, counts = (np.concatenate([part] * copies) for part in calibration)
    items = LabelledItems([LABELS[a] for a in people], counts, range(len(people)))
    result = error_budget(GradedItems(benchmark[1], range(len(benchmark[1]))), items, score, **ROLES)
    assert result is not None
    return result


def parts(result: ErrorBudget) -> list[float]:
    found = (result.questions, result.repeats, result.grader_error, result.calibration, result.people)
    return [part for part in found if part is not None]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([name for name in SCORES if name != "penalised"]))
def test_the_parts_sum_to_one_and_none_is_negative(seed: int, repeats: int, score: str) -> None:
    rng = np.random.default_rng(seed)
    result = budget(graded(rng, 80, repeats=repeats), graded(rng, 150, repeats=repeats), score)
    assert sum(parts(result)) == pytest.approx(1.0, abs=1e-12)
    assert min(parts(result)) >= -1e-12
    assert result.variance > 0
    assert (result.repeats is None) == (repeats == 1)


def test_twice_the_labelled_items_halve_the_part_of_calibration() -> None:
    rng = np.random.default_rng(0)
    benchmark, calibration = graded(rng, 3000, repeats=1), graded(rng, 1500, repeats=1)
    once, twice = budget(benchmark, calibration), budget(benchmark, calibration, copies=2)
    ratio = twice.calibration * twice.variance / (once.calibration * once.variance)
    assert ratio == pytest.approx(0.5, abs=0.02)
    assert twice.questions * twice.variance == pytest.approx(once.questions * once.variance, rel=0.02)


def test_twice_the_repeats_halve_the_part_of_repeats() -> None:
    rng = np.random.default_rng(1)
    noise = []
    for repeats in (3, 6):
        result = budget(graded(rng, 4000, repeats=repeats), graded(rng, 4000, repeats=repeats))
        assert result.repeats is not None
        noise.append(result.repeats * result.variance)
        assert result.grader_error < 0.05
    assert noise[1] / noise[0] == pytest.approx(0.5, abs=0.06)


def test_errors_that_survive_every_repeat_are_not_repeat_noise() -> None:
    rng = np.random.default_rng(2)
    result = budget(graded(rng, 2000, repeats=4, systematic=True), graded(rng, 2000, repeats=4, systematic=True))
    assert result.repeats == 0.0
    assert result.grader_error > 0.1


def test_what_a_perfect_grader_would_leave() -> None:
    """Questions alone: the variance of a share among N items."""
    rng = np.random.default_rng(3)
    result = budget(graded(rng, 2000, repeats=1), graded(rng, 8000, repeats=1))
    assert result.questions * result.variance == pytest.approx(0.4 * 0.6 / 2000, rel=0.1)
    people = rng.choice(3, p=PI, size=2000)
    perfect = budget((people, np.eye(3, dtype=int)[people]), (people, np.eye(3, dtype=int)[people]))
    assert perfect.questions > 0.99


def test_one_verdict_an_item_in_one_sample_borrows_the_noise_of_the_other() -> None:
    rng = np.random.default_rng(4)
    single = budget(graded(rng, 3000, repeats=1), graded(rng, 3000, repeats=5))
    assert single.repeats is not None
    assert single.grader_error < 0.06
    assert single.repeats > 0.1


def test_people_who_differ_have_a_part() -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random(400) < 0.4).astype(int)
    verdicts = np.where(rng.random(400) < 0.1, 1 - truth, truth)
    ratings = [[TWO[a] for a in truth], [TWO[a] for a in truth], [TWO[int(a or rng.random() < 0.3)] for a in truth]]
    benchmark = GradedItems(np.eye(2, dtype=int)[verdicts], range(400))
    rated = RatedItems(ratings, np.eye(2, dtype=int)[verdicts], range(400))
    result = error_budget(benchmark, rated, "correct", labels=TWO, correct="CORRECT", not_attempted=None)
    assert result is not None
    assert result.people is not None
    assert result.people > 0.2
    assert sum(parts(result)) == pytest.approx(1.0, abs=1e-12)


def test_a_score_that_is_not_defined_has_no_budget() -> None:
    counts, people = np.array([[0, 1, 0]] * 40), np.repeat([0, 1, 2], 30)
    items = LabelledItems([LABELS[a] for a in people], np.eye(3, dtype=int)[people], range(90))
    assert error_budget(GradedItems(counts, range(40)), items, "accuracy_given_attempted", **ROLES) is None


def test_no_identification_is_no_budget() -> None:
    items = LabelledItems(["CORRECT"], [[0, 0, 1]], [0])
    with pytest.raises(NotIdentifiedError, match="people called no calibration item"):
        error_budget(GradedItems([[0, 0, 1]], [0]), items, "correct", **ROLES)
    people = np.repeat([0, 1, 2], 30)
    perfect = LabelledItems([LABELS[a] for a in people], np.eye(3, dtype=int)[people], range(90))
    with pytest.raises(NotIdentifiedError, match="no benchmark item"):
        error_budget(GradedItems([[0, 0, 0]], [0]), perfect, "correct", **ROLES)
    with pytest.raises(ValueError, match="score: unknown"):
        error_budget(GradedItems([[0, 0, 1]], [0]), perfect, "accuracy score", **ROLES)


@pytest.mark.slow
def test_the_parts_are_the_variances_of_worlds_that_lack_the_others() -> None:
    """600 seeded worlds: the spread of the corrected score, then with M known, against the parts."""
    rng = np.random.default_rng(6)
    exact, estimated = [], []
    budgets = []
    for place in range(600):
        benchmark, calibration = graded(rng, 500, repeats=3), graded(rng, 300, repeats=3)
        q = benchmark[1].sum(axis=0) / benchmark[1].sum()
        rows = np.array([calibration[1][calibration[0] == a].sum(axis=0) for a in range(3)], dtype=float)
        rows /= rows.sum(axis=1, keepdims=True)
        exact.append(np.linalg.solve(MATRIX.T, q)[2])
        estimated.append(np.linalg.solve(rows.T, q)[2])
        if place < 60:
            budgets.append(budget(benchmark, calibration))
    of_benchmark = np.mean([(b.questions + b.grader_error) * b.variance for b in budgets])
    of_repeats = np.mean([(b.repeats or 0.0) * b.variance for b in budgets])
    assert np.mean([b.variance for b in budgets]) == pytest.approx(np.var(estimated), rel=0.2)
    assert of_benchmark < np.var(exact) * 1.2
    assert of_benchmark + of_repeats > np.var(exact) * 0.8


def test_a_score_that_cannot_vary_has_no_budget() -> None:
    benchmark = GradedItems(np.eye(2, dtype=np.int64)[[0] * 30 + [1] * 70], range(100))
    counts = np.eye(2, dtype=np.int64)[[0] * 28 + [1] * 2 + [1] * 29 + [0]]
    calibration = LabelledItems([TWO[0]] * 30 + [TWO[1]] * 30, counts, range(60))
    roles: dict[str, Any] = {"labels": TWO, "correct": "CORRECT", "not_attempted": None}
    assert error_budget(benchmark, calibration, "attempted", **roles) is None
    assert error_budget(benchmark, calibration, "not_attempted", **roles) is None
    assert error_budget(benchmark, calibration, "correct", **roles) is not None


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_items_that_several_people_labelled_changes_no_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people, counts = graded(rng, 90, repeats=4)
    others = np.where(rng.random((2, 90)) < 0.8, people, rng.integers(3, size=(2, 90)))
    benchmark = GradedItems(graded(rng, 80, repeats=3)[1], range(80))

    def split(order: NDArray[np.int64]) -> ErrorBudget | None:
        ratings = [[LABELS[a] for a in row[order]] for row in (people, *others)]
        return error_budget(benchmark, RatedItems(ratings, counts[order], order.tolist()), "f1", **ROLES)

    assert split(rng.permutation(90)) == split(np.arange(90))


def alike_in_questions(rng: np.random.Generator, n: int, size: int, *, alike: bool) -> tuple[Any, Any, list[str]]:
    """Items of ``n`` questions, ``size`` each; ``alike``: the grader passes all wrong answers of a question or none."""
    people = rng.choice(3, p=PI, size=n * size)
    chances = np.repeat(rng.random(n), size) if alike else rng.random(n * size)
    wrong = chances < 0.15
    verdicts = np.where(wrong, 2, people)
    return people, np.eye(3, dtype=np.int64)[verdicts], [f"q{row // size}" for row in range(n * size)]


def test_errors_that_a_question_has_in_common_are_the_grader_s_and_not_the_questions() -> None:
    rng = np.random.default_rng(8)
    parts_of = {}
    for alike in (True, False):
        _, counts, questions = alike_in_questions(rng, 2000, 5, alike=alike)
        people, labelled, asked = alike_in_questions(rng, 2000, 5, alike=alike)
        known = LabelledItems([LABELS[a] for a in people], labelled, asked)
        found = error_budget(GradedItems(counts, questions), known, "correct", **ROLES)
        assert found is not None
        assert sum(parts(found)) == pytest.approx(1.0, abs=1e-12)
        parts_of[alike] = found
    # What a perfect grader would leave is the same, for true labels do not hang together here.
    truth = 0.4 * 0.6 / 10_000
    for found in parts_of.values():
        assert found.questions * found.variance == pytest.approx(truth, rel=0.15)
    alike, apart = (parts_of[one].grader_error * parts_of[one].variance for one in (True, False))
    assert alike > 3 * apart


def test_questions_in_both_samples_have_a_part_of_their_own() -> None:
    rng = np.random.default_rng(9)
    people, counts, questions = alike_in_questions(rng, 300, 2, alike=True)
    known = LabelledItems([LABELS[a] for a in people], counts, questions)
    benchmark = GradedItems(counts, questions)
    found = error_budget(benchmark, known, "correct", shared_clusters=True, **ROLES)
    assert found is not None
    assert found.shared is not None
    assert sum(parts(found)) + found.shared == pytest.approx(1.0, abs=1e-12)
    shown = correct_scores(benchmark, known, shared_clusters=True, **ROLES).require_corrected()["correct"]
    half = (shown.high - shown.low) / 2  # type: ignore[operator]
    assert found.variance**0.5 * 1.96 == pytest.approx(half, rel=0.03)
    apart = error_budget(benchmark, known, "correct", **ROLES)
    assert apart is not None
    assert apart.shared is None
    assert apart.variance != pytest.approx(found.variance, rel=0.01)
