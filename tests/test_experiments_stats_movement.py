"""Verdicts that moved between two rounds, against every way to deal them out anew."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.clusters import clustered_mean
from experiments.stats.intervals import clustered_wilson
from experiments.stats.repeats import movement_test

ITEMS = [([3, 0, 0], [0, 3, 0]), ([2, 1, 0], [1, 2, 0]), ([1, 1, 1], [0, 0, 3]), ([3, 0, 0], [3, 0, 0])]


def _excess(old: list[int], new: list[int]) -> float:
    """Counted pair by pair."""
    one, other = ([label for label, n in enumerate(counts) for _ in range(n)] for counts in (old, new))
    between = np.mean([a != b for a, b in product(one, other)])
    within = [np.mean([a != b for a, b in combinations(labels, 2)]) for labels in (one, other)]
    return float(between - np.mean(within))


def _every_deal(old: list[int], new: list[int]) -> list[float]:
    pooled = [label for label, n in enumerate(np.add(old, new)) for _ in range(n)]
    found = []
    for chosen in combinations(range(len(pooled)), sum(old)):
        one = [pooled[place] for place in chosen]
        mine = [one.count(label) for label in range(3)]
        found.append(_excess(mine, [pooled.count(label) - mine[label] for label in range(3)]))
    return found


def test_pairs_and_deals_are_those_of_full_enumeration() -> None:
    old, new = (np.array([item[place] for item in ITEMS]) for place in (0, 1))
    found = movement_test(old, new, list("abcd"), rng=np.random.default_rng(1), resamples=20_000)
    values = [_excess(*item) for item in ITEMS]
    assert found.excess.value == pytest.approx(np.mean(values), abs=1e-12)
    assert found.excess.high == pytest.approx(clustered_mean(values, list("abcd")).high, abs=1e-12)
    assert found.between is not None
    assert found.within is not None
    assert found.between - found.within == pytest.approx(np.mean(values), abs=1e-12)
    totals = np.array([0.0])
    for item in ITEMS:
        totals = np.add.outer(totals, _every_deal(*item)).ravel()
    assert found.p_value == pytest.approx((totals >= sum(values) - 1e-9).mean(), abs=0.01)


def test_majorities_are_counted_and_ties_are_not() -> None:
    old, new = (np.array([item[place] for item in ITEMS]) for place in (0, 1))
    found = movement_test(old, new, list("abcd"), rng=np.random.default_rng(1), resamples=10)
    share = clustered_wilson([1, 1, 0], list("abd"), repeats=3)
    assert (found.n_moved, found.without_majority) == (2, 1)
    assert (found.moved.low, found.moved.high) == (share.low, share.high)


def test_the_excess_is_half_the_squared_distance_in_the_mean() -> None:
    rng = np.random.default_rng(9)
    chances = np.array([0.7, 0.2, 0.1]), np.array([0.4, 0.4, 0.2])
    old, new = (rng.multinomial(2, chance, 8_000) for chance in chances)
    found = movement_test(old, new, list(range(8_000)), rng=rng, resamples=1)
    assert found.excess.value == pytest.approx(((chances[0] - chances[1]) ** 2).sum() / 2, abs=0.015)


def test_a_total_turn_is_found_and_the_same_verdicts_are_not_moved() -> None:
    old, new = [[3, 0]] * 20, [[0, 3]] * 20
    rng = np.random.default_rng(2)
    found = movement_test(old, new, list(range(20)), rng=rng)
    assert (found.moved.value, found.excess.value, found.p_value) == (1.0, 1.0, 1 / 2001)
    same = movement_test(old, old, list(range(20)), rng=rng)
    assert (same.moved.value, same.excess.value, same.p_value) == (0.0, 0.0, 1.0)


def test_single_verdicts_show_no_noise() -> None:
    found = movement_test([[1, 0], [0, 1]], [[0, 1], [0, 1]], ["a", "b"], rng=np.random.default_rng(3))
    assert (found.n_moved, found.between, found.excess.value, found.p_value) == (1, None, None, None)


def test_nothing_is_nothing() -> None:
    found = movement_test(np.zeros((0, 3)), np.zeros((0, 3)), [], rng=np.random.default_rng(4))
    assert (found.moved.value, found.within, found.p_value) == (None, None, None)
    found = movement_test([[0, 0]], [[2, 0]], ["a"], rng=np.random.default_rng(4))
    assert (found.n_moved, found.without_majority, found.p_value) == (0, 1, None)


def test_without_a_change_the_test_errs_no_more_often_than_it_says() -> None:
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(200):
        chance = rng.beta(0.6, 0.6, 40)
        old, new = (np.column_stack([drawn, 3 - drawn]) for drawn in rng.binomial(3, chance, (2, 40)))
        found = movement_test(old, new, list(range(40)), rng=rng, resamples=199)
        assert found.p_value is not None
        rejected += found.p_value <= 0.05
    # Binomial(200, 0.05) is above 20 with a chance of .001.
    assert rejected <= 20


def test_bad_input_is_named() -> None:
    rng = np.random.default_rng(6)
    for old, new, clusters, resamples in (
        ([[1, 0]], [[1, 0], [0, 1]], ["a"], 10),
        ([[1, 0]], [[1, 0, 0]], ["a"], 10),
        ([[-1, 0]], [[1, 0]], ["a"], 10),
        ([[1, 0]], [[1, 0]], ["a"], 0),
    ):
        with pytest.raises(ValueError, match="expected"):
            movement_test(old, new, clusters, rng=rng, resamples=resamples)


_ROW = st.tuples(*[st.integers(0, 3)] * 4)


@given(st.lists(_ROW, min_size=1, max_size=8), st.randoms())
def test_order_and_names_of_labels_move_nothing(rows: list[tuple[int, ...]], random: object) -> None:
    turned = list(rows)
    random.shuffle(turned)  # type: ignore[attr-defined]

    def test(of: list[tuple[int, ...]]) -> object:
        table = np.array(of)
        return movement_test(
            table[:, :2], table[:, 2:], list(range(len(of))), rng=np.random.default_rng(7), resamples=50
        )

    assert test(turned) == test(rows)
