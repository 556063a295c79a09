"""Effects of wordings on corrected scores: against the correction of two respondents, and what models share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from experiments.stats.comparisons.corrected_effects import CorrectedEffects, correct_effects
from experiments.stats.comparisons.score_effects import score_effects
from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    NotIdentifiedError,
    correct_scores,
    corrected_differences,
)
from experiments.stats.correction.shared_calibration import SharedCalibration, share_calibration
from experiments.stats.scores import SCORES, benchmark_scores, score_value
from experiments.stats.scores.score_covariance import missing_question_bounds

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
RATES = np.array([[0.90, 0.02, 0.08], [0.03, 0.95, 0.02], [0.05, 0.01, 0.94]])
OLD, NEW = [0.3, 0.3, 0.4], [0.35, 0.2, 0.45]
MODELS = ("a", "b", "c")
Array = NDArray[np.float64]


def classes(rng: np.random.Generator, shares: list[float], *size: int) -> NDArray[np.int64]:
    return rng.choice(3, size=size, p=shares)


def judged(rng: np.random.Generator, true: NDArray[np.int64], rates: Array = RATES) -> Array:
    """One verdict a response, as rows of 0 and 1."""
    steps = rng.random(true.shape)[..., None] > np.cumsum(rates, axis=1)[true][..., :2]
    return np.eye(3)[steps.sum(axis=-1)]


def labelled(rng: np.random.Generator, n: int = 150, rates: Array = RATES, each: int = 2) -> LabelledItems:
    true = classes(rng, OLD, n)
    counts = judged(rng, true, rates).astype(np.int64)
    return LabelledItems([LABELS[place] for place in true], counts, [f"q{place // each}" for place in range(n)])


def tables(rng: np.random.Generator, n: int = 200, models: int = 3) -> tuple[Array, Array]:
    return judged(rng, classes(rng, OLD, models, n)), judged(rng, classes(rng, NEW, models, n))


def names(n: int = 200, each: int = 2) -> list[str]:
    return [f"q{place // each}" for place in range(n)]


def calibrated(known: LabelledItems, questions: list[str], *, shared: bool = False, **fields: Any) -> SharedCalibration:
    return share_calibration(questions, known, shared_clusters=shared, **{**ROLES, **fields})


def as_items(shares: Array) -> GradedItems:
    return GradedItems(shares.astype(np.int64), names(len(shares)))


@pytest.mark.parametrize("shared", [False, True])
def test_the_effect_in_a_model_is_the_corrected_difference_of_its_cells(shared: bool) -> None:
    rng = np.random.default_rng(1)
    (old, new), known = tables(rng), labelled(rng)
    found = correct_effects(old, new, calibrated(known, names(), shared=shared), models=MODELS).at(level=0.9)
    alone = corrected_differences(
        as_items(new[1]), as_items(old[1]), known, level=0.9, shared_clusters=shared, **ROLES
    ).differences
    assert alone is not None
    assert set(found) == set(SCORES)
    for name in SCORES:
        one, other = found[name].effects[1].difference, alone[name]
        ends = [(each.estimate.value, each.estimate.low, each.estimate.high, each.p_value) for each in (one, other)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-9)
        assert (one.estimate.n, one.estimate.clusters) == (other.estimate.n, other.estimate.clusters)


def test_a_cell_has_the_corrected_scores_of_a_benchmark() -> None:
    rng = np.random.default_rng(2)
    (old, _), known = tables(rng), labelled(rng)
    expected = correct_scores(as_items(old[0]), known, level=0.9, **ROLES).require_corrected()
    assert calibrated(known, names()).scores(old[0], level=0.9) == dict(expected)


def test_one_model_is_its_own_average_and_no_sample_of_models() -> None:
    rng = np.random.default_rng(3)
    old, new = tables(rng, models=1)
    found = correct_effects(old, new, calibrated(labelled(rng), names()), models=["a"]).at()["f1"]
    assert found.fixed == found.effects[0].difference
    assert found.sampled.estimate.low is None
    assert found.resampled.low is None
    assert found.heterogeneity.q is None


def test_a_judge_that_never_errs_leaves_effects_as_graded() -> None:
    """With so many labelled items that nothing is left open."""
    rng = np.random.default_rng(4)
    old, new = tables(rng)
    sure = labelled(rng, 6000, np.eye(3), each=1)
    found = correct_effects(old, new, calibrated(sure, names()), models=MODELS).at()
    graded = score_effects(old, new, names(), models=MODELS, rng=rng, resamples=1, **ROLES)
    for name in ("accuracy", "f1", "accuracy_given_attempted"):
        one, other = found[name].fixed.estimate, graded[name].fixed.estimate
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.low == pytest.approx(other.low, abs=0.004)
        sampled, as_graded = found[name].sampled.estimate, graded[name].sampled.estimate
        assert sampled.high == pytest.approx(as_graded.high, abs=0.006)


def test_more_models_do_not_take_away_what_the_labelled_items_leave_open() -> None:
    """Effects of 8 models on many questions, from few labelled items: their errors move together."""
    rng = np.random.default_rng(5)
    old, new = (judged(rng, classes(rng, shares, 8, 4000)) for shares in ([0.2, 0.5, 0.3], [0.6, 0.0, 0.4]))
    known, questions = labelled(rng, 120, each=1), names(4000, each=1)
    found = correct_effects(old, new, calibrated(known, questions), models=list("abcdefgh")).at()["accuracy"]
    covariance = np.array(found.covariance)
    correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert correlation[~np.eye(8, dtype=bool)].min() > 0.5
    estimate = found.fixed.estimate
    assert estimate.high is not None
    assert estimate.value is not None
    alone = found.effects[0].difference.estimate
    assert alone.high is not None
    assert alone.value is not None
    assert estimate.high - estimate.value > 0.7 * (alone.high - alone.value)
    assert covariance.sum() / 64 == pytest.approx(np.mean(covariance), abs=1e-15)


def test_a_question_that_either_wording_lacks_is_left_out_of_that_model() -> None:
    rng = np.random.default_rng(6)
    (old, new), known = tables(rng), labelled(rng)
    old[0, 3], new[0, 4] = 0.0, 0.0
    found = correct_effects(old, new, calibrated(known, names()), models=MODELS).at()["accuracy"]
    assert [effect.left_out for effect in found.effects] == [2, 0, 0]
    kept = [place for place in range(200) if place not in (3, 4)]
    part = calibrated(known, [names()[place] for place in kept])
    alone = correct_effects(old[:, kept], new[:, kept], part, models=MODELS).at()["accuracy"]
    assert found.effects[0].difference.estimate.value == pytest.approx(alone.effects[0].difference.estimate.value)
    assert found.effects[0].difference.estimate.low == pytest.approx(alone.effects[0].difference.estimate.low)


def test_a_model_whose_score_is_not_defined_has_no_effect_on_it() -> None:
    rng = np.random.default_rng(7)
    (old, new), known = tables(rng), labelled(rng, rates=np.eye(3))
    old[2] = [0.0, 1.0, 0.0]
    found = correct_effects(old, new, calibrated(known, names()), models=MODELS).at()
    assert found["accuracy_given_attempted"].models == ("a", "b")
    assert found["accuracy"].models == MODELS


def test_nothing_to_compare_and_one_question() -> None:
    rng = np.random.default_rng(8)
    known = calibrated(labelled(rng), names())
    nobody = correct_effects(np.zeros((0, 200, 3)), np.zeros((0, 200, 3)), known, models=[]).at()["f1"]
    assert nobody.fixed.estimate.value is None
    assert nobody.covariance is None
    lacking = correct_effects(np.zeros((2, 200, 3)), np.zeros((2, 200, 3)), known, models=["a", "b"]).at()["f1"]
    assert lacking.models == ()
    old, new = tables(rng, n=2, models=1)
    single = correct_effects(old, new, calibrated(labelled(rng), ["q0", "q0"]), models=["a"]).at()["accuracy"]
    assert single.fixed.estimate.value is not None
    assert single.fixed.estimate.low is None
    assert single.fixed.p_value is None
    assert single.effects[0].student_p_value is None


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_turning_round_the_wordings_or_the_order_of_items_changes_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (old, new), known = tables(rng, n=40), labelled(rng, 90)
    questions = names(40)

    def effects(first: Array, second: Array, order: list[int]) -> CorrectedEffects:
        known_here = calibrated(known, [questions[place] for place in order])
        return correct_effects(first[:, order], second[:, order], known_here, models=MODELS)

    plain = list(range(40))
    try:
        found = effects(old, new, plain).at()["accuracy"]
    except NotIdentifiedError:
        return
    turned, moved = (one.at()["accuracy"] for one in (effects(new, old, plain), effects(old, new, plain[::-1])))
    assert moved.fixed.estimate == found.fixed.estimate
    assert turned.fixed.estimate.value == pytest.approx(-(found.fixed.estimate.value or 0.0))
    assert turned.fixed.estimate.low == pytest.approx(-(found.fixed.estimate.high or 0.0))
    assert turned.fixed.p_value == pytest.approx(found.fixed.p_value)


def test_labels_without_use_are_left_out_by_whoever_calls_and_two_labels_do() -> None:
    rng = np.random.default_rng(9)
    shares = np.eye(2)[rng.integers(0, 2, (2, 60))]
    known = LabelledItems(["no", "yes"] * 40, np.eye(2, dtype=np.int64)[[0, 1] * 38 + [1, 0, 0, 1]], list(range(80)))
    roles: dict[str, Any] = {"labels": ("no", "yes"), "correct": "yes", "not_attempted": None}
    calibration = share_calibration(list(range(60)), known, **roles)
    found = correct_effects(shares[:1], shares[1:], calibration, models=["a"]).at()["accuracy"]
    alone = corrected_differences(
        GradedItems(shares[1].astype(np.int64), list(range(60))),
        GradedItems(shares[0].astype(np.int64), list(range(60))),
        known,
        **roles,
    ).differences
    assert alone is not None
    assert found.fixed.estimate.low == pytest.approx(alone["accuracy"].estimate.low)


def test_error_rates_that_identify_nothing_are_refused() -> None:
    rng = np.random.default_rng(10)
    blind = np.full((3, 3), 1 / 3)
    with pytest.raises(NotIdentifiedError, match="not identified"):
        calibrated(labelled(rng, 200, blind), names())
    with pytest.raises(NotIdentifiedError, match="no labelled item has a verdict"):
        calibrated(LabelledItems([], np.zeros((0, 3), dtype=np.int64), []), names())
    lone = LabelledItems(["CORRECT"] * 9, np.tile([0, 0, 1], (9, 1)), list(range(9)))
    with pytest.raises(NotIdentifiedError, match="people called no calibration item"):
        calibrated(lone, names())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"changed": np.zeros((2, 5, 3))}, r"changed: wrong shape, got \(2, 5, 3\); expected \(2, 200, 3\)"),
        ({"models": ["a", "a"]}, "models: a name stands twice"),
        ({"models": ["a"]}, r"expected \(1, 200, 3\)"),
        ({"changed": np.full((2, 200, 3), 0.9)}, "not shares"),
        ({"assumed": np.zeros((2, 3))}, r"assumed: wrong shape, got \(2, 3\); expected \(2, 2, 3\)"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    rng = np.random.default_rng(11)
    old, new = tables(rng, models=2)
    fields: dict[str, Any] = {"baseline": old, "changed": new, "models": ["a", "b"], **change}
    with pytest.raises(ValueError, match=message):
        correct_effects(calibration=calibrated(labelled(rng), names()), **fields)


def test_an_error_of_a_rate_does_not_move_what_is_assumed() -> None:
    """Half of a wording's rows are those of a true class: only the other half rests on the error rates."""
    rng = np.random.default_rng(12)
    known = calibrated(labelled(rng, 60), names())
    rows = known.known.totals().matrix
    old = judged(rng, classes(rng, OLD, 1, 200))
    new = old.copy()
    new[0, :100] = rows[2]
    taken = np.zeros((2, 1, 3))
    taken[1, 0, 2] = 0.5
    found = [
        correct_effects(old, new, known, models=["a"], assumed=one).at()["accuracy"].fixed.estimate
        for one in (None, taken)
    ]
    assert found[0].value == pytest.approx(found[1].value)
    # As true rows the second half adds no error of a rate; as verdicts it would hide some of the control's.
    assert found[0].low != pytest.approx(found[1].low)
    everything = np.zeros((2, 1, 3))
    everything[0, 0, 0] = everything[1, 0, 2] = 1.0
    lost, won = np.tile(rows[0], (1, 200, 1)), np.tile(rows[2], (1, 200, 1))
    sure = correct_effects(lost, won, known, models=["a"], assumed=everything).at()["accuracy"].fixed.estimate
    assert sure.value == pytest.approx(1.0)
    unsure = correct_effects(lost, won, known, models=["a"]).at()["accuracy"].fixed.estimate
    assert sure.high is None or sure.high - sure.low < unsure.high - unsure.low  # type: ignore[operator]


