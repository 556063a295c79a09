"""Variance components against the analysis of variance, exact expectations, and simulation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from component_samples import CROSSED, NESTED, crossed, nested, raw
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from experiments.stats.repeats.variance_components import correctness_components

REFERENCE = json.loads((Path(__file__).parent / "references" / "variance_components.json").read_text("utf-8"))


def mean_squares(frame: pd.DataFrame, formula: str) -> dict[str, float]:
    return dict(anova_lm(ols(formula, frame).fit(), typ=1)["mean_sq"])


# --- balanced data: the analysis of variance -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_balanced_nested_components_equal_statsmodels_mean_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    questions, items, repeats = 6, 3, 4
    scores = rng.normal(size=(questions, 1, 1)) + rng.normal(size=(questions, items, 1))
    scores = scores + rng.normal(size=(questions, items, repeats)) + 50
    grid = np.indices(scores.shape).reshape(3, -1)
    frame = pd.DataFrame({"q": grid[0], "i": grid[1], "y": scores.ravel()})
    squares = mean_squares(frame, "y ~ C(q) + C(q):C(i)")
    within = squares["Residual"]
    item = (squares["C(q):C(i)"] - within) / repeats
    question = (squares["C(q)"] - squares["C(q):C(i)"]) / (repeats * items)
    result = nested(scores.reshape(-1, repeats), np.repeat(range(questions), items))
    assert raw(result, NESTED) == pytest.approx([question, item, within], abs=1e-9)
    whole = question + item + within
    assert result.question_correlation.value == pytest.approx(question / whole, abs=1e-9)
    assert result.item_correlation.value == pytest.approx((question + item) / whole, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_balanced_crossed_components_equal_statsmodels_mean_squares(seed: int) -> None:
    """Graders crossed with items in questions; expected mean squares solved by hand (Searle et al. 1992)."""
    rng = np.random.default_rng(seed)
    k, q, m, r = 3, 5, 2, 2
    scores = rng.normal(size=(k, 1, 1, 1)) + rng.normal(size=(1, q, 1, 1)) + rng.normal(size=(1, q, m, 1))
    scores = scores + rng.normal(size=(k, q, 1, 1)) + rng.normal(size=(k, q, m, 1)) + rng.normal(size=(k, q, m, r))
    grid = np.indices(scores.shape).reshape(4, -1)
    frame = pd.DataFrame({"g": grid[0], "q": grid[1], "i": grid[2], "y": scores.ravel()})
    ms = mean_squares(frame, "y ~ C(g) + C(q) + C(q):C(i) + C(g):C(q) + C(g):C(q):C(i)")
    g, question, item = ms["C(g)"], ms["C(q)"], ms["C(q):C(i)"]
    gq, gi, within = ms["C(g):C(q)"], ms["C(g):C(q):C(i)"], ms["Residual"]
    expected = {
        "grader": (g - gq) / (q * m * r),
        "question": (question - gq - item + gi) / (k * m * r),
        "item": (item - gi) / (k * r),
        "grader_question": (gq - gi) / (m * r),
        "grader_item": (gi - within) / r,
        "repeat": within,
    }
    result = crossed(scores.reshape(k, q * m, r), np.repeat(range(q), m))
    assert raw(result, CROSSED) == pytest.approx(list(expected.values()), abs=1e-9)


@pytest.mark.parametrize("name", ["shrout_fleiss", "normal", "binary"])
def test_correlations_equal_pingouin(name: str) -> None:
    """ICC(1,1) with the judges as repeats; ICC(A,1) and ICC(C,1) with the judges as graders."""
    table = np.array(REFERENCE[name]["table"], dtype=float)
    one_way, agreement, consistency = REFERENCE[name]["icc"]
    targets = range(len(table))
    assert nested(table, targets).item_correlation.value == pytest.approx(one_way, abs=1e-9)
    result = crossed(table.T[:, :, None], targets)
    assert result.agreement.value == pytest.approx(agreement, abs=1e-9)
    assert result.consistency.value == pytest.approx(consistency, abs=1e-9)


def test_correlations_of_the_printed_table() -> None:
    """Shrout and Fleiss (1979), table 4: .17, .29 and .71."""
    table = np.array(REFERENCE["shrout_fleiss"]["table"], dtype=float)
    one_way, two_way = nested(table, range(6)), crossed(table.T[:, :, None], range(6))
    found = (one_way.item_correlation.value, two_way.agreement.value, two_way.consistency.value)
    assert [round(value or 0.0, 2) for value in found] == [0.17, 0.29, 0.71]


# --- unbalanced data: exactly unbiased -----------------------------------------------------------------------


def quadratic_form(statistic: Callable[[np.ndarray], list[float | None]], size: int) -> np.ndarray:
    """Matrices A, one a component, with ``component = y' A y``, by polarisation."""
    unit = np.eye(size)
    single = np.array([statistic(row) for row in unit], dtype=float)
    forms = np.empty((single.shape[1], size, size))
    for first in range(size):
        forms[:, first, first] = single[first]
        for second in range(first):
            both = np.array(statistic(unit[first] + unit[second]), dtype=float)
            forms[:, first, second] = forms[:, second, first] = (both - single[first] - single[second]) / 2
    return forms


