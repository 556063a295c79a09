"""Chance-corrected coefficients as formulas over whole stacks of tables.

Each takes tables of shape (..., L, L), people in rows and the grader in columns, holding counts or weights, and
gives the observed and the expected disagreement, both on the scale 0 (same label) to 1 (labels furthest apart).
Every coefficient is then ``1 - observed / expected``. The leading axes are resamples: nothing here loops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.inputs import ScaleLevel

__all__ = [
    "Disagreement",
    "ac1_disagreement",
    "alpha_disagreement",
    "distances",
    "fleiss_expected",
    "gwet_expected",
    "kappa_disagreement",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Observed and expected disagreement, each of shape (...); expected is 0 where it is not defined."""

    observed: Array
    expected: Array

    @property
    def coefficient(self) -> Array:
        """``1 - observed / expected``, NaN where nothing but one label occurs."""
        defined = self.expected > 0
        return np.where(defined, 1.0 - self.observed / np.where(defined, self.expected, 1.0), np.nan)


def distances(n_labels: int, scale_level: ScaleLevel) -> Array:
    """Distances of labels for weighted kappa, shape (L, L), the largest being 1.

    Nominal: 0 or 1. Ordinal: steps on the scale (linear weights [Cicchetti and Allison 1971]). Interval: squared
    steps (quadratic weights [Cohen 1968]).
    """
    if scale_level == "nominal":
        return 1.0 - np.eye(n_labels)
    steps = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) / max(n_labels - 1, 1)
    return np.asarray(steps if scale_level == "ordinal" else steps**2, dtype=np.float64)


def kappa_disagreement(tables: Array, scale_level: ScaleLevel) -> Disagreement:
    """Disagreement behind Cohen's (weighted) kappa [Cohen 1960, 1968]: chance is the product of the margins."""
    shares = _shares(tables)
    weights = distances(tables.shape[-1], scale_level)
    margins = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    return Disagreement((shares * weights).sum(axis=(-2, -1)), (margins * weights).sum(axis=(-2, -1)))


def ac1_disagreement(tables: Array, scale_level: ScaleLevel = "nominal") -> Disagreement:
    """Disagreement behind Gwet's AC1 [Gwet 2008] and, on a scale that is not nominal, its weighted form AC2.

    Chance takes the mean of the two margins (:func:`gwet_expected`).
    """
    shares = _shares(tables)
    mean = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    observed = (shares * distances(tables.shape[-1], scale_level)).sum(axis=(-2, -1))
    return Disagreement(observed, gwet_expected(mean, scale_level))


def gwet_expected(margins: Array, scale_level: ScaleLevel) -> Array:
    """Expected disagreement of AC1 and AC2, of margins (..., L) that sum to 1; 0 where one label stands alone.

    Chance agreement is ``W sum_l m_l (1 - m_l) / (L (L - 1))``, where W is the sum of all weights (1 less the
    distances; L on a nominal scale) and L the number of labels on the scale, used or not [Gwet 2014, Handbook of
    Inter-Rater Reliability].
    """
    n_labels = margins.shape[-1]
    weights = (1.0 - distances(n_labels, scale_level)).sum()
    varied = (margins * (1 - margins)).sum(axis=-1)
    chance = weights * varied / max(n_labels * (n_labels - 1), 1)
    return np.where(varied > 0, 1.0 - chance, 0.0)


def fleiss_expected(margins: Array, scale_level: ScaleLevel) -> Array:
    """Expected disagreement of Fleiss' kappa [Fleiss 1971], of margins (..., L) that sum to 1: two labels at random."""
    weights = distances(margins.shape[-1], scale_level)
    return np.asarray((margins[..., :, None] * margins[..., None, :] * weights).sum(axis=(-2, -1)), dtype=np.float64)


def alpha_disagreement(coincidences: Array, scale_level: ScaleLevel) -> Disagreement:
    """Disagreement behind Krippendorff's alpha [Krippendorff 2011, Computing Krippendorff's Alpha-Reliability].

    ``coincidences`` are symmetric: the pairs of labels within items, each label weighing 1 in all.
    """
    margins = coincidences.sum(axis=-1)
    total = margins.sum(axis=-1)
    squared = _squared_distances(margins, scale_level)
    observed = (coincidences * squared).sum(axis=(-2, -1)) / np.maximum(total, 1.0)
    pairs = margins[..., :, None] * margins[..., None, :]
    expected = (pairs * squared).sum(axis=(-2, -1)) / np.maximum(total * (total - 1.0), 1.0)
    return Disagreement(observed, expected)


def _squared_distances(margins: Array, scale_level: ScaleLevel) -> Array:
    if scale_level != "ordinal":
        return distances(margins.shape[-1], scale_level)
    # Krippendorff's ordinal distance: labels used between two labels, those two counted half.
    middles = np.cumsum(margins, axis=-1) - margins / 2
    squared = (middles[..., :, None] - middles[..., None, :]) ** 2
    largest = squared.max(axis=(-2, -1), keepdims=True)
    return np.asarray(squared / np.where(largest > 0, largest, 1.0), dtype=np.float64)


def _shares(tables: Array) -> Array:
    total = tables.sum(axis=(-2, -1), keepdims=True)
    return np.asarray(tables / np.where(total > 0, total, 1.0), dtype=np.float64)
