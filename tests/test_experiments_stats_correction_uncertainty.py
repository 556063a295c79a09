"""The uncertainty that both samples bring to a corrected score: delta method and bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_samples import CHOICE, LABELS, PI, ROLES, TWO, TWO_ROLES, Ints, both, graded, repeated, two_classes
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    build_samples,
    correct_scores,
)
from experiments.stats.correction.influence import score_influence
from experiments.stats.correction.uncertainty import bootstrap_shares


def test_the_variance_with_two_classes_is_that_of_1978() -> None:
    """With the divisors n - 1 that a cluster-robust variance has for independent items."""
    samples = build_samples(*two_classes(700, 300, ((57, 3), (5, 45))), labels=TWO)
    p, se, sp = 0.3, 45 / 50, 57 / 60
    rate = (p + sp - 1) / (se + sp - 1)
    spread = p * (1 - p) / 999 + rate**2 * se * (1 - se) / 49 + (1 - rate) ** 2 * sp * (1 - sp) / 59
    parts = score_influence(samples, np.array([1 - rate, rate]), np.array([0.0, 1.0]), made_up=False)
    assert parts.variance == pytest.approx(spread / (se + sp - 1) ** 2, abs=1e-12)
    assert parts.variance == pytest.approx(parts.benchmark_variance + parts.calibration_variance, abs=1e-15)


def adjusted_residuals(design: NDArray[np.float64], response: NDArray[np.float64], codes: Ints) -> NDArray[np.float64]:
    """Oracle: CR2 by its definition, with the inverse root of each cluster's block of I - H; a row a cluster."""
    inverse = np.linalg.inv(design.T @ design)
    residuals = response - design @ (inverse @ (design.T @ response))
    rows = []
    for code in range(codes.max() + 1):
        mine = codes == code
        block = np.eye(mine.sum()) - design[mine] @ inverse @ design[mine].T
        values, vectors = np.linalg.eigh(block)
        root = vectors @ np.diag(values**-0.5) @ vectors.T if mine.any() else block
        rows.append(inverse @ design[mine].T @ root @ residuals[mine])
    return np.array(rows)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", ["correct", "f1", "accuracy_given_attempted", "index"])
def test_the_variance_by_questions_is_that_of_two_regressions(name: str, shared: bool) -> None:
    """The benchmark's mean and the rows of M as least squares on dummies, with CR2 spelt out."""
    samples = both(5, 200, 150, questions=25, shared=shared, repeats=3)
    gradient = CHOICE.gradient(name, PI)
    matrix = samples.totals().matrix
    direction = np.linalg.inv(matrix) @ gradient
    benchmark = adjusted_residuals(np.ones((200, 1)), samples.shares @ direction, samples.codes)[:, 0]
    rows = adjusted_residuals(samples.people, samples.verdicts @ direction, samples.labelled_codes)
    calibration = -rows @ PI
    expected = ((benchmark + calibration) ** 2).sum() if shared else (benchmark**2).sum() + (calibration**2).sum()
    assert score_influence(samples, PI, gradient, made_up=False).variance == pytest.approx(expected, rel=1e-9)


def test_made_up_questions_count_less_and_less() -> None:
    ratios = []
    for n in (50, 500, 5000):
        samples = both(6, 2 * n, n)
        gradient = CHOICE.gradient("f1", PI)
        bare = score_influence(samples, PI, gradient, made_up=False).variance
        ratios.append(score_influence(samples, PI, gradient).variance / bare)
    assert ratios[0] > ratios[1] > ratios[2] > 1
    assert ratios[2] < 1.02


def test_a_grader_without_a_wrong_verdict_still_has_uncertain_error_rates() -> None:
    result = correct_scores(*two_classes(700, 300, ((10, 0), (0, 10))), **TWO_ROLES).require_corrected()["correct"]
    many = correct_scores(*two_classes(700, 300, ((500, 0), (0, 500))), **TWO_ROLES).require_corrected()["correct"]
    assert result.low is not None
    assert result.high is not None
    assert many.low is not None
    assert many.high is not None
    assert result.high - result.low > 3 * (many.high - many.low)
    assert many.high - many.low == pytest.approx(2 * 1.96 * (0.3 * 0.7 / 1000) ** 0.5, rel=0.05)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("questions", [None, 80])
