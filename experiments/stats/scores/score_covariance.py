"""Joint covariance of several differences of one score over the same questions, and what missing questions allow.

Question c moves the k-th difference, first less second, by ``d_kc = f1_k.S1_kc - f2_k.S2_kc``, the difference of its
influences on the two scores (:mod:`score_influence`), 0 where it is not in that difference. The covariance of two
differences is ``sum_c d_kc d_lc / sqrt((1 - h_kc)(1 - h_lc))``, with h_kc the mean of the question's two weights: the
CR2 correction [Bell and McCaffrey 2002], whose diagonal is the variance of
:func:`experiments.stats.scores.score_differences.paired_score_differences`. For means of one item a question it is
the textbook ``S / n``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.scores.score_functions import SCORES, Score, check_penalty, class_shares
from experiments.stats.scores.score_influence import linearise

__all__ = ["missing_question_bounds", "score_covariance"]

Array = NDArray[np.float64]


def score_covariance(score: Score, first: Array, second: Array, *, penalty: float) -> Array | None:
    """Cluster-robust covariance of K differences of a score, shape (K, K).

    Parameters
    ----------
    score
        One of :data:`SCORES`.
    first, second
        (K, G, 3) class sums of each question; zeros where the question is not in that difference.
    penalty
        Cost of a wrong answer in ``penalised``.

    Returns
    -------
    ``None`` where a score is not defined or rests on fewer than two questions.
    """
    scaled = [_scaled_influences(score, one, two, penalty=penalty) for one, two in zip(first, second, strict=True)]
    if not scaled or any(row is None for row in scaled):
        return None
    table = np.stack([row for row in scaled if row is not None])
    return np.asarray(table @ table.T, dtype=np.float64)


def missing_question_bounds(
    shares: ArrayLike,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    present: ArrayLike | None = None,
) -> dict[str, tuple[float, float] | None]:
    """Lowest and highest value of each score if all that questions lack were of any one class.

    Parameters
    ----------
    shares
        (n, L) shares of each question; a row of zeros where there is none.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.scores.score_functions.score_value`.
    present
        (n,) the part of each question's verdicts that its shares rest on, from 0 to 1; by default all of it where it
        has shares.

    Returns
    -------
    dict
        ``None`` without questions, and where the score is not defined however they fall.

    Raises
    ------
    ValueError
        As in ``score_value``; parts of another shape, or outside 0 to 1.
    """
    check_penalty(penalty)
    classes = class_shares(shares, labels=labels, correct=correct, not_attempted=not_attempted)
    known = classes.sum(axis=1) > 0
    parts = np.asarray(known if present is None else present, dtype=np.float64)
    if parts.shape != known.shape or not ((parts >= 0) & (parts <= 1)).all():
        raise ValueError(f"present: not parts of {len(known)} questions, got {present!r}; expected numbers from 0 to 1")
    parts = np.where(known, parts, 0.0)
    missing = np.sort(1 - parts).sum() * np.eye(3)[: 3 if not_attempted is not None else 2]
    filled = np.sort(classes * parts[:, None], axis=0).sum(axis=0) + missing
    return {name: _extremes(score.value(filled, penalty)) for name, score in SCORES.items()}


def _scaled_influences(score: Score, first: Array, second: Array, *, penalty: float) -> Array | None:
    if any(np.isnan(score.value(sums.sum(axis=0), penalty)) for sums in (first, second)):
        return None
    one, two = (linearise(sums, score, penalty=penalty) for sums in (first, second))
    if min(one.clusters, two.clusters) < 2:
        return None
    weights = (one.weights + two.weights) / 2
    return np.asarray((one.influences - two.influences) / np.sqrt(1 - weights), dtype=np.float64)


def _extremes(values: Array) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    return (float(defined.min()), float(defined.max())) if len(defined) else None
