"""Size and power of the comparisons by seeded simulation, against binomial bounds of one in ten thousand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from experiments.stats.comparisons.equivalence import equivalence_test
from experiments.stats.comparisons.mcnemar import PairedTable, mcnemar_test
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.newcombe import newcombe_interval
from experiments.stats.comparisons.paired_comparison import compare_all, paired_comparison
from experiments.stats.comparisons.wording_effects import wording_effects

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
N_DRAWS = 1000


def at_most(count: int, size: float, draws: int = N_DRAWS) -> bool:
    return count <= stats.binom.ppf(1 - 1e-4, draws, size)


def at_least(count: int, size: float, draws: int = N_DRAWS) -> bool:
    return count >= stats.binom.ppf(1e-4, draws, size)


def draw_errors(
    rng: np.random.Generator, *, gap: float, n_clusters: int, sizes: tuple[int, ...], repeats: int
) -> tuple[Array, list[int]]:
    """Shares of wrong verdicts of two graders; hard questions are hard for both, and each has questions of its own."""
    items = np.resize(sizes, n_clusters)
    hard = rng.normal(0, 0.15, (n_clusters, 1)) + rng.normal(0, 0.1, (n_clusters, 2))
    chances = np.clip(np.repeat(hard, items, axis=0) + np.array([0.3, 0.3 + gap]), 0, 1)
    return rng.binomial(repeats, chances) / repeats, np.repeat(np.arange(n_clusters), items).tolist()


@pytest.mark.parametrize("repeats", [1, 10])
@pytest.mark.parametrize(
    ("n_clusters", "sizes"), [(12, (1,)), (40, (5,)), (100, (1, 1, 2, 3, 8))], ids=["12", "40x5", "100 unequal"]
)
def test_paired_tests_keep_their_size(n_clusters: int, sizes: tuple[int, ...], repeats: int) -> None:
    """No true difference: both tests reject in 5% or less, and with 40 or more questions in 3.5% or more."""
    rng = np.random.default_rng(1)
    flips = students = misses = 0
    for _ in range(N_DRAWS):
        errors, clusters = draw_errors(rng, gap=0.0, n_clusters=n_clusters, sizes=sizes, repeats=repeats)
        found = paired_comparison(errors[:, 0], errors[:, 1], clusters, rng=rng, resamples=400)
        estimate = found.difference.estimate
        assert found.difference.p_value is not None
        assert estimate.low is not None
        assert estimate.high is not None
        flips += found.difference.p_value <= 0.05
        students += (1.0 if found.student_p_value is None else found.student_p_value) <= 0.05
        misses += not estimate.low <= 0 <= estimate.high
    # Student's test is approximate: where clusters are very unequal, 5.5% is allowed.
    assert at_most(flips, 0.055 if len(sizes) > 1 else 0.05)
    assert at_most(students, 0.055)
    assert at_most(misses, 0.055)
    if n_clusters >= 40:
        assert at_least(flips, 0.035)
        assert at_least(students, 0.035)


def test_items_taken_for_questions_would_find_differences_that_are_not_there() -> None:
    """What clustering is for: 20 questions of 20 items, with items as the unit, reject in over a third."""
    rng = np.random.default_rng(2)
    naive = clustered = 0
    for _ in range(300):
        errors, clusters = draw_errors(rng, gap=0.0, n_clusters=20, sizes=(20,), repeats=10)
        for name, groups in (("naive", list(range(400))), ("clustered", clusters)):
            p_value = paired_comparison(errors[:, 0], errors[:, 1], groups, rng=rng, resamples=200).difference.p_value
            assert p_value is not None
            naive += name == "naive" and p_value <= 0.05
            clustered += name == "clustered" and p_value <= 0.05
    assert naive > 100
    assert at_most(clustered, 0.05, 300)


def test_paired_tests_have_the_power_of_the_t_test() -> None:
    """A gap of two and a half and of five standard errors is found in about 69% and 99.8%."""
    rng = np.random.default_rng(3)
    for gap, power in ((2.5, 0.69), (5.0, 0.998)):
        found = 0
        for _ in range(400):
            differences = rng.normal(gap / 50**0.5, 1, 50)
            p_value = paired_comparison(differences, np.zeros(50), range(50), rng=rng, resamples=400).difference.p_value
            assert p_value is not None
            found += p_value <= 0.05
        assert found / 400 == pytest.approx(power, abs=0.08)


def test_holm_keeps_the_size_of_the_family() -> None:
    """Six graders alike: 15 raw tests find something in far more than 5% of families, adjusted in 5% or less."""
    rng = np.random.default_rng(4)
    raw = adjusted = 0
    for _ in range(200):
        means = np.repeat(rng.normal(0.3, 0.1, (60, 1)), 6, axis=1) + rng.normal(0, 0.1, (60, 6))
        p_values = [
            found.difference.p_value
            for found in compare_all(means, range(60), names=list("abcdef"), rng=rng, resamples=500)
        ]
        raw += min(p_value or 0.0 for p_value in p_values) <= 0.05
        adjusted += any(row.significant for row in adjust_p_values(p_values).rows)
    assert raw > 0.2 * 200
    assert at_most(adjusted, 0.05, 200)


@pytest.mark.parametrize("discordant", [0.1, 0.3])
def test_mcnemar_and_newcombe_keep_their_level(discordant: float) -> None:
    """100 items: exact is cautious, mid-p keeps its level with more power, Newcombe's interval covers."""
    rng = np.random.default_rng(5)
    draws, exact, mid_p, covered, power_exact, power_mid_p = 4000, 0, 0, 0, 0, 0
    share = [0.5 - discordant / 2, discordant / 2, discordant / 2, 0.5 - discordant / 2]
    shifted = [0.5 - discordant / 2, 0.8 * discordant, 0.2 * discordant, 0.5 - discordant / 2]
    for _ in range(draws):
        table = PairedTable(*rng.multinomial(100, share).tolist())
        result, interval = mcnemar_test(table), newcombe_interval(table)
        exact += result.exact <= 0.05
        mid_p += (1.0 if result.mid_p is None else result.mid_p) <= 0.05
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= 0 <= interval.high
        other = mcnemar_test(PairedTable(*rng.multinomial(100, shifted).tolist()))
        power_exact += other.exact <= 0.05
        power_mid_p += (1.0 if other.mid_p is None else other.mid_p) <= 0.05
    assert at_most(exact, 0.04, draws)
    assert at_most(mid_p, 0.05, draws)
    assert at_least(covered, 0.945, draws)
    assert power_mid_p > power_exact


