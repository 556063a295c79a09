"""The alternative-annotator test against a plain rewriting of the paper's formulas with scipy and statsmodels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from experiments.stats.raters.alternative_annotator import AlternativeAnnotatorResult, alternative_annotator_test
from experiments.stats.raters.loss_tests import benjamini_yekutieli, student_below, wilcoxon_below

LABELS = ("BAD", "FAIR", "GOOD")
Level = Literal["nominal", "ordinal", "interval"]
Ratings = list[list[str | None]]


def people(n: int, raters: int = 4, seed: int = 0, missing: float = 0.15, noise: float = 0.3) -> tuple[Ratings, Any]:
    """Raters who often say the truth, and a grader of one verdict who does too."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)

    def label() -> Any:
        return np.where(rng.random(n) < noise, rng.integers(3, size=n), truth)

    ratings: Ratings = [
        [None if gone else LABELS[code] for code, gone in zip(label(), rng.random(n) < missing, strict=True)]
        for _ in range(raters)
    ]
    return ratings, np.eye(3, dtype=int)[label()]


def judge(ratings: Ratings, counts: Any, clusters: Sequence[Any] | None = None, **changes: Any) -> Any:
    options: dict[str, Any] = {"labels": LABELS, "scale_level": "nominal", "epsilon": 0.2, **changes}
    return alternative_annotator_test(ratings, counts, clusters or range(len(counts)), **options)


def accuracy(label: int, others: list[int]) -> float:
    return float(np.mean([label == other for other in others]))


def negative_rmse(label: int, others: list[int]) -> float:
    return -float(np.sqrt(np.mean([(label - other) ** 2 for other in others])))


def as_in_the_paper(ratings: Ratings, grader: list[int], score: Any, epsilon: float) -> dict[str, Any]:
    """Loops over raters and items, single verdicts; the test by scipy, its adjustment by statsmodels."""
    p_values, advantages, differences = [], [], []
    for left_out, own in enumerate(ratings):
        grader_wins, rater_wins = [], []
        for item, label in enumerate(own):
            rest = [LABELS.index(r[item]) for j, r in enumerate(ratings) if j != left_out and r[item] is not None]
            if label is None or not rest:
                continue
            by_grader, by_rater = score(grader[item], rest), score(LABELS.index(label), rest)
            grader_wins.append(float(by_grader >= by_rater))
            rater_wins.append(float(by_rater >= by_grader))
        losses = np.array(rater_wins) - np.array(grader_wins)
        if len(losses) >= 30:
            p_values.append(stats.ttest_1samp(losses, epsilon, alternative="less").pvalue)
        else:
            p_values.append(stats.wilcoxon(losses - epsilon, alternative="less").pvalue)
        advantages.append(np.mean(grader_wins))
        differences.append(-losses.mean())
    rejected, adjusted, _, _ = multipletests(p_values, alpha=0.05, method="fdr_by")
    return {
        "p_values": p_values,
        "adjusted": adjusted,
        "winning_rate": rejected.mean(),
        "advantages": advantages,
        "differences": differences,
    }


@pytest.mark.parametrize(("scale_level", "score"), [("nominal", accuracy), ("ordinal", negative_rmse)])
@pytest.mark.parametrize(("n", "seed"), [(60, 1), (150, 2), (25, 3)])
def test_published_method_equals_the_formulas_by_scipy_and_statsmodels(
    scale_level: Level, score: Any, n: int, seed: int
) -> None:
    ratings, counts = people(n, seed=seed)
    expected = as_in_the_paper(ratings, counts.argmax(axis=1).tolist(), score, 0.15)
    result = judge(ratings, counts, scale_level=scale_level, epsilon=0.15, method="published")
    found = result.comparisons
    assert [one.p_value for one in found] == pytest.approx(expected["p_values"], abs=1e-9)
    assert [one.adjusted_p_value for one in found] == pytest.approx(expected["adjusted"], abs=1e-9)
    assert [one.grader_advantage.value for one in found] == pytest.approx(expected["advantages"], abs=1e-9)
    assert [one.difference.value for one in found] == pytest.approx(expected["differences"], abs=1e-9)
    assert result.winning_rate == pytest.approx(expected["winning_rate"])
    assert result.advantage_probability.value == pytest.approx(np.mean(expected["advantages"]), abs=1e-9)
    assert {one.test for one in found} == {"student" if n > 30 else "wilcoxon"}
    assert result.passes == (expected["winning_rate"] >= 0.5)


