"""Weights that bring strata to the benchmark's shares, and what they do to a confusion matrix."""

from __future__ import annotations

import numpy as np
import pytest
from correction_samples import TWO, TWO_ROLES
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    MissingStrataError,
    box_ranges,
    build_samples,
    correct_scores,
    correct_shares,
    post_stratification_weights,
    powered_scores,
    stratum_corrections,
)


def test_weights_by_hand() -> None:
    """Half the benchmark is b, but a fifth of the labelled items: they weigh 5/2, the others 5/8."""
    weights = post_stratification_weights(["a"] * 4 + ["b"], ["a", "b"])
    assert_allclose(weights, [0.5 / 0.8] * 4 + [0.5 / 0.2])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.lists(st.sampled_from("abc"), min_size=1))
def test_weighted_shares_are_those_of_the_benchmark(strata: list[str], benchmark: list[str]) -> None:
    missing = [one for one in dict.fromkeys(benchmark) if one not in strata]
    if missing:
        with pytest.raises(MissingStrataError) as caught:
            post_stratification_weights(strata, benchmark)
        assert list(caught.value.strata) == missing
        return
    weights = post_stratification_weights(strata, benchmark)
    assert_allclose(weights.mean(), 1.0)
    for stratum in set(strata):
        own = weights[[one == stratum for one in strata]]
        assert_allclose(own.sum() / len(strata), benchmark.count(stratum) / len(benchmark))
        assert np.ptp(own) == 0


def test_strata_without_labelled_items_are_named() -> None:
    with pytest.raises(MissingStrataError, match=r"no calibration item, got none of 'art', 'law'; expected"):
        post_stratification_weights(["sport"], ["art", "sport", "law", "art"])
    with pytest.raises(ValueError, match="benchmark: no item"):
        post_stratification_weights(["sport"], [])


def calibration() -> tuple[LabelledItems, list[str]]:
    """Stratum a: sensitivity 9/10, specificity 18/20; stratum b: sensitivity 14/20, specificity 10/10."""
    cells = {
        ("a", 1, 1): 9,
        ("a", 1, 0): 1,
        ("a", 0, 0): 18,
        ("a", 0, 1): 2,
        ("b", 1, 1): 14,
        ("b", 1, 0): 6,
        ("b", 0, 0): 10,
    }
    rows = [key for key, times in cells.items() for _ in range(times)]
    items = LabelledItems([TWO[a] for _, a, _ in rows], [np.eye(2, dtype=int)[b] for *_, b in rows], range(len(rows)))
    return items, [stratum for stratum, *_ in rows]


def test_rows_of_the_matrix_are_means_of_the_rows_of_strata() -> None:
    """M[a] = sum_s W_s r_s[a] M_s[a] / sum_s W_s r_s[a], by hand, with a fifth of the benchmark in a."""
    items, strata = calibration()
    weights = post_stratification_weights(strata, ["a"] + ["b"] * 4)
    weighted = LabelledItems(items.reference, items.counts, items.clusters, weights)
    benchmark = GradedItems([[1, 0]] * 50 + [[0, 1]] * 50, range(100))
    right = (0.2 * (10 / 30) * 0.9 + 0.8 * (20 / 30) * 0.7) / (0.2 * (10 / 30) + 0.8 * (20 / 30))
    wrong = (0.2 * (20 / 30) * 0.9 + 0.8 * (10 / 30) * 1.0) / (0.2 * (20 / 30) + 0.8 * (10 / 30))
    matrix = build_samples(benchmark, weighted, labels=TWO).totals().matrix
    assert_allclose(matrix, [[wrong, 1 - wrong], [1 - right, right]], atol=1e-12)
    solved = correct_shares([0.5, 0.5], matrix, labels=TWO).shares
    corrected = correct_scores(benchmark, weighted, **TWO_ROLES).require_corrected()["correct"]
    assert corrected.value == pytest.approx(solved[1], abs=1e-12)
    assert box_ranges(benchmark, weighted, delta=0.0, **TWO_ROLES)["correct"].value == pytest.approx(solved[1])


def test_all_of_one_stratum_is_the_correction_by_that_stratum() -> None:
    items, strata = calibration()
    weights = post_stratification_weights(strata, ["b"])
    weighted = LabelledItems(items.reference, items.counts, items.clusters, weights)
    benchmark = GradedItems([[1, 0]] * 50 + [[0, 1]] * 50, range(100))
    by_stratum = {one.stratum: one for one in stratum_corrections(benchmark, items, strata, **TWO_ROLES)}
    assert correct_scores(benchmark, weighted, **TWO_ROLES) == by_stratum["b"].correction


def test_a_weighted_correction_finds_what_an_unweighted_one_misses() -> None:
    """Labelled items mostly of the stratum that is graded well, the benchmark mostly of the other: known truth .6."""
    rng = np.random.default_rng(1)
    sensitivity = {"a": 0.95, "b": 0.7}

    def draw(n: int, share: float) -> tuple[list[str], list[int], list[list[int]]]:
        strata = ["b" if one else "a" for one in rng.random(n) < share]
        truth = (rng.random(n) < 0.6).astype(int).tolist()
        said = [int(rng.random() < (sensitivity[s] if t else 0.05)) for s, t in zip(strata, truth, strict=True)]
        return strata, truth, [[1 - one, one] for one in said]

    benchmark_strata, _, benchmark_counts = draw(6000, 0.9)
    strata, truth, counts = draw(6000, 0.1)
    benchmark = GradedItems(benchmark_counts, range(6000))
    items = LabelledItems([TWO[one] for one in truth], counts, range(6000))
    weights = post_stratification_weights(strata, benchmark_strata)
    weighted = LabelledItems(items.reference, items.counts, items.clusters, weights)
    plain, reweighted = (
        correct_scores(benchmark, one, **TWO_ROLES).require_corrected()["correct"] for one in (items, weighted)
    )
    assert plain.high is not None
    assert plain.high < 0.6
    assert reweighted.low is not None
    assert reweighted.high is not None
    assert reweighted.low < 0.6 < reweighted.high
    assert reweighted.high - reweighted.low > plain.high - (plain.low or 0)


def test_prediction_powered_scores_take_no_weights() -> None:
    items, _ = calibration()
    weighted = LabelledItems(items.reference, items.counts, items.clusters, np.ones(len(items.reference)))
    with pytest.raises(ValueError, match="labelled: weighted items"):
        powered_scores(weighted, GradedItems([[1, 0]], ["x"]), labelled_at_random=True, **TWO_ROLES)
