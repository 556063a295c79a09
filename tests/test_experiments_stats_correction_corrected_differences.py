"""Differences of corrected scores: joint variance against loops, the bootstrap, and the parts by themselves."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from correction_samples import LABELS, MATRIX, PI, ROLES, TWO, TWO_ROLES, graded
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special, stats

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    build_samples,
    correct_scores,
    corrected_differences,
    corrected_pairs,
)
from experiments.stats.correction.confusion_inversion import invert_confusion
from experiments.stats.correction.samples import split_totals
from experiments.stats.scores.score_functions import SCORES, score_gradient, score_value

OTHER = np.array([0.55, 0.15, 0.3])


def respondents(seed: int, n: int = 400, n_labelled: int = 240, *, repeats: int = 1, per_question: int = 2) -> Any:
    """Two respondents on the same questions, and labelled items on some of these."""
    rng = np.random.default_rng(seed)
    questions = [f"q{row // per_question}" for row in range(n)]
    first, second = (GradedItems(graded(rng, n, pi, repeats=repeats)[1], questions) for pi in (PI, OTHER))
    people, counts = graded(rng, n_labelled, repeats=repeats)
    labelled = LabelledItems([LABELS[a] for a in people], counts, [f"q{row // 3}" for row in range(n_labelled)])
    return first, second, labelled


def looped_variance(name: str, first: Any, second: Any, calibration: Any, second_calibration: Any, shared: bool) -> Any:
    """The definition, question by question in dictionaries: value and variance, made-up questions included."""
    moved: dict[Any, float] = {}
    values = []
    for sign, side, (graded_items, labelled) in zip(
        (1, -1), "ab", ((first, calibration), (second, second_calibration)), strict=True
    ):
        counts = np.asarray(graded_items.counts, dtype=float)
        rows = {("benchmark", side, k): 0.5 * np.eye(3)[k] for k in range(3)}
        for count, question in zip(counts, graded_items.clusters, strict=True):
            rows[question] = rows.get(question, np.zeros(3)) + count / count.sum()
        cells = {("made up", a, b): 0.5 * np.outer(np.eye(3)[a], np.eye(3)[b]) for a in range(3) for b in range(3)}
        weights = np.ones(len(labelled.reference)) if labelled.weights is None else np.asarray(labelled.weights)
        weights = weights / weights.mean()
        for label, count, question, weight in zip(
            labelled.reference, np.asarray(labelled.counts, dtype=float), labelled.clusters, weights, strict=True
        ):
            key = question if shared else ("calibration", question)
            cell = weight * np.outer(np.eye(3)[LABELS.index(label)], count / count.sum())
            cells[key] = cells.get(key, np.zeros((3, 3))) + cell
        q = sum(row for key, row in rows.items() if key[0] != "benchmark")
        plain = sum(cell for key, cell in cells.items() if key[0] != "made up")
        pi = np.linalg.solve((plain / plain.sum(axis=1, keepdims=True)).T, q / q.sum())
        values.append(float(score_value(name, pi, **ROLES)))
        total, whole = sum(rows.values()), sum(cells.values())
        sizes = whole.sum(axis=1)
        matrix = whole / sizes[:, None]
        h = np.linalg.inv(matrix) @ score_gradient(name, pi, **ROLES)
        n = total.sum()
        for key, row in rows.items():
            m = row.sum()
            moved[key] = moved.get(key, 0.0) + sign * h @ (row - m * total / n) / n / np.sqrt(1 - m / n)
        for key, cell in cells.items():
            for a in range(3):
                m = cell[a].sum()
                residual = -pi[a] * h @ (cell[a] - m * matrix[a]) / sizes[a] / np.sqrt(1 - m / sizes[a])
                moved[key] = moved.get(key, 0.0) + sign * residual
    return values[0] - values[1], sum(value**2 for value in moved.values())


def standard_error(difference: Any, freedom: float) -> float:
    estimate = difference.estimate
    return float((estimate.high - estimate.low) / 2 / special.stdtrit(freedom, 0.975))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", ["correct", "f1", "accuracy_given_attempted", "index"])
def test_value_and_variance_are_those_of_loops(name: str, shared: bool) -> None:
    first, second, labelled = respondents(1)
    found = corrected_differences(first, second, labelled, **ROLES, shared_clusters=shared).differences
    assert found is not None
    value, variance = looped_variance(name, first, second, labelled, labelled, shared)
    estimate = found[name].estimate
    assert_allclose(estimate.value, value, atol=1e-9)
    # The p-value gives t and the interval t's quantile times the error: with the error known both give the freedom.
    error = variance**0.5
    freedom = special.stdtridf(1 - found[name].p_value / 2, abs(value) / error)
    quantile = (estimate.high - estimate.low) / 2 / error
    assert_allclose(special.stdtrit(freedom, 0.975), quantile, rtol=2e-3)
    assert 1.96 < quantile < 2.1


def test_weights_enter_as_in_the_loops() -> None:
    first, second, labelled = respondents(2)
    rng = np.random.default_rng(0)
    one = replace(labelled, weights=rng.uniform(0.5, 2, len(labelled.reference)))
    two = replace(labelled, weights=rng.uniform(0.5, 2, len(labelled.reference)))
    found = corrected_differences(first, second, one, second_calibration=two, **ROLES).differences
    assert found is not None
    value, variance = looped_variance("f1", first, second, one, two, False)
    assert_allclose(found["f1"].estimate.value, value, atol=1e-9)
    half = (found["f1"].estimate.high - found["f1"].estimate.low) / 2
    assert 1.96 < half / variance**0.5 < 2.1


@pytest.mark.parametrize("shared", [True, False])
def test_the_bootstrap_of_questions_has_the_same_spread(shared: bool) -> None:
    first, second, labelled = respondents(3, n=800, n_labelled=600, per_question=1)
    found = corrected_differences(first, second, labelled, **ROLES, shared_clusters=shared).differences
    assert found is not None
    rng = np.random.default_rng(7)
    names = list(dict.fromkeys([*first.clusters, *(labelled.clusters if shared else [])]))
    joint = np.zeros((len(names), 6))
    cells = np.zeros((len(names) if shared else 200, 9))
    place = {name: row for row, name in enumerate(names)}
    own = place if shared else {f"q{row}": row for row in range(200)}
    for side, items in enumerate((first, second)):
        for row, question in zip(np.asarray(items.counts), items.clusters, strict=True):
            joint[place[question], 3 * side : 3 * side + 3] += row
    for label, row, question in zip(labelled.reference, np.asarray(labelled.counts), labelled.clusters, strict=True):
        cells[own[question]] += np.outer(np.eye(3)[LABELS.index(label)], row).ravel()
    draws = rng.multinomial(len(joint), np.full(len(joint), 1 / len(joint)), size=4000)
    others = draws if shared else rng.multinomial(len(cells), np.full(len(cells), 1 / len(cells)), size=4000)
    drawn = [
        split_totals(np.hstack([(draws @ joint)[:, 3 * side : 3 * side + 3], others @ cells]), 3) for side in (0, 1)
    ]
    scores = [score_value("f1", invert_confusion(one.observed, one.matrix), **ROLES) for one in drawn]
    estimate = found["f1"].estimate
    assert_allclose(estimate.high - estimate.low, 2 * 1.97 * np.std(scores[0] - scores[1]), rtol=0.06)


def test_independent_parts_add_up_to_the_variances_of_each_score() -> None:
    """Other questions and other labelled items: the difference is that of two independent estimates."""
    first, second, labelled = respondents(4, n=600, n_labelled=500, per_question=1)
    apart = GradedItems(second.counts, [f"other {name}" for name in second.clusters])
    _, _, more = respondents(5, n_labelled=500)
    elsewhere = replace(more, clusters=[f"elsewhere {name}" for name in more.clusters])
    found = corrected_differences(first, apart, labelled, second_calibration=elsewhere, **ROLES)
    assert (found.common, found.only_first, found.only_second) == (0, 600, 600)
    assert found.differences is not None
    halves = []
    for items, known in ((first, labelled), (apart, elsewhere)):
        estimate = correct_scores(items, known, **ROLES).require_corrected()["f1"]
        assert estimate.low is not None
        assert estimate.high is not None
        halves.append((estimate.high - estimate.low) / 2)
    joint = found.differences["f1"].estimate
    assert joint.low is not None
    assert joint.high is not None
    assert_allclose((joint.high - joint.low) / 2, np.hypot(*halves), rtol=0.01)


def test_what_is_shared_narrows_the_difference() -> None:
    first, second, labelled = respondents(6)
    _, _, more = respondents(7)
    elsewhere = replace(more, clusters=[f"elsewhere {name}" for name in more.clusters])
    together = corrected_differences(first, second, labelled, **ROLES).differences
    apart = corrected_differences(first, second, labelled, second_calibration=elsewhere, **ROLES).differences
    assert together is not None
    assert apart is not None
    widths = [one["f1"].estimate.high - one["f1"].estimate.low for one in (together, apart)]  # type: ignore[operator]
    assert widths[0] < widths[1]


def test_a_respondent_does_not_differ_from_itself() -> None:
    first, _, labelled = respondents(8)
    found = corrected_differences(first, first, labelled, **ROLES)
    assert (found.common, found.only_first, found.only_second) == (200, 0, 0)
    assert found.differences is not None
    for name, difference in found.differences.items():
        assert difference.estimate.value == 0, name
        assert difference.p_value == 1, name
        assert difference.estimate.low < 0 < difference.estimate.high, name  # type: ignore[operator]


@settings(max_examples=15)
@given(seed=st.integers(0, 500), repeats=st.integers(1, 3))
def test_turning_the_pair_round_turns_the_difference(seed: int, repeats: int) -> None:
    first, second, labelled = respondents(seed, repeats=repeats)
    one = corrected_differences(first, second, labelled, **ROLES).differences
    two = corrected_differences(second, first, labelled, **ROLES).differences
    assert (one is None) == (two is None)
    for name in SCORES if one is not None and two is not None else ():
        assert_allclose(one[name].estimate.value, -two[name].estimate.value, atol=1e-12)  # type: ignore[index, operator]
        assert_allclose(one[name].estimate.low, -two[name].estimate.high, atol=1e-9)  # type: ignore[index, operator]
        assert_allclose(one[name].p_value, two[name].p_value, atol=1e-9)  # type: ignore[index]


@settings(max_examples=15)
@given(seed=st.integers(0, 500))
def test_the_difference_is_that_of_the_corrected_scores(seed: int) -> None:
    first, second, labelled = respondents(seed, repeats=2)
    found = corrected_differences(first, second, labelled, **ROLES)
    both = [correct_scores(items, labelled, **ROLES) for items in (first, second)]
    assert (found.status == "corrected") == all(one.status == "corrected" for one in both)
    for name, difference in (found.differences or {}).items():
        values = [one.require_corrected()[name].value for one in both]
        assert_allclose(difference.estimate.value, values[0] - values[1], atol=1e-12)  # type: ignore[operator]


def test_items_without_a_verdict_or_a_weight_change_nothing() -> None:
    first, second, labelled = respondents(9)
    more = GradedItems([*np.asarray(first.counts).tolist(), [0, 0, 0]], [*first.clusters, "new"])
    known = LabelledItems(
        [*labelled.reference, "CORRECT", "CORRECT"],
        [*np.asarray(labelled.counts).tolist(), [0, 0, 0], [1, 0, 0]],
        [*labelled.clusters, "new", "another"],
        [1.0] * len(labelled.reference) + [1.0, 0.0],
    )
    before = corrected_differences(first, second, labelled, **ROLES)
    assert corrected_differences(more, second, known, **ROLES) == before


def test_no_correction_no_difference() -> None:
    first, second, labelled = respondents(10)
    none = corrected_differences(first, second, LabelledItems([], [], []), **ROLES)
    assert (none.status, none.differences) == ("uncorrected", None)
    assert none.reason == "uncorrected: no calibration data"
    empty = corrected_differences(first, GradedItems([[0, 0, 0]], ["q"]), labelled, **ROLES)
    assert empty.reason == "uncorrected: no benchmark item has a valid verdict"
    useless = replace(labelled, counts=[[1, 0, 0]] * len(labelled.reference))
    assert corrected_differences(first, second, useless, **ROLES).reason.startswith("not identified")
    one_sided = corrected_differences(first, second, labelled, second_calibration=useless, **ROLES)
    assert one_sided.reason.startswith("not identified")


def test_an_undefined_score_has_no_difference() -> None:
    rng = np.random.default_rng(3)
    _, _, labelled = respondents(11, n_labelled=600)
    declined = GradedItems([[0, 1, 0]] * 300, range(300))
    other = GradedItems(graded(rng, 300)[1], range(300))
    perfect = replace(labelled, counts=[np.eye(3, dtype=int)[LABELS.index(one)] for one in labelled.reference])
    found = corrected_differences(declined, other, perfect, **ROLES).differences
    assert found is not None
    assert found["accuracy_given_attempted"].estimate.value is None
    assert found["accuracy_given_attempted"].p_value is None
    assert found["f1"].estimate.value is not None


def test_two_labels() -> None:
    rng = np.random.default_rng(5)
    matrix = np.array([[0.95, 0.05], [0.1, 0.9]])
    first, second = (GradedItems(graded(rng, 500, np.array([1 - p, p]), matrix)[1], range(500)) for p in (0.7, 0.4))
    people, counts = graded(rng, 300, np.array([0.5, 0.5]), matrix)
    labelled = LabelledItems([TWO[a] for a in people], counts, range(300))
    found = corrected_differences(first, second, labelled, **TWO_ROLES).differences
    assert found is not None
    assert found["correct"].estimate.low < 0.3 < found["correct"].estimate.high  # type: ignore[operator]
    assert found["f1"].estimate.value == pytest.approx(found["correct"].estimate.value)


def test_the_interval_holds_the_true_difference_and_a_null_is_rejected_rarely() -> None:
    """100 worlds: 95% within a binomial bound, and no more than 5% of tests of no difference reject."""
    held, rejected, worlds = 0, 0, 100
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        ease = rng.normal(size=250)
        items = []
        for shift in (0.6, 0.0, 0.0):
            right = rng.random(250) < special.expit(ease + shift)
            answers = np.where(right, 2, np.where(rng.random(250) < 0.3, 1, 0))
            items.append(GradedItems([rng.multinomial(1, MATRIX[a]) for a in answers], range(250)))
        people, counts = graded(rng, 200)
        labelled = LabelledItems([LABELS[a] for a in people], counts, range(200))
        found = corrected_differences(items[0], items[1], labelled, **ROLES).differences
        null = corrected_differences(items[1], items[2], labelled, **ROLES).differences
        assert found is not None
        assert null is not None
        truth = _true_share(0.6) - _true_share(0.0)
        held += found["correct"].estimate.low <= truth <= found["correct"].estimate.high  # type: ignore[operator]
        rejected += null["correct"].p_value < 0.05  # type: ignore[operator]
    assert stats.binom.cdf(held, worlds, 0.95) > 0.005
    assert stats.binom.sf(rejected - 1, worlds, 0.05) > 0.005


def _true_share(shift: float) -> float:
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ special.expit(points + shift) / weights.sum())


@pytest.mark.parametrize(
    ("weights", "message"), [([1.0], "weights: not one weight"), ([-1.0] * 240, "weights"), ([np.nan] * 240, "weights")]
)
def test_bad_weights_are_named(weights: list[float], message: str) -> None:
    first, second, labelled = respondents(12)
    with pytest.raises(ValueError, match=message):
        corrected_differences(first, second, replace(labelled, weights=weights), **ROLES)


def test_weights_of_one_are_no_weights() -> None:
    first, _, labelled = respondents(13)
    ones = replace(labelled, weights=np.full(len(labelled.reference), 3.0))
    plain, weighted = (build_samples(first, one, labels=LABELS) for one in (labelled, ones))
    assert_allclose(plain.totals().matrix, weighted.totals().matrix, atol=1e-15)
    assert correct_scores(first, ones, **ROLES) == correct_scores(first, labelled, **ROLES)


@pytest.mark.parametrize("shared", [False, True])
def test_the_bootstrap_lies_near_the_delta_method_and_is_seeded(shared: bool) -> None:
    first, second, labelled = respondents(20, 800, 600)
    roles = {**ROLES, "shared_clusters": shared}
    linear = corrected_differences(first, second, labelled, **roles).differences
    found = [
        corrected_differences(
            first, second, labelled, method="bootstrap", rng=np.random.default_rng(1), resamples=4000, **roles
        )
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert found[0].undefined_resamples == 0
    for name in ("correct", "f1", "accuracy_given_attempted", "not_attempted"):
        drawn, known = found[0].differences[name], linear[name]  # type: ignore[index]
        assert drawn.test == drawn.estimate.method == "inversion-bootstrap-joint"
        assert drawn.estimate.value == known.estimate.value
        width = known.estimate.high - known.estimate.low  # type: ignore[operator]
        ends = (drawn.estimate.low, drawn.estimate.high)
        assert ends == pytest.approx((known.estimate.low, known.estimate.high), abs=0.12 * width)
        assert drawn.p_value == pytest.approx(known.p_value, abs=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_a_drawn_p_value_and_its_interval_say_the_same(seed: int) -> None:
    first, second, labelled = respondents(30 + seed, 160, 240)
    found = corrected_differences(
        first, second, labelled, method="bootstrap", rng=np.random.default_rng(seed), resamples=2000, **ROLES
    ).differences
    for one in (found or {}).values():
        low, high = one.estimate.low, one.estimate.high
        if one.test == "inversion-bootstrap-joint" and abs((one.p_value or 0) - 0.05) > 0.004:
            assert ((one.p_value or 0) < 0.05) == (not low <= 0 <= high)  # type: ignore[operator]


@pytest.mark.parametrize("shared", [False, True])
def test_pairs_of_several_are_those_of_two_by_two(shared: bool) -> None:
    """To the last digit by the delta method; by bootstrap within the error of the draws, which all pairs share."""
    first, second, labelled = respondents(50, 600, 400)
    third, _, elsewhere = respondents(51, 600, 400)
    graded, known = [first, second, third], [labelled, labelled, elsewhere]
    options: dict[str, Any] = {"shared_clusters": shared, **ROLES}
    pairs = list(combinations(range(3), 2))
    alone = [
        corrected_differences(graded[i], graded[j], known[i], second_calibration=known[j], **options) for i, j in pairs
    ]
    assert corrected_pairs(graded, known, **options) == alone
    rng = np.random.default_rng(3)
    drawn = corrected_pairs(graded, known, method="bootstrap", rng=rng, resamples=4000, **options)
    for one, two in zip(drawn, alone, strict=True):
        for name in ("correct", "f1", "not_attempted"):
            found, linear = one.differences[name].estimate, two.differences[name].estimate  # type: ignore[index]
            assert found.method == "inversion-bootstrap-joint"
            assert (found.low, found.high) == pytest.approx(
                (linear.low, linear.high),
                abs=0.12 * (linear.high - linear.low),  # type: ignore[operator]
            )


def test_one_who_cannot_be_corrected_does_not_stop_the_others() -> None:
    first, second, labelled = respondents(52, 200, 300)
    nothing = LabelledItems([], [], [])
    options: dict[str, Any] = {"method": "bootstrap", "rng": np.random.default_rng(1), "resamples": 200, **ROLES}
    found = corrected_pairs([first, first, second], [labelled, nothing, labelled], **options)
    assert [one.status for one in found] == ["uncorrected", "corrected", "uncorrected"]
    assert corrected_pairs([first], [labelled], **options) == corrected_pairs([], [], **options) == []
    with pytest.raises(ValueError, match="calibrations: wrong number, got 1; expected 2, one each"):
        corrected_pairs([first, second], [labelled], **options)


@pytest.mark.slow
def test_the_drawn_interval_holds_the_true_difference_and_a_null_is_rejected_rarely() -> None:
    """200 worlds of three respondents, 150 questions and 150 labelled items of their own questions each."""
    held, rejected, worlds = 0, 0, 200
    for seed in range(worlds):
        rng = np.random.default_rng(1000 + seed)
        ease = rng.normal(size=150)
        items = []
        for shift in (0.6, 0.0, 0.0):
            right = rng.random(150) < special.expit(ease + shift)
            answers = np.where(right, 2, np.where(rng.random(150) < 0.3, 1, 0))
            items.append(GradedItems([rng.multinomial(1, MATRIX[a]) for a in answers], range(150)))
        people, counts = graded(rng, 150)
        labelled = LabelledItems([LABELS[a] for a in people], counts, range(150))
        options: dict[str, Any] = {"method": "bootstrap", "rng": rng, "resamples": 500, **ROLES}
        apart, _, null = corrected_pairs(items, [labelled] * 3, **options)
        one, two = apart.differences["correct"], null.differences["correct"]  # type: ignore[index]
        assert one.estimate.method == "inversion-bootstrap-joint"
        held += one.estimate.low <= _true_share(0.6) - _true_share(0.0) <= one.estimate.high  # type: ignore[operator]
        rejected += two.p_value < 0.05  # type: ignore[operator]
    assert stats.binom.cdf(held, worlds, 0.95) > 0.005, held
    assert stats.binom.sf(rejected - 1, worlds, 0.05) > 0.005, rejected
    assert held < worlds


def test_the_same_respondent_twice_has_no_draws_that_differ() -> None:
    first, _, labelled = respondents(40)
    options: dict[str, Any] = {"method": "bootstrap", "rng": np.random.default_rng(1), "resamples": 200, **ROLES}
    other = replace(first, counts=np.asarray(first.counts)[::-1])
    found = corrected_differences(first, other, labelled, **options).differences
    assert found is not None
    assert found["correct"].p_value > 0.5  # type: ignore[operator]
    with pytest.raises(ValueError, match="rng: none for the bootstrap"):
        corrected_differences(first, other, labelled, method="bootstrap", **ROLES)