def test_questions_of_one_item_give_the_published_student_test() -> None:
    ratings, counts = people(80, seed=4)
    published, clustered = judge(ratings, counts, method="published"), judge(ratings, counts)
    for first, second in zip(published.comparisons, clustered.comparisons, strict=True):
        assert second.p_value == pytest.approx(first.p_value, rel=1e-9)
        assert (first.test, second.test) == ("student", "student-clustered")


def test_copies_of_items_within_a_question_prove_nothing() -> None:
    """Twice the items of the same questions: the published p-value falls, the clustered one stays."""
    ratings, counts = people(50, seed=5, missing=0)
    twice: Ratings = [rater * 2 for rater in ratings]
    doubled = np.concatenate([counts, counts])
    once, clustered = judge(ratings, counts), judge(twice, doubled, list(range(50)) * 2)
    published = judge(twice, doubled, list(range(50)) * 2, method="published")
    for single, double, naive in zip(once.comparisons, clustered.comparisons, published.comparisons, strict=True):
        assert double.p_value == pytest.approx(single.p_value, rel=1e-9)
        assert naive.p_value < single.p_value
    assert clustered.advantage_probability.low == pytest.approx(once.advantage_probability.low)


def test_clustered_p_value_equals_the_sandwich_written_out() -> None:
    ratings, counts = people(60, seed=6, missing=0)
    clusters = [row % 15 for row in range(60)]
    one = judge(ratings, counts, clusters, epsilon=0.1).comparisons[0]
    expected = as_in_the_paper(ratings, counts.argmax(axis=1).tolist(), accuracy, 0.1)
    assert one.difference.value == pytest.approx(expected["differences"][0])
    rest = [[LABELS.index(str(rater[item])) for rater in ratings[1:]] for item in range(60)]
    grader, own = counts.argmax(axis=1), [LABELS.index(str(label)) for label in ratings[0]]
    signs = [np.sign(accuracy(own[i], rest[i]) - accuracy(int(grader[i]), rest[i])) for i in range(60)]
    questions = np.array(signs).reshape(4, 15).sum(axis=0)  # losses of question q: items q, q + 15, ...
    error = questions.std(ddof=1) * np.sqrt(15) / 60
    t_value = (np.mean(signs) - 0.1) / error
    assert one.p_value == pytest.approx(stats.t.cdf(t_value, 14), rel=1e-9)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_equal_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="fdr_by")[1]
    assert benjamini_yekutieli(p_values) == pytest.approx(expected, abs=1e-12)
    assert benjamini_yekutieli(p_values[::-1]) == pytest.approx(expected[::-1], abs=1e-12)


@pytest.mark.parametrize(("chances", "least", "most"), [((0.35, 0.5, 0.15), 0.03, 0.07), ((0.2, 0.8, 0), 0.06, 0.15)])
def test_size_of_students_test_is_as_documented(chances: tuple[float, ...], least: float, most: float) -> None:
    """On the border, fifty items: near .05 in the usual case, up to .1 where the grader is never the better one."""
    rng = np.random.default_rng(0)
    losses = rng.choice([1.0, 0.0, -1.0], size=(2000, 50), p=chances)
    rejected = np.mean([student_below(row, np.arange(50), 0.2)[0] <= 0.05 for row in losses])
    assert least < rejected < most


def test_wilcoxons_test_rejects_far_too_often_as_documented() -> None:
    rng = np.random.default_rng(0)
    losses = rng.choice([1.0, 0.0], size=(200, 20), p=[0.2, 0.8])
    assert np.mean([wilcoxon_below(row, 0.2) <= 0.05 for row in losses]) > 0.25


def test_no_p_values_have_no_adjusted_ones() -> None:
    assert benjamini_yekutieli([]).shape == (0,)


