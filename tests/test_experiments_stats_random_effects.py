"""Heterogeneity and random effects against statsmodels and printed output of metafor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multivariate import test_mvmean as hotelling

from experiments.stats.comparisons.random_effects import TauMethod, heterogeneity, random_effects

# Log risk ratios of 13 trials of the BCG vaccine, from their counts [Colditz et al. 1994].
BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    dtype=np.float64,
)
# Deaths in six trials of aspirin in pregnancy: treated, of, controls, of [DerSimonian and Kacker 2007].
CLASP = np.array(
    [
        (5, 156, 8, 74),
        (5, 303, 17, 303),
        (12, 565, 9, 477),
        (69, 1570, 94, 1565),
        (9, 103, 11, 105),
        (313, 4659, 352, 4650),
    ],
    dtype=np.float64,
)


def log_risk_ratios() -> tuple[Any, Any]:
    a, b, c, d = BCG.T
    return np.log(a / (a + b) * (c + d) / c), np.diag(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))


def log_odds_ratios() -> tuple[Any, Any]:
    a, n1, c, n2 = CLASP.T
    return np.log(a * (n2 - c) / (c * (n1 - a))), np.diag(1 / a + 1 / (n1 - a) + 1 / c + 1 / (n2 - c))


def correlated(seed: int, n_models: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_models, 2 * n_models))
    return rng.normal(0, 2, n_models), root @ root.T / n_models


def test_heterogeneity_is_what_metafor_prints() -> None:
    """metafor's own test of confint.rma.uni on dat.bcg, method DL: Q, tau squared, I squared and both intervals."""
    found = heterogeneity(*log_risk_ratios())
    assert found.q == pytest.approx(152.2330, abs=5e-5)
    assert (found.tau_squared, found.tau_squared_low, found.tau_squared_high) == pytest.approx(
        (0.3088, 0.1197, 1.1115), abs=6e-5
    )
    assert (found.i_squared, found.i_squared_low, found.i_squared_high) == pytest.approx(
        (0.921173, 0.819177, 0.976781), abs=5e-5
    )


@pytest.mark.parametrize(
    ("method", "tau", "value", "error"),
    [("paule-mandel", 0.3681, -0.3811, 0.2060), ("dersimonian-laird", 0.2323, -0.3240, 0.1540)],
)
def test_random_effects_are_what_metafor_prints(method: TauMethod, tau: float, value: float, error: float) -> None:
    """DerSimonian and Kacker (2007), tables 3 and 4, which metafor's tests reproduce."""
    found = random_effects(*log_odds_ratios(), method=method)
    assert (found.tau_squared**0.5, found.value, found.standard_error) == pytest.approx((tau, value, error), abs=6e-5)


def test_paule_and_mandels_variance_of_the_vaccine_trials() -> None:
    """metafor's tests: iterated DerSimonian and Laird, whose fixed point is Paule and Mandel, gives .3181."""
    assert random_effects(*log_risk_ratios()).tau_squared == pytest.approx(0.3181, abs=6e-5)


