"""The clustered slope against its formula written out, and on its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from experiments.stats.clusters.clustered_slope import clustered_slope, slope_bounds


def written_out(xs: np.ndarray, ys: np.ndarray, clusters: list[str]) -> tuple[float, float]:
    """Slope, and the square root of its sandwich variance, by loops."""
    n, names = len(xs), sorted(set(clusters))
    design = np.column_stack([np.ones(n), xs])
    bread = np.linalg.inv(design.T @ design)
    beta = bread @ design.T @ ys
    meat = np.zeros((2, 2))
    for name in names:
        rows = [place for place, one in enumerate(clusters) if one == name]
        score = sum(design[place] * (ys[place] - design[place] @ beta) for place in rows)
        meat += np.outer(score, score)
    factor = len(names) / (len(names) - 1) * (n - 1) / (n - 2)
    return float(beta[1]), float(np.sqrt((factor * bread @ meat @ bread)[1, 1]))


@pytest.mark.parametrize("n_clusters", [40, 12])
def test_slope_interval_and_test_are_those_of_the_formula(n_clusters: int) -> None:
    rng = np.random.default_rng(5)
    xs = rng.integers(0, 6, 40).astype(float)
    clusters = [f"q{place % n_clusters}" for place in range(40)]
    ys = 0.8 - 0.07 * xs + rng.normal(0, 0.2, 40)
    found = clustered_slope(xs, ys, clusters, repeats=2, level=0.9)
    slope, error = written_out(xs, ys, clusters)
    assert found.estimate.value == pytest.approx(slope)
    assert slope == pytest.approx(stats.linregress(xs, ys).slope)
    half = stats.t.ppf(0.95, n_clusters - 1) * error
    assert (found.estimate.low, found.estimate.high) == (pytest.approx(slope - half), pytest.approx(slope + half))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(slope) / error, n_clusters - 1))
    assert (found.estimate.n, found.estimate.clusters, found.estimate.repeats) == (40, n_clusters, 2)


def test_intervals_hold_the_slope_about_as_often_as_they_say() -> None:
    """Sixty questions, scores on five steps: 400 draws, 95% within the binomial's bounds and a little too often low."""
    rng = np.random.default_rng(11)
    clusters = [f"q{place}" for place in range(60)]
    held = 0
    for _ in range(400):
        xs = rng.integers(0, 5, 60).astype(float)
        chance = 0.9 - 0.1 * xs
        found = clustered_slope(xs, rng.binomial(4, chance) / 4, clusters).estimate
        assert found.low is not None
        assert found.high is not None
        held += found.low <= -0.1 <= found.high
    assert 0.91 <= held / 400 <= 0.985


@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ([0, 0, 0, 0, 5], [0.2, 0.4, 0.1, 0.3, 1.0]),
        ([0, 1], [0.2, 0.4]),
        ([0, 1, 2, 3], [0.0, 0.25, 0.5, 0.75]),
        ([0, 1, 2, 3], [0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_no_interval_where_one_question_decides_or_all_lie_on_a_line(xs: list[float], ys: list[float]) -> None:
    found = clustered_slope(xs, ys, list("abcde")[: len(xs)])
    assert found.estimate.value == pytest.approx(stats.linregress(xs, ys).slope, abs=1e-12)
    assert (found.estimate.low, found.estimate.high, found.p_value) == (None, None, None)


@pytest.mark.parametrize("xs", [[], [1.0], [2.0, 2.0, 2.0]])
def test_no_slope_where_the_number_is_the_same_everywhere(xs: list[float]) -> None:
    found = clustered_slope(xs, [0.5] * len(xs), list("abc")[: len(xs)])
    assert (found.estimate.value, found.estimate.low, found.p_value) == (None, None, None)
    assert slope_bounds(xs, [0.0] * len(xs), [1.0] * len(xs)) is None


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="wrong length"):
        clustered_slope([1, 2], [1], ["a", "b"])
    with pytest.raises(ValueError, match="not a finite number"):
        clustered_slope([1, 2], [1, np.nan], ["a", "b"])


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9
    ).filter(lambda rows: len({row[0] for row in rows}) > 1)
)
def test_bounds_hold_every_slope_that_the_missing_allow(rows: list[tuple[int, float, float, float]]) -> None:
    xs = [row[0] for row in rows]
    low, high = [min(row[1], row[2]) for row in rows], [max(row[1], row[2]) for row in rows]
    between = [a + part * (b - a) for a, b, (_, _, _, part) in zip(low, high, rows, strict=True)]
    bounds = slope_bounds(xs, low, high)
    value = clustered_slope(xs, between, [str(place) for place in range(len(xs))]).estimate.value
    assert bounds is not None
    assert value is not None
    assert bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9


@given(st.permutations(range(10)))
def test_the_order_of_items_changes_nothing(order: list[int]) -> None:
    xs, ys = np.arange(10) % 4, np.array([0.1, 0.9, 0.4, 0.2, 0.8, 0.6, 0.3, 0.5, 0.0, 1.0])
    names = [f"q{place // 2}" for place in range(10)]
    before = clustered_slope(xs, ys, names)
    after = clustered_slope(xs[order], ys[order], [names[place] for place in order])
    assert after.estimate.value == pytest.approx(before.estimate.value)
    assert after.p_value == pytest.approx(before.p_value)
