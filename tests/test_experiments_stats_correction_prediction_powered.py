"""Prediction-powered means against ppi-python, and the scores built on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from experiments.stats.correction import GradedItems, LabelledItems, powered_mean, powered_scores, tune_power
from experiments.stats.scores.score_functions import score_value

REFERENCES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "references" / "prediction_powered.json").read_text(encoding="utf-8")
)
LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
MATRIX = np.array([[0.9, 0.04, 0.06], [0.05, 0.85, 0.1], [0.1, 0.02, 0.88]])
ROLES = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
Z = float(norm.ppf(0.975))


def mean_of(case: dict[str, Any]) -> Any:
    n, n_others = len(case["truth"]), len(case["unlabelled"])
    return powered_mean(
        case["truth"],
        case["predicted"],
        range(n),
        case["unlabelled"],
        range(n, n + n_others),
        labelled_at_random=True,
        power=case["power"],
    )


@pytest.mark.parametrize("case", REFERENCES)
def test_means_are_those_of_ppi_python(case: dict[str, Any]) -> None:
    assert mean_of(case).estimate.value == pytest.approx(case["value"], abs=1e-9)


@pytest.mark.parametrize("case", REFERENCES)
def test_standard_errors_are_those_of_ppi_python_with_the_textbook_divisor(case: dict[str, Any]) -> None:
    """ppi-python divides by n; with equal samples, or no power, that is one factor, else it is bounded."""
    n, n_others = len(case["truth"]), len(case["unlabelled"])
    theirs = (case["high"] - case["low"]) / 2 / Z
    ours = mean_of(case).standard_error
    if n == n_others or case["power"] == 0.0:
        assert ours == pytest.approx(theirs * (n / (n - 1)) ** 0.5, abs=1e-9)
    smaller, larger = sorted((n, n_others))
    assert theirs * (larger / (larger - 1)) ** 0.5 - 1e-9 <= ours <= theirs * (smaller / (smaller - 1)) ** 0.5 + 1e-9


def sample(
    rng: np.random.Generator, n: int, pi: tuple[float, ...] = (0.4, 0.2, 0.4), repeats: int = 1
) -> tuple[list[str], np.ndarray[Any, Any]]:
    people = rng.choice(3, p=pi, size=n)
    return [LABELS[a] for a in people], np.array([rng.multinomial(repeats, MATRIX[a]) for a in people])


def test_a_class_share_is_the_powered_mean_of_its_indicator() -> None:
    rng = np.random.default_rng(0)
    reference, counts = sample(rng, 60, repeats=3)
    _, others = sample(rng, 200, repeats=3)
    score = powered_scores(
        LabelledItems(reference, counts, range(60)),
        GradedItems(others, range(60, 260)),
        **ROLES,
        labelled_at_random=True,
    )["not_attempted"]
    mean = powered_mean(
        [float(label == "NOT_ATTEMPTED") for label in reference],
        counts[:, 1] / 3,
        range(60),
        others[:, 1] / 3,
        range(60, 260),
        labelled_at_random=True,
    )
    assert score.power == pytest.approx(mean.power, abs=1e-12)
    assert score.estimate.value == pytest.approx(mean.estimate.value, abs=1e-12)
    assert score.estimate.low == pytest.approx(mean.estimate.low, abs=1e-12)


def test_each_score_is_that_of_its_own_shares_which_sum_to_one() -> None:
    rng = np.random.default_rng(1)
    reference, counts = sample(rng, 80)
    _, others = sample(rng, 300)
    labelled, unlabelled = LabelledItems(reference, counts, range(80)), GradedItems(others, range(80, 380))
    for name, score in powered_scores(labelled, unlabelled, **ROLES, labelled_at_random=True).items():
        assert sum(score.raw) == pytest.approx(1.0, abs=1e-12)
        assert score.estimate.value == pytest.approx(float(score_value(name, score.shares, **ROLES)), abs=1e-12)
        assert 0.0 < score.power <= 1.0


@pytest.mark.parametrize("power", [0.0, 0.7, 1.0])
def test_questions_shared_by_both_parts_move_together(power: float) -> None:
    """Oracle: the cluster-robust sum written as a loop over questions."""
    rng = np.random.default_rng(2)
    y, x, u = rng.random(30), rng.random(30), rng.random(90)
    codes, others = rng.integers(12, size=30), rng.integers(12, size=90)
    rectifier, verdicts = y - power * x - (y - power * x).mean(), power * (u - u.mean())
    total = 0.0
    for question in range(12):
        ours, theirs = codes == question, others == question
        first = rectifier[ours].sum() / 30 / (1 - ours.sum() / 30) ** 0.5
        total += (first + verdicts[theirs].sum() / 90 / (1 - theirs.sum() / 90) ** 0.5) ** 2
    result = powered_mean(y, x, codes.tolist(), u, others.tolist(), labelled_at_random=True, power=power)
    assert result.standard_error == pytest.approx(total**0.5, abs=1e-12)


def test_order_and_names_of_items_do_not_move_a_digit() -> None:
    rng = np.random.default_rng(3)
    reference, counts = sample(rng, 50)
    _, others = sample(rng, 70)
    first, second = rng.permutation(50), rng.permutation(70)
    codes, other_codes = rng.integers(20, size=50), rng.integers(20, size=70)
    plain = powered_scores(
        LabelledItems(reference, counts, codes.tolist()),
        GradedItems(others, other_codes.tolist()),
        **ROLES,
        labelled_at_random=True,
    )
    moved = powered_scores(
        LabelledItems([reference[i] for i in first], counts[first], [f"q{codes[i]}" for i in first]),
        GradedItems(others[second], [f"q{other_codes[i]}" for i in second]),
        **ROLES,
        labelled_at_random=True,
    )
    assert plain == moved


@pytest.mark.parametrize("stated", [False, None, 0])
def test_it_is_an_error_where_the_labelled_items_are_no_random_part(stated: Any) -> None:
    with pytest.raises(ValueError, match="no random part of the benchmark"):
        powered_mean([0.0, 1.0], [0.0, 1.0], [0, 1], [0.0, 1.0], [2, 3], labelled_at_random=stated)
    with pytest.raises(ValueError, match="no random part of the benchmark"):
        powered_scores(
            LabelledItems(["CORRECT"], [[0, 0, 1]], [0]),
            GradedItems([[0, 0, 1]], [1]),
            **ROLES,
            labelled_at_random=stated,
        )


def test_a_grader_that_always_says_the_same_gets_no_power() -> None:
    labels = [1.0, 0.0, 1.0, 1.0]
    result = powered_mean(labels, [1.0] * 4, range(4), [1.0] * 9, range(4, 13), labelled_at_random=True)
    assert (result.power, result.estimate.value) == (0.0, 0.75)
    assert tune_power(np.array(labels), np.array([0.0, 1.0, 0.0, 0.0]), np.ones(3)) == 0.0


def test_all_the_same_has_an_interval_that_is_no_point() -> None:
    scores = powered_scores(
        LabelledItems(["CORRECT"] * 5, [[0, 0, 1]] * 5, range(5)),
        GradedItems([[0, 0, 1]] * 20, range(5, 25)),
        **ROLES,
        labelled_at_random=True,
    )
    estimate = scores["correct"].estimate
    assert (estimate.value, estimate.high) == (1.0, 1.0)
    assert estimate.low == pytest.approx(1 - Z**2 / (5 + Z**2))


def test_one_labelled_question_has_no_error_and_nothing_attempted_no_accuracy() -> None:
    none = powered_mean([1.0], [1.0], [0], [1.0, 0.0], [1, 2], labelled_at_random=True, power=1.0)
    assert (none.estimate.value, none.estimate.low, none.standard_error) == (0.5, None, None)
    scores = powered_scores(
        LabelledItems(["NOT_ATTEMPTED"] * 3, [[0, 1, 0]] * 3, range(3)),
        GradedItems([[0, 1, 0]] * 4, range(3, 7)),
        **ROLES,
        labelled_at_random=True,
    )
    assert scores["accuracy_given_attempted"].estimate.value is None
    assert scores["f1"].estimate.value == 0.0


def test_an_empty_part_is_refused() -> None:
    with pytest.raises(ValueError, match="wrong shapes"):
        powered_mean([], [], [], [1.0], [0], labelled_at_random=True)
    with pytest.raises(ValueError, match="expected some in both"):
        powered_scores(
            LabelledItems(["CORRECT"], [[0, 0, 1]], [0]),
            GradedItems([[0, 0, 0]], [1]),
            **ROLES,
            labelled_at_random=True,
        )


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
def test_intervals_hold_their_level_and_beat_the_labels_alone(n: int) -> None:
    """1,000 seeded benchmarks of 1,000 items; the binomial bound is four standard errors."""
    rng = np.random.default_rng(4)
    truth = {name: float(score_value(name, [0.4, 0.2, 0.4], **ROLES)) for name in ("correct", "f1")}
    held, widths = dict.fromkeys(truth, 0), []
    for _ in range(1000):
        reference, counts = sample(rng, n)
        _, others = sample(rng, 1000 - n)
        scores = powered_scores(
            LabelledItems(reference, counts, range(n)),
            GradedItems(others, range(n, 1000)),
            **ROLES,
            labelled_at_random=True,
        )
        for name, value in truth.items():
            estimate = scores[name].estimate
            assert estimate.low is not None
            assert estimate.high is not None
            held[name] += estimate.low <= value <= estimate.high
        correct = scores["correct"].estimate
        assert correct.low is not None
        assert correct.high is not None
        widths.append(correct.high - correct.low)
    for name in truth:
        assert held[name] / 1000 == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 1000) ** 0.5)
    assert np.mean(widths) < 0.8 * 2 * Z * (0.4 * 0.6 / n) ** 0.5
    assert_allclose(np.isfinite(widths), True)


def test_a_mean_of_equal_numbers_has_an_interval_that_is_no_point() -> None:
    """Wilson's upper limit of 0 in 8 questions, times the bound."""
    limit = norm.ppf(0.975) ** 2 / (8 + norm.ppf(0.975) ** 2)
    same = ([1.0] * 8, [1.0] * 8, range(8), [1.0] * 20, range(8, 28))
    found = powered_mean(*same, labelled_at_random=True)
    assert found.standard_error == 0.0
    assert (found.estimate.low, found.estimate.high) == pytest.approx((1 - limit, 1 + limit))
    wide = powered_mean(*same, labelled_at_random=True, bound=3.0).estimate
    assert (wide.low, wide.high) == pytest.approx((1 - 3 * limit, 1 + 3 * limit))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_numbers_that_are_not_finite_are_refused(place: int, bad: float) -> None:
    given: list[Any] = [[1.0, 0.0], [0.5, 0.5], ["a", "b"], [0.5, 0.0], ["c", "d"]]
    given[place][1] = bad
    with pytest.raises(ValueError, match=r"^(truth|predicted|unlabelled)\[1\]: not a finite number, got .+; expected"):
        powered_mean(*given, labelled_at_random=True)


def test_a_question_too_few_here_and_one_too_many_there_are_refused() -> None:
    """Together they are as many as items, and every question would be another item's."""
    with pytest.raises(ValueError, match=r"^clusters: wrong length, got 1; expected 2, one a labelled item"):
        powered_mean([1, 0], [1, 1], ["a"], [1, 0], ["b", "c", "d"], labelled_at_random=True)
