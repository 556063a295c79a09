"""The set of graders not distinguishable from the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from experiments.stats.comparisons.best_set import BestSet, best_set


def find(means: Any, clusters: Any = None, **options: Any) -> BestSet:
    table = np.asarray(means, dtype=np.float64)
    options.setdefault("names", [f"g{place}" for place in range(table.shape[1])])
    options.setdefault("rng", np.random.default_rng(0))
    return best_set(table, range(len(table)) if clusters is None else clusters, **options)


def example(seed: int = 0, n: int = 60) -> Any:
    """Four graders, better to worse, whose errors go together."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.2, (n, 1))
    return np.array([0.2, 0.22, 0.26, 0.5]) + hard + rng.normal(0, 0.12, (n, 4))


@pytest.mark.parametrize("seed", range(4))
def test_two_graders_are_a_one_sided_t_test(seed: int) -> None:
    """Oracle: scipy.stats.ttest_rel, one-sided."""
    means = example(seed)[:, :2]
    result = find(means, resamples=100_000)
    for place in range(2):
        p_value = stats.ttest_rel(means[:, place], means[:, 1 - place], alternative="greater").pvalue
        assert result.graders[place].p_value == pytest.approx(p_value, abs=0.005)


@pytest.mark.parametrize("n", [6, 60])
def test_several_graders_are_the_largest_of_correlated_t(n: int) -> None:
    """Oracle: scipy.stats.multivariate_t, the distribution of the t-statistics of one grader against all others."""
    means = example(1, n)
    result = find(means, resamples=100_000)
    for place in range(4):
        differences = means[:, [place]] - np.delete(means, place, axis=1)
        t = differences.mean(axis=0) / stats.sem(differences)
        law = stats.multivariate_t(shape=np.corrcoef(differences.T), df=n - 1, seed=0)
        p_value = 1 - law.cdf(np.full(3, t.max()))
        assert result.graders[place].p_value == pytest.approx(p_value, abs=0.006)


def test_the_worst_is_told_apart_and_the_close_are_not() -> None:
    result = find(example(2))
    assert result.members == ("g0", "g1")
    assert all(grader.in_set is (grader.name in result.members) for grader in result.graders)
    assert result.graders[0].behind == 0
    assert result.graders[3].mean == pytest.approx(example(2)[:, 3].mean())
    assert (result.n, result.clusters, result.left_out) == (60, 60, 0)


def test_more_is_better_where_it_is_said() -> None:
    means = example()
    errors, accuracy = find(means), find(1 - means, higher_is_better=True)
    assert accuracy.members == errors.members
    for one, other in zip(accuracy.graders, errors.graders, strict=True):
        assert one.behind == pytest.approx(other.behind)
        assert one.p_value == pytest.approx(other.p_value, abs=0.01)


def test_a_lower_level_gives_a_smaller_set() -> None:
    means = example(3)
    wide, narrow = find(means, level=0.999), find(means, level=0.5)
    assert set(narrow.members) <= set(wide.members)
    assert len(narrow.members) < len(wide.members)


def test_questions_and_not_items_are_the_unit() -> None:
    """Copies of every item in its own question change nothing; as questions of their own they would."""
    means = example(2, 20)
    plain, copied = find(means), find(np.repeat(means, 5, axis=0), np.repeat(range(20), 5).tolist())
    for one, other in zip(plain.graders, copied.graders, strict=True):
        assert other.p_value == pytest.approx(one.p_value, abs=1e-3)
    assert (copied.n, copied.clusters) == (100, 20)
    assert len(find(np.repeat(means, 5, axis=0)).members) < len(plain.members)


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_items_nor_names_of_questions_move_a_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    means, clusters, order = example(seed), rng.integers(20, size=60), rng.permutation(60)
    one = find(means, clusters.tolist())
    assert find(means[order], [f"q{99 - code}" for code in clusters[order]]) == one


def test_always_right_and_always_wrong() -> None:
    """No standard error, since every question says the same: the sign test decides."""
    means = np.column_stack([np.zeros(12), np.ones(12), np.resize([0, 1], 12)])
    result = find(means)
    assert result.members == ("g0",)
    assert result.graders[1].p_value == pytest.approx(2 * 0.5**12)
    few = find(means[:4])
    assert few.graders[1].p_value == pytest.approx(2 * 0.5**4)
    assert few.graders[1].in_set


