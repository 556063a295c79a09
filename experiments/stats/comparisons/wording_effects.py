"""What another wording does, in each of several models and over them.

The effect in a model is the mean difference of item means ``changed - baseline`` on the items that both wordings
have, clustered by question. All models answer the same questions, so their effects are correlated; S is their joint
cluster-robust covariance.

- *Models fixed*: the average of the K effects, for these models and new questions; variance ``1' S 1 / K**2``.
- *Models sampled*: the same average, for new models and new questions. Its variance is ``s**2 / K + c``, where s**2
  is the sample variance of the K effects and c the mean covariance of two effects (not below 0). That is without bias
  where effects vary between models with any variance: s**2 holds what is a model's own, chance included, and c is
  what the shared questions add. s**2 is not taken to be below what chance alone gives, the mean variance of an effect
  less c, so the variance is never below that with models fixed [as Röver, Knapp and Friede 2015 bound Hartung and
  Knapp's scale]. Student's t has Satterthwaite's degrees of freedom, K - 1 for the first part and G - 1 for the
  second, G - 1 at most. With unrelated errors it is the t-test of K effects, which Hartung and Knapp's [2001] is with
  equal weights. Models weigh equally: they stand on the same questions, and weights from S can turn negative.
- *Both resampled*: models and questions are drawn with replacement, each independently of the other [the pigeonhole
  bootstrap, Owen 2007]. Where a few models truly differ its interval is too short, for the effects in a bootstrap of
  K have ``(K - 1) / K`` of the variance and there is no t; it is there to be set beside the other.
- *Heterogeneity*: Cochran's Q and I squared from S (:mod:`experiments.stats.comparisons.random_effects`).

Where a model lacks items that another has, an item adds its influence on each mean: ``effect_k + (n / n_k)(d_ik -
effect_k)`` where the model has it and ``effect_k`` where not. Their means are the effects, and with nothing missing
they are the differences themselves.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.clusters.clustered_mean import clustered_covariance, clustered_mean
from experiments.stats.clusters.student_tests import student_p_value
from experiments.stats.comparisons.effect_pooling import sampled_average
from experiments.stats.comparisons.paired_comparison import PairedComparison, check_means, compare_columns
from experiments.stats.comparisons.random_effects import Heterogeneity, heterogeneity
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import encode_clusters

__all__ = ["WordingEffects", "wording_effects"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WordingEffects:
    """Effects of a wording, ``changed - baseline``.

    ``effects`` has one comparison a model that has any item. ``covariance`` (K, K) is that of these effects,
    ``None`` with fewer than two questions. ``fixed`` and ``sampled`` are the average over these models with models
    fixed and as a sample, ``resampled`` the pigeonhole bootstrap's interval. With one model the latter two have no
    interval: one model is no sample of models.
    """

    models: tuple[str, ...]
    effects: tuple[PairedComparison, ...]
    covariance: tuple[tuple[float, ...], ...] | None
    fixed: Difference
    sampled: Difference
    resampled: Estimate
    heterogeneity: Heterogeneity


def wording_effects(
    baseline: ArrayLike,
    changed: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    models: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
    bound: float = 1.0,
    repeats: int = 1,
) -> WordingEffects:
    """Effect of a changed wording in each model, over these models, and over models like them.

    Parameters
    ----------
    baseline, changed
        (n, K) a number for each item and model under either wording, such as its share of right verdicts; ``None``
        or NaN where there is none.
    clusters
        (n,) the question of each item.
    models
        (K,) the models.
    rng, resamples
        Source and number of the permutation draws and of the bootstrap's.
    level, bound, repeats
        As in :func:`experiments.stats.comparisons.paired_comparison.paired_comparison`.

    Raises
    ------
    ValueError
        Shapes that differ, models that are not distinct, an infinite number; and as in ``paired_comparison``.
    """
    table = _differences(baseline, changed, models)
    kept = np.flatnonzero(np.asarray(~np.isnan(table)).any(axis=0)).tolist()
    effects = compare_columns(
        table[:, kept],
        clusters,
        names=[("changed", "baseline")] * len(kept),
        rng=rng,
        level=level,
        resamples=resamples,
        bound=bound,
        repeats=repeats,
    )
    rows = np.asarray(~np.isnan(table)).any(axis=1)
    codes = encode_clusters(encode_clusters(clusters, n=len(table))[rows].tolist(), n=int(rows.sum()))
    differences = table[rows][:, kept]
    values = _influences(differences)
    fixed = clustered_mean(_row_means(values), codes.tolist(), level=level, bound=bound, repeats=repeats)
    means = np.array([effect.difference.estimate.value for effect in effects], dtype=np.float64)
    covariance = clustered_covariance(values, codes) if fixed.clusters > 1 else None
    return WordingEffects(
        models=tuple(models[place] for place in kept),
        effects=effects,
        covariance=None if covariance is None else tuple(map(tuple, covariance.tolist())),
        fixed=Difference(fixed, student_p_value(fixed), "student-clustered"),
        sampled=sampled_average(means, covariance, fixed, bound=bound),
        resampled=_resampled(differences, codes, fixed, rng=rng, resamples=resamples),
        heterogeneity=_heterogeneity(means, covariance, fixed),
    )


def _differences(baseline: ArrayLike, changed: ArrayLike, models: Sequence[str]) -> Array:
    before, after = check_means(baseline, models), check_means(changed, models)
    if before.shape != after.shape:
        raise ValueError(f"changed: wrong shape, got {after.shape}; expected {before.shape}, as the baseline")
    return after - before


def _heterogeneity(means: Array, covariance: Array | None, fixed: Estimate) -> Heterogeneity:
    known = np.zeros((len(means), len(means))) if covariance is None else covariance
    return heterogeneity(means, known, clusters=fixed.clusters, level=fixed.level)


def _influences(differences: Array) -> Array:
    """Numbers whose column means are the effects and whose covariance is theirs, shape (n, K)."""
    present = ~np.isnan(differences)
    if present.all():
        return differences
    effects = np.array([np.sort(column[here]).mean() for column, here in zip(differences.T, present.T, strict=True)])
    weight = len(differences) / present.sum(axis=0)
    return np.asarray(effects + np.where(present, weight * (differences - effects), 0.0), dtype=np.float64)


def _row_means(values: Array) -> Array:
    return values.mean(axis=1) if values.shape[1] else np.zeros(0)


def _resampled(
    differences: Array, codes: NDArray[np.int64], fixed: Estimate, *, rng: np.random.Generator, resamples: int
) -> Estimate:
    """Percentile interval of the pigeonhole bootstrap; a draw in which a drawn model has no item is left out."""
    n_models, interval = differences.shape[1], None
    if n_models > 1 and fixed.clusters > 1:
        present = ~np.isnan(differences)
        sums = sum_by_cluster(np.column_stack([np.nan_to_num(differences), present]), codes)
        draws = bootstrap_sums(sums, rng=rng, resamples=resamples)
        sizes = draws[:, n_models:]
        effects = np.where(sizes > 0, draws[:, :n_models] / np.maximum(sizes, 1.0), np.nan)
        weights = rng.multinomial(n_models, np.full(n_models, 1 / n_models), size=resamples)
        averages = np.where(weights > 0, weights * effects, 0.0).sum(axis=1) / n_models
        interval = percentile_interval(averages, level=fixed.level)
    low, high = interval or (None, None)
    method = "bootstrap-models-questions"
    return Estimate(fixed.value, low, high, fixed.level, method, fixed.n, fixed.clusters, fixed.repeats)