def test_a_level_must_be_one_and_a_cell_has_a_row_a_question() -> None:
    rng = np.random.default_rng(12)
    old, new = tables(rng)
    calibration = calibrated(labelled(rng), names())
    with pytest.raises(ValueError, match="level: not a confidence level"):
        correct_effects(old, new, calibration, models=MODELS).at(level=1.0)
    with pytest.raises(ValueError, match="shares: wrong length, got 5; expected 200"):
        calibration.scores(old[0, :5])


def test_missing_parts_count_at_their_own_weight() -> None:
    """A question of which a third is missing is known for two thirds; by hand."""
    shares = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = missing_question_bounds(shares, present=[2 / 3, 1.0, 0.0], **ROLES)
    assert found["accuracy"] == pytest.approx(((2 / 3) / 3, (2 / 3 + 4 / 3) / 3))
    assert found["accuracy_given_attempted"] == pytest.approx(((2 / 3) / 3, 2 / 3))
    with pytest.raises(ValueError, match="present: not parts of 3 questions"):
        missing_question_bounds(shares, present=[0.5, 0.5], **ROLES)
    with pytest.raises(ValueError, match="present: not parts"):
        missing_question_bounds(shares, present=[0.5, 1.5, 0.0], **ROLES)


def test_corrected_bounds_hold_the_corrected_score_and_fill_what_is_missing_with_true_classes() -> None:
    rng = np.random.default_rng(13)
    calibration = calibrated(labelled(rng), names())
    shares = tables(rng)[0][0]
    whole = calibration.bounds(shares, np.ones(200))
    scores = calibration.scores(shares)
    assert whole["f1"] == pytest.approx((scores["f1"].value, scores["f1"].value))
    part = calibration.bounds(shares, np.full(200, 0.9))
    value = scores["accuracy"].value
    assert value is not None
    assert part["accuracy"] == pytest.approx((0.9 * value, 0.9 * value + 0.1))
    nothing = calibration.bounds(np.zeros((200, 3)), np.zeros(200))
    assert nothing["accuracy"] == (0.0, 1.0)


