"""The variance that people who differ add to a corrected score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_samples import CHOICE_TWO, TWO, TWO_MATRIX, TWO_ROLES, graded, repeated
from numpy.testing import assert_allclose

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    RatedItems,
    build_samples,
    correct_scores,
)
from experiments.stats.correction.human_label_error import human_label_variance
from experiments.stats.correction.influence import score_influence


def rated(rng: np.random.Generator, n: int, lenient: float) -> RatedItems:
    """Three people; the third calls a share ``lenient`` of the wrong answers right."""
    people, counts = graded(rng, n, np.array([0.6, 0.4]), TWO_MATRIX)
    ratings = [[TWO[a] for a in people] for _ in range(3)]
    ratings[2] = [TWO[1] if a or rng.random() < lenient else TWO[0] for a in people]
    return RatedItems(ratings, counts, range(n))


def test_people_who_agree_add_no_variance_and_change_no_digit() -> None:
    items = rated(np.random.default_rng(9), 200, 0.0)
    benchmark = GradedItems(repeated({0: 60, 1: 40}, 2), range(100))
    single = LabelledItems([str(label) for label in items.ratings[0]], items.counts, items.clusters)
    samples = build_samples(benchmark, items, labels=TWO)
    assert human_label_variance(samples, np.array([0.6, 0.4]), np.array([-1.0, 1.0])) == 0.0
    assert correct_scores(benchmark, items, **TWO_ROLES) == correct_scores(benchmark, single, **TWO_ROLES)


@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_a_lenient_person_is_a_third_source_of_variance(method: Any) -> None:
    items = rated(np.random.default_rng(10), 600, 0.4)
    benchmark = GradedItems(repeated({0: 6000, 1: 4000}, 2), range(10000))
    samples = build_samples(benchmark, items, labels=TWO)
    result = correct_scores(benchmark, items, **TWO_ROLES, method=method, rng=np.random.default_rng(0), resamples=2000)
    assert result.shares is not None
    pi, gradient = np.array(result.shares.shares), CHOICE_TWO.gradient("correct", np.array(result.shares.shares))
    people = human_label_variance(samples, pi, gradient)
    assert people is not None
    within = score_influence(samples, pi, gradient).variance
    estimate = result.require_corrected()["correct"]
    assert estimate.low is not None
    assert estimate.high is not None
    assert people > within
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * (people + within) ** 0.5, rel=0.06)


def test_the_variance_between_people_written_as_loops() -> None:
    items = rated(np.random.default_rng(11), 60, 0.5)
    clusters = [place // 3 for place in range(60)]
    benchmark = GradedItems(repeated({0: 60, 1: 40}, 2), range(100))
    samples = build_samples(benchmark, RatedItems(items.ratings, items.counts, clusters), labels=TWO)
    pi, gradient = np.array([0.6, 0.4]), np.array([-0.4, 0.6])
    matrix, sizes = samples.totals().matrix, samples.people.sum(axis=0)
    direction = np.linalg.inv(matrix) @ gradient
    added = np.zeros((60, 3))
    for i in range(60):
        for r in range(3):
            a = TWO.index(str(items.ratings[r][i]))
            added[i, r] = -pi[a] / sizes[a] * ((samples.verdicts[i] - matrix[a]) @ direction) / 3
    distances = added - added.mean(axis=1, keepdims=True)
    between = sum(distances[:, r].sum() ** 2 for r in range(3))
    noise = sum(distances[[c == q for c in clusters], r].sum() ** 2 for r in range(3) for q in range(20))
    assert between > noise
    assert human_label_variance(samples, pi, gradient) == pytest.approx(1.5 * (between - noise), rel=1e-9)


def test_one_person_and_missing_labels() -> None:
    benchmark = GradedItems(repeated({0: 60, 1: 40}, 2), range(100))
    items = rated(np.random.default_rng(12), 50, 0.2)
    alone = build_samples(benchmark, RatedItems(items.ratings[:1], items.counts, items.clusters), labels=TWO)
    assert human_label_variance(alone, np.array([0.6, 0.4]), np.array([-1.0, 1.0])) is None
    gaps = [list(row) for row in items.ratings]
    gaps[1][0] = None
    gaps[0][1] = gaps[1][1] = gaps[2][1] = None
    samples = build_samples(benchmark, RatedItems(gaps, items.counts, items.clusters), labels=TWO)
    assert len(samples.people) == 49
    assert_allclose(samples.people.sum(axis=1), 1.0)
