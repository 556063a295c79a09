"""Label-bias calibration: it takes away a bias, and nothing is judged by what it helped to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.stats.label_bias import (
    FEWEST_QUESTIONS,
    accuracy_gain,
    balanced_accuracy,
    count_questions,
    held_out_logprobs,
    label_offsets,
    likeliest_counts,
)

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
BIAS = np.array([2.0, 0.0, -3.0])

Example = tuple[NDArray[np.float64], list[str], list[str]]


def example(*, signal: float, n_questions: int = 60, size: int = 3, seed: int = 0) -> Example:
    """Items whose true label is ``signal`` above the others, under a liking for the first label."""
    rng = np.random.default_rng(seed)
    n = n_questions * size
    people = rng.choice(3, n, p=[0.5, 0.2, 0.3])
    logprobs = rng.normal(0, 1, (n, 3)) + BIAS + signal * np.eye(3)[people]
    return logprobs, [LABELS[code] for code in people], [f"q{row // size}" for row in range(n)]


def balanced(logprobs: NDArray[np.float64], reference: list[str], clusters: list[str]) -> float:
    value = balanced_accuracy(
        reference, likeliest_counts(logprobs), clusters, labels=LABELS, rng=np.random.default_rng(0), resamples=2
    ).value
    assert value is not None
    return value


def test_a_bias_that_hides_a_signal_is_taken_away() -> None:
    logprobs, reference, clusters = example(signal=2.0)
    before, after = balanced(logprobs, reference, clusters), held_out(logprobs, reference, clusters)
    assert balanced(after, reference, clusters) > before + 0.2
    assert balanced(after, reference, clusters) == pytest.approx(
        balanced(logprobs - BIAS, reference, clusters), abs=0.03
    )
    assert np.exp(after).sum(axis=1) == pytest.approx(1)


def test_the_offsets_are_the_bias_up_to_a_constant() -> None:
    logprobs, reference, _ = example(signal=2.0, n_questions=3_000)
    offsets = label_offsets(logprobs, reference, labels=LABELS)
    assert [offsets[label] for label in LABELS] == pytest.approx(BIAS - BIAS.mean(), abs=0.05)
    assert sum(offsets.values()) == pytest.approx(0)


Calibrator = Callable[[NDArray[np.float64], list[str], list[str]], NDArray[np.float64]]


def lead_over_chance(calibrate: Calibrator, size: int) -> float:
    """Balanced accuracy above chance on noise alone, over many small sets, in standard errors."""
    leads = []
    for seed in range(300):
        logprobs, reference, clusters = example(signal=0.0, n_questions=40, size=size, seed=seed)
        if min(count_questions(reference, clusters, labels=LABELS).values()) >= FEWEST_QUESTIONS:
            leads.append(balanced(calibrate(logprobs, reference, clusters), reference, clusters) - 1 / 3)
    assert len(leads) > 200
    return float(np.mean(leads) / (np.std(leads) / np.sqrt(len(leads))))


def held_out(logprobs: NDArray[np.float64], reference: list[str], clusters: list[str]) -> NDArray[np.float64]:
    return held_out_logprobs(logprobs, reference, clusters, labels=LABELS)


def nearest_mean(logprobs: NDArray[np.float64], reference: list[str], clusters: list[str]) -> NDArray[np.float64]:
    """What must not be done: each item is judged by the mean of its own label, itself included."""
    rows = [[given == label for given in reference] for label in LABELS]
    means = np.array([logprobs[row].mean(axis=0) for row in rows])
    return np.asarray(-((logprobs[:, None, :] - means[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize("size", [1, 4])
def test_without_a_signal_held_out_accuracy_is_at_chance(size: int) -> None:
    assert abs(lead_over_chance(held_out, size)) < 3.5


@pytest.mark.parametrize("size", [1, 4])
def test_that_check_sees_a_classifier_fitted_on_what_it_judges(size: int) -> None:
    assert lead_over_chance(nearest_mean, size) > 10


def test_an_items_own_label_and_its_neighbours_do_not_move_it() -> None:
    logprobs, reference, clusters = example(signal=1.0)
    before = held_out_logprobs(logprobs, reference, clusters, labels=LABELS)
    other = {"INCORRECT": "CORRECT", "CORRECT": "NOT_ATTEMPTED", "NOT_ATTEMPTED": "INCORRECT"}
    changed = [other[label] if cluster == "q7" else label for label, cluster in zip(reference, clusters, strict=True)]
    after = held_out_logprobs(logprobs, changed, clusters, labels=LABELS)
    own = np.array([cluster == "q7" for cluster in clusters])
    assert after[own] == pytest.approx(before[own])
    assert np.abs(after[~own] - before[~own]).max() > 1e-6


def test_names_order_and_a_common_factor_move_nothing() -> None:
    logprobs, reference, clusters = example(signal=1.0)
    whole = held_out_logprobs(logprobs, reference, clusters, labels=LABELS)
    order = np.random.default_rng(2).permutation(len(reference))
    turned = [2, 0, 1]
    other = held_out_logprobs(
        (logprobs + np.arange(len(reference))[:, None] / 7)[order][:, turned],
        [reference[row] for row in order],
        [f"renamed {clusters[row]}" for row in order],
        labels=[LABELS[column] for column in turned],
    )
    assert other == pytest.approx(whole[order][:, turned])


def test_how_often_people_gave_a_label_moves_no_offset() -> None:
    logprobs, reference, _ = example(signal=1.5)
    kept = [row for row, label in enumerate(reference) if label == "CORRECT"]
    rows = [*range(len(reference)), *kept, *kept]
    often = label_offsets(logprobs[rows], [reference[row] for row in rows], labels=LABELS)
    assert often == pytest.approx(label_offsets(logprobs, reference, labels=LABELS))


def test_too_few_questions_with_a_label_are_refused_with_their_number() -> None:
    logprobs, _, _ = example(signal=0.0, n_questions=20, size=1)
    reference = ["CORRECT"] * 9 + ["INCORRECT"] * 7 + ["NOT_ATTEMPTED"] * 4
    assert count_questions(reference, range(20), labels=LABELS)["NOT_ATTEMPTED"] == 4
    with pytest.raises(ValueError, match="NOT_ATTEMPTED': 4"):
        held_out_logprobs(logprobs, reference, range(20), labels=LABELS)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_log_probability_is_refused(bad: float) -> None:
    logprobs, reference, clusters = example(signal=0.0)
    logprobs[3, 1] = bad
    with pytest.raises(ValueError, match="logprobs"):
        held_out_logprobs(logprobs, reference, clusters, labels=LABELS)


def test_a_table_on_its_side_is_refused() -> None:
    with pytest.raises(ValueError, match="wrong shape"):
        label_offsets(np.zeros((3, 2)), ["CORRECT", "INCORRECT"], labels=LABELS)


def test_a_tie_prefers_no_label() -> None:
    assert likeliest_counts([[-1.0, -1.0, -3.0], [-2.0, -1.0, -3.0]]).tolist() == [[1, 1, 0], [0, 1, 0]]


def test_balanced_accuracy_weighs_labels_not_items() -> None:
    reference = ["CORRECT"] * 8 + ["INCORRECT"] * 2
    counts = [[0, 0, 1]] * 10
    found = balanced_accuracy(reference, counts, range(10), labels=LABELS, rng=np.random.default_rng(0))
    assert found.value == pytest.approx((1 + 0) / 2)


def covered(function: Any) -> float:
    """Share of 95% intervals, over small sets with answers that go together, that hold the true accuracy."""
    rng = np.random.default_rng(9)
    held = 0
    for _ in range(150):
        levels = rng.beta(4, 2, 50)
        right = (rng.random((50, 3)) < levels[:, None]).astype(int).ravel()
        reference = ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"] * 50
        held += function(right, reference, [f"q{row // 3}" for row in range(150)], rng)
    return held / 150


def test_intervals_hold_the_true_accuracy() -> None:
    def holds(right: NDArray[np.int64], reference: list[str], clusters: list[str], rng: np.random.Generator) -> bool:
        said = [
            LABELS.index(label) if ok else (LABELS.index(label) + 1) % 3
            for label, ok in zip(reference, right, strict=True)
        ]
        found = balanced_accuracy(
            reference, np.eye(3, dtype=int)[said], clusters, labels=LABELS, rng=rng, resamples=300
        )
        assert found.low is not None
        assert found.high is not None
        return found.low <= 4 / 6 <= found.high

    assert covered(holds) >= 0.88


def test_the_gain_is_paired() -> None:
    reference, clusters = ["CORRECT", "INCORRECT"] * 10, [f"q{row // 2}" for row in range(20)]
    before = np.eye(3, dtype=int)[[0] * 20]
    after = np.eye(3, dtype=int)[[2, 0] * 10]
    gain = accuracy_gain(reference, before, after, clusters, labels=LABELS, rng=np.random.default_rng(0))
    assert gain.value == pytest.approx(1 / 2)
    none = accuracy_gain(reference, before, before, clusters, labels=LABELS, rng=np.random.default_rng(0))
    assert (none.value, none.low) == (0.0, None)