def assert_unbiased(forms: np.ndarray, factors: list[np.ndarray]) -> None:
    """The expectation of ``y' A y`` is the sum of ``tr(A Z Z')`` times each component, and ``1' A 1`` times a mean."""
    shared = [np.equal.outer(factor, factor).astype(float) for factor in factors]
    traces = np.array([[np.trace(form @ same) for same in shared] for form in forms])
    assert traces == pytest.approx(np.eye(len(factors)), abs=1e-9)
    assert forms.sum(axis=(1, 2)) == pytest.approx(np.zeros(len(forms)), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_nested_components_of_unequal_data_are_exactly_unbiased(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3])
    missing = np.array([rng.permutation(3) >= size for size in [3, 1, 2, 2, 3, 1, 1, 2, 0, 3]])
    places = np.argwhere(~missing)

    def statistic(values: np.ndarray) -> list[float | None]:
        scores = np.full((10, 3), np.nan)
        scores[tuple(places.T)] = values
        return raw(nested(scores, clusters, resamples=1, far=10), NESTED)

    items = places[:, 0]
    assert_unbiased(quadratic_form(statistic, len(places)), [clusters[items], items, np.arange(len(places))])


def test_crossed_components_with_missing_cells_are_exactly_unbiased() -> None:
    rng = np.random.default_rng(4)
    clusters = np.array([0, 0, 1, 1, 1, 2])
    seen = rng.random((3, 6, 2)) < 0.7
    places = np.argwhere(seen)

    def statistic(values: np.ndarray) -> list[float | None]:
        scores = np.full((3, 6, 2), np.nan)
        scores[tuple(places.T)] = values
        return raw(crossed(scores, clusters, resamples=1, far=10), CROSSED)

    grader, item = places[:, 0], places[:, 1]
    question = clusters[item]
    factors = [grader, question, item, grader * 10 + question, grader * 10 + item, np.arange(len(places))]
    assert_unbiased(quadratic_form(statistic, len(places)), factors)


def test_known_components_are_found_on_average() -> None:
    """Thresholds from Beta(2, 2) by question and by item: components known, sizes unequal, two hundred data sets."""
    rng, found = np.random.default_rng(6), []
    clusters = np.repeat(range(30), rng.integers(1, 5, 30))
    for _ in range(200):
        chances = (rng.beta(2, 2, 30)[clusters] + rng.beta(2, 2, len(clusters))) / 2
        valid = rng.integers(1, 5, len(clusters))
        right = rng.binomial(valid, chances)
        counts = np.column_stack([valid - right, right])
        result = correctness_components(
            ["B"] * len(clusters), counts, clusters, labels=("A", "B"), positive="B", resamples=1, rng=rng
        )
        found.append(raw(result, NESTED))
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / 200**0.5
    assert np.all(np.abs(means - [1 / 80, 1 / 80, 1 / 4 - 1 / 40]) < 4 * errors)
    assert min(row[0] for row in found) < 0  # kept as they are, or the mean would be too large


# --- intervals -------------------------------------------------------------------------------------------------


def test_negative_estimates_stay_visible_with_zero_beside_them() -> None:
    """Two items of each question that say the opposite: the question explains less than nothing."""
    result = nested([[0, 0], [1, 1]] * 6, np.repeat(range(6), 2), far=1)
    # Between items of a question 1/2; between questions half of 1/2 on average.
    assert raw(result, NESTED) == pytest.approx([-1 / 4, 1 / 2, 0.0], abs=1e-12)
    assert (result.question.truncated, result.item.truncated) == (0.0, pytest.approx(0.5))
    assert result.question_correlation.value == pytest.approx(-1.0)


@pytest.mark.parametrize("right", [0, 1])
def test_scores_that_never_vary_are_not_certainty(right: int) -> None:
    result = nested(np.full((12, 3), right), np.repeat(range(6), 2), far=1)
    upper = 1.959963984540054**2 / (6 + 1.959963984540054**2) / 2
    for name in NESTED:
        estimate = getattr(result, name).raw
        assert (estimate.value, estimate.low, estimate.method) == (0.0, 0.0, "wilson-clustered")
        assert estimate.high == pytest.approx(upper)
    assert (result.item_correlation.value, result.item_correlation.low) == (None, None)


