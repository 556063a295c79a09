"""Which label means what in a score, and the scores as functions of the shares of a scale's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.scores.score_functions import SCORES, score_gradient, score_value

__all__ = ["ScoreChoice"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreChoice:
    """A scale with the label of a right answer, that of no attempt (or ``None``), and the cost of a wrong answer."""

    labels: Sequence[str]
    correct: str
    not_attempted: str | None
    penalty: float = 1.0

    def value(self, name: str, shares: Array) -> Array:
        """A score of shares (..., L), NaN where it is not defined; shape (...)."""
        return score_value(
            name,
            shares,
            labels=self.labels,
            correct=self.correct,
            not_attempted=self.not_attempted,
            penalty=self.penalty,
        )

    def gradient(self, name: str, shares: Array) -> Array:
        """Its gradient in the shares, shape (..., L)."""
        return score_gradient(
            name,
            shares,
            labels=self.labels,
            correct=self.correct,
            not_attempted=self.not_attempted,
            penalty=self.penalty,
        )

    def span(self, name: str) -> tuple[float, float]:
        """Smallest and largest value that any shares can give."""
        corners = self.value(name, np.eye(len(self.labels)))
        return float(np.nanmin(corners)), float(np.nanmax(corners))

    @property
    def names(self) -> tuple[str, ...]:
        """All scores, in the order of :data:`experiments.stats.scores.score_functions.SCORES`."""
        return tuple(SCORES)
