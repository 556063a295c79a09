"""Looking at a comparison while it runs: limits that hold at every look, and what looking costs."""

from __future__ import annotations

from math import log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from experiments.stats.comparisons.anytime import (
    confidence_sequence,
    first_look_above,
    question_means,
    random_order,
)

Array = NDArray[np.float64]


def three_way(rng: np.random.Generator, better: float, worse: float, size: int) -> Array:
    """Differences of single labels: 1 with the chance ``better``, -1 with ``worse``, else 0."""
    drawn = rng.random(size)
    return np.where(drawn < better, 1.0, np.where(drawn < better + worse, -1.0, 0.0))


def capital_by_hand(values: list[float], mean: float, level: float) -> float:
    """Log capital of the gambler on a larger mean, one question after another."""
    total, seen, squares = 0.0, 0.5, 0.25
    variance = 0.25
    for t, value in enumerate(values, start=1):
        place = (value + 1) / 2
        stake = min(sqrt(2 * log(2 / (1 - level)) / (variance * t * log(t + 1))), 0.5 / mean)
        total += log1p(stake * (place - mean))
        seen += place
        squares += (place - seen / (t + 1)) ** 2
        variance = squares / (t + 1)
    return total


def limits(values: Array | list[float], level: float = 0.95) -> tuple[float, float]:
    estimate = confidence_sequence(values, level=level).estimate
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def test_limits_are_where_the_capital_written_out_reaches_the_stake() -> None:
    """Oracle: the paper's hedged capital as a loop over questions, solved by Brent's method."""
    values, needed = three_way(np.random.default_rng(1), 0.6, 0.1, 60).tolist(), log(2 / 0.1)

    def short_of(mean: float, upto: int) -> float:
        return capital_by_hand(values[:upto], mean, 0.9) - needed

    lowest = -1.0
    for upto in range(1, 61):
        if short_of(1e-9, upto) >= 0:
            lowest = max(lowest, 2 * optimize.brentq(short_of, 1e-9, 1 - 1e-9, args=(upto,), xtol=1e-14) - 1)
        if upto in (10, 30, 60):
            assert limits(values[:upto], level=0.9)[0] == pytest.approx(lowest, abs=1e-9)
    assert lowest > 0


def test_both_sides_are_mirror_images() -> None:
    values = three_way(np.random.default_rng(2), 0.3, 0.1, 80)
    one, two = limits(values), limits(-values)
    assert one == pytest.approx((-two[1], -two[0]), abs=1e-12)
    assert confidence_sequence(values).p_value == pytest.approx(confidence_sequence(-values).p_value, rel=1e-12)


def test_limits_p_value_and_first_look_say_the_same() -> None:
    values = three_way(np.random.default_rng(3), 0.3, 0.05, 300)
    first = first_look_above(values, 0.0)
    assert first is not None
    before, then = confidence_sequence(values[: first - 1]), confidence_sequence(values[:first])
    assert before.p_value is not None
    assert then.p_value is not None
    assert then.p_value <= 0.05 < before.p_value
    assert limits(values[: first - 1])[0] <= 0 < limits(values[:first])[0]
    assert first_look_above(values, 0.9) is None