def test_repeats_are_means_over_draws() -> None:
    """A verdict drawn at random from an item's repeats has, on average, the item's advantage."""
    ratings, first = people(60, seed=7)
    second = people(60, seed=8)[1]
    both = judge(ratings, first + second)
    alone = [judge(ratings, table) for table in (first, second)]
    for place, comparison in enumerate(both.comparisons):
        means = [result.comparisons[place].grader_advantage.value for result in alone]
        assert comparison.grader_advantage.value == pytest.approx(np.mean(means))
        assert comparison.grader_advantage.repeats == 2
    same = judge(ratings, first * 5)
    assert [one.p_value for one in same.comparisons] == [one.p_value for one in alone[0].comparisons]


def test_majority_of_the_people_wins_against_each_of_them() -> None:
    """The authors prove that the majority label has an advantage probability of 1 under accuracy."""
    ratings, _ = people(80, raters=5, seed=9, missing=0)
    codes = np.array([[LABELS.index(str(label)) for label in rater] for rater in ratings])
    votes = (codes[:, :, None] == np.arange(3)).sum(axis=0)
    result = judge(ratings, np.eye(3, dtype=int)[votes.argmax(axis=1)])
    assert result.advantage_probability.value == 1.0
    assert (result.winning_rate, result.passes) == (1.0, True)
    assert result.advantage_probability.low < result.advantage_probability.high == 1.0


def test_a_grader_that_is_always_wrong_fails() -> None:
    ratings: Ratings = [["GOOD"] * 40 for _ in range(3)]
    result = judge(ratings, [[1, 0, 0]] * 40)
    assert (result.winning_rate, result.passes, result.advantage_probability.value) == (0.0, False, 0.0)
    assert [one.p_value for one in result.comparisons] == [1.0] * 3
    assert result.advantage_probability.high > 0


@pytest.mark.parametrize("n", [5, 30])
def test_no_variance_is_bounded_by_the_number_of_questions(n: int) -> None:
    """Grader and people always agree: the loss is 0 on each question, which .8 to the n bounds; published, it is 0."""
    ratings: Ratings = [["GOOD"] * n for _ in range(3)]
    result = judge(ratings, [[0, 0, 1]] * n)
    assert [one.p_value for one in result.comparisons] == pytest.approx([0.8**n] * 3)
    assert {one.test for one in result.comparisons} == {"bound"}
    assert result.passes is (n == 30)
    assert result.comparisons[0].difference.low < 0 < result.comparisons[0].difference.high
    if n >= 30:
        published = judge(ratings, [[0, 0, 1]] * n, method="published")
        assert [one.p_value for one in published.comparisons] == [0.0] * 3


def test_one_question_shows_little() -> None:
    ratings: Ratings = [["GOOD"] * 40 for _ in range(3)]
    result = judge(ratings, [[0, 0, 1]] * 40, ["only"] * 40)
    assert [one.p_value for one in result.comparisons] == pytest.approx([0.8] * 3)
    assert result.passes is False


def test_epsilon_of_zero_asks_for_a_better_grader() -> None:
    ratings: Ratings = [["GOOD"] * 40 for _ in range(3)]
    assert {one.p_value for one in judge(ratings, [[0, 0, 1]] * 40, epsilon=0.0).comparisons} == {1.0}
    ratings, counts = people(100, seed=10)
    p_values = [judge(ratings, counts, epsilon=epsilon).comparisons[0].p_value for epsilon in (0.0, 0.1, 0.2)]
    assert p_values == sorted(p_values, reverse=True)


@pytest.mark.parametrize("raters", [0, 1, 2])
def test_fewer_than_three_people_give_no_test(raters: int) -> None:
    ratings, counts = people(40, raters=raters)
    result = judge(ratings, counts)
    assert isinstance(result, AlternativeAnnotatorResult)
    assert (result.comparisons, result.winning_rate, result.passes) == ((), None, None)
    assert (result.advantage_probability.value, result.advantage_probability.n) == (None, 0)


def test_people_with_few_items_are_left_out_by_name() -> None:
    ratings, counts = people(60, raters=4, seed=11)
    ratings[2] = [label if row < 20 else None for row, label in enumerate(ratings[2])]
    result = judge(ratings, counts, min_items=30)
    assert result.left_out == (2,)
    assert [one.rater for one in result.comparisons] == [0, 1, 3]
    assert judge(ratings[:3], counts, min_items=30).winning_rate is None


