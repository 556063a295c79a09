"""Error rates of the majority of K draws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.stats import clustered_wilson, false_negative_rate, false_positive_rate, majority_error_rates
from experiments.stats.errors.majority import MajorityErrorRates, majority_curve, majority_shares

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


# --- the curve over K -------------------------------------------------------------------------------------

POINTS = ("false_negative", "false_positive", "false_negative_ties", "false_positive_ties")
ROWS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.lists(st.integers(0, 2), min_size=3, max_size=3), st.integers(0, 4)),
    min_size=1,
    max_size=12,
)


def curve(reference: list[str], counts: list[list[int]], clusters: list[int]) -> tuple[MajorityErrorRates, ...]:
    return majority_curve(reference, counts, clusters, labels=LABELS, positive="CORRECT")


@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_curve_equals_counting_every_draw_of_every_size(rows: list[tuple[str, list[int], int]]) -> None:
    """Values by enumeration of draws, limits by the interval of item means; unequal repeats and empty items too."""
    reference, counts, clusters = [list(column) for column in zip(*rows, strict=True)]
    points = curve(reference, counts, clusters)
    assert [point.k for point in points] == list(range(1, max(map(sum, counts)) + 1))
    most = {
        side: max((sum(row) for label, row, _ in rows if (label == "CORRECT") == (side == "false_negative")), default=0)
        for side in ("false_negative", "false_positive")
    }
    for point in points:
        chosen: dict[str, list[tuple[float, int]]] = {name: [] for name in POINTS}
        for label, row, cluster in rows:
            if sum(row) >= point.k:
                win, tie = count_draws(row, 2, point.k)
                side = "false_negative" if label == "CORRECT" else "false_positive"
                chosen[side].append((1 - win - tie if label == "CORRECT" else win, cluster))
                chosen[f"{side}_ties"].append((tie, cluster))
        for name in POINTS:
            shares = np.clip([share for share, _ in chosen[name]], 0, 1)
            expected = clustered_wilson(
                shares, [cluster for _, cluster in chosen[name]], repeats=most[name.removesuffix("_ties")]
            )
            found = getattr(point, name)
            assert (found.n, found.clusters, found.repeats) == (expected.n, expected.clusters, expected.repeats)
            if expected.value is None:
                assert (found.value, found.low, found.high) == (None, None, None)
            else:
                limits = (found.value, found.low, found.high)
                assert limits == pytest.approx((expected.value, expected.low, expected.high), abs=1e-9)


def test_curve_holds_the_single_points() -> None:
    rng = np.random.default_rng(2)
    reference, clusters = rng.choice(LABELS, 60).tolist(), (np.arange(60) % 13).tolist()
    counts = [rng.multinomial(size, [0.3, 0.2, 0.5]).tolist() for size in rng.integers(0, 8, 60)]
    for point in curve(reference, counts, clusters):
        single = majority_error_rates(reference, counts, clusters, labels=LABELS, positive="CORRECT", k=point.k)
        for name in POINTS:
            ours, other = getattr(point, name), getattr(single, name)
            assert (ours.value, ours.low, ours.high) == pytest.approx((other.value, other.low, other.high), abs=1e-12)
            assert (ours.n, ours.clusters, ours.repeats) == (other.n, other.clusters, other.repeats)


def test_curve_equals_simulated_majorities() -> None:
    """Two hundred items of nine verdicts: K of them drawn without replacement twenty thousand times in all."""
    rng = np.random.default_rng(4)
    counts = rng.multinomial(9, [0.3, 0.1, 0.6], size=200)
    points = curve(["CORRECT"] * 200, counts.tolist(), list(range(200)))
    for k in (2, 3, 5, 8):
        draws = np.array([rng.multivariate_hypergeometric(row, k, size=300) for row in counts])
        tied = (draws == draws.max(axis=2, keepdims=True)).sum(axis=2) > 1
        lost = ~tied & (draws.argmax(axis=2) != 2)
        assert points[k - 1].false_negative.value == pytest.approx(lost.mean(), abs=0.006)
        assert points[k - 1].false_negative_ties.value == pytest.approx(tied.mean(), abs=0.006)


def test_a_grader_that_is_mostly_right_gains_by_repeats_and_one_that_is_mostly_wrong_loses() -> None:
    odd = slice(0, None, 2)
    right = [point.false_negative.value for point in curve(["CORRECT"], [[3, 0, 6]], [0])[odd]]
    wrong = [point.false_negative.value for point in curve(["CORRECT"], [[6, 0, 3]], [0])[odd]]
    assert right == sorted(right, reverse=True)
    assert right[-1] == 0.0
    assert wrong == sorted(wrong)
    assert wrong[-1] == 1.0


def test_no_verdict_has_no_curve_and_later_points_rest_on_fewer_items() -> None:
    assert curve([], [], []) == ()
    assert curve(["CORRECT"], [[0, 0, 0]], [0]) == ()
    points = curve(["CORRECT"] * 3, [[0, 0, 3], [0, 0, 2], [0, 0, 1]], [0, 1, 2])
    assert [point.false_negative.n for point in points] == [3, 2, 1]
    assert all(point.false_positive.value is None for point in points)
    assert all((point.false_negative.high or 0.0) > 0.5 for point in points)


def test_order_of_items_and_names_of_questions_change_no_digit_of_the_curve() -> None:
    rng = np.random.default_rng(6)
    reference, clusters = rng.choice(LABELS, 50), np.arange(50) % 9
    counts = np.array([rng.multinomial(size, [0.3, 0.2, 0.5]) for size in rng.integers(0, 7, 50)])
    order = rng.permutation(50)
    first = majority_curve(reference, counts, clusters, labels=LABELS, positive="CORRECT")
    names = [f"q{9 - cluster}" for cluster in clusters[order]]
    assert majority_curve(reference[order], counts[order], names, labels=LABELS, positive="CORRECT") == first


def test_a_hundred_thousand_items_have_a_point_for_each_number_of_draws() -> None:
    rng = np.random.default_rng(0)
    reference = rng.choice(LABELS, 100_000).tolist()
    counts = rng.multinomial(10, [0.2, 0.1, 0.7], size=100_000)
    points = majority_curve(reference, counts, range(100_000), labels=LABELS, positive="CORRECT")
    assert len(points) == 10


def test_a_curve_refuses_bad_input() -> None:
    with pytest.raises(ValueError, match=r"^level: not a confidence level"):
        majority_curve(["CORRECT"], [[0, 0, 1]], "a", labels=LABELS, positive="CORRECT", level=95)
    with pytest.raises(ValueError, match=r"^clusters: wrong length"):
        majority_curve(["CORRECT"], [[0, 0, 1]], "ab", labels=LABELS, positive="CORRECT")
    with pytest.raises(ValueError, match=r"^positive: label not on the scale"):
        majority_curve(["CORRECT"], [[0, 0, 1]], "a", labels=LABELS, positive="YES")


def test_more_verdicts_than_numbers_can_hold_are_refused_and_not_wrong() -> None:
    table = np.array([[600, 600]])
    assert majority_shares(table, 0, 3)[0] == pytest.approx([0.5])
    with pytest.raises(ValueError, match=r"^counts: too many verdicts of an item for 600 draws, got 1200"):
        majority_shares(table, 0, 600)


def test_the_repeats_of_a_row_are_those_of_its_own_items() -> None:
    reference = ["CORRECT"] * 20 + ["INCORRECT"] * 20
    counts = [[0, 0, 1]] * 18 + [[1, 0, 0]] * 2 + [[8, 0, 2]] * 20
    clusters = [row // 10 for row in range(40)]
    rates = majority_error_rates(reference, counts, clusters, labels=LABELS, positive="CORRECT", k=1)
    assert rates.false_negative == false_negative_rate(reference, counts, clusters, labels=LABELS, positive="CORRECT")
    assert rates.false_positive == false_positive_rate(reference, counts, clusters, labels=LABELS, positive="CORRECT")