@pytest.mark.slow
def test_average_effects_hold_the_truth_as_often_as_claimed_and_as_graded_they_do_not() -> None:
    """A judge that passes a fifth of the wrong answers, and a wording that turns declining into wrong answers."""
    rng, worlds, n, models = np.random.default_rng(14), 300, 150, 4
    rates = np.array([[0.78, 0.02, 0.20], [0.03, 0.96, 0.01], [0.06, 0.01, 0.93]])
    before, after = [0.2, 0.4, 0.4], [0.45, 0.15, 0.4]
    truth = {name: float(np.diff(score_value(name, [before, after], **ROLES))[0]) for name in SCORES}
    held = {name: {"graded": 0, "corrected": 0} for name in ("accuracy", "f1")}
    questions, clusters = list(range(n)), names(n, each=1)
    for _ in range(worlds):
        old, new = (judged(rng, classes(rng, shares, models, n), rates) for shares in (before, after))
        known = labelled(rng, 240, rates, each=1)
        corrected = correct_effects(old, new, calibrated(known, clusters), models=list("abcd")).at()
        graded = score_effects(old, new, questions, models=list("abcd"), rng=rng, resamples=1, **ROLES)
        for name, counts in held.items():
            for way, effects in (("graded", graded), ("corrected", corrected)):
                estimate = effects[name].fixed.estimate
                assert estimate.low is not None
                assert estimate.high is not None
                counts[way] += estimate.low <= truth[name] <= estimate.high
    for counts in held.values():
        assert counts["corrected"] >= 0.92 * worlds
        assert counts["graded"] < 0.8 * worlds


def test_a_cell_as_graded_is_not_what_is_corrected() -> None:
    """The correction moves scores towards the truth on average: here a lenient judge's accuracy falls."""
    rng = np.random.default_rng(15)
    rates = np.array([[0.75, 0.0, 0.25], [0.0, 0.95, 0.05], [0.0, 0.0, 1.0]])
    shares = judged(rng, classes(rng, [0.4, 0.2, 0.4], 1, 200), rates)[0]
    corrected = calibrated(labelled(rng, 600, rates), names()).scores(shares)["accuracy"].value
    graded = benchmark_scores(shares, names(), **ROLES)["accuracy"].value
    assert corrected is not None
    assert graded is not None
    assert corrected < graded - 0.05
