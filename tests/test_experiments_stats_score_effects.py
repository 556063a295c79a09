"""Effects of answer wordings on scores over models that answer the same questions, and their joint covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from experiments.stats.comparisons.score_effects import score_effects
from experiments.stats.comparisons.wording_effects import wording_effects
from experiments.stats.scores import SCORES, paired_score_differences, score_bounds
from experiments.stats.scores.score_covariance import missing_question_bounds, score_covariance

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
Array = NDArray[np.float64]


def draw(
    rng: np.random.Generator, n: int, n_models: int, *, shift: float = 0.0, repeats: int = 1
) -> tuple[Array, Array]:
    """(K, n, L) shares under two wordings; questions have a difficulty that all models share."""
    hard = rng.random(n)
    tables = []
    for moved in (0.0, shift):
        right = np.clip(0.7 - 0.5 * hard + moved, 0, 1) * np.linspace(0.6, 1.0, n_models)[:, None]
        chances = np.stack([0.6 * (1 - right), 0.4 * (1 - right), right], axis=2)
        tables.append(rng.multinomial(repeats, chances) / repeats)
    return tables[0], tables[1]


def effects_of(before: Array, after: Array, clusters: list[int], **options: Any) -> dict[str, Any]:
    names = [f"m{place}" for place in range(len(before))]
    given: dict[str, Any] = {"rng": np.random.default_rng(1), "resamples": 500, **ROLES, **options}
    return score_effects(before, after, clusters, models=names, **given)


def test_a_score_that_is_a_mean_agrees_with_wording_effects() -> None:
    before, after = draw(np.random.default_rng(1), 60, 4, shift=0.1, repeats=3)
    found = effects_of(before, after, list(range(60)), repeats=3)
    for name, weights in (("accuracy", [0, 0, 1]), ("attempted", [1, 0, 1]), ("incorrect", [1, 0, 0])):
        means = wording_effects(
            (before @ np.array(weights)).T,
            (after @ np.array(weights)).T,
            range(60),
            models=["m0", "m1", "m2", "m3"],
            rng=np.random.default_rng(2),
            resamples=500,
            repeats=3,
        )
        scored = found[name]
        assert np.array(scored.covariance) == pytest.approx(np.array(means.covariance), rel=1e-9, abs=1e-15)
        for mine, other in ((scored.fixed, means.fixed), (scored.sampled, means.sampled)):
            assert mine.p_value == pytest.approx(other.p_value, rel=1e-9)
            assert [mine.estimate.low, mine.estimate.high] == pytest.approx(
                [other.estimate.low, other.estimate.high], rel=1e-9
            )
        assert scored.heterogeneity.q == pytest.approx(means.heterogeneity.q, rel=1e-9)
        for mine_effect, other_effect in zip(scored.effects, means.effects, strict=True):
            assert mine_effect.student_p_value == pytest.approx(other_effect.student_p_value, rel=1e-9)
            assert mine_effect.left_out == 0


def test_each_effect_is_the_paired_difference_of_the_score() -> None:
    before, after = draw(np.random.default_rng(2), 50, 3, shift=0.1)
    clusters = [place // 2 for place in range(50)]
    found = effects_of(before, after, clusters)
    for name in SCORES:
        for place in range(3):
            alone = paired_score_differences(after[place], clusters, before[place], clusters, **ROLES)
            expected = alone.differences[name]
            effect = found[name].effects[place]
            assert effect.difference.estimate == expected.estimate
            assert effect.student_p_value == pytest.approx(expected.p_value, rel=1e-9)
            if expected.estimate.method == "student-clustered":
                quantile = stats.t.ppf(0.975, expected.estimate.clusters - 1)
                error = (expected.estimate.high - expected.estimate.low) / 2 / quantile
                assert found[name].covariance[place][place] == pytest.approx(error**2, rel=1e-9)


def test_the_joint_covariance_of_a_ratio_is_statsmodels_cluster_robust_one() -> None:
    """Oracle: OLS of right on a column a cell among the attempted, clustered by question.

    Every question is attempted once in every cell, in one of its two items, so that all weigh the same and CR2 is
    statsmodels' uncorrected covariance times G / (G - 1).
    """
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    rng, n_questions, n_models = np.random.default_rng(3), 40, 3
    tables = np.zeros((2, n_models, 2 * n_questions, 3))
    outcome, design, groups = [], [], []
    for wording in range(2):
        for model in range(n_models):
            for question in range(n_questions):
                attempted, right = rng.integers(2), rng.integers(2)
                rows = 2 * question + np.array([attempted, 1 - attempted])
                tables[wording, model, rows[0], 2 * right] = 1.0
                tables[wording, model, rows[1], 1] = 1.0
                outcome.append(float(right))
                design.append(np.eye(2 * n_models)[2 * model + wording])
                groups.append(question)
    fit = regression.OLS(np.array(outcome), np.array(design)).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(groups), "use_correction": False}
    )
    contrast = np.kron(np.eye(n_models), np.array([-1.0, 1.0]))
    expected = contrast @ fit.cov_params() @ contrast.T * n_questions / (n_questions - 1)
    clusters = [place // 2 for place in range(2 * n_questions)]
    found = effects_of(tables[0], tables[1], clusters)["accuracy_given_attempted"]
    assert np.array(found.covariance) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    error = float(expected.sum()) ** 0.5 / n_models
    half = error * float(stats.t.ppf(0.975, n_questions - 1))
    assert found.fixed.estimate.low == pytest.approx(found.fixed.estimate.value - half, rel=1e-9)


def test_the_joint_covariance_of_f1_is_that_of_loops_over_numerical_derivatives() -> None:
    rng = np.random.default_rng(4)
    before, after = draw(rng, 30, 2, shift=0.1)
    order = [2, 0, 1]  # classes: correct, incorrect, not attempted
    first, second = after[:, :, order], before[:, :, order]
    found = score_covariance(SCORES["f1"], first, second, penalty=1.0)
    assert found is not None

    def f1(totals: Array) -> float:
        right, wrong = totals[0], totals[1]
        precision = right / (right + wrong)
        share = right / totals.sum()
        return float(2 * precision * share / (precision + share))

    def moved(sums: Array, question: int) -> tuple[float, float]:
        totals, step = sums.sum(axis=0), 1e-5
        slope = [(f1(totals + step * unit) - f1(totals - step * unit)) / (2 * step) for unit in np.eye(3)]
        weights = sums @ [2, 2, 1]
        return float(np.dot(slope, sums[question])), float(weights[question] / weights.sum())

    expected = np.zeros((2, 2))
    for question in range(30):
        rows = []
        for model in range(2):
            (up, weight), (down, other) = moved(first[model], question), moved(second[model], question)
            rows.append((up - down) / (1 - (weight + other) / 2) ** 0.5)
        expected += np.outer(rows, rows)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_average_is_near_what_resampling_questions_gives() -> None:
    before, after = draw(np.random.default_rng(5), 300, 4, shift=0.08)
    found = effects_of(before, after, list(range(300)))["f1"]
    rng, draws = np.random.default_rng(6), []
    for _ in range(2000):
        rows = rng.integers(300, size=300)
        of_each = []
        for table in (after, before):
            totals = table[:, rows].sum(axis=1)
            of_each.append(2 * totals[:, 2] / (totals @ np.array([2.0, 1.0, 2.0])))
        draws.append(float((of_each[0] - of_each[1]).mean()))
    half = (found.fixed.estimate.high - found.fixed.estimate.low) / 2
    assert half == pytest.approx(1.968 * float(np.std(draws)), rel=0.06)


def test_questions_that_a_model_lacks_are_left_out_of_its_effect_alone() -> None:
    before, after = draw(np.random.default_rng(7), 40, 2, shift=0.1)
    before[0, :5] = 0.0
    after[0, 5:8] = 0.0
    found = effects_of(before, after, list(range(40)))["f1"]
    assert [effect.left_out for effect in found.effects] == [8, 0]
    kept = list(range(8, 40))
    alone = paired_score_differences(after[0, 8:], kept, before[0, 8:], kept, **ROLES).differences["f1"]
    assert found.effects[0].difference.estimate.value == pytest.approx(alone.estimate.value, rel=1e-12)
    assert found.covariance[0][0] ** 0.5 * float(stats.t.ppf(0.975, 31)) == pytest.approx(
        (alone.estimate.high - alone.estimate.low) / 2, rel=1e-9
    )
    assert found.fixed.estimate.n == 40


def test_order_of_questions_and_models_changes_nothing() -> None:
    before, after = draw(np.random.default_rng(8), 30, 3, shift=0.1)
    shuffled = np.random.default_rng(9).permutation(30)
    one = effects_of(before, after, list(range(30)))["f1"]
    two = effects_of(before[:, shuffled], after[:, shuffled], shuffled.tolist())["f1"]
    assert one.fixed == two.fixed
    assert one.covariance == two.covariance
    turned = effects_of(before[::-1], after[::-1], list(range(30)))["f1"]
    assert turned.fixed.estimate.value == pytest.approx(one.fixed.estimate.value, rel=1e-12)
    assert turned.fixed.estimate.low == pytest.approx(one.fixed.estimate.low, rel=1e-9)


def test_the_same_wording_twice_has_an_interval_and_no_effect() -> None:
    before, _ = draw(np.random.default_rng(10), 25, 2)
    found = effects_of(before, before, list(range(25)))
    for name, effects in found.items():
        assert effects.fixed.estimate.value == 0.0
        assert effects.fixed.estimate.low < 0 < effects.fixed.estimate.high, name
        assert effects.fixed.p_value is None


def test_a_model_that_attempts_nothing_has_no_accuracy_given_attempted() -> None:
    before, after = draw(np.random.default_rng(11), 20, 2)
    before[1] = [0.0, 1.0, 0.0]
    found = effects_of(before, after, list(range(20)))
    assert found["accuracy_given_attempted"].models == ("m0",)
    assert found["accuracy_given_attempted"].resampled.low is None
    assert found["f1"].models == ("m0", "m1")


def test_nothing_at_all() -> None:
    found = effects_of(np.zeros((2, 0, 3)), np.zeros((2, 0, 3)), [])
    assert found["f1"].models == ()
    assert found["f1"].fixed.estimate.value is None
    one = effects_of(np.eye(3)[[2]][None], np.eye(3)[[0]][None], [0])["accuracy"]
    assert (one.fixed.estimate.value, one.fixed.estimate.low) == (-1.0, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["a", "a"]}, "models: a name stands twice"),
        ({"baseline": np.zeros((1, 4, 3))}, "baseline: wrong shape"),
        ({"changed": np.zeros((2, 5, 3))}, "changed: wrong shape"),
        ({"clusters": [0, 1]}, "clusters: wrong length"),
        ({"changed": np.full((2, 4, 3), 0.5)}, "not shares"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "baseline": np.zeros((2, 4, 3)),
        "changed": np.zeros((2, 4, 3)),
        "clusters": range(4),
        "models": ["a", "b"],
        "rng": np.random.default_rng(1),
        **ROLES,
        **change,
    }
    with pytest.raises(ValueError, match=message):
        score_effects(**given)


def test_bounds_under_missing_questions_are_those_of_missing_verdicts() -> None:
    """Oracle: ``score_bounds`` with one verdict a question."""
    counts = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    assert missing_question_bounds(counts, **ROLES) == score_bounds(counts, 1, **ROLES)
    assert missing_question_bounds(np.zeros((0, 3)), **ROLES)["f1"] is None


@pytest.mark.slow
def test_average_effects_hold_no_difference_as_often_as_claimed() -> None:
    rng, worlds = np.random.default_rng(12), 400
    missed = dict.fromkeys(("f1", "accuracy_given_attempted", "index"), 0)
    for _ in range(worlds):
        before, after = draw(rng, 100, 3)
        found = effects_of(before, after, list(range(100)), resamples=1)
        for name in missed:
            estimate = found[name].fixed.estimate
            missed[name] += not estimate.low < 0 < estimate.high
    low, high = stats.binom.ppf([0.001, 0.999], worlds, 0.05)
    assert all(low <= count <= high for count in missed.values()), missed