@pytest.mark.parametrize("data", [log_risk_ratios, log_odds_ratios])
@pytest.mark.parametrize(("method", "theirs"), [("paule-mandel", "pm"), ("dersimonian-laird", "dl")])
def test_independent_models_are_statsmodels(data: Any, method: TauMethod, theirs: str) -> None:
    """Oracle: statsmodels combine_effects: Q, tau squared, mean, its error, Hartung and Knapp's interval."""
    y, s = data()
    found, spread = random_effects(y, s, method=method), heterogeneity(y, s)
    # With a smaller tolerance statsmodels ends below the root and returns a variance of zero.
    options = {"atol": 1e-9, "maxiter": 500} if theirs == "pm" else {}
    expected = combine_effects(y, np.diag(s), method_re=theirs, use_t=True, **options)
    assert spread.q == pytest.approx(expected.q, rel=1e-9)
    assert spread.p_value == pytest.approx(expected.test_homogeneity().pvalue, rel=1e-6)
    assert spread.i_squared == pytest.approx(expected.i2, rel=1e-9)
    assert found.tau_squared == pytest.approx(expected.tau2, rel=1e-9)
    assert found.value == pytest.approx(expected.mean_effect_re, rel=1e-9)
    assert found.standard_error == pytest.approx(expected.sd_eff_w_re, rel=1e-9)
    assert found.scale == pytest.approx(expected.scale_hksj_re, rel=1e-9)
    interval = expected.conf_int(alpha=0.05)[3]
    assert (found.low, found.high) == pytest.approx(interval, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_q_with_correlation_is_the_generalised_least_squares_residual(seed: int) -> None:
    """Oracle: ``(y - mu)' S^-1 (y - mu)`` with S inverted whole, which this module never does for Q."""
    y, s = correlated(seed)
    weights = np.linalg.inv(s)
    residual = y - weights.sum(axis=0) @ y / weights.sum()
    assert heterogeneity(y, s).q == pytest.approx(residual @ weights @ residual, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_paule_and_mandel_meet_their_equation_with_correlation(seed: int) -> None:
    y, s = correlated(seed)
    found = random_effects(3 * y, s)
    assert found.tau_squared > 0
    assert heterogeneity(3 * y, s + found.tau_squared * np.eye(4)).q == pytest.approx(3, rel=1e-9)
    assert found.scale == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_estimated_covariance_gives_hotellings_p_value(seed: int) -> None:
    """Oracle: statsmodels' Hotelling test that all contrasts between four models are zero, on 20 items."""
    values = np.random.default_rng(seed).normal([0.0, 0.2, 0.4, 0.1], 0.6, (20, 4))
    found = heterogeneity(values.mean(axis=0), np.cov(values.T) / 20, clusters=20)
    expected = hotelling(values[:, 1:] - values[:, [0]])
    assert found.q == pytest.approx(expected.t2, rel=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_interval_of_tau_squared_solves_q_for_its_quantiles() -> None:
    """Oracle: scipy.stats.f, scaled to Hotelling's distribution with 20 questions; chi-square where they are known."""
    y, s = correlated(2)
    for clusters, law in ((20, stats.f(3, 17, scale=19 * 3 / 17)), (None, stats.chi2(3))):
        found = heterogeneity(20 * y, s, clusters=clusters)
        for bound, chance in ((found.tau_squared_low, 0.975), (found.tau_squared_high, 0.025)):
            assert bound is not None
            assert bound > 0
            assert heterogeneity(20 * y, s + bound * np.eye(4)).q == pytest.approx(law.ppf(chance), rel=1e-9)


@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_the_order_of_models_and_a_common_error_do_not_matter(seed: int, order: list[int]) -> None:
    """What all models share cancels in every contrast."""
    y, s = correlated(seed)
    one, other = heterogeneity(y, s), heterogeneity(y[order] + 5, s[np.ix_(order, order)] + 2.0)
    for name in ("q", "p_value", "tau_squared", "i_squared", "i_squared_low", "i_squared_high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-5, abs=1e-7)
    assert one.tau_squared_low is not None
    assert one.tau_squared is not None
    assert one.tau_squared_high is not None
    assert 0 <= one.tau_squared_low <= one.tau_squared_high
    assert one.i_squared_high is not None
    assert 0 <= one.i_squared_high < 1


def test_less_spread_than_chance_is_no_heterogeneity() -> None:
    found = heterogeneity([0.1, 0.11, 0.1], np.eye(3))
    assert (found.tau_squared, found.i_squared, found.tau_squared_low) == (0, 0, 0)
    assert found.p_value is not None
    assert found.p_value > 0.99
    pooled = random_effects([0.1, 0.11, 0.1], np.eye(3))
    assert pooled.scale < 1
    assert pooled.high - pooled.low == pytest.approx(2 * 4.302653 / 3**0.5, rel=1e-6)  # the scale is not below 1


def test_equal_effects() -> None:
    found = heterogeneity([0.2, 0.2], np.eye(2))
    assert (found.q, found.i_squared, found.p_value) == (pytest.approx(0, abs=1e-20), 0.0, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("effects", "covariance", "clusters"),
    [
        ([0.1], [[0.1]], None),
        ([], np.zeros((0, 0)), None),
        ([0.1, 0.2], [[1.0, 1.0], [1.0, 1.0]], None),
        ([0.1, 0.2], np.zeros((2, 2)), None),
        ([0.1, 0.2, 0.3], np.eye(3), 2),
    ],
    ids=["one", "none", "perfectly correlated", "no errors", "too few questions"],
)
def test_what_cannot_be_told_is_not_defined(effects: Any, covariance: Any, clusters: int | None) -> None:
    found = heterogeneity(effects, covariance, clusters=clusters)
    assert (found.q, found.p_value, found.tau_squared, found.i_squared, found.i_squared_low) == (None,) * 5
    if clusters is None:
        with pytest.raises(ValueError, match=r"^covariance: cannot be inverted, got"):
            random_effects(effects, covariance)


@pytest.mark.parametrize(
    ("effects", "covariance", "options", "message"),
    [
        ([0.1, 0.2], np.eye(3), {}, r"^covariance: wrong shape, got \(3, 3\)"),
        ([0.1, np.nan], np.eye(2), {}, r"^effects: not finite"),
        ([0.1, 0.2], np.eye(2), {"level": 1}, r"^level: not a confidence level"),
        ([0.1, 0.2], np.eye(2), {"method": "reml"}, r"^method: unknown, got 'reml'"),
    ],
)
def test_bad_input_is_refused(effects: Any, covariance: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        random_effects(effects, covariance, **options)
