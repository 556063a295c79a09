"""Where the variance of a corrected score comes from.

With g the score's gradient in the true shares, ``h = M^-1 g`` and x an item's shares, the benchmark's part of the
variance is that of the mean of ``h . x``. Given its true class a, an item has mean ``(M h)[a] = g[a]``, so that this
variance splits into

- *questions*: that of g over the true classes; what a perfect grader would leave;
- *grader error*: systematic misgrading of benchmark items, ``sum_a pi[a] S2[a] / N`` with S2 the variance of ``h . x``
  among the calibration items of class a, less what repeats make of it, plus what errors on items of one question have
  in common, ``C sum_c m_c (m_c - 1) / N**2`` with m_c the benchmark items of question c and C the mean product of the
  deviations of two labelled items of one question (not below 0; taken as 0 where no question has two);
- *repeats*: the noise of an item's repeats, ``mean(s2 / R) / N``, s2 the unbiased variance of one verdict's h.

The rest is *calibration*: the error rates are known from n items only. The noise of the repeats of calibration items
is counted under repeats as well, and *people* is the variance between several people who labelled, if they did. Where
both samples have questions in common, *shared* is twice the covariance of their parts, which may be below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.correction.confusion_inversion import NotIdentifiedError
from experiments.stats.correction.corrected_scores import solve_samples
from experiments.stats.correction.human_label_error import human_label_variance
from experiments.stats.correction.identification import check_identification
from experiments.stats.correction.influence import Influence, score_direction, score_influence
from experiments.stats.correction.samples import GradedItems, LabelledItems, RatedItems, Samples, build_samples
from experiments.stats.correction.score_choice import ScoreChoice

__all__ = ["ErrorBudget", "error_budget"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """Shares of the ``variance`` of a corrected score, which sum to one.

    ``shared`` is what questions that benchmark and calibration have in common add or take, ``None`` where the samples
    are taken to be independent.
    ``repeats`` is ``None`` where no item has two verdicts; their noise is then part of ``grader_error`` and
    ``calibration``. ``people`` is ``None`` unless several people labelled.
    """

    score: str
    variance: float
    questions: float
    repeats: float | None
    grader_error: float
    calibration: float
    people: float | None
    shared: float | None = None


def error_budget(
    benchmark: GradedItems,
    calibration: LabelledItems | RatedItems,
    score: str,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    shared_clusters: bool = False,
) -> ErrorBudget | None:
    """Split the delta-method variance of one corrected score.

    Parameters
    ----------
    benchmark, calibration
        The two samples. Several benchmark items of one question are no independent ones.
    score
        One of :data:`experiments.stats.scores.score_functions.SCORES`.
    labels, correct, not_attempted, penalty, shared_clusters
        As in :func:`experiments.stats.correction.correct_scores`.

    Returns
    -------
    ErrorBudget or None
        ``None`` where the score is not defined, and where it cannot vary: the share attempted on a scale without a
        label of no attempt.

    Raises
    ------
    NotIdentifiedError
        The error rates do not identify the true shares, or there is no item in one of the samples.
    ValueError
        An unknown score, a label off the scale, a negative count, lengths that differ.
    """
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    samples = build_samples(benchmark, calibration, labels=labels, shared_clusters=shared_clusters)
    identification = check_identification(samples)
    if not identification.identified:
        raise NotIdentifiedError(identification.reason)
    if not len(samples.shares):
        raise NotIdentifiedError("not identified: no benchmark item has a valid verdict")
    pi = np.array(solve_samples(samples, correct=correct).shares)
    gradient = choice.gradient(score, pi)
    if np.isnan(gradient).any() or not gradient.any():
        return None
    people, parts = human_label_variance(samples, pi, gradient), score_influence(samples, pi, gradient)
    if parts.variance + (people or 0.0) <= 0:
        return None
    return _split(score, samples, pi, score_direction(samples, gradient), parts, people)


def _split(
    score: str, samples: Samples, pi: Array, direction: Array, parts: Influence, people: float | None
) -> ErrorBudget:
    noise = _single_verdict_variance(samples, direction)
    benchmark_noise, calibration_noise, misgrading = 0.0, 0.0, _misgrading(samples, pi, direction, noise)
    if noise is not None:
        benchmark_noise = _mean(noise[0] / samples.repeats) / len(samples.shares)
        weights = samples.people @ (pi / np.sort(samples.people, axis=0).sum(axis=0))
        calibration_noise = float(np.sort(weights**2 * noise[1] / samples.labelled_repeats).sum())
    # Estimates of parts can exceed the whole by chance; then they share it.
    fit = min(1.0, _ratio(parts.benchmark_variance, benchmark_noise + misgrading))
    repeats = benchmark_noise * fit + min(calibration_noise, parts.calibration_variance)
    total = parts.variance + (people or 0.0)
    shared = parts.variance - parts.benchmark_variance - parts.calibration_variance
    return ErrorBudget(
        score=score,
        variance=total,
        questions=(parts.benchmark_variance - (benchmark_noise + misgrading) * fit) / total,
        repeats=None if noise is None else repeats / total,
        grader_error=misgrading * fit / total,
        calibration=(parts.calibration_variance - min(calibration_noise, parts.calibration_variance)) / total,
        people=None if people is None else people / total,
        shared=shared / total if samples.shared else None,
    )


def _misgrading(samples: Samples, pi: Array, direction: Array, noise: tuple[Array, Array] | None) -> float:
    values = samples.verdicts @ direction
    total = 0.0
    for share, row, weights in zip(pi, samples.totals().matrix, samples.people.T, strict=True):
        size = float(np.sort(weights).sum())
        spread = float(np.sort(weights * (values - row @ direction) ** 2).sum()) / max(size - 1, 1)
        if noise is not None:
            spread -= float(np.sort(weights * noise[1] / samples.labelled_repeats).sum()) / size
        total += float(share) * max(spread, 0.0)
    n = len(samples.shares)
    sizes = np.unique(samples.codes, return_counts=True)[1]
    return total / n + _common_error(samples, values, direction) * float((sizes * (sizes - 1)).sum()) / n**2


def _common_error(samples: Samples, values: Array, direction: Array) -> float:
    """Mean product of the deviations of two labelled items of one question; 0 where none has two, and not below."""
    given = samples.people / samples.people.sum(axis=1, keepdims=True)
    rest = values - given @ (samples.totals().matrix @ direction)
    sums = sum_by_cluster(np.column_stack([rest, rest**2, np.ones(len(rest))]), samples.labelled_codes)
    pairs = float((sums[:, 2] * (sums[:, 2] - 1)).sum())
    return max(0.0, float(np.sort(sums[:, 0] ** 2 - sums[:, 1]).sum()) / pairs) if pairs else 0.0


def _single_verdict_variance(samples: Samples, direction: Array) -> tuple[Array, Array] | None:
    """Variance of one verdict's ``h`` in each benchmark item (N,) and calibration item (n,).

    An item with one verdict gets the mean of the others of its sample, or of the other sample if it has none.
    """
    own = [
        _item_variance(shares, repeats, direction)
        for shares, repeats in ((samples.shares, samples.repeats), (samples.verdicts, samples.labelled_repeats))
    ]
    known = [values[~np.isnan(values)] for values in own]
    if not len(known[0]) and not len(known[1]):
        return None
    means = [_mean(values if len(values) else other) for values, other in zip(known, known[::-1], strict=True)]
    first, second = (np.where(np.isnan(values), mean, values) for values, mean in zip(own, means, strict=True))
    return first, second


def _item_variance(shares: Array, repeats: NDArray[np.int64], direction: Array) -> Array:
    spread = np.maximum(shares @ direction**2 - (shares @ direction) ** 2, 0.0)
    return np.where(repeats > 1, spread * repeats / np.maximum(repeats - 1, 1), np.nan)


def _ratio(whole: float, parts: float) -> float:
    return whole / parts if parts > 0 else 1.0


def _mean(values: Array) -> float:
    return float(np.sort(values).sum()) / len(values)
