"""Linear form of a benchmark score: what each question adds to its error, and what no question has shown.

A score ``u.T / w.T`` of the totals T = sum_c S_c moves with question c by ``f . S_c``, where ``f = (u - score w) /
w.T`` is its gradient in the totals: the influences sum to zero. Its cluster-robust variance is ``sum_c (f . S_c)**2 /
(1 - h_c)``, where ``h_c = w.S_c / w.T`` is the question's weight, the CR2 correction of a ratio [Bell and McCaffrey
2002]. For a mean of items, one a question, this is the textbook ``s**2 / n``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.scores.score_functions import Score

__all__ = ["Linearised", "is_certain", "linearise", "normal_quantile", "unseen_bounds"]

_ROUNDING = 1e-10
"""A standard error below this share of a score's span is rounding error."""


@dataclass(frozen=True, slots=True)
class Linearised:
    """A score's linear form over G questions.

    ``by_class`` (3,) is the influence of one verdict of each class, ``influences`` (G,) that of each question,
    ``weights`` (G,) each question's part of the denominator. ``clusters`` counts the questions with any weight.
    """

    by_class: NDArray[np.float64]
    influences: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def clusters(self) -> int:
        """Questions that enter the score's denominator."""
        return int((self.weights > 0).sum())

    @property
    def variance(self) -> float | None:
        """Cluster-robust (CR2) variance of the score; ``None`` with fewer than two questions in its denominator."""
        if self.clusters < 2:
            return None
        return float((self.influences**2 / (1 - self.weights)).sum())


def linearise(sums: NDArray[np.float64], score: Score, *, penalty: float) -> Linearised:
    """Linear form of a score that is defined on the totals of ``sums`` (G, 3), the class sums of each question."""
    totals = sums.sum(axis=0)
    by_class = score.gradient(totals, penalty)
    weights = sums @ np.array(score.denominator)
    return Linearised(by_class, sums @ by_class, weights / weights.sum())


def is_certain(sums: NDArray[np.float64], score: Score, *, penalty: float) -> bool:
    """Whether the questions show no variation in a score at all, or are too few to show any."""
    variance = linearise(sums, score, penalty=penalty).variance
    low, high = score.span(penalty)
    return variance is None or variance <= (_ROUNDING * (high - low)) ** 2


def unseen_bounds(
    totals: NDArray[np.float64], score: Score, *, penalty: float, n_clusters: int, level: float
) -> tuple[float, float]:
    """Smallest and largest score if a share of the questions, none of them seen, were of any one class.

    The share is ``z**2 / (G + z**2)``, Wilson's upper limit [1927] of 0 in G = ``n_clusters``; the rest stays as it
    is in ``totals`` (3,).
    """
    normal = normal_quantile(level) ** 2
    unseen = normal / (n_clusters + normal)
    mixed = (1 - unseen) * totals / totals.sum() + unseen * np.eye(3)
    values = score.value(mixed, penalty)
    return float(np.nanmin(values)), float(np.nanmax(values))


def normal_quantile(level: float) -> float:
    """Two-sided quantile of the normal distribution at a confidence level: 1.96 at 0.95."""
    return float(special.ndtri((1 + level) / 2))
