"""Differences of benchmark scores between two models, paired and unpaired."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from experiments.stats.estimate import Difference
from experiments.stats.scores.score_differences import (
    ScoreDifferences,
    paired_score_differences,
    unpaired_score_differences,
)
from experiments.stats.scores.score_functions import SCORES, item_shares
from experiments.stats.scores.score_swaps import swap_p_value, swapped_totals

SCALE = ["NOT_ATTEMPTED", "INCORRECT", "CORRECT"]
ROLES: dict[str, Any] = {"labels": SCALE, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
MEANS = [name for name in SCORES if SCORES[name].denominator == (1, 1, 1)]


def single(columns: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Single labels by their column on the scale: 0 not attempted, 1 incorrect, 2 correct."""
    return np.eye(3)[np.asarray(columns, dtype=np.int64)]


def paired(first: Any, second: Any, clusters: Sequence[Any] | None = None, **options: Any) -> dict[str, Difference]:
    questions = range(len(first)) if clusters is None else clusters
    return paired_score_differences(first, questions, second, questions, **{**ROLES, **options}).differences


def unpaired(
    first: Any, second: Any, clusters: Sequence[Sequence[Any]] | None = None, **options: Any
) -> dict[str, Difference]:
    one, two = clusters or (range(len(first)), range(len(second)))
    return unpaired_score_differences(first, one, second, two, **{**ROLES, **options}).differences


def bounds(difference: Difference) -> tuple[float, float]:
    assert difference.estimate.low is not None
    assert difference.estimate.high is not None
    return difference.estimate.low, difference.estimate.high


def item_values(name: str, shares: NDArray[np.float64], penalty: float = 1.0) -> NDArray[np.float64]:
    """What each item adds to a score that is a mean."""
    return shares[:, [2, 1, 0]] @ SCORES[name].numerator_weights(penalty)


def score_of(name: str, shares: NDArray[np.float64], axis: int = 0) -> Any:
    return SCORES[name].value(np.moveaxis(shares, axis, -1)[..., [2, 1, 0]], 1.0)


