"""Planning: labels for a half-width, against statsmodels, the package's own interval, and simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.proportion import samplesize_confint_proportion

from experiments.stats.intervals.clustered_wilson import clustered_wilson, wilson
from experiments.stats.planning.label_counts import (
    design_effect,
    labels_for_half_width,
    planned_bounds,
    planned_half_width,
)

DESIGNS = st.fixed_dictionaries(
    {
        "items_per_question": st.floats(1, 20),
        "correlation": st.floats(0, 0.5),
        "repeats": st.integers(1, 20),
        "repeat_share": st.floats(0, 0.5),
    }
)


def half_width(successes: int, n: int, level: float) -> float:
    estimate = wilson(successes, n, level=level)
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


@given(
    rate=st.floats(0.001, 0.999), half=st.floats(0.005, 0.4), level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
)
def test_normal_formula_is_statsmodels_rounded_up(rate: float, half: float, level: float) -> None:
    exact = float(samplesize_confint_proportion(rate, half, alpha=1 - level))
    planned = labels_for_half_width(rate, half, level=level, method="normal")
    assert planned - 1 <= exact * (1 + 1e-12)
    assert planned >= max(exact * (1 - 1e-12), 1)


@given(successes=st.integers(1, 400), n=st.integers(2, 500), level=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_independent_single_labels_are_wilson(successes: int, n: int, level: float) -> None:
    """The expected half-width of n single labels is that of Wilson's interval of their expected count."""
    successes = min(successes, n - 1)
    assert_allclose(
        planned_half_width(successes / n, n, level=level), half_width(successes, n, level), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("half", [0.02, 0.05, 0.15])
@pytest.mark.parametrize("rate", [0.5, 0.25, 0.1])
def test_one_label_fewer_does_not_suffice_by_our_own_interval(rate: float, half: float, level: float) -> None:
    """Where n times the rate is whole, the interval itself says so: wide enough just below the planned number."""
    planned = labels_for_half_width(rate, half, level=level)
    step = round(1 / rate)
    below = (planned - 1) // step * step
    above = -(-planned // step) * step
    assert half_width(above // step, above, level) <= half
    assert below == 0 or half_width(below // step, below, level) > half


@given(design=DESIGNS, rate=st.floats(0.01, 0.99), half=st.floats(0.01, 0.4))
def test_the_planned_number_is_the_smallest(design: dict[str, Any], rate: float, half: float) -> None:
    planned = labels_for_half_width(rate, half, **design)
    assert planned_half_width(rate, planned, **design) <= half
    assert planned == 1 or planned_half_width(rate, planned - 1, **design) > half


@given(design=DESIGNS, rate=st.floats(0.01, 0.99), n=st.integers(1, 5000))
def test_half_width_shrinks_with_labels_and_is_symmetric_in_the_rate(
    design: dict[str, Any], rate: float, n: int
) -> None:
    one, more = planned_half_width(rate, n, **design), planned_half_width(rate, n + 1, **design)
    assert 0 < more < one < 0.5 + 1e-12
    assert_allclose(planned_half_width(1 - rate, n, **design), one, rtol=1e-9)


@given(design=DESIGNS, n=st.integers(50, 5000), rate=st.floats(0.05, 0.95))
def test_correlation_costs_and_repeats_pay(design: dict[str, Any], n: int, rate: float) -> None:
    worse = {**design, "correlation": min(design["correlation"] + 0.1, 1 - design["repeat_share"])}
    better = {**design, "repeats": design["repeats"] + 1}
    width = planned_half_width(rate, n, **design)
    assert planned_half_width(rate, n, **worse) >= width - 1e-12
    assert planned_half_width(rate, n, **better) <= width + 1e-12


def test_design_effect_is_kishs() -> None:
    plain = {"repeats": 1, "repeat_share": 0.0}
    assert_allclose(design_effect(items_per_question=5, correlation=0.2, **plain), 1 + 4 * 0.2)
    assert design_effect(items_per_question=1, correlation=0.9, **plain) == 1
    assert_allclose(design_effect(items_per_question=1, correlation=0.0, repeats=4, repeat_share=0.4), 1 - 0.4 * 3 / 4)


def test_design_effect_is_the_variance_of_simulated_means() -> None:
    """A beta-binomial of 8 items a question and 3 repeats an item: the variance of the mean, from 40,000 questions."""
    rng = np.random.default_rng(1)
    centre = rng.beta(0.3 * 4, 0.7 * 4, size=40_000)  # correlation 1 / (1 + 4) between questions
    chances = rng.beta(np.repeat(centre, 8) * 3, np.repeat(1 - centre, 8) * 3)  # 1 / (1 + 3) within
    means = (rng.binomial(3, chances) / 3).reshape(-1, 8).mean(axis=1)
    repeat_share = float((chances * (1 - chances)).mean()) / 0.21
    effect = design_effect(items_per_question=8, correlation=0.2, repeats=3, repeat_share=repeat_share)
    assert_allclose(means.var() * 8, 0.21 * effect, rtol=0.03)


@pytest.mark.parametrize(("rate", "sizes", "repeats"), [(0.3, 5, 10), (0.1, 1, 10), (0.2, 5, 1), (0.5, 2, 3)])
def test_planned_half_width_is_what_simulated_intervals_have_on_average(rate: float, sizes: int, repeats: int) -> None:
    """Correlation .2 between the items of a question, 200 questions; repeats correlate by .5 within an item."""
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(200), sizes).tolist()
    centre = rng.beta(rate * 4, (1 - rate) * 4, size=(60, 200)) if sizes > 1 else np.full((60, 200), rate)
    chances = np.repeat(centre, sizes, axis=1)
    if repeats > 1:
        chances = rng.beta(np.maximum(chances, 1e-9), np.maximum(1 - chances, 1e-9))
    share = float((chances * (1 - chances)).mean()) / (rate * (1 - rate)) if repeats > 1 else 0.0
    estimates = [clustered_wilson(rng.binomial(repeats, row) / repeats, clusters, repeats=repeats) for row in chances]
    widths = [(e.high or 0.0) - (e.low or 0.0) for e in estimates]
    planned = planned_half_width(
        rate,
        200 * sizes,
        items_per_question=sizes,
        correlation=0.2 if sizes > 1 else 0.0,
        repeats=repeats,
        repeat_share=share,
    )
    assert_allclose(np.mean(widths) / 2, planned, rtol=0.06)


def test_figures_to_know() -> None:
    """The textbook's 385 labels for ten per cent to within three points, and what Wilson asks for."""
    assert labels_for_half_width(0.1, 0.03, method="normal") == math.ceil(1.959964**2 * 0.09 / 0.03**2) == 385
    assert labels_for_half_width(0.1, 0.03) == 388
    assert labels_for_half_width(0.5, 0.05) == 381


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rate": 0.0}, "rate: not a rate to plan for, got 0.0; expected a number between 0 and 1"),
        ({"rate": float("nan")}, "rate: not a rate"),
        ({"half_width": 0.0}, "half_width: cannot be planned for, got 0.0; expected"),
        ({"half_width": 0.5}, "half_width: cannot be planned for"),
        ({"half_width": 1e-9}, "half_width: out of reach"),
        ({"level": 1.0}, "level: not a confidence level"),
        ({"repeats": 0}, "repeats: too few, got 0; expected 1 or more"),
        ({"items_per_question": 0.5}, "items_per_question: too few"),
        ({"correlation": -0.1}, "correlation, repeat_share: not shares"),
        ({"correlation": 0.6, "repeat_share": 0.5}, "correlation, repeat_share: not shares"),
        ({"method": "wald"}, "method: unknown, got 'wald'; expected one of"),
    ],
)
def test_what_cannot_be_planned(changed: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"rate": 0.2, "half_width": 0.05, **changed}
    with pytest.raises(ValueError, match=message):
        labels_for_half_width(arguments.pop("rate"), arguments.pop("half_width"), **arguments)


def test_no_label_has_no_width() -> None:
    with pytest.raises(ValueError, match="n: too few labels, got 0; expected 1 or more"):
        planned_half_width(0.5, 0)


@given(successes=st.integers(1, 400), n=st.integers(2, 500), level=st.sampled_from([0.8, 0.95]))
def test_planned_ends_are_wilsons_and_lie_about_the_rate(successes: int, n: int, level: float) -> None:
    successes = min(successes, n - 1)
    low, high = planned_bounds(successes / n, n, level=level)
    expected = wilson(successes, n, level=level)
    assert_allclose((low, high), (expected.low, expected.high), rtol=0, atol=1e-12)
    assert low < successes / n < high
    mirrored = planned_bounds(1 - successes / n, n, level=level)
    assert_allclose(mirrored, (1 - high, 1 - low), rtol=0, atol=1e-9)


def test_the_textbook_s_ends_are_symmetric() -> None:
    low, high = planned_bounds(0.1, 100, method="normal")
    assert high - 0.1 == pytest.approx(0.1 - low)
