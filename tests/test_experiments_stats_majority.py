"""Error rates of the majority of K draws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats import false_negative_rate, false_positive_rate, majority_error_rates
from experiments.stats.majority import majority_shares

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


def count_draws(row: list[int], position: int, k: int) -> tuple[float, float]:
    """Wins and ties over every possible draw of k verdicts."""
    verdicts = [label for label, count in enumerate(row) for _ in range(count)]
    outcomes = []
    for draw in combinations(verdicts, k):
        ranked = Counter(draw).most_common()
        tie = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        outcomes.append("tie" if tie else ranked[0][0])
    return outcomes.count(position) / len(outcomes), outcomes.count("tie") / len(outcomes)


@settings(max_examples=60, deadline=None)
@given(row=st.lists(st.integers(0, 4), min_size=2, max_size=4), data=st.data())
def test_equals_counting_every_draw(row: list[int], data: st.DataObject) -> None:
    if not sum(row):
        row = [1, *row[1:]]
    k = data.draw(st.integers(1, min(sum(row), 7)))
    wins, ties = majority_shares(np.array([row]), 0, k)
    assert (wins[0], ties[0]) == pytest.approx(count_draws(row, 0, k))


@pytest.mark.parametrize(
    ("row", "tie"), [([1, 0, 1], 1.0), ([1, 1, 1], 1.0), ([2, 0, 1], 0.0), ([2, 2, 1], 1.0), ([3, 0, 0], 0.0)]
)
def test_an_even_vote_is_a_tie_and_no_verdict(row: list[int], tie: float) -> None:
    rates = majority_error_rates(["CORRECT"], [row], ["q"], labels=LABELS, positive="CORRECT", k=sum(row))
    assert rates.false_negative_ties.value == tie
    assert rates.false_negative.value == 1.0 - tie
    assert rates.false_positive.value is None


def test_one_draw_is_the_single_draw_rate() -> None:
    rng = np.random.default_rng(0)
    reference, counts = rng.choice(LABELS, 40), rng.multinomial(5, [0.3, 0.2, 0.5], size=40)
    rates = majority_error_rates(reference, counts, range(40), labels=LABELS, positive="CORRECT", k=1)
    for majority, single in ((rates.false_negative, false_negative_rate), (rates.false_positive, false_positive_rate)):
        estimate = single(reference, counts, range(40), labels=LABELS, positive="CORRECT")
        assert (majority.value, majority.low, majority.high) == pytest.approx(
            (estimate.value, estimate.low, estimate.high)
        )
    assert (rates.false_negative_ties.value, rates.false_positive_ties.value) == (0.0, 0.0)


def test_hand_computed_majority_of_three() -> None:
    """Of five verdicts three are right: 1 of 10 draws of three is all right, 6 have two right, 3 have one."""
    rates = majority_error_rates(
        ["CORRECT", "INCORRECT"], [[2, 0, 3], [4, 0, 1]], "ab", labels=LABELS, positive="CORRECT", k=3
    )
    assert rates.false_negative.value == pytest.approx(3 / 10)
    assert rates.false_positive.value == pytest.approx(0.0)
    assert rates.k == 3


def test_items_with_too_few_verdicts_are_left_out() -> None:
    counts = [[0, 0, 3], [0, 0, 2], [0, 0, 0]]
    rates = majority_error_rates(["CORRECT"] * 3, counts, "abc", labels=LABELS, positive="CORRECT", k=3)
    assert (rates.false_negative.value, rates.false_negative.n) == (0.0, 1)
    none = majority_error_rates(["CORRECT"] * 3, counts, "abc", labels=LABELS, positive="CORRECT", k=4)
    assert (none.false_negative.value, none.false_negative.n) == (None, 0)


def test_many_repeats_and_labels_stay_exact() -> None:
    """Five labels, a hundred verdicts, the majority of 15: against a hundred thousand draws."""
    row = [60, 20, 10, 5, 5]
    rates = majority_error_rates(["a"], [row], ["q"], labels=("a", "b", "c", "d", "e"), positive="a", k=15)
    draws = np.random.default_rng(0).multivariate_hypergeometric(row, 15, size=100_000)
    ties = (draws == draws.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert rates.false_negative_ties.value == pytest.approx(ties.mean(), abs=0.001)
    assert rates.false_negative.value == pytest.approx((~ties & (draws.argmax(axis=1) > 0)).mean(), abs=0.0015)


def test_fewer_than_one_draw_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^k: too few draws, got 0; expected 1 or more"):
        majority_error_rates(["CORRECT"], [[0, 0, 1]], ["q"], labels=LABELS, positive="CORRECT", k=0)