def test_beside_a_sign_test_the_others_are_adjusted_for_by_bonferroni() -> None:
    """The always wrong grader meets one rival in a sign test of four questions and one in a t-test that says more."""
    rival = np.array([0.1, 0.12, 0.09, 0.11])
    result = find(np.column_stack([np.zeros(4), np.ones(4), rival]))
    assert result.graders[1].p_value == pytest.approx(
        2 * stats.ttest_rel(np.ones(4), rival, alternative="greater").pvalue, rel=1e-9
    )


def test_identical_graders_stay_together() -> None:
    errors = np.resize([0.0, 1.0, 0.0], 30)
    result = find(np.column_stack([errors, errors]))
    assert result.members == ("g0", "g1")
    assert [grader.p_value for grader in result.graders] == [1.0, 1.0]


def test_items_that_a_grader_lacks_are_left_out() -> None:
    means = example()
    means[:5, 2] = np.nan
    means[3:7, 0] = np.nan
    result = find(means)
    assert (result.n, result.left_out) == (53, 7)
    assert result == find(means)
    whole = find(means[7:])
    assert [grader.p_value for grader in whole.graders] == [grader.p_value for grader in result.graders]


@pytest.mark.parametrize("clusters", [["a"], ["a", "a"]])
def test_one_question_tells_nobody_apart(clusters: list[str]) -> None:
    result = find([[0.0, 1.0]] * len(clusters), clusters)
    assert result.members == ("g0", "g1")
    assert [grader.p_value for grader in result.graders] == [None, None]


def test_no_items_and_one_grader() -> None:
    empty = find(np.zeros((0, 2)))
    assert (empty.members, empty.graders, empty.n) == ((), (), 0)
    missing = find([[None, 1.0], [0.2, None]])
    assert (missing.members, missing.left_out) == ((), 2)
    alone = find([[0.2], [0.4]])
    assert (alone.members, alone.graders[0].p_value) == (("g0",), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 0}, r"^resamples: too few, got 0"),
        ({"level": 2}, r"^level: not a confidence level"),
        ({"names": ["a", "a"]}, r"^names: a name stands twice"),
        ({"clusters": "a"}, r"^clusters: wrong length"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find([[0.1, 0.2], [0.3, 0.1]], **options)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [(0, 0, 0, 0, 0), (0, 0, 0.05, 0.1, 0.3), (0, 0.02, 0.02, 0.02, 0.02)])
def test_the_best_is_in_the_set_at_the_familys_level(gaps: tuple[float, ...]) -> None:
    """1,500 simulations of errors in tenths, three items a question; a binomial bound of one in ten thousand.

    With all equal the level is used up: the set misses a given one of them nearly as often as it may.
    """
    rng = np.random.default_rng(7)
    clusters = np.repeat(range(40), 3).tolist()
    missed = excluded = 0
    for _ in range(1500):
        hard = np.repeat(rng.normal(0, 0.1, (40, 1)), 3, axis=0)
        chances = np.clip(0.3 + hard + np.array(gaps) + rng.normal(0, 0.1, (120, 5)), 0, 1)
        result = find(rng.binomial(10, chances) / 10, clusters, resamples=400, rng=rng)
        missed += not result.graders[0].in_set
        excluded += not result.graders[4].in_set
    assert missed <= stats.binom.ppf(1 - 1e-4, 1500, 0.05)
    if not any(gaps):
        assert missed >= stats.binom.ppf(1e-4, 1500, 0.035)
    if gaps[-1] > 0.2:
        assert excluded > 0.99 * 1500


@pytest.mark.parametrize("n", [1_000, 300_000])
def test_one_verdict_of_many_tells_nobody_apart(n: int) -> None:
    means = np.zeros((n, 2))
    means[::5] = 1.0
    means[1, 1] = 0.1
    result = find(means, resamples=200)
    assert result.members == ("g0", "g1")
    assert result.graders[1].p_value == pytest.approx(0.16, abs=0.08)
