"""Corrected scores: their values, their edges, and what is said where there is nothing to correct with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_samples import LABELS, MATRIX, PI, ROLES, TWO, TWO_ROLES, graded, repeated, two_classes
from numpy.testing import assert_allclose

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    NotIdentifiedError,
    RatedItems,
    build_samples,
    correct_scores,
    rogan_gladen,
)
from experiments.stats.correction.influence import score_influence
from experiments.stats.correction.uncertainty import bootstrap_shares
from experiments.stats.scores.score_functions import SCORES


def test_two_classes_are_rogan_and_gladen() -> None:
    result = correct_scores(*two_classes(700, 300, ((57, 3), (5, 45))), **TWO_ROLES)
    expected = rogan_gladen(0.3, sensitivity=45 / 50, specificity=57 / 60).value
    scores = result.require_corrected()
    assert scores["correct"].value == pytest.approx(expected, abs=1e-12)
    assert scores["f1"].value == pytest.approx(expected, abs=1e-12)
    assert scores["index"].value == pytest.approx(100 * (2 * expected - 1), abs=1e-9)
    assert result.uncorrected["correct"].value == 0.3
    assert (result.status, result.reason) == ("corrected", "")


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_every_score_is_carried_through(method: Any) -> None:
    """Observed shares that the matrix makes of known true ones give back the scores of the true ones."""
    reference = [label for label in LABELS for _ in range(100)]
    labelled = [line for row in MATRIX for line in repeated(dict(enumerate(np.rint(100 * row).astype(int))), 3)]
    observed = np.rint(1000 * PI @ MATRIX).astype(int)
    assert_allclose(observed / 1000, PI @ MATRIX, atol=1e-12)
    result = correct_scores(
        GradedItems(repeated(dict(enumerate(observed)), 3), range(1000)),
        LabelledItems(reference, labelled, range(300)),
        **ROLES,
        penalty=2.0,
        method=method,
        rng=np.random.default_rng(0),
        resamples=300,
    ).require_corrected()
    i, n, c = PI
    expected = {
        "correct": c,
        "incorrect": i,
        "not_attempted": n,
        "attempted": c + i,
        "accuracy_given_attempted": c / (c + i),
        "f1": 2 * c / (1 + c + i),
        "accuracy": c,
        "index": 100 * (c - i),
        "penalised": c - 2 * i,
    }
    assert set(expected) == set(SCORES) == set(result)
    for name, value in expected.items():
        estimate = result[name]
        assert estimate.value == pytest.approx(value, abs=1e-12)
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < value < estimate.high
        assert (estimate.method, estimate.n, estimate.clusters) == (f"inversion-{method}", 1000, 1000)


def test_nothing_attempted_has_no_accuracy_given_attempted() -> None:
    reference = [label for label in LABELS for _ in range(20)]
    labelled = [[int(place == row) for place in range(3)] for row in range(3) for _ in range(20)]
    result = correct_scores(
        GradedItems([[0, 1, 0]] * 30, range(30)), LabelledItems(reference, labelled, range(60)), **ROLES
    ).require_corrected()
    assert (result["accuracy_given_attempted"].value, result["accuracy_given_attempted"].low) == (None, None)
    assert result["f1"].value == 0.0
    assert result["not_attempted"].value == 1.0
    assert result["not_attempted"].low is not None
    assert result["not_attempted"].low < 0.99


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
@pytest.mark.parametrize(("wrong", "right", "raw", "edge"), [(97, 3, -0.0235, 0.0), (2, 98, 1.094, 1.0)])
def test_a_score_at_the_edge_keeps_its_raw_value_its_message_and_a_width(
    method: Any, wrong: int, right: int, raw: float, edge: float
) -> None:
    result = correct_scores(
        *two_classes(wrong, right, ((190, 10), (20, 180))),
        **TWO_ROLES,
        method=method,
        rng=np.random.default_rng(0),
        resamples=500,
    )
    assert result.shares is not None
    assert result.shares.raw[1] == pytest.approx(raw, abs=5e-4)
    assert result.shares.projected
    assert result.shares.message.startswith("apparent rate is")
    estimate = result.require_corrected()["correct"]
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.value == edge
    assert 0.0 <= estimate.low <= edge <= estimate.high <= 1.0
    assert estimate.high - estimate.low > 0.01


def test_resamples_are_laid_around_the_shares_after_their_move_to_the_simplex() -> None:
    """No right verdict among 100 where two in ten wrong answers pass: every resample alone would be clipped to 0.

    Their spread is that of the raw share, -0.2 / 0.7, whose error grows with ``1 - share``.
    """
    benchmark, labelled = two_classes(100, 0, ((160, 40), (20, 180)))
    samples = build_samples(benchmark, labelled, labels=TWO)
    pi = np.array([1.0, 0.0])
    drawn = bootstrap_shares(samples, pi, rng=np.random.default_rng(0), resamples=2000).draws[:, 1]
    half = score_influence(samples, pi, np.array([-1.0, 1.0]) / 2).variance ** 0.5
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.06)
    assert np.quantile(drawn, 0.84) == pytest.approx(half * (1 + 0.2 / 0.7), rel=0.1)


def test_the_message_does_not_hang_on_the_order_of_the_labels() -> None:
    benchmark, labelled = two_classes(97, 3, ((190, 10), (20, 180)))
    swapped = correct_scores(
        GradedItems(np.array(benchmark.counts)[:, ::-1], benchmark.clusters),
        LabelledItems(labelled.reference, np.array(labelled.counts)[:, ::-1], labelled.clusters),
        labels=TWO[::-1],
        correct="CORRECT",
        not_attempted=None,
    )
    plain = correct_scores(benchmark, labelled, **TWO_ROLES)
    assert plain.shares is not None
    assert swapped.shares is not None
    assert swapped.shares.message == plain.shares.message == "apparent rate is below 1 - specificity"
    assert swapped.shares.raw == pytest.approx(plain.shares.raw[::-1])
    assert swapped.shares.matrix[0] == pytest.approx(plain.shares.matrix[1][::-1])


@pytest.mark.parametrize(
    "calibration",
    [None, LabelledItems([], [], []), LabelledItems(["CORRECT"], [[0, 0]], [0]), RatedItems([[None]], [[0, 1]], [0])],
)
def test_a_grader_of_unknown_quality_is_not_taken_for_a_perfect_one(calibration: Any) -> None:
    result = correct_scores(GradedItems(repeated({0: 70, 1: 30}, 2), range(100)), calibration, **TWO_ROLES)
    assert (result.status, result.reason) == ("uncorrected", "uncorrected: no calibration data")
    assert (result.corrected, result.shares) == (None, None)
    assert result.uncorrected["correct"].value == 0.3
    with pytest.raises(NotIdentifiedError, match="no calibration data"):
        result.require_corrected()


def test_no_benchmark_item_is_no_score() -> None:
    _, labelled = two_classes(1, 1, ((9, 1), (1, 9)))
    result = correct_scores(GradedItems([[0, 0]], [0]), labelled, **TWO_ROLES)
    assert (result.status, result.uncorrected["correct"].value) == ("uncorrected", None)
    assert "no benchmark item" in result.reason


def test_four_graders_of_the_same_answers_agree_once_corrected() -> None:
    """13 to 20 of 50 by grader: the raw rates stand beside corrected ones that no longer depend on the grader."""
    passed = {"J1": 13, "J2": 20, "J3": 16, "J4": 17}
    cells = {
        "J1": ((98, 2), (23, 77)),
        "J2": ((84, 16), (9, 91)),
        "J3": ((96, 4), (8, 92)),
        "J4": ((92, 8), (11, 89)),
    }
    results = {name: correct_scores(*two_classes(50 - k, k, cells[name]), **TWO_ROLES) for name, k in passed.items()}
    raw = [result.uncorrected["correct"].value for result in results.values()]
    corrected = [result.require_corrected()["correct"] for result in results.values()]
    values = [estimate.value for estimate in corrected if estimate.value is not None]
    assert raw == [0.26, 0.4, 0.32, 0.34]
    assert max(values) - min(values) < 0.015 < 0.14
    for estimate in corrected:
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < 0.26 < 0.4 < estimate.high
    bare = correct_scores(GradedItems(repeated({0: 37, 1: 13}, 2), range(50)), None, **TWO_ROLES)
    assert (bare.status, bare.uncorrected["correct"].value) == ("uncorrected", 0.26)


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_order_and_names_do_not_move_a_digit(method: Any) -> None:
    rng = np.random.default_rng(13)
    _, counts = graded(rng, 90, repeats=3)
    people, labelled = graded(rng, 120, repeats=3)
    codes, labelled_codes = rng.integers(30, size=90), rng.integers(40, size=120)
    first, second = rng.permutation(90), rng.permutation(120)
    names = dict(zip(LABELS, ("x", "y", "z"), strict=True))

    def run(shared: bool, moved: bool) -> Any:
        i, j = (first, second) if moved else (np.arange(90), np.arange(120))
        rename = names.__getitem__ if moved else str
        scale = [rename(label) for label in LABELS]
        result = correct_scores(
            GradedItems(counts[i], [f"q{c}" if moved else int(c) for c in codes[i]]),
            LabelledItems(
                [rename(LABELS[a]) for a in people[j]],
                labelled[j],
                [f"q{c}" if moved else int(c) for c in labelled_codes[j]],
            ),
            labels=scale,
            correct=rename("CORRECT"),
            not_attempted=rename("NOT_ATTEMPTED"),
            method=method,
            rng=np.random.default_rng(0),
            resamples=200,
            shared_clusters=shared,
        )
        return result.uncorrected, result.corrected, result.identification

    for shared in (False, True):
        assert run(shared, moved=False) == run(shared, moved=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "jackknife"}, "method: unknown"),
        ({"method": "bootstrap"}, "rng: none"),
        ({"level": 1.0}, "level: not a confidence level"),
        ({"penalty": -1.0}, "penalty: not a cost"),
        ({"correct": "RIGHT"}, "correct: label not on the scale"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        correct_scores(*two_classes(7, 3, ((9, 1), (1, 9))), **{**TWO_ROLES, **changes})


def test_bad_samples_are_refused() -> None:
    benchmark, labelled = two_classes(7, 3, ((9, 1), (1, 9)))
    with pytest.raises(ValueError, match="label not on the scale"):
        correct_scores(benchmark, LabelledItems(["MAYBE"], [[1, 0]], [0]), **TWO_ROLES)
    with pytest.raises(ValueError, match="clusters: wrong length"):
        correct_scores(GradedItems([[1, 0]], [0, 1]), labelled, **TWO_ROLES)
    with pytest.raises(ValueError, match="counts: wrong shape"):
        correct_scores(benchmark, LabelledItems(["CORRECT"], [[1, 0, 0]], [0]), **TWO_ROLES)
    with pytest.raises(ValueError, match="ratings: rows of unequal length"):
        correct_scores(benchmark, RatedItems([["CORRECT"], []], [[1, 0]], [0]), **TWO_ROLES)
