"""Linear form of anything that is a function of the observed shares q and the confusion matrix M.

If a result moves by ``h . dq + sum(W * dM)``, question c moves it by ``b_c + k_c`` with

- ``b_c = h . (S_c - m_c q) / N / sqrt(1 - m_c / N)``, S_c its benchmark sums and m_c their number;
- ``k_c = sum_ab W[a, b] (C_c[a, b] - n_ca M[a, b]) / n_a / sqrt(1 - n_ca / n_a)``, C_c its calibration sums and n_ca
  its items that people called a.

The square roots are the CR2 correction [Bell and McCaffrey 2002], exact for a mean and for the rows of M. The variance
is ``sum_c (b_c + k_c)**2``: with independent samples no question has both parts.

For a score f of the corrected shares with gradient g, ``h = M^-1 g`` and ``W[a, b] = -pi[a] h[b]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.correction.samples import Samples, Totals, split_totals

__all__ = [
    "Influence",
    "degrees_of_freedom",
    "influence",
    "influence_of_sums",
    "score_direction",
    "score_influence",
    "student_half_width",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Influence:
    """What questions add to a result: ``benchmark`` (G,) and, by the row of M, ``rows`` (G, K)."""

    benchmark: Array
    rows: Array

    @property
    def calibration(self) -> Array:
        """What each question adds through all rows of M, shape (G,)."""
        return np.asarray(self.rows.sum(axis=1), dtype=np.float64)

    @property
    def variance(self) -> float:
        """Variance of the result from both samples."""
        return _sum_of_squares(self.benchmark + self.calibration)

    @property
    def benchmark_variance(self) -> float:
        """Variance from the benchmark's questions alone."""
        return _sum_of_squares(self.benchmark)

    @property
    def calibration_variance(self) -> float:
        """Variance from the error rates alone."""
        return _sum_of_squares(self.calibration)


def influence(samples: Samples, shares_weight: Array, matrix_weight: Array, *, made_up: bool) -> Influence:
    """Linear form of a result that moves by ``shares_weight . dq + sum(matrix_weight * dM)``.

    Parameters
    ----------
    samples
        Both samples.
    shares_weight
        (K,) h.
    matrix_weight
        (K, K) W.
    made_up
        Whether the made-up questions (:mod:`experiments.stats.correction.samples`) count.
    """
    return influence_of_sums(np.concatenate(samples.blocks(made_up=made_up)), shares_weight, matrix_weight)


def influence_of_sums(sums: Array, shares_weight: Array, matrix_weight: Array) -> Influence:
    """The same from the sums by question (G, K + K * K) of :meth:`Samples.blocks`, in their order."""
    n_labels = len(shares_weight)
    totals = split_totals(sums.sum(axis=0), n_labels)
    cells = sums[:, n_labels:].reshape(-1, n_labels, n_labels)
    return Influence(
        _benchmark_part(sums[:, :n_labels], totals, shares_weight), _calibration_parts(cells, totals, matrix_weight)
    )


def score_influence(samples: Samples, pi: Array, gradient: Array, *, made_up: bool = True) -> Influence:
    """Linear form of a score with ``gradient`` (K,) at the true shares ``pi`` (K,), M as in the samples used."""
    direction = score_direction(samples, gradient, made_up=made_up)
    return influence(samples, direction, -pi[:, None] * direction[None, :], made_up=made_up)


def score_direction(samples: Samples, gradient: Array, *, made_up: bool = True) -> Array:
    """``h = M^-1 g``, shape (K,): what a score gains by each verdict of the benchmark."""
    return np.asarray(np.linalg.solve(samples.totals(made_up=made_up).matrix, gradient), dtype=np.float64)


def student_half_width(samples: Samples, parts: Influence, *, level: float) -> float:
    """Half-width from Student's quantile with the degrees of freedom of Welch 1947 and Satterthwaite 1946.

    The benchmark brings G - 1 of them, each row of M one fewer than the questions with such an item.
    """
    freedom = degrees_of_freedom(parts, np.array([samples.n_clusters, *samples.row_clusters]))
    return float(special.stdtrit(freedom, (1 + level) / 2)) * float(np.sqrt(parts.variance))


def degrees_of_freedom(parts: Influence, questions: NDArray[np.int64]) -> float:
    """Those of Welch and Satterthwaite; ``questions`` (1 + K,) of the benchmark and of each row of M."""
    variances = np.array([parts.benchmark_variance, *(parts.rows**2).sum(axis=0)])
    degrees = np.maximum(questions - 1, 1)
    divisor = float((variances**2 / degrees).sum())
    return float(variances.sum()) ** 2 / divisor if divisor > 0 else float(degrees.min())


def _benchmark_part(sums: Array, totals: Totals, weight: Array) -> Array:
    sizes = sums.sum(axis=1)
    n = float(totals.n_benchmark)
    if n == 0:
        return np.zeros(len(sums))
    return _adjusted(((sums - sizes[:, None] * totals.observed) @ weight) / n, sizes / n)


def _calibration_parts(cells: Array, totals: Totals, weight: Array) -> Array:
    sizes = cells.sum(axis=2)
    residuals = ((cells - sizes[:, :, None] * totals.matrix) * weight).sum(axis=2)
    return _adjusted(residuals / totals.row_sizes, sizes / totals.row_sizes)


def _adjusted(residuals: Array, leverage: Array) -> Array:
    # A question that is the whole of a mean has no residual, and says nothing about its variance.
    whole = leverage > 1 - 1e-12
    return np.where(whole, 0.0, residuals / np.sqrt(np.where(whole, 1.0, 1 - leverage)))


def _sum_of_squares(values: Array) -> float:
    return float(np.sort(values**2).sum())
