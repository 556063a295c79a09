"""Checks of the public functions that take no items: symmetries, and what must rise or fall with what."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statistics_data as made
from statistics_table import CHECKED_ELSEWHERE, EXEMPT, STATISTICS

from experiments.stats.comparisons import (
    WordingRule,
    adjust_p_values,
    decide_wording,
    heterogeneity,
    pareto_front,
    random_effects,
)
from experiments.stats.correction import (
    carry_over_note,
    correct_shares,
    invert_confusion,
    post_stratification_weights,
    project_to_simplex,
    rogan_gladen,
    rogan_gladen_interval,
)
from experiments.stats.intervals import clustered_wilson, wilson
from experiments.stats.planning import (
    detectable_difference,
    detectable_difference_unpaired,
    labels_for_half_width,
    paired_power,
    planned_half_width,
)

MATRIX = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.05, 0.05, 0.9]])
OBSERVED = np.array([0.3, 0.25, 0.45])
EFFECTS = np.array([0.3, 0.1, -0.2, 0.4])
COVARIANCE = 0.01 * (np.diag([1.0, 2.0, 1.5, 0.7]) + 0.3)


def test_each_exempt_function_is_checked_here() -> None:
    """Here or in the file of plans and predictions."""
    here = Path(__file__)
    code = here.read_text(encoding="utf-8") + here.with_name("test_experiments_stats_table_plans.py").read_text("utf-8")
    own = set(EXEMPT) - set(CHECKED_ELSEWHERE)
    assert {name for name in own if not re.search(rf"\b{name}\(|\({name},|in \(.*{name}.*\):", code)} == set()


def rising(values: list[float]) -> bool:
    return all(first < second for first, second in pairwise(values))


# wilson


def test_wilson_turns_with_right_and_wrong() -> None:
    for successes in range(8):
        there, back = wilson(successes, 7), wilson(7 - successes, 7)
        assert (back.low, back.high) == pytest.approx((1 - (there.high or 0), 1 - (there.low or 0)))


def test_wilson_is_the_clustered_one_of_single_labels() -> None:
    for successes in range(8):
        one = clustered_wilson([1.0] * successes + [0.0] * (7 - successes), range(7), repeats=1)
        assert (one.low, one.high) == pytest.approx((wilson(successes, 7).low, wilson(successes, 7).high))


def test_wilson_narrows_with_labels_and_widens_with_level() -> None:
    assert rising([-(made.width(wilson(2 * n, 10 * n)) or 0) for n in (1, 2, 4, 8, 100)])
    assert rising([made.width(wilson(2, 10, level=level)) or 0 for level in (0.5, 0.8, 0.95, 0.999)])
    assert wilson(0, 10).high is not None
    assert (made.width(wilson(0, 10)) or 0) > 0.1


# p-values and fronts


@pytest.mark.parametrize("method", ["holm", "benjamini-hochberg"])
def test_adjusted_p_values_keep_their_order_and_their_owners(method: Any) -> None:
    raw: list[float | None] = [0.03, 0.001, None, 0.2, 0.04, 0.04]
    names = list("abcdef")
    whole = {row.name: row for row in adjust_p_values(raw, names=names, method=method).rows}
    for order in list(permutations(range(6)))[::97]:
        rows = adjust_p_values([raw[i] for i in order], names=[names[i] for i in order], method=method).rows
        assert {row.name: row for row in rows} == whole
    known = [row for row in whole.values() if row.p_value is not None and row.adjusted is not None]
    assert all((row.p_value or 0) <= (row.adjusted or 0) <= 1 for row in known)
    by_raw = sorted((row.p_value, row.adjusted) for row in known)
    assert by_raw == sorted(by_raw, key=lambda pair: pair[1] or 0.0)


@pytest.mark.parametrize("method", ["holm", "benjamini-hochberg"])
def test_a_family_of_one_and_tests_that_were_not_made_adjust_nothing(method: Any) -> None:
    assert [row.adjusted for row in adjust_p_values([0.03], method=method).rows] == [0.03]
    assert [row.adjusted for row in adjust_p_values([0.03, None, None], method=method).rows] == [0.03, None, None]
    smaller = [row.adjusted or 0 for row in adjust_p_values([0.03, 0.02], method=method).rows]
    larger = [row.adjusted or 0 for row in adjust_p_values([0.03, 0.02, 0.9], method=method).rows[:2]]
    assert all(one <= two for one, two in zip(smaller, larger, strict=True))


def test_a_front_does_not_ask_for_order_unit_or_sign() -> None:
    cost, error = [1.0, 2.0, 3.0, 2.5, None], [0.3, 0.2, 0.1, 0.25, 0.1]
    names = list("abcde")
    front = pareto_front({"cost": cost, "error": error}, names=names)
    assert front.front == ("a", "b", "c")
    dearer = [None if one is None else 100 * one + 7 for one in cost]
    assert pareto_front({"cost": dearer, "error": error}, names=names) == front
    right = [1 - one for one in error]
    assert pareto_front({"cost": cost, "right": right}, names=names, maximise=["right"]) == front
    turned = pareto_front({"error": error[::-1], "cost": cost[::-1]}, names=names[::-1])
    assert set(turned.front) == set(front.front)
    assert turned.unknown == front.unknown == ("e",)


# effects


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 3, 0, 2]])
def test_the_order_of_effects_does_not_matter(order: list[int]) -> None:
    turned = EFFECTS[order], COVARIANCE[np.ix_(order, order)]
    for function in (heterogeneity, random_effects):
        before, after = (
            made.numbers(made.plain(function(EFFECTS, COVARIANCE))),
            made.numbers(made.plain(function(*turned))),
        )
        assert after == pytest.approx(before)


def test_effects_that_are_moved_or_turned_differ_no_more() -> None:
    before = made.numbers(made.plain(heterogeneity(EFFECTS, COVARIANCE, clusters=50)))
    for changed in (EFFECTS + 5, -EFFECTS):
        assert made.numbers(made.plain(heterogeneity(changed, COVARIANCE, clusters=50))) == pytest.approx(before)
    there, back, moved = (random_effects(one, COVARIANCE) for one in (EFFECTS, -EFFECTS, EFFECTS + 5))
    assert (back.value, back.low, back.high) == pytest.approx((-there.value, -there.high, -there.low))
    assert (back.p_value, back.tau_squared) == pytest.approx((there.p_value, there.tau_squared))
    assert (moved.value, moved.low, moved.high) == pytest.approx((there.value + 5, there.low + 5, there.high + 5))


def test_effects_in_another_unit_are_the_same_effects() -> None:
    there, scaled = random_effects(EFFECTS, COVARIANCE), random_effects(100 * EFFECTS, 1e4 * COVARIANCE)
    assert (scaled.value, scaled.low, scaled.high) == pytest.approx(
        (100 * there.value, 100 * there.low, 100 * there.high)
    )
    assert scaled.p_value == pytest.approx(there.p_value)
    one, other = heterogeneity(EFFECTS, COVARIANCE), heterogeneity(100 * EFFECTS, 1e4 * COVARIANCE)
    assert (other.q, other.p_value, other.i_squared) == pytest.approx((one.q, one.p_value, one.i_squared))
    few = heterogeneity(EFFECTS, COVARIANCE, clusters=10)
    assert (few.p_value or 0) > (heterogeneity(EFFECTS, COVARIANCE, clusters=1000).p_value or 0) > (one.p_value or 0)


def test_a_stricter_rule_adopts_nothing_that_a_milder_one_refuses() -> None:
    data = made.example(n=300, questions=120, resamples=200)
    effects = {"right": STATISTICS["wording_effects"](data), "kept": STATISTICS["wording_effects"](data)}
    low = effects["right"].fixed.estimate.low
    adopted = [
        decide_wording(WordingRule("right", {"kept": margin}, least=least), effects).adopted
        for margin, least in [(1.0, 0.0), (1.0, max(low, 0.0) + 0.01), (1.0, 1.0), (1e-9, 1.0)]
    ]
    assert adopted == sorted(adopted, reverse=True)
    renamed = WordingRule("correct", {"other": 1.0})
    again = decide_wording(renamed, {"other": effects["kept"], "correct": effects["right"]})
    assert again.adopted == adopted[0]


# correction


@pytest.mark.parametrize("order", [[2, 1, 0], [1, 2, 0]])
def test_the_order_of_labels_moves_no_corrected_share(order: list[int]) -> None:
    labels = ("a", "b", "c")
    there = correct_shares(OBSERVED, MATRIX, labels=labels)
    back = correct_shares(OBSERVED[order], MATRIX[np.ix_(order, order)], labels=tuple(labels[i] for i in order))
    assert back.shares == pytest.approx([there.shares[i] for i in order])
    raw = invert_confusion(OBSERVED[order], MATRIX[np.ix_(order, order)])
    assert raw == pytest.approx(invert_confusion(OBSERVED, MATRIX)[order])
    assert MATRIX.T @ invert_confusion(OBSERVED, MATRIX) == pytest.approx(OBSERVED)
    assert invert_confusion(OBSERVED, np.eye(3)) == pytest.approx(OBSERVED)


def test_projections_stay_and_follow_the_order_of_coordinates() -> None:
    points = np.random.default_rng(1).normal(0.3, 0.5, (50, 4))
    nearest = project_to_simplex(points)
    assert (nearest >= 0).all()
    assert nearest.sum(axis=1) == pytest.approx(np.ones(50))
    assert project_to_simplex(nearest) == pytest.approx(nearest)
    assert project_to_simplex(points + 3.0) == pytest.approx(nearest)
    assert project_to_simplex(points[:, [2, 0, 3, 1]]) == pytest.approx(nearest[:, [2, 0, 3, 1]])


def test_two_classes_exchanged_turn_the_corrected_rate() -> None:
    there, back = rogan_gladen(0.4, 0.9, 0.8), rogan_gladen(0.6, 0.8, 0.9)
    assert back.value == pytest.approx(1 - there.value)
    assert there.value == pytest.approx(
        correct_shares([0.6, 0.4], [[0.8, 0.2], [0.1, 0.9]], labels=("a", "b")).shares[1]
    )
    assert rogan_gladen(0.37, 1.0, 1.0).value == pytest.approx(0.37)


@pytest.mark.parametrize("method", ["rogan-gladen", "lang-reiczigel"])
def test_two_classes_exchanged_turn_the_interval(method: Any) -> None:
    there = rogan_gladen_interval((40, 100), (45, 50), (40, 50), method=method)
    back = rogan_gladen_interval((60, 100), (40, 50), (45, 50), method=method)
    assert (back.low, back.high) == pytest.approx((1 - (there.high or 0), 1 - (there.low or 0)))
    widths = [
        made.width(rogan_gladen_interval((40 * n, 100 * n), (45 * n, 50 * n), (40 * n, 50 * n), method=method)) or 0
        for n in (1, 2, 4, 8)
    ]
    assert all(0.65 < second / first < 0.76 for first, second in pairwise(widths))
    levels = [
        rogan_gladen_interval((40, 100), (45, 50), (40, 50), method=method, level=one) for one in (0.5, 0.9, 0.99)
    ]
    assert rising([made.width(one) or 0 for one in levels])


def test_weights_of_strata_ask_for_shares_alone() -> None:
    strata, benchmark = list("aabbbc"), list("abbc")
    weights = post_stratification_weights(strata, benchmark)
    assert weights.mean() == pytest.approx(1.0)
    assert post_stratification_weights(strata, benchmark * 3) == pytest.approx(weights)
    assert post_stratification_weights(strata[::-1], benchmark[::-1]) == pytest.approx(weights[::-1])
    renamed = post_stratification_weights([{"a": 1, "b": 2, "c": None}[one] for one in strata], [2, None, 1, 2])
    assert renamed == pytest.approx(weights)
    assert post_stratification_weights(strata, strata) == pytest.approx(np.ones(6))


def test_the_note_names_both_sets() -> None:
    assert "the one" in carry_over_note("the one", "the other")
    assert "the other" in carry_over_note("the one", "the other")


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, 95, float("nan")])
def test_levels_that_are_none_are_refused(level: float) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: wilson(1, 2, level=level),
        lambda: adjust_p_values([0.1], level=level),
        lambda: heterogeneity(EFFECTS, COVARIANCE, level=level),
        lambda: random_effects(EFFECTS, COVARIANCE, level=level),
        lambda: rogan_gladen_interval((40, 100), (45, 50), (40, 50), level=level),
        lambda: planned_half_width(0.2, 100, level=level),
        lambda: labels_for_half_width(0.2, 0.05, level=level),
        lambda: paired_power(0.1, 0.4, 100, level=level),
        lambda: detectable_difference(0.4, 100, level=level),
        lambda: detectable_difference_unpaired(0.3, 100, 100, level=level),
        lambda: WordingRule("right", {}, level=level),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"^level: .+, got .+; expected .+"):
            call()


@pytest.mark.parametrize("name", CHECKED_ELSEWHERE)
def test_what_is_checked_elsewhere_is(name: str) -> None:
    assert f"{name}(" in (Path(__file__).parent / CHECKED_ELSEWHERE[name]).read_text(encoding="utf-8")
