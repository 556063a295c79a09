"""A rate in a set of known size: the exact interval by enumeration, and how much more decides by simulation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from experiments.stats.intervals.finite_population import FiniteSample, finite_rate_interval, further_labels


def _chance(marked: int, seen: int, n: int, total: int) -> Fraction:
    return Fraction(comb(marked, seen) * comb(total - marked, n - seen), comb(total, n))


def _bounds(marked: int, n: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    found = finite_rate_interval(FiniteSample(marked, n, total), level=level)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@st.composite
def _samples(draw: st.DrawFn) -> FiniteSample:
    total = draw(st.integers(1, 40))
    n = draw(st.integers(1, total))
    return FiniteSample(draw(st.integers(0, n)), n, total)


@given(_samples(), st.sampled_from([0.8123, 0.9517, 0.9911]))
def test_it_holds_each_share_that_the_sample_does_not_speak_against(sample: FiniteSample, level: float) -> None:
    k, n, total = sample.marked, sample.n, sample.n_population
    tail = (1 - Fraction(str(level))) / 2
    held = [
        marked
        for marked in range(k, total - n + k + 1)
        if sum(_chance(marked, one, n, total) for one in range(k + 1)) > tail
        and sum(_chance(marked, one, n, total) for one in range(k, n + 1)) > tail
    ]
    assert _bounds(k, n, total, level=level) == (held[0] / total, held[-1] / total)


@pytest.mark.parametrize(("n", "total"), [(10, 40), (25, 40), (39, 40), (50, 120)])
def test_it_covers_every_share_as_often_as_it_says(n: int, total: int) -> None:
    bounds = [_bounds(k, n, total) for k in range(n + 1)]
    for marked in range(total + 1):
        seen = range(max(0, n - (total - marked)), min(n, marked) + 1)
        covered = sum(_chance(marked, k, n, total) for k in seen if bounds[k][0] <= marked / total <= bounds[k][1])
        assert covered >= Fraction(95, 100)


def test_nothing_is_left_to_infer_where_all_are_drawn() -> None:
    assert _bounds(10, 40, 40) == (0.25, 0.25)
    assert _bounds(10, 39, 40) == (0.25, 0.275)


@pytest.mark.parametrize("k", [0, 9, 50])
def test_in_a_very_large_set_it_is_that_of_clopper_and_pearson(k: int) -> None:
    wanted = binomtest(k, 50).proportion_ci(0.95, method="exact")
    assert _bounds(k, 50, 10**7) == pytest.approx((wanted.low, wanted.high), abs=1e-4)


@pytest.mark.parametrize(("k", "n", "total"), [(9, 50, 4326), (5, 50, 1000), (13, 50, 1000), (6, 50, 4326)])
def test_so_many_more_decide_with_the_chance_that_was_asked_for(k: int, n: int, total: int) -> None:
    more = further_labels(FiniteSample(k, n, total), threshold=0.2, chance=0.8)
    rng = np.random.default_rng(5)
    marked = round(k * total / n)

    def share(added: int) -> float:
        draws = rng.hypergeometric(marked - k, total - n - marked + k, added, size=1000)
        bounds = {int(one): _bounds(k + int(one), n + added, total) for one in set(draws)}
        return float(np.mean([bounds[one][1] <= 0.2 or bounds[one][0] > 0.2 for one in map(int, draws)]))

    assert 0.74 < share(more) < 0.88
    assert share(more // 2) < 0.65


def test_further_labels_end_at_the_whole_set_and_keep_the_least_asked_for() -> None:
    assert further_labels(FiniteSample(10, 50, 400), threshold=0.2) == 350
    assert further_labels(FiniteSample(0, 12, 1000), threshold=0.2, at_least=38) == 38
    assert further_labels(FiniteSample(0, 12, 14), threshold=0.2, at_least=38) == 2
    assert further_labels(FiniteSample(3, 12, 100), threshold=1.0) == 1


@pytest.mark.parametrize(("k", "n", "total"), [(-1, 5, 9), (6, 5, 9), (2, 10, 9)])
def test_counts_that_do_not_fit_are_refused(k: int, n: int, total: int) -> None:
    with pytest.raises(ValueError, match="expected each no larger than the next"):
        FiniteSample(k, n, total)


def test_nothing_drawn_is_no_rate() -> None:
    found = finite_rate_interval(FiniteSample(0, 0, 9))
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    for sample in (FiniteSample(0, 0, 9), FiniteSample(2, 9, 9)):
        with pytest.raises(ValueError, match="expected some, and some left"):
            further_labels(sample, threshold=0.2)