@pytest.mark.parametrize(("gap", "check"), [(0.1, lambda passed: at_most(passed, 0.05)), (0.0, lambda p: p > 950)])
def test_equivalence_keeps_its_size_on_the_margin(gap: float, check: Callable[[int], bool]) -> None:
    """At a true difference of the margin it passes in 5% or less; at no difference it nearly always does."""
    rng = np.random.default_rng(6)
    passed = 0
    for _ in range(N_DRAWS):
        differences = gap + np.repeat(rng.normal(0, 0.1, 60), 3) + rng.normal(0, 0.2, 180)
        clusters = np.repeat(range(60), 3).tolist()
        passed += equivalence_test(differences, np.zeros(180), clusters, margin=0.1).passed is True
    assert check(passed)


@pytest.mark.parametrize(
    ("n_models", "n_questions", "spread", "shared"),
    [(3, 100, 0.05, 0.3), (4, 30, 0.1, 0.5), (6, 100, 0.05, 0.0), (10, 200, 0.05, 0.6), (5, 60, 0.0, 0.4)],
)
def test_pooled_effects_cover(n_models: int, n_questions: int, spread: float, shared: float) -> None:
    """Sampled models: 95% intervals cover the mean over all models; fixed: that over these; Q keeps its size.

    The bootstrap of models and questions is too short with few models, and is not held to the level.
    """
    rng = np.random.default_rng(7)
    names = [str(model) for model in range(n_models)]
    sampled = fixed = rejected = 0
    for _ in range(500):
        models = rng.normal(0, spread, n_models)
        questions = rng.normal(0, 0.4 * shared**0.5, (n_questions, 1))
        effects = models + questions + rng.normal(0, 0.4 * (1 - shared) ** 0.5, (n_questions, n_models))
        found = wording_effects(
            np.zeros_like(effects), effects, range(n_questions), models=names, rng=rng, resamples=20
        )
        new, these = found.sampled.estimate, found.fixed.estimate
        assert new.low is not None
        assert new.high is not None
        assert these.low is not None
        assert these.high is not None
        sampled += new.low <= 0 <= new.high
        fixed += these.low <= models.mean() <= these.high
        assert found.heterogeneity.p_value is not None
        rejected += found.heterogeneity.p_value <= 0.05
    assert at_least(sampled, 0.945, 500)
    assert at_least(fixed, 0.945, 500)
    if spread:
        assert rejected > 0.3 * 500
    else:
        assert at_most(rejected, 0.05, 500)
        assert at_least(rejected, 0.05, 500)
