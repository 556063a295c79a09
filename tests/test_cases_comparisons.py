"""Comparisons of graders that have misled, each with variants of its kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from experiments.stats.comparisons.best_set import best_set
from experiments.stats.comparisons.mcnemar import mcnemar_test, paired_table
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.newcombe import newcombe_interval
from experiments.stats.comparisons.paired_comparison import PairedComparison, compare_all, paired_comparison


def fresh() -> np.random.Generator:
    return np.random.default_rng(0)


def compare(first: Sequence[float], second: Sequence[float], clusters: Sequence[object]) -> PairedComparison:
    return paired_comparison(first, second, [str(name) for name in clusters], rng=fresh())


def passes(n: int) -> list[float]:
    """Fifty answers of which the first ``n`` pass."""
    return [1.0] * n + [0.0] * (50 - n)


@pytest.mark.parametrize(
    "passed",
    [
        {"one": 13, "two": 20, "three": 16, "four": 17},
        {"one": 25, "two": 32, "three": 28, "four": 29},
        {"one": 5, "two": 12, "three": 8},
    ],
)
def test_the_grader_that_passes_most_is_not_the_best(passed: dict[str, int]) -> None:
    """Four graders pass 26% to 40% of one candidate's answers. Which of them is right is another question.

    Here people agree with the strictest. The comparison of the passes finds that the most lenient passes more; the
    comparison of the errors leaves it out of the set of the best, and it is the errors by which one is chosen.
    """
    people = np.array(passes(min(passed.values())))
    table = np.column_stack([passes(n) for n in passed.values()])
    assert [float(share) for share in table.mean(axis=0)] == [n / 50 for n in passed.values()]
    errors = np.abs(table - people[:, None])
    best = best_set(errors, range(50), names=list(passed), rng=fresh())
    assert "one" in best.members
    assert "two" not in best.members
    by_score = best_set(table, range(50), names=list(passed), rng=fresh(), higher_is_better=True)
    assert "two" in by_score.members
    assert "one" not in by_score.members


def test_equal_scores_are_no_equal_graders() -> None:
    """Two graders pass 20 of 50 each and agree on none: the difference is 0, with an interval that is not narrow."""
    found = compare(passes(20), passes(20)[::-1], range(50))
    estimate = found.difference.estimate
    assert estimate.value == 0
    assert estimate.low is not None
    assert estimate.low < -0.2
    assert found.difference.p_value == 1.0


@pytest.mark.parametrize("repeats", [2, 10])
def test_repeats_are_not_items(repeats: int) -> None:
    """Twenty questions, graders that say the same in each repeat: repeats add nothing to what is known.

    With each repeat as a question of its own, the p-value would fall from .02 to nearly nothing.
    """
    first = [1.0] * 8 + [0.0] * 12
    second = [0.0] * 7 + [1.0] + [0.0] * 11 + [0.0]
    once = compare(first, second, range(20))
    rows = [question for question in range(20) for _ in range(repeats)]
    stretched = [first[row] for row in rows], [second[row] for row in rows]
    by_question, by_repeat = compare(*stretched, rows), compare(*stretched, range(len(rows)))
    assert once.difference.p_value == pytest.approx(2 * 0.5**7)
    assert by_question.difference.p_value == pytest.approx(2 * 0.5**7)
    assert by_question.difference.estimate.low == pytest.approx(once.difference.estimate.low)
    assert by_question.difference.estimate.clusters == 20
    assert by_repeat.difference.p_value == pytest.approx(2 * 0.5 ** (7 * repeats))
    with pytest.raises(ValueError, match=r"^clusters: items share questions"):
        paired_table(*stretched, [str(row) for row in rows])


def test_shares_of_repeats_are_not_single_labels() -> None:
    """McNemar's test on shares rounded to labels would throw the repeats away without a word."""
    with pytest.raises(ValueError, match=r"^first\[0\]: not a single label, got 0.9"):
        paired_table([0.9, 0.1], [1.0, 0.0], "ab")


@pytest.mark.parametrize("n", [1, 10, 50, 5000])
def test_no_difference_in_n_items_is_no_certainty(n: int) -> None:
    """Neither interval is a point, and both narrow with n."""
    clustered = compare([0.0] * n, [0.0] * n, range(n)).difference.estimate
    single = newcombe_interval(paired_table([0] * n, [0] * n, [str(item) for item in range(n)]))
    for estimate in (clustered, single):
        assert estimate.value == 0
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < 0 < estimate.high
        assert estimate.high - estimate.low < 20 / (n + 4)
        assert estimate.high - estimate.low > 3 / (n + 4)


def test_one_of_many_pairs_is_significant_by_chance() -> None:
    """Ten graders that guess: of 45 raw p-values some fall below .05, of the adjusted none."""
    means = np.random.default_rng(0).binomial(10, 0.5, (40, 10)) / 10
    found = compare_all(means, range(40), names=[f"g{place}" for place in range(10)], rng=fresh())
    table = adjust_p_values([comparison.difference.p_value for comparison in found])
    raw = [row.p_value for row in table.rows if row.p_value is not None]
    assert len(raw) == table.tested == 45
    assert min(raw) <= 0.05
    assert not any(row.significant for row in table.rows)


def test_a_failed_grader_is_not_wrong_and_not_right() -> None:
    """Items without a verdict leave the pair, are counted, and shift nothing."""
    whole = compare([1, 0, 0, 1, 0], [0, 0, 0, 1, 1], "abcde")
    gaps = compare([1, 0, 0, 1, 0, None, 1], [0, 0, 0, 1, 1, 1, None], "abcdefg")  # type: ignore[list-item]
    assert (whole.left_out, gaps.left_out) == (0, 2)
    assert gaps.difference == whole.difference
    assert mcnemar_test(paired_table([1, None], [None, 1], "ab")).mid_p is None
