"""Effects of a wording over models, against statsmodels and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multivariate import test_mvmean as hotelling

from experiments.stats.clusters.clustered_mean import clustered_mean
from experiments.stats.comparisons.wording_effects import WordingEffects, wording_effects
from experiments.stats.estimate import Estimate


def effects_of(
    baseline: Any, changed: Any, clusters: Any = None, models: Any = None, seed: int = 0, **options: Any
) -> WordingEffects:
    before = np.asarray(baseline, dtype=np.float64)
    names = [f"m{place}" for place in range(before.shape[1])] if models is None else models
    groups = range(len(before)) if clusters is None else clusters
    rng = np.random.default_rng(seed)
    return wording_effects(before, changed, groups, models=names, rng=rng, **{"resamples": 500, **options})


def example(seed: int = 0, n: int = 50, n_models: int = 4, spread: float = 0.1) -> tuple[Any, Any]:
    """Shares of right verdicts; the effects of the models and of the questions both vary."""
    rng = np.random.default_rng(seed)
    baseline = rng.normal(0.6, 0.2, (n, n_models))
    effect = 0.05 + rng.normal(0, spread, n_models) + rng.normal(0, 0.1, (n, 1))
    return baseline, baseline + effect + rng.normal(0, 0.1, (n, n_models))


def interval(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def test_each_model_is_a_paired_t_test() -> None:
    """Oracle: scipy.stats.ttest_rel."""
    baseline, changed = example()
    result = effects_of(baseline, changed)
    for place, effect in enumerate(result.effects):
        scipys = stats.ttest_rel(changed[:, place], baseline[:, place])
        assert effect.student_p_value == pytest.approx(scipys.pvalue, rel=1e-9)
        assert interval(effect.difference.estimate) == pytest.approx(tuple(scipys.confidence_interval()), abs=1e-12)
        assert (effect.first, effect.second) == ("changed", "baseline")
    assert result.models == ("m0", "m1", "m2", "m3")


def test_the_covariance_is_the_sample_covariance_of_the_differences() -> None:
    """Oracle: numpy.cov / n with one item a question."""
    baseline, changed = example()
    result = effects_of(baseline, changed)
    assert np.array(result.covariance) == pytest.approx(np.cov((changed - baseline).T) / 50, abs=1e-14)


def test_fixed_models_are_the_mean_of_each_items_average() -> None:
    """Oracle: scipy.stats.ttest_1samp on the averages over models; with clusters, clustered_mean of them."""
    baseline, changed = example()
    averages = (changed - baseline).mean(axis=1)
    scipys = stats.ttest_1samp(averages, 0)
    fixed = effects_of(baseline, changed).fixed
    assert fixed.p_value == pytest.approx(scipys.pvalue, rel=1e-9)
    assert interval(fixed.estimate) == pytest.approx(tuple(scipys.confidence_interval()), abs=1e-12)
    clusters = [f"q{place // 4}" for place in range(50)]
    clustered = effects_of(baseline, changed, clusters).fixed.estimate
    assert interval(clustered) == pytest.approx(interval(clustered_mean(averages, clusters)), abs=1e-12)


def test_fixed_variance_is_that_of_the_joint_covariance() -> None:
    baseline, changed = example(1)
    baseline[:9, 2] = np.nan
    result = effects_of(baseline, changed, [place // 3 for place in range(50)])
    covariance = np.array(result.covariance)
    low, high = interval(result.fixed.estimate)
    quantile = stats.t.ppf(0.975, result.fixed.estimate.clusters - 1)
    assert (high - low) / (2 * quantile) == pytest.approx((covariance.sum() / 16) ** 0.5, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_sampled_models_are_the_two_way_analysis_of_variance(seed: int) -> None:
    """Oracle: statsmodels anova_lm of model + question; variance (MS models + MS questions - MS rest) / (K G)."""
    baseline, changed = example(seed, spread=0.3)
    differences = changed - baseline
    rows = [(value, f"m{k}", f"q{g}") for g, row in enumerate(differences) for k, value in enumerate(row)]
    frame = pd.DataFrame(rows, columns=["d", "model", "question"])
    squares = anova_lm(ols("d ~ C(model) + C(question)", frame).fit())["mean_sq"]
    models, questions, rest = (squares[name] for name in ("C(model)", "C(question)", "Residual"))
    variance = (models + questions - rest) / 200
    shared = (questions - rest) / 200
    degrees = variance**2 / ((models / 200) ** 2 / 3 + shared**2 / 49)
    sampled = effects_of(baseline, changed).sampled
    half = stats.t.ppf(0.975, degrees) * variance**0.5
    assert sampled.estimate.value == pytest.approx(differences.mean(), abs=1e-12)
    assert interval(sampled.estimate) == pytest.approx((differences.mean() - half, differences.mean() + half), abs=1e-9)
    assert sampled.p_value == pytest.approx(2 * stats.t.sf(abs(differences.mean()) / variance**0.5, degrees), rel=1e-8)


def test_sampled_models_with_exact_effects_are_a_t_test_of_the_effects() -> None:
    """Oracle: scipy.stats.ttest_1samp of five effects; questions add nothing that models share."""
    effects = np.array([0.1, 0.3, 0.2, 0.25, 0.05])
    noise = np.linalg.qr(np.column_stack([np.ones(40), np.random.default_rng(0).normal(size=(40, 5))]))[0][:, 1:] * 0.01
    result = effects_of(np.zeros((40, 5)), effects + noise)
    scipys = stats.ttest_1samp(effects, 0)
    assert interval(result.sampled.estimate) == pytest.approx(tuple(scipys.confidence_interval()), abs=1e-9)
    assert result.sampled.p_value == pytest.approx(scipys.pvalue, rel=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_new_models_are_never_less_uncertain_than_these(seed: int) -> None:
    result = effects_of(*example(seed, n=15, spread=0.01))
    fixed, sampled = interval(result.fixed.estimate), interval(result.sampled.estimate)
    assert sampled[0] <= fixed[0] + 1e-12
    assert sampled[1] >= fixed[1] - 1e-12


def test_heterogeneity_is_hotellings_test_of_contrasts() -> None:
    """Oracle: statsmodels test_mvmean of the differences to the first model; it knows that items are shared."""
    baseline, changed = example(3)
    differences = changed - baseline
    expected = hotelling(differences[:, 1:] - differences[:, [0]])
    found = effects_of(baseline, changed).heterogeneity
    assert found.q == pytest.approx(expected.t2, rel=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_both_are_resampled_independently() -> None:
    """Oracle: a plain loop that draws rows and columns of the table."""
    baseline, changed = example(4, n=25)
    differences = changed - baseline
    rng = np.random.default_rng(9)
    loop = [differences[np.ix_(rng.integers(25, size=25), rng.integers(4, size=4))].mean() for _ in range(6000)]
    found = interval(effects_of(baseline, changed, resamples=6000).resampled)
    assert found == pytest.approx(np.quantile(loop, [0.025, 0.975]), abs=0.015)
    assert found[1] - found[0] > 0.05


def test_missing_items_are_left_out_model_by_model() -> None:
    baseline, changed = example(5, n=12)
    baseline[0, 0] = changed[3, 0] = changed[4, 2] = np.nan
    baseline[7] = np.nan
    result = effects_of(baseline, changed)
    assert [effect.left_out for effect in result.effects] == [3, 1, 2, 1]
    values = [effect.difference.estimate.value for effect in result.effects]
    assert values == pytest.approx(np.nanmean(changed - baseline, axis=0).tolist())
    assert result.fixed.estimate.value == pytest.approx(np.mean(values))  # type: ignore[arg-type]
    assert result.fixed.estimate.n == 11
    assert result.sampled.estimate.value == result.fixed.estimate.value


def test_the_variance_with_missing_items_is_that_of_the_bootstrap() -> None:
    """Oracle: resampling questions in a plain loop, models held fixed."""
    baseline, changed = example(6, n=80)
    differences = changed - baseline
    differences[np.random.default_rng(1).random((80, 4)) < 0.3] = np.nan
    result = effects_of(np.zeros((80, 4)), differences)
    rng = np.random.default_rng(2)
    loop = [np.nanmean(differences[rng.integers(80, size=80)], axis=0) for _ in range(4000)]
    assert np.array(result.covariance) == pytest.approx(np.cov(np.array(loop).T), rel=0.15, abs=1e-5)


def test_a_model_without_items_is_not_among_the_models() -> None:
    baseline, changed = example(0, n=10)
    changed[:, 1] = np.nan
    result = effects_of(baseline, changed)
    rest = effects_of(np.delete(baseline, 1, axis=1), np.delete(changed, 1, axis=1), models=["m0", "m2", "m3"])
    assert result == rest


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_items_nor_names_of_questions_move_a_digit(seed: int) -> None:
    baseline, changed = example(seed)
    rng = np.random.default_rng(seed)
    changed[rng.random(changed.shape) < 0.1] = np.nan
    clusters, order = rng.integers(20, size=50), rng.permutation(50)
    one = effects_of(baseline, changed, clusters.tolist())
    assert effects_of(baseline[order], changed[order], [f"q{99 - code}" for code in clusters[order]]) == one


def test_one_model_is_no_sample_of_models() -> None:
    baseline, changed = example(n_models=1)
    result = effects_of(baseline, changed)
    assert interval(result.fixed.estimate) == interval(result.effects[0].difference.estimate)
    assert (result.sampled.estimate.value, result.sampled.estimate.low) == (result.fixed.estimate.value, None)
    assert (result.sampled.p_value, result.resampled.low, result.heterogeneity.q) == (None, None, None)


def test_no_difference_anywhere_keeps_a_width() -> None:
    result = effects_of(np.full((30, 3), 0.5), np.full((30, 3), 0.5))
    fixed, sampled = interval(result.fixed.estimate), interval(result.sampled.estimate)
    assert sampled[0] < fixed[0] < 0 < fixed[1] < sampled[1]
    assert (result.fixed.p_value, result.sampled.p_value, result.heterogeneity.q) == (None, None, None)
    assert result.resampled.low is None


def test_one_question_and_none() -> None:
    one = effects_of([[0.1, 0.2]] * 2, [[0.3, 0.2]] * 2, ["a", "a"])
    assert (one.covariance, one.sampled.p_value, one.sampled.estimate.low) == (None, None, None)
    assert one.fixed.estimate.value == pytest.approx(0.1)
    none = effects_of(np.zeros((0, 2)), np.zeros((0, 2)))
    assert (none.models, none.effects, none.fixed.estimate.value, none.sampled.p_value) == ((), (), None, None)


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ([[0.1, 0.2], [0.3, 0.4]], {}, r"^changed: wrong shape, got \(2, 2\); expected \(1, 2\)"),
        ([[0.1, np.inf]], {}, r"^means\[0\]: not a number, got inf"),
        ([[0.1, 0.2]], {"models": ["a", "a"]}, r"^names: a name stands twice"),
        ([[0.1, 0.2]], {"level": 0}, r"^level: not a confidence level"),
        ([[0.1, 0.2]], {"resamples": 0}, r"^resamples: too few"),
        ([[0.1, 0.2]], {"clusters": "ab"}, r"^clusters: wrong length"),
    ],
)
def test_bad_input_is_refused(changed: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        effects_of([[0.1, 0.2]], changed, **options)
