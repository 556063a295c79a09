"""What another answer wording does to a benchmark's scores, in each of several models and over them.

As :mod:`experiments.stats.comparisons.wording_effects`, for scores that need be no means: F1, accuracy given attempted.
The effect in a model is the paired difference of the score on the questions that it has under both wordings; its
p-value swaps the wordings within questions and scores anew. The effects' joint covariance is that of the questions'
influences (:mod:`experiments.stats.scores.score_covariance`), since all models answer the same questions. The average
over models, models as a sample, and heterogeneity follow from it as there; the pigeonhole bootstrap scores every draw
anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.clusters.student_tests import student_p_value
from experiments.stats.comparisons.effect_pooling import over_models, sampled_average
from experiments.stats.comparisons.paired_comparison import PairedComparison
from experiments.stats.comparisons.random_effects import heterogeneity
from experiments.stats.comparisons.wording_effects import WordingEffects
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level, encode_clusters
from experiments.stats.scores.benchmark_scores import check_item_shares
from experiments.stats.scores.score_covariance import score_covariance
from experiments.stats.scores.score_differences import ScoreDifferences, paired_score_differences
from experiments.stats.scores.score_functions import SCORES, Score, check_penalty, class_shares

__all__ = ["score_effects"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Roles:
    labels: tuple[str, ...]
    correct: str
    not_attempted: str | None


@dataclass(frozen=True, slots=True)
class _Case:
    """What all scores share: (K, G, 3) class sums under either wording, (B, 6 K) totals of the bootstrap's draws."""

    models: tuple[str, ...]
    differences: tuple[ScoreDifferences, ...]
    left_out: tuple[int, ...]
    before: Array
    after: Array
    draws: Array
    weights: NDArray[np.int64]
    n: int
    penalty: float
    level: float
    repeats: int


def score_effects(
    baseline: ArrayLike,
    changed: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    models: Sequence[str],
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    rng: np.random.Generator,
    penalty: float = 1.0,
    level: float = 0.95,
    resamples: int = 10_000,
    repeats: int = 1,
) -> dict[str, WordingEffects]:
    """Effects ``changed - baseline`` on every score of :data:`SCORES`, by its name.

    Parameters
    ----------
    baseline, changed
        (K, n, L) shares of the labels of each question's responses, for each model; a row of zeros where there are
        none. A question enters a model's effect where it has shares under both wordings.
    clusters
        (n,) what questions depend on each other; each its own where they do not.
    models
        (K,) the models.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.scores.score_functions.score_value`.
    rng, resamples
        Source and number of the swaps and of the bootstrap's draws.
    level, repeats
        Confidence level; the most verdicts that any question has, which is only carried along.

    Raises
    ------
    ValueError
        Shapes that differ, models that are not distinct, and as in :func:`paired_score_differences`.
    """
    check_level(level)
    check_penalty(penalty)
    if len(set(models)) != len(models):
        raise ValueError(f"models: a name stands twice, got {list(models)}; expected distinct names")
    given = {"baseline": baseline, "changed": changed}
    tables = [_check_table(table, where, len(models)) for where, table in given.items()]
    if tables[0].shape != tables[1].shape:
        raise ValueError(f"changed: wrong shape, got {tables[1].shape}; expected {tables[0].shape}, as the baseline")
    both = np.all([_valid(table, len(labels)) for table in tables], axis=0)
    codes = encode_clusters(clusters, n=both.shape[1])
    roles = _Roles(tuple(labels), correct, not_attempted)
    sums = _class_sums(tables, both, codes, roles)
    n_models = len(models)
    by_model = sums.reshape(len(sums), n_models, 6).transpose(1, 0, 2)
    case = _Case(
        models=tuple(models),
        differences=tuple(
            _compare(after[used], before[used], codes[used].tolist(), roles, penalty, level, repeats, resamples, rng)
            for before, after, used in zip(*tables, both, strict=True)
        ),
        left_out=tuple((~both).sum(axis=1).tolist()),
        before=by_model[:, :, :3],
        after=by_model[:, :, 3:],
        draws=bootstrap_sums(sums, rng=rng, resamples=resamples) if sums.size else np.zeros((0, 6 * n_models)),
        weights=rng.multinomial(n_models, np.full(n_models, 1 / max(n_models, 1)), size=resamples if sums.size else 0),
        n=int(both.any(axis=0).sum()),
        penalty=penalty,
        level=level,
        repeats=repeats,
    )
    return {name: _effects(name, score, case) for name, score in SCORES.items()}


def _compare(
    after: Array,
    before: Array,
    questions: Sequence[int],
    roles: _Roles,
    penalty: float,
    level: float,
    repeats: int,
    resamples: int,
    rng: np.random.Generator,
) -> ScoreDifferences:
    return paired_score_differences(
        after,
        questions,
        before,
        questions,
        labels=roles.labels,
        correct=roles.correct,
        not_attempted=roles.not_attempted,
        penalty=penalty,
        repeats=repeats,
        level=level,
        test="swap",
        rng=rng,
        resamples=resamples,
    )