def test_bootstrap_and_delta_method_have_the_same_standard_error(questions: int | None, shared: bool) -> None:
    samples = both(7, 1500, 600, questions=questions, shared=shared)
    draws = bootstrap_shares(samples, PI, rng=np.random.default_rng(0), resamples=4000)
    assert draws.undefined == 0
    for name in ("correct", "not_attempted", "f1", "accuracy_given_attempted"):
        by_delta = score_influence(samples, PI, CHOICE.gradient(name, PI)).variance ** 0.5
        assert CHOICE.value(name, draws.draws).std() == pytest.approx(by_delta, rel=0.07)


def test_the_same_questions_in_both_samples_change_the_variance() -> None:
    """A benchmark that is its own calibration set: its errors cancel, and people's shares are what is left."""
    rng = np.random.default_rng(8)
    people, counts = graded(rng, 400)
    items = LabelledItems([LABELS[a] for a in people], counts, range(400))
    result = [
        correct_scores(GradedItems(counts, range(400)), items, **ROLES, shared_clusters=shared).require_corrected()
        for shared in (True, False)
    ]
    share = float((people == 2).mean())
    together, apart = (scores["correct"] for scores in result)
    assert together.value == pytest.approx(share, abs=1e-12)
    assert together.low is not None
    assert apart.low is not None
    assert share - together.low == pytest.approx(1.96 * (share * (1 - share) / 400) ** 0.5, rel=0.05)
    assert apart.low < together.low - 0.005


def test_resamples_without_a_class_are_counted_and_left_out() -> None:
    reference = ["INCORRECT"] * 40 + ["NOT_ATTEMPTED"] * 40 + ["CORRECT"] * 40
    counts = repeated({0: 40, 1: 40, 2: 40}, 3)
    samples = build_samples(
        GradedItems(repeated({0: 20, 1: 20, 2: 20}, 3), range(60)),
        LabelledItems(reference, counts, [0] * 40 + [1] * 40 + [2] * 40),
        labels=LABELS,
    )
    draws = bootstrap_shares(samples, np.ones(3) / 3, rng=np.random.default_rng(0), resamples=1000)
    assert 0 < draws.undefined < 200
    assert np.isnan(draws.draws).any(axis=1).sum() == draws.undefined
    assert_allclose(draws.draws[~np.isnan(draws.draws).any(axis=1)].sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["delta", "bootstrap"])
@pytest.mark.parametrize("n", [50, 500])
def test_corrected_intervals_hold_their_level_and_the_correction_its_aim(method: Any, n: int) -> None:
    """400 seeded data sets of 1,000 benchmark items each, with fewer right answers than the labelled ones."""
    rng = np.random.default_rng(14)
    names = ("correct", "not_attempted", "f1", "accuracy_given_attempted")
    elsewhere = np.array([0.6, 0.2, 0.2])
    truth = {name: float(CHOICE.value(name, elsewhere)) for name in names}
    errors: dict[str, list[float]] = {name: [] for name in names}
    held: dict[str, list[bool]] = {name: [] for name in names}
    uncorrected = []
    for _ in range(400):
        _, counts = graded(rng, 1000, elsewhere)
        people, labelled = graded(rng, n)
        result = correct_scores(
            GradedItems(counts, range(1000)),
            LabelledItems([LABELS[a] for a in people], labelled, range(n)),
            **ROLES,
            method=method,
            rng=np.random.default_rng(0),
            resamples=400,
        )
        if result.corrected is None:
            continue
        raw = result.uncorrected["f1"]
        assert raw.low is not None
        assert raw.high is not None
        uncorrected.append(raw.low <= truth["f1"] <= raw.high)
        for name in names:
            estimate = result.corrected[name]
            assert estimate.value is not None
            assert estimate.low is not None
            assert estimate.high is not None
            errors[name].append(estimate.value - truth[name])
            held[name].append(estimate.low <= truth[name] <= estimate.high)
    assert len(uncorrected) > 360
    assert np.mean(uncorrected) < 0.5
    for name in names:
        assert np.mean(held[name]) >= 0.95 - 4 * (0.95 * 0.05 / 400) ** 0.5
        assert abs(np.mean(errors[name])) < 0.02