def test_just_enough_items_are_enough() -> None:
    ratings, counts = people(40, raters=3, seed=17, missing=0)
    assert judge(ratings, counts, min_items=40).left_out == ()
    assert judge(ratings, counts, min_items=41).left_out == (0, 1, 2)


def test_half_of_the_people_are_enough_to_pass() -> None:
    """The grader is as good as two of four, and two are never wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    noisy = np.where(rng.random((3, 200)) < 0.5, rng.integers(3, size=(3, 200)), truth)
    ratings: Any = np.array(LABELS)[np.array([truth, truth, noisy[0], noisy[1]])].tolist()
    result = judge(ratings, np.eye(3, dtype=int)[noisy[2]])
    assert [one.won for one in result.comparisons] == [False, False, True, True]
    assert (result.winning_rate, result.passes) == (0.5, True)


def test_items_with_nobody_else_and_failed_items_do_not_count() -> None:
    ratings, counts = people(50, seed=12)
    extra: Ratings = [[*rater, None, "GOOD"] for rater in ratings]
    extra[0][-2:] = ["BAD", "BAD"]
    more = judge(extra, np.concatenate([counts, [[0, 0, 1], [0, 0, 0]]]))
    assert more == judge(ratings, counts)


def test_order_and_names_change_no_digit() -> None:
    ratings, counts = people(60, seed=13)
    clusters = [row % 20 for row in range(60)]
    whole = judge(ratings, counts * 3 + people(60, seed=14)[1], clusters, scale_level="ordinal")
    order = np.random.default_rng(1).permutation(60)
    shuffled = judge(
        [[rater[row] for row in order] for rater in ratings],
        (counts * 3 + people(60, seed=14)[1])[order],
        [f"q{clusters[row]}" for row in order],
        scale_level="ordinal",
    )
    assert shuffled == whole
    swapped = judge(ratings[::-1], counts * 3 + people(60, seed=14)[1], clusters, scale_level="ordinal")
    assert [replace(one, rater=3 - one.rater) for one in swapped.comparisons[::-1]] == list(whole.comparisons)
    assert swapped.advantage_probability == whole.advantage_probability


def test_a_scale_turned_round_gives_the_same() -> None:
    ratings, counts = people(60, seed=15)
    for level in ("nominal", "ordinal", "interval"):
        turned = judge(ratings, counts[:, ::-1], labels=LABELS[::-1], scale_level=level)
        assert turned == judge(ratings, counts, scale_level=level)


def test_advantage_interval_covers_a_known_probability() -> None:
    """Grader and people are the same kind of rater: the interval holds the long-run advantage in about 95 of 100."""
    truth = judge(*people(20_000, raters=3, seed=16, missing=0)).advantage_probability.value
    found = [judge(*people(60, raters=3, seed=100 + seed, missing=0)).advantage_probability for seed in range(150)]
    held = sum(one.low <= truth <= one.high for one in found)
    assert 132 <= held <= 149


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 1.0}, r"^epsilon: out of range, got 1\.0"),
        ({"epsilon": -0.1}, r"^epsilon: out of range"),
        ({"epsilon": float("nan")}, r"^epsilon: out of range"),
        ({"fdr": 0.0}, r"^fdr: not a rate"),
        ({"min_items": 1}, r"^min_items: too few"),
        ({"method": "exact"}, r"^method: unknown, got 'exact'"),
        ({"scale_level": "ratio"}, r"^scale_level: unknown"),
        ({"level": 95}, r"^level: "),
        ({"labels": ("BAD", "FAIR", "FINE")}, r"^ratings\[0\].*: label not on the scale"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    ratings, counts = people(10)
    with pytest.raises(ValueError, match=message):
        judge(ratings, counts, **changes)


def test_lengths_that_differ_are_refused() -> None:
    ratings, counts = people(10)
    with pytest.raises(ValueError, match=r"^ratings\[1\]: wrong length, got 9; expected 10"):
        judge([ratings[0], ratings[1][:-1], ratings[2]], counts)
    with pytest.raises(ValueError, match=r"^counts: wrong shape"):
        judge(ratings, counts[:-1], range(10))