def test_repeats_that_never_differ_leave_room_below_a_correlation_of_one() -> None:
    scores = np.repeat(np.arange(20) % 2, 3).reshape(20, 3)
    result = nested(scores, range(20), far=1)
    correlation = result.item_correlation
    assert (correlation.value, correlation.high) == (1.0, 1.0)
    assert 0.5 < (correlation.low or 0.0) < 0.9
    assert (result.repeat.raw.value, result.repeat.raw.low) == (0.0, 0.0)
    assert (result.repeat.raw.high or 0.0) > 0.05


@pytest.mark.parametrize(("far", "offset"), [(1.0, 0.0), (1e-6, 0.0), (1e4, 1e6)])
def test_components_and_limits_follow_the_unit_of_the_score(far: float, offset: float) -> None:
    scores = np.random.default_rng(0).random((24, 3))
    clusters = np.repeat(range(8), 3)
    unit, other = nested(scores, clusters, far=1), nested(scores * far + offset, clusters, far=far)
    for name in NESTED:
        ours, theirs = getattr(unit, name).raw, getattr(other, name).raw
        wanted = [ours.value * far**2, ours.low * far**2, ours.high * far**2]
        assert [theirs.value, theirs.low, theirs.high] == pytest.approx(wanted, rel=1e-6)
    assert other.item_correlation.value == pytest.approx(unit.item_correlation.value, rel=1e-6)


@pytest.mark.slow
def test_intervals_keep_their_level() -> None:
    """A hundred questions of one to five items and one to four scores: 95% intervals hold .92 to .98."""
    rng, held, runs = np.random.default_rng(9), np.zeros(5), 300
    truth = [0.5, 1.0, 1.0, 0.5 / 2.5, 1.5 / 2.5]
    for run in range(runs):
        clusters = np.repeat(range(100), rng.integers(1, 6, 100))
        scores = rng.normal(scale=0.5**0.5, size=100)[clusters] + rng.normal(size=len(clusters))
        scores = scores[:, None] + rng.normal(size=(len(clusters), 4))
        scores[np.arange(4) >= rng.integers(1, 5, len(clusters))[:, None]] = np.nan
        result = nested(scores, clusters, resamples=600, seed=run)
        estimates = [getattr(result, name).raw for name in NESTED]
        estimates += [result.question_correlation, result.item_correlation]
        held += [estimate.low <= value <= estimate.high for estimate, value in zip(estimates, truth, strict=True)]
    assert np.all((held / runs > 0.915) & (held / runs < 0.985))


def test_copies_of_items_in_their_question_do_not_shrink_intervals() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 1)) + rng.normal(size=(40, 3))
    alone = nested(scores, range(40), resamples=500).repeat.raw
    copies = nested(np.tile(scores, (6, 1)), list(range(40)) * 6, resamples=500).repeat.raw
    naive = nested(np.tile(scores, (6, 1)), range(240), resamples=500).repeat.raw
    widths = [(estimate.high or 0) - (estimate.low or 0) for estimate in (alone, copies, naive)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.6 * widths[1]


# --- real graders -------------------------------------------------------------------------------------------------


def test_eleven_graders_of_real_answers(calibration_data: Path) -> None:
    """Nine systems' answers to 400 questions; the variance of the graders' means is the sum of what is in it."""
    path = calibration_data / "judging_judges_v1" / "judging_judges_v1_labels.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    names = sorted(rows[0]["graders"])
    rows = [row for row in rows if row["label"] in ("CORRECT", "INCORRECT")]
    right = np.array([[row["graders"].get(name) for row in rows] for name in names], dtype=object)
    scores = np.where(pd.isna(right), np.nan, (right == [row["label"] for row in rows]).astype(float))
    whole_rows = np.flatnonzero(~np.isnan(scores).any(axis=0))
    scores, questions = scores[:, whole_rows], [rows[row]["question"] for row in whole_rows]
    result = crossed(scores[:, :, None], questions, far=1, resamples=200)
    assert 300 < result.question.raw.clusters < len(questions) / 8
    assert result.repeat.raw.value is None
    parts = [getattr(result, name).raw.value or 0.0 for name in ("grader", "grader_question", "grader_item")]
    between = parts[0] + parts[1] / result.question.raw.clusters + parts[2] / len(questions)
    assert between == pytest.approx(np.var(scores.mean(axis=1), ddof=1), rel=0.005)
    whole = sum(getattr(result, name).raw.value or 0.0 for name in CROSSED)
    accuracy = scores.mean()
    assert whole == pytest.approx(accuracy * (1 - accuracy), rel=0.02)
    assert (result.grader.raw.low or 0.0) > 0.0
    for name in ("question", "item", "grader_question", "grader_item"):
        found = getattr(result, name).raw
        assert found.low < found.value < found.high