def two_models(seed: int, n: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Labels of two models on the same questions, alike on about half of them."""
    rng = np.random.default_rng(seed)
    one, two = rng.integers(3, size=n), rng.integers(3, size=n)
    return single(one), single(np.where(rng.random(n) < 0.5, one, two))


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("seed", range(3))
def test_paired_means_are_scipys_paired_t_test(name: str, seed: int) -> None:
    first, second = two_models(seed)
    found = paired(first, second, penalty=2.0, level=0.9)[name]
    oracle = stats.ttest_rel(item_values(name, first, 2.0), item_values(name, second, 2.0))
    interval = oracle.confidence_interval(0.9)
    assert found.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    assert_allclose(bounds(found), (interval.low, interval.high), rtol=1e-9)
    assert (found.estimate.method, found.test) == ("student-clustered", "student-clustered")
    assert (found.estimate.n, found.estimate.clusters) == (40, 40)


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("sizes", [(30, 50), (12, 9)])
def test_unpaired_means_are_scipys_welch_test(name: str, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(sizes[0])
    first, second = single(rng.integers(3, size=sizes[0])), single(rng.choice(3, size=sizes[1], p=[0.2, 0.2, 0.6]))
    found = unpaired(first, second, penalty=2.0)[name]
    oracle = stats.ttest_ind(item_values(name, first, 2.0), item_values(name, second, 2.0), equal_var=False)
    interval = oracle.confidence_interval(0.95)
    assert found.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    assert_allclose(bounds(found), (interval.low, interval.high), rtol=1e-9)
    assert (found.estimate.method, found.test) == ("welch-clustered", "welch-clustered")
    assert (found.estimate.n, found.estimate.clusters) == (sum(sizes), sum(sizes))


@pytest.mark.parametrize("name", MEANS)
def test_paired_means_in_questions_are_statsmodels_clustered(name: str) -> None:
    """Equal numbers of items a question, where CR2 is the G / (G - 1) of statsmodels."""
    rng = np.random.default_rng(2)
    first, second = (rng.dirichlet([1, 1, 1], size=60) for _ in range(2))
    groups = np.repeat(np.arange(15), 4)
    change = item_values(name, first) - item_values(name, second)
    fit = sm.OLS(change, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    found = paired(first, second, groups.tolist(), repeats=5)[name]
    assert found.p_value == pytest.approx(float(fit.pvalues[0]), rel=1e-9)
    assert_allclose(bounds(found), fit.conf_int()[0], rtol=1e-9)
    assert (found.estimate.n, found.estimate.clusters, found.estimate.repeats) == (60, 15, 5)


@pytest.mark.parametrize("name", SCORES)
def test_standard_error_follows_from_numeric_influences(name: str) -> None:
    """The derivative of the difference in the weight of each question, by central differences."""
    rng = np.random.default_rng(4)
    first, second = (rng.dirichlet([1, 1, 1], size=30) for _ in range(2))
    groups = np.concatenate([np.arange(8), rng.integers(8, size=22)])

    def difference(weights: NDArray[np.float64]) -> float:
        return float(score_of(name, weights[groups] @ first) - score_of(name, weights[groups] @ second))

    def weight(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = np.bincount(groups, shares[:, [2, 1, 0]] @ np.array(SCORES[name].denominator))
        return parts / parts.sum()

    step = 1e-5
    moved = [(difference(1 + step * unit) - difference(1 - step * unit)) / (2 * step) for unit in np.eye(8)]
    error = np.sqrt((np.square(moved) / (1 - (weight(first) + weight(second)) / 2)).sum())
    half = stats.t.ppf(0.975, 7) * error
    found = paired(first, second, groups.tolist())[name]
    assert found.estimate.value == pytest.approx(difference(np.ones(8)), abs=1e-12)
    assert_allclose(bounds(found), difference(np.ones(8)) + np.array([-half, half]), rtol=1e-7, atol=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(difference(np.ones(8))) / error, 7), rel=1e-6)


def defined_statistic(name: str) -> Callable[..., Any]:
    """The difference of a score for scipy's permutation test of column numbers."""

    def statistic(one: NDArray[np.int64], two: NDArray[np.int64], axis: int) -> Any:
        counts = [np.stack([(x == column).sum(axis=axis) for column in range(3)], axis=-1) for x in (one, two)]
        return score_of(name, counts[0], -1) - score_of(name, counts[1], -1)

    return statistic


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", range(3))
def test_all_swaps_are_scipys_exact_permutation_test(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, two = rng.integers(3, size=9), rng.choice(3, size=9, p=[0.2, 0.2, 0.6])
    one[0], two[0], one[1], two[1] = 2, 1, 1, 2  # attempts of both however they are swapped
    oracle = stats.permutation_test(
        (one, two), defined_statistic(name), permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    found = paired(single(one), single(two), test="swap", rng=rng)[name]
    assert found.p_value == pytest.approx(oracle.pvalue, abs=1e-9)
    assert found.test == "swap-permutation"
    assert found.estimate.value == pytest.approx(float(oracle.statistic), abs=1e-12)


def test_swaps_of_accuracy_are_mcnemars_exact_test() -> None:
    """Eleven questions that only the first has right, three that only the second has; statsmodels."""
    first, second = single([2] * 31 + [1] * 13), single([2] * 20 + [1] * 11 + [2] * 3 + [1] * 10)
    found = paired(first, second, test="swap", rng=np.random.default_rng(0), resamples=2**14)["accuracy"]
    assert found.p_value == pytest.approx(mcnemar([[20, 11], [3, 10]], exact=True).pvalue, abs=1e-12)
    drawn = paired(first, second, test="swap", rng=np.random.default_rng(0), resamples=2**14 - 1)["accuracy"]
    assert drawn.p_value == pytest.approx(found.p_value, abs=0.008)
    assert drawn.p_value != found.p_value


def test_random_swaps_never_give_zero() -> None:
    found = paired(single([2] * 40), single([1] * 40), test="swap", rng=np.random.default_rng(0), resamples=99)
    assert found["f1"].p_value == (0 + 1) / (99 + 1)


@pytest.mark.parametrize("kind", ["paired", "unpaired"])
@pytest.mark.parametrize("name", ["f1", "index", "accuracy_given_attempted"])
def test_bootstrap_is_scipys_up_to_chance(kind: str, name: str) -> None:
    rng = np.random.default_rng(1)
    one = rng.integers(3, size=150)
    two = np.where(rng.random(150) < 0.5, one, rng.choice(3, size=150, p=[0.2, 0.5, 0.3]))
    oracle = stats.bootstrap(
        (one, two),
        defined_statistic(name),
        paired=kind == "paired",
        vectorized=True,
        n_resamples=10_000,
        method="percentile",
        rng=rng,
    )
    compare = paired if kind == "paired" else unpaired
    found = compare(single(one), single(two), test="bootstrap", rng=rng, resamples=10_000)[name]
    width = oracle.confidence_interval.high - oracle.confidence_interval.low
    assert_allclose(bounds(found), oracle.confidence_interval, rtol=0, atol=0.04 * width)
    below = (oracle.bootstrap_distribution <= 1e-10).mean()
    above = (oracle.bootstrap_distribution >= -1e-10).mean()
    assert found.p_value == pytest.approx(min(1, 2 * min(below, above)), abs=0.015)
    assert (found.estimate.method, found.test) == ("cluster-bootstrap", "cluster-bootstrap")


def test_pairing_cancels_what_is_hard_for_both() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(3, size=300)
    two = np.where(rng.random(300) < 0.9, one, 2)
    for name in ("f1", "accuracy", "index"):
        alone, together = unpaired(single(one), single(two))[name], paired(single(one), single(two))[name]
        assert together.estimate.value == pytest.approx(alone.estimate.value)
        assert np.ptp(bounds(together)) < 0.6 * np.ptp(bounds(alone))
        assert (together.p_value or 0) < (alone.p_value or 0)


def test_only_common_questions_are_paired_and_the_rest_is_counted() -> None:
    first, second = two_models(3)
    silent = np.zeros((2, 3))
    found = paired_score_differences(
        np.concatenate([first, single([2, 2, 2]), silent]),
        [*range(40), "a", "b", "b", "c", 0],
        np.concatenate([silent, single([1]), second]),
        ["c", "a", "d", *range(40)],
        **ROLES,
    )
    assert found.differences == paired(first, second)
    assert (found.common, found.only_first, found.only_second) == (40, 2, 1)  # without a verdict is not there


def test_items_are_those_of_the_model_with_fewer() -> None:
    more, fewer = (single([2, 1, 2, 0, 1]), ["a", "a", "b", "b", "b"]), (single([2, 1, 0]), ["a", "b", "b"])
    for first, second in [(more, fewer), (fewer, more)]:
        found = paired_score_differences(*first, *second, **ROLES).differences["accuracy"]
        assert (found.estimate.n, found.estimate.clusters) == (3, 2)


def test_swaps_without_a_score_count_as_extreme() -> None:
    draws = np.array([np.nan, 0.0, 0.5, -1.0, 1.0])
    assert swap_p_value(draws, 1.0, complete=True) == 3 / 5
    assert swap_p_value(draws, -1.0, complete=False) == (3 + 1) / (5 + 1)
    assert swap_p_value(np.array([1.0, -1.0, 0.0, 0.0]), 1e-17, complete=True) == 1.0  # nothing but rounding
    assert swap_p_value(np.array([0.3, 0.1 + 0.2]), 0.1 + 0.2, complete=True) == 1.0


def test_sets_without_a_common_question_are_not_paired() -> None:
    found = paired_score_differences(single([2, 1]), ["a", "b"], single([2, 1, 0]), ["c", "d", "e"], **ROLES)
    assert (found.common, found.only_first, found.only_second) == (0, 2, 3)
    for difference in found.differences.values():
        assert (difference.estimate.value, difference.estimate.low, difference.p_value) == (None, None, None)
        assert difference.estimate.n == 0
    apart = unpaired_score_differences(single([2, 1]), ["a", "b"], single([2, 1, 0]), ["c", "d", "e"], **ROLES)
    assert apart.differences["accuracy"].estimate.value == pytest.approx(1 / 2 - 1 / 3)
    assert (apart.common, apart.only_first, apart.only_second) == (0, 2, 3)


@pytest.mark.parametrize("test", ["student", "swap", "bootstrap"])
def test_the_same_model_twice_does_not_differ(test: Any) -> None:
    first, _ = two_models(0)
    for name, found in paired(first, first, test=test, rng=np.random.default_rng(0), resamples=200).items():
        low, high = bounds(found)
        assert found.estimate.value == 0.0
        assert found.p_value == 1.0
        assert low < 0 < high
        assert high - low < 0.5 * np.ptp(SCORES[name].span(1.0))
        assert found.estimate.method == "wilson-clustered"


def test_all_right_against_all_right_reaches_wilsons_limit() -> None:
    found = paired(single([2] * 20), single([2] * 20))["f1"]
    unseen = 1.959964**2 / (20 + 1.959964**2)
    assert_allclose(bounds(found), (-unseen, unseen), atol=1e-6)


def test_all_right_against_all_wrong_has_the_p_value_of_the_permutation() -> None:
    right, wrong = single([2] * 7), single([1] * 7)
    for name in ("accuracy", "f1", "index", "accuracy_given_attempted"):
        found = paired(right, wrong)[name]
        assert found.p_value == 2 / 2**7
        assert found.p_value == paired(right, wrong, test="swap", rng=np.random.default_rng(0))[name].p_value
        assert found.test == "swap-permutation"
        for n in (7, 4):
            apart = unpaired(right, wrong[:n])[name]
            assert apart.p_value == pytest.approx(stats.fisher_exact([[7, 0], [0, n]]).pvalue, rel=1e-9)
            assert apart.test == "permutation"
    assert unpaired(right, right)["f1"].p_value == 1.0


def test_a_set_that_does_not_vary_is_not_certain() -> None:
    """5 of 5 against 10 of 40: wider than with the first taken as known, and no more than a span away."""
    few, many = single([2] * 5), single([2] * 10 + [1] * 30)
    found = unpaired(few, many)["accuracy"]
    known = stats.ttest_1samp(np.repeat([1.0, 0.0], [10, 30]), 1.0).confidence_interval(0.95)
    low, high = bounds(found)
    assert high - low > 1.3 * (known.high - known.low)
    assert -1.0 <= low < found.estimate.value < high <= 1.0  # type: ignore[operator]
    assert found.p_value is not None
    assert found.p_value > stats.fisher_exact([[5, 0], [10, 30]]).pvalue / 10


def test_nothing_attempted_by_one_model() -> None:
    silent, other = single([0] * 12), single([2, 1] * 6)
    for compare in (paired, unpaired):
        found = compare(silent, other)
        undefined = found["accuracy_given_attempted"]
        assert (undefined.estimate.value, undefined.estimate.low, undefined.p_value) == (None, None, None)
        assert found["f1"].estimate.value == pytest.approx(0 - 2 * 6 / (12 + 12))
        assert found["f1"].p_value is not None
        assert found["f1"].p_value < 0.05


def test_one_attempt_says_nothing_about_variation() -> None:
    found = paired(single([0] * 11 + [2]), single([2, 1] * 6))["accuracy_given_attempted"]
    assert found.estimate.value == 0.5
    assert (found.estimate.low, found.estimate.high, found.p_value) == (None, None, None)
    swapped = paired(single([0] * 11 + [2]), single([2, 1] * 6), test="swap", rng=np.random.default_rng(0))
    assert swapped["accuracy_given_attempted"].estimate.low is None
    assert 0.05 < (swapped["accuracy_given_attempted"].p_value or 0) <= 1


def test_one_question_is_no_test() -> None:
    for compare in (paired, unpaired):
        found = compare(single([2]), single([1]))["accuracy"]
        assert (found.estimate.value, found.estimate.low, found.p_value) == (1.0, None, None)
    swapped = paired(single([2]), single([1]), test="swap", rng=np.random.default_rng(0))["accuracy"]
    assert swapped.p_value == 1.0


@given(seed=st.integers(0, 10**6), test=st.sampled_from(["student", "swap", "bootstrap"]))
def test_order_of_items_and_names_move_no_digit(seed: int, test: Any) -> None:
    rng = np.random.default_rng(seed)
    first, second = (item_shares(rng.multinomial(3, [0.3, 0.3, 0.4], size=25)) for _ in range(2))
    one, two = rng.integers(9, size=25), rng.integers(9, size=25)
    options: dict[str, Any] = {**ROLES, "test": test, "resamples": 30}
    whole = paired_score_differences(first, one.tolist(), second, two.tolist(), rng=np.random.default_rng(1), **options)
    order, turn = rng.permutation(25), rng.permutation(25)
    moved = paired_score_differences(
        first[order], [f"q{q}" for q in one[order]], second[turn], [f"q{q}" for q in two[turn]],
        rng=np.random.default_rng(1), **options,
    )  # fmt: skip
    assert whole == moved


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_swapping_the_models_turns_the_sign(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (single(rng.integers(3, size=10)) for _ in range(2))
    pairs = [
        (paired(first, second), paired(second, first)),
        (unpaired(first, second[:7]), unpaired(second[:7], first)),
        *[(paired(a, b, test="swap", rng=rng), paired(b, a, test="swap", rng=rng)) for a, b in [(first, second)]],
    ]
    for one, other in pairs:
        for name, found in one.items():
            if found.estimate.low is None:
                assert other[name].estimate.low is None
                continue
            low, high = bounds(other[name])
            assert found.estimate.value == pytest.approx(-(other[name].estimate.value or 0), abs=1e-12)
            assert_allclose(bounds(found), (-high, -low), rtol=1e-9, atol=1e-12 * 200)
            assert found.p_value == pytest.approx(other[name].p_value, rel=1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 15), paired_too=st.booleans())
def test_intervals_hold_the_difference_within_its_reach(seed: int, n: int, paired_too: bool) -> None:
    rng = np.random.default_rng(seed)
    first, second = (single(rng.choice(3, size=n, p=rng.dirichlet([0.5, 0.5, 0.5]))) for _ in range(2))
    for name, found in (paired if paired_too else unpaired)(first, second).items():
        if found.estimate.low is None:
            assert name == "accuracy_given_attempted"
            continue
        low, high = bounds(found)
        reach = np.ptp(SCORES[name].span(1.0))
        assert found.estimate.value is not None
        assert -reach <= low <= found.estimate.value + 1e-12
        assert found.estimate.value - 1e-12 <= high <= reach
        assert high - low > 1e-6
        assert found.p_value is not None
        assert 0 <= found.p_value <= 1


def test_five_models_on_czech_simpleqa(calibration_data: Path) -> None:
    """Every pair of five models on the same 400 questions: accuracy as in McNemar's test, F1 likewise decided."""
    file = calibration_data / "czech_simpleqa" / "czech_simpleqa_graded_400.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    systems = sorted({row["system"] for row in rows})
    read: dict[str, tuple[list[str], NDArray[np.float64]]] = {}
    for system in systems:
        own = [row for row in rows if row["system"] == system]
        labels = [next(iter(row["graders"].values())) for row in own]
        read[system] = [row["question_en"] for row in own], single([SCALE.index(label) for label in labels])
    rng = np.random.default_rng(0)
    for at, one in enumerate(systems):
        for two in systems[at + 1 :]:
            found = paired_score_differences(
                read[one][1], read[one][0], read[two][1], read[two][0], test="swap", rng=rng, resamples=4000, **ROLES
            )
            assert found.common + found.only_first == len(set(read[one][0]))
            check_pair(found, read[one], read[two])


def check_pair(
    found: ScoreDifferences,
    first: tuple[list[str], NDArray[np.float64]],
    second: tuple[list[str], NDArray[np.float64]],
) -> None:
    """Swap test of accuracy against the sign test of questions that differ."""
    right = [dict.fromkeys(model[0], 0.0) for model in (first, second)]
    for model, sums in zip((first, second), right, strict=True):
        for question, share in zip(*model, strict=True):
            sums[question] += share[2]
    shared = [question for question in right[0] if question in right[1]]
    changes = np.array([right[0][question] - right[1][question] for question in shared])
    assert set(np.unique(changes)) <= {-1.0, 0.0, 1.0}
    wins, losses = int((changes > 0).sum()), int((changes < 0).sum())
    expected = stats.binomtest(wins, wins + losses).pvalue
    error = 4 * np.sqrt(expected * (1 - expected) / 4000) + 1 / 4001
    assert found.differences["accuracy"].p_value == pytest.approx(expected, abs=error)
    assert found.differences["f1"].p_value is not None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": [[0.5, 0.6, 0.0]]}, r"first\[0\]: not shares"),
        ({"second": [[0.5, 0.5]]}, "second: wrong shape"),
        ({"first_clusters": ["q", "r"]}, "first_clusters: wrong length"),
        ({"second_clusters": []}, "second_clusters: wrong length"),
        ({"correct": "RIGHT"}, "correct: label not on the scale"),
        ({"level": 1.0}, "level: not a confidence level"),
        ({"penalty": -1.0}, "penalty: not a cost"),
        ({"test": "wilcoxon"}, "test: unknown"),
        ({"test": "bootstrap"}, "rng: none for a test that draws"),
        ({"test": "bootstrap", "rng": np.random.default_rng(0), "resamples": 0}, "resamples: too few"),
    ],
)
@pytest.mark.parametrize("function", [paired_score_differences, unpaired_score_differences])
def test_bad_input_is_refused(function: Callable[..., Any], changed: dict[str, Any], message: str) -> None:
    arguments = {
        "first": [[0.0, 0.0, 1.0]],
        "first_clusters": ["q"],
        "second": [[0.0, 1.0, 0.0]],
        "second_clusters": ["q"],
        **ROLES,
        **changed,
    }
    data = [arguments.pop(name) for name in ("first", "first_clusters", "second", "second_clusters")]
    with pytest.raises(ValueError, match=rf"^{message}, got .*; expected "):
        function(*data, **arguments)


def test_no_swaps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^resamples: too few, got 0; expected 1 or more"):
        paired(single([2, 1]), single([1, 1]), test="swap", rng=np.random.default_rng(0), resamples=0)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["student", "swap"])
def test_size_of_the_paired_tests(test: Any) -> None:
    """Two models alike in distribution, questions of unequal difficulty: 5% tests reject no more than 7%."""
    rng, names, rejected = np.random.default_rng(3), ("f1", "index", "accuracy_given_attempted"), np.zeros(3)
    for _ in range(400):
        hard = rng.dirichlet([0.5, 0.5, 1.0], size=60)
        first, second = (rng.multinomial(1, hard) for _ in range(2))
        found = paired(first, second, np.repeat(np.arange(30), 2).tolist(), test=test, rng=rng, resamples=199)
        rejected += [(found[name].p_value or 0) <= 0.05 for name in names]
    assert (rejected <= stats.binom.ppf(0.999, 400, 0.06)).all(), rejected
    assert (rejected >= stats.binom.ppf(0.001, 400, 0.03)).all(), rejected


def test_swaps_of_many_questions_take_little_memory() -> None:
    sums = np.random.default_rng(0).random((20_000, 6))
    tracemalloc.start()
    swapped_totals(sums, rng=np.random.default_rng(0), resamples=400)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20