def _check_table(given: ArrayLike, where: str, n_models: int) -> Array:
    table = np.asarray(given, dtype=np.float64)
    if table.ndim != 3 or len(table) != n_models:
        raise ValueError(f"{where}: wrong shape, got {table.shape}; expected ({n_models}, n, labels), a layer a model")
    return table


def _valid(table: Array, n_labels: int) -> NDArray[np.bool_]:
    rows = [check_item_shares(layer, n_labels=n_labels)[1] for layer in table]
    return np.stack(rows) if rows else np.zeros(table.shape[:2], dtype=np.bool_)


def _class_sums(
    tables: Sequence[Array],
    both: NDArray[np.bool_],
    codes: NDArray[np.int64],
    roles: _Roles,
) -> Array:
    """(G, 6 K) sums of each question: three classes under the baseline, three under the change, model by model."""
    classes = [
        class_shares(table, labels=roles.labels, correct=roles.correct, not_attempted=roles.not_attempted)
        * both[:, :, None]
        for table in tables
    ]
    joint = np.concatenate(classes, axis=2).transpose(1, 0, 2)
    any_model = both.any(axis=0)
    return sum_by_cluster(joint[any_model].reshape(int(any_model.sum()), 6 * len(both)), codes[any_model])


def _effects(name: str, score: Score, case: _Case) -> WordingEffects:
    found = [one.differences[name] for one in case.differences]
    kept = [place for place, difference in enumerate(found) if difference.estimate.value is not None]
    values = np.array([found[place].estimate.value for place in kept], dtype=np.float64)
    covariance = score_covariance(score, case.after[kept], case.before[kept], penalty=case.penalty)
    low, high = score.span(case.penalty)
    fixed = _fixed(values, covariance, case, bound=high - low)
    known = np.zeros((len(kept), len(kept))) if covariance is None else covariance
    return WordingEffects(
        models=tuple(case.models[place] for place in kept),
        effects=tuple(
            PairedComparison(
                "changed", "baseline", found[place], _student(found[place], variance), case.left_out[place]
            )
            for place, variance in zip(kept, np.diag(known).tolist(), strict=True)
        ),
        covariance=None if covariance is None else tuple(map(tuple, covariance.tolist())),
        fixed=Difference(fixed, student_p_value(fixed), "student-clustered"),
        sampled=sampled_average(values, covariance, fixed, bound=high - low),
        resampled=_resampled(score, kept, fixed, case),
        heterogeneity=heterogeneity(values, known, clusters=fixed.clusters, level=case.level),
    )


def _student(difference: Difference, variance: float) -> float | None:
    """Student's p-value of one effect; ``None`` where its questions show no variation."""
    estimate = difference.estimate
    if estimate.value is None or estimate.method != "student-clustered" or variance <= 0:
        return None
    return min(1.0, 2 * float(special.stdtr(estimate.clusters - 1, -abs(estimate.value) / variance**0.5)))


def _fixed(values: Array, covariance: Array | None, case: _Case, *, bound: float) -> Estimate:
    """Average of the effects, with the interval of :func:`clustered_mean` on its joint variance."""
    n_clusters = case.before.shape[1]
    if not len(values):
        return Estimate(None, None, None, case.level, "student-clustered", 0, 0, 0)
    value = float(np.sort(values).mean())
    plain = Estimate(value, None, None, case.level, "student-clustered", case.n, n_clusters, case.repeats)
    if covariance is None:
        return plain
    variance = float(covariance.sum()) / len(values) ** 2
    if variance <= (1e-10 * bound) ** 2:
        normal = float(special.ndtri((1 + case.level) / 2)) ** 2
        return over_models(plain, bound * normal / (n_clusters + normal), "wilson-clustered")
    half = float(special.stdtrit(n_clusters - 1, (1 + case.level) / 2)) * variance**0.5
    return over_models(plain, half, "student-clustered")


def _resampled(score: Score, kept: Sequence[int], fixed: Estimate, case: _Case) -> Estimate:
    """Percentile interval of the pigeonhole bootstrap; a draw in which a drawn model has no score is left out."""
    interval = None
    if len(kept) > 1 and fixed.clusters > 1 and len(kept) == len(case.models):
        totals = case.draws.reshape(len(case.draws), len(case.models), 6)
        effects = score.value(totals[:, :, 3:], case.penalty) - score.value(totals[:, :, :3], case.penalty)
        averages = np.where(case.weights > 0, case.weights * effects, 0.0).sum(axis=1) / len(kept)
        interval = percentile_interval(averages, level=fixed.level)
    low, high = interval or (None, None)
    method = "bootstrap-models-questions"
    return Estimate(fixed.value, low, high, fixed.level, method, fixed.n, fixed.clusters, fixed.repeats)