def test_another_span_only_changes_the_unit() -> None:
    values = three_way(np.random.default_rng(4), 0.3, 0.1, 50)
    scaled = confidence_sequence(200 * values, span=(-200.0, 200.0))
    assert scaled.estimate.low == pytest.approx(200 * limits(values)[0], rel=1e-9)
    assert scaled.p_value == pytest.approx(confidence_sequence(values).p_value, rel=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_more_questions_only_bring_the_limits_closer(values: list[float]) -> None:
    before, after = limits(values[:-1]) if values[:-1] else (-1.0, 1.0), limits(values)
    assert -1 <= before[0] <= after[0] <= 1
    assert -1 <= after[1] <= before[1] <= 1
    found = confidence_sequence(values)
    assert found.p_value is not None
    if values[:-1]:
        assert found.p_value <= (confidence_sequence(values[:-1]).p_value or 0.0)


def test_the_first_looks_know_nothing() -> None:
    nothing = confidence_sequence([])
    assert nothing.estimate.value is None
    assert nothing.p_value is None
    assert first_look_above([], -0.5) is None
    assert limits([1.0]) == (-1.0, 1.0)
    assert confidence_sequence([1.0]).estimate.clusters == 1
    assert confidence_sequence([1.0]).estimate.method == "betting-sequence"


def test_no_difference_ever_narrows_on_zero_without_reaching_it() -> None:
    low, high = limits(np.zeros(400))
    assert -0.1 < low < 0 < high < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": [1.5]}, r"values\[0\]: outside, got 1.5; expected -1.0 to 1.0"),
        ({"values": [float("nan")]}, r"values\[0\]: not a finite number"),
        ({"values": [0.0], "null": 1.0}, "null: not inside the span"),
        ({"values": [0.0], "span": (1.0, 1.0)}, "null: not inside the span"),
        ({"values": [0.0], "level": 1.0}, "level: not a confidence level"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        confidence_sequence(**options)  # type: ignore[arg-type]


def test_questions_weigh_equally_in_the_order_given() -> None:
    values = [1.0, 0.0, float("nan"), -1.0, float("nan")]
    clusters = ["b", "b", "b", "a", "c"]
    assert question_means(values, clusters, ["c", "a", "b"]).tolist() == [-1.0, 0.5]
    assert question_means(values, clusters, ["b"]).tolist() == [0.5]
    with pytest.raises(ValueError, match="order: a question stands twice"):
        question_means(values, clusters, ["a", "a"])
    with pytest.raises(ValueError, match="clusters: wrong length"):
        question_means(values, clusters[:2], ["a"])


def test_the_order_is_fixed_by_names_and_seed_alone() -> None:
    names = [f"q{place}" for place in range(50)]
    assert random_order(names) == random_order(names[::-1] + names[:3])
    assert sorted(random_order(names)) == sorted(names)
    assert random_order(names) != names
    assert random_order(names, seed=1) != random_order(names)
    # What is drawn first is a part of what is drawn later.
    assert [name for name in random_order(names) if name in names[:20]] == random_order(names[:20])


def test_a_test_of_one_look_that_is_looked_at_again_and_again_rejects_too_often_and_this_one_does_not() -> None:
    rng, looked, betting = np.random.default_rng(5), 0, 0
    for _ in range(150):
        values = three_way(rng, 0.15, 0.15, 200)
        upto = np.arange(20, 201)
        means = np.cumsum(values)[upto - 1] / upto
        errors = np.array([values[:n].std(ddof=1) / n**0.5 for n in upto])
        looked += bool((np.abs(means) > stats.t.ppf(0.975, upto - 1) * errors).any())
        betting += (confidence_sequence(values).p_value or 0.0) <= 0.05
    assert looked / 150 > 0.15
    assert betting <= stats.binom.ppf(0.999, 150, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("better", "worse", "mean"), [(0.2, 0.2, 0.0), (0.02, 0.02, 0.0), (0.3, 0.1, 0.2), (0.0, 0.05, -0.05)]
)
def test_the_mean_is_within_the_limits_at_every_look_as_often_as_claimed(
    better: float, worse: float, mean: float
) -> None:
    rng, missed, worlds = np.random.default_rng(6), 0, 1000
    for _ in range(worlds):
        low, high = limits(three_way(rng, better, worse, 500))
        missed += low > mean or high < mean
    assert missed <= stats.binom.ppf(0.999, worlds, 0.05)


@pytest.mark.slow
def test_what_looking_costs_and_what_it_saves() -> None:
    """A difference of 10 points: one look at 600 questions nearly always finds it; so does this, mostly sooner."""
    rng, fixed, found, stops, worlds = np.random.default_rng(7), 0, 0, [], 200
    for _ in range(worlds):
        values = three_way(rng, 0.18, 0.08, 600)
        fixed += abs(values.mean()) > stats.t.ppf(0.975, 599) * values.std(ddof=1) / 600**0.5
        first = first_look_above(values, 0.0)
        found += first is not None
        stops.append(first or 600)
    assert fixed / worlds > 0.98
    assert found / worlds > 0.9
    assert np.median(stops) < 350
