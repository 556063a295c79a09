"""Paired comparisons: interval and Student's p-value against scipy, the rest by their definition."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.clusters.student_tests import standard_error, student_p_value
from experiments.stats.comparisons.mcnemar import mcnemar_test, paired_table
from experiments.stats.comparisons.paired_comparison import PairedComparison, compare_all, paired_comparison


def fresh() -> np.random.Generator:
    return np.random.default_rng(5)


def compare(first: Any, second: Any, clusters: Any = None, **options: Any) -> PairedComparison:
    return paired_comparison(first, second, range(len(first)) if clusters is None else clusters, rng=fresh(), **options)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_one_item_a_question_is_scipys_paired_t_test(level: float) -> None:
    """Oracle: scipy.stats.ttest_rel, its p-value and interval."""
    rng = np.random.default_rng(0)
    first, second = rng.binomial(10, 0.3, 40) / 10, rng.binomial(10, 0.2, 40) / 10
    scipys = stats.ttest_rel(first, second)
    comparison = compare(first, second, level=level)
    estimate = comparison.difference.estimate
    assert comparison.student_p_value == pytest.approx(scipys.pvalue, rel=1e-9)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(scipys.confidence_interval(level)), abs=1e-12)
    assert estimate.value == pytest.approx(np.mean(first - second), abs=1e-12)
    assert standard_error(estimate) == pytest.approx(stats.sem(first - second), rel=1e-9)


def test_questions_of_equal_size_are_scipys_t_test_on_their_means() -> None:
    """Oracle: scipy.stats.ttest_rel on the 12 question means."""
    rng = np.random.default_rng(1)
    first, second = rng.random((12, 5)), rng.random((12, 5))
    scipys = stats.ttest_rel(first.mean(axis=1), second.mean(axis=1))
    comparison = compare(first.ravel(), second.ravel(), np.repeat(np.arange(12), 5).tolist())
    assert comparison.student_p_value == pytest.approx(scipys.pvalue, rel=1e-9)
    assert comparison.difference.estimate.clusters == 12


@pytest.mark.parametrize(("alternative", "null"), [("two-sided", 0.1), ("greater", -0.05), ("less", 0.2)])
def test_student_p_value_is_scipys(alternative: Any, null: float) -> None:
    """Oracle: scipy.stats.ttest_1samp."""
    values = np.random.default_rng(2).normal(0.1, 1, 15)
    scipys = stats.ttest_1samp(values, null, alternative=alternative).pvalue
    estimate = clustered_mean(values, range(15))
    assert student_p_value(estimate, null=null, alternative=alternative) == pytest.approx(scipys, rel=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_single_labels_give_mcnemars_exact_p_value(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    comparison = compare(first, second)
    exact = mcnemar_test(paired_table(first, second, range(len(first)))).exact
    assert comparison.difference.test == "sign-flip-exact"
    assert comparison.difference.p_value == pytest.approx(exact, abs=1e-12)


def test_questions_are_turned_whole() -> None:
    """Three questions of four items that all say the same: p is 2 / 2**3, not 2 / 2**12."""
    comparison = compare([1.0] * 12, [0.0] * 12, np.repeat(["a", "b", "c"], 4).tolist())
    assert comparison.difference.p_value == 2 / 2**3


def test_swapping_the_two_turns_the_difference_around() -> None:
    rng = np.random.default_rng(4)
    first, second, clusters = rng.random(30), rng.random(30), [f"q{place % 11}" for place in range(30)]
    one, other = compare(first, second, clusters), compare(second, first, clusters)
    a, b = one.difference.estimate, other.difference.estimate
    assert (a.value, a.low, a.high) == pytest.approx((-b.value, -b.high, -b.low))  # type: ignore[operator]
    assert one.difference.p_value == other.difference.p_value
    assert one.student_p_value == pytest.approx(other.student_p_value)


def test_an_item_that_either_lacks_is_left_out_of_that_pair_alone() -> None:
    means = [[0.1, 0.3, 0.2], [0.5, None, 0.1], [0.2, 0.9, 0.4], [0.3, 0.4, None], [0.8, 0.2, 0.1]]
    first, second, third = compare_all(means, "aabbc", names=["x", "y", "z"], rng=fresh())
    assert [(c.first, c.second, c.left_out) for c in (first, second, third)] == [
        ("x", "y", 1),
        ("x", "z", 1),
        ("y", "z", 2),
    ]
    assert first.difference.estimate.value == pytest.approx((-0.2 - 0.7 - 0.1 + 0.6) / 4)
    assert (third.difference.estimate.n, third.difference.estimate.clusters) == (3, 3)
    assert (
        second
        == compare_all([[row[0], row[2]] for row in means], "aabbc", names=["x", "z"], rng=np.random.default_rng(99))[0]
    )


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_items_nor_names_of_questions_move_a_digit(seed: int) -> None:
    """Draws by counts of sizes (tenths) and by single signs (any numbers) alike, with missing items."""
    rng = np.random.default_rng(seed)
    means = np.column_stack([rng.binomial(10, 0.3, (200, 2)) / 10, rng.random((200, 2))])
    means[rng.random((200, 4)) < 0.1] = np.nan
    clusters = rng.integers(90, size=200)
    order = rng.permutation(200)
    names = list("abcd")
    one = compare_all(means, clusters.tolist(), names=names, rng=fresh(), resamples=300)
    other = compare_all(
        means[order], [f"q{900 - code}" for code in clusters[order]], names=names, rng=fresh(), resamples=300
    )
    assert one == other
    assert {comparison.difference.test for comparison in one} == {"sign-flip-monte-carlo"}


def test_no_difference_anywhere_is_no_certainty() -> None:
    comparison = compare([0.2] * 30, [0.2] * 30)
    estimate = comparison.difference.estimate
    assert (comparison.difference.p_value, comparison.student_p_value) == (1.0, None)
    assert estimate.value == 0
    assert estimate.low is not None
    assert estimate.high is not None
    assert -0.2 < estimate.low < 0 < estimate.high < 0.2
    assert estimate.method == "wilson-clustered"


def test_all_wrong_against_all_right() -> None:
    comparison = compare([1] * 30, [0] * 30)
    assert comparison.difference.p_value == pytest.approx(2 * 0.5**30)
    assert comparison.difference.estimate.value == 1
    assert comparison.student_p_value is None


@pytest.mark.parametrize(("first", "second"), [([], []), ([None, 1.0], [0.5, None])])
def test_no_common_item_is_not_defined(first: list[float | None], second: list[float | None]) -> None:
    comparison = compare(first, second)
    assert comparison.difference.p_value is None
    assert comparison.student_p_value is None
    assert comparison.difference.estimate.value is None
    assert comparison.left_out == len(first)


def test_one_item_and_one_question_tell_nothing() -> None:
    for first, second, clusters in (([0.7], [0.2], ["a"]), ([0.7, 0.9], [0.2, 0.1], ["a", "a"])):
        comparison = compare(first, second, clusters)
        assert (comparison.difference.p_value, comparison.student_p_value) == (1.0, None)
        assert comparison.difference.estimate.low == pytest.approx(np.mean(first) - np.mean(second) - 1)


def test_unequal_repeats_weigh_items_equally() -> None:
    """Ten repeats of one item weigh as much as one of another: means come in, not counts."""
    assert compare([3 / 10, 1 / 1], [0 / 10, 0 / 1]).difference.estimate.value == pytest.approx((0.3 + 1) / 2)


@pytest.mark.parametrize("graders", [0, 1])
def test_fewer_than_two_graders_have_no_pairs(graders: int) -> None:
    assert compare_all(np.zeros((3, graders)), range(3), names=["a"][:graders], rng=fresh()) == ()


@pytest.mark.parametrize(
    ("means", "clusters", "names", "message"),
    [
        ([[0.1, 0.2]], "a", ["x"], r"^means: wrong shape, got \(1, 2\); expected \(n, 1\)"),
        ([[0.1, 0.2]], "a", ["x", "x"], r"^names: a name stands twice"),
        ([[0.1, np.inf]], "a", ["x", "y"], r"^means\[0\]: not a number, got inf"),
        ([[0.1, 0.2]], "ab", ["x", "y"], r"^clusters: wrong length, got 2; expected 1"),
    ],
)
def test_bad_input_is_refused(means: Any, clusters: str, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_all(means, clusters, names=names, rng=fresh())


def test_lengths_that_differ_and_bad_levels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^second: wrong shape, got \(1,\); expected \(2,\)"):
        compare([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match=r"^level: not a confidence level"):
        compare([0.1, 0.2], [0.1, 0.3], level=95)


def test_real_graders(calibration_data: Any) -> None:
    """Eleven graders of 3,600 answers, questions as clusters: all differences with both p-values, which agree."""
    lines = (calibration_data / "judging_judges_v1" / "judging_judges_v1_labels.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if row["label"] in ("CORRECT", "INCORRECT")]
    names = sorted({name for row in rows for name in row["graders"]})
    wrong = [
        [None if row["graders"].get(name) is None else float(row["graders"][name] != row["label"]) for name in names]
        for row in rows
    ]
    found = compare_all(wrong, [row["question"] for row in rows], names=names, rng=fresh(), resamples=2000)
    assert len(found) == len(names) * (len(names) - 1) // 2
    for comparison in found:
        estimate = comparison.difference.estimate
        assert comparison.difference.p_value is not None
        assert comparison.student_p_value is not None
        assert comparison.difference.p_value == pytest.approx(comparison.student_p_value, abs=0.05)
        assert estimate.n + comparison.left_out == len(rows)
        assert estimate.clusters < estimate.n


def test_one_question_of_many_that_differs_has_a_standard_error() -> None:
    values = np.zeros(2_000_000)
    values[7] = 1.0
    estimate = clustered_mean(values, range(len(values)))
    assert estimate.method == "student-clustered"
    assert student_p_value(estimate) == pytest.approx(0.3173, abs=1e-4)
