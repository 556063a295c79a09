"""Correlated chances: the beta-binomial model that all grids draw from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "draw_beta", "question_sizes", "question_starts", "sum_by_question"]

Array = NDArray[np.float64]
SIZES = {"one": (1,), "five": (5,), "unequal": (1, 1, 1, 2, 2, 3, 5, 8, 12, 20)}
"""Items a question, repeated until every question has its number."""


def draw_beta(mean: Array, correlation: float, rng: np.random.Generator) -> Array:
    """Beta draws with the given means and intraclass correlation; the means themselves at correlation 0."""
    if correlation == 0:
        return mean
    weight = (1 - correlation) / correlation
    return rng.beta(np.maximum(mean * weight, 1e-12), np.maximum((1 - mean) * weight, 1e-12))


def question_sizes(sizes: str, n_clusters: int) -> NDArray[np.int64]:
    """Items of each question, shape (G,)."""
    return np.resize(SIZES[sizes], n_clusters).astype(np.int64)


def question_starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each question's items begin, shape (G,)."""
    return np.asarray(np.cumsum(sizes) - sizes, dtype=np.int64)


def sum_by_question(values: Array, sizes: NDArray[np.int64]) -> Array:
    """Sums (S, G) of values (S, n) whose items stand question by question."""
    return np.asarray(np.add.reduceat(values, question_starts(sizes), axis=1))
