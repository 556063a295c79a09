"""The grid for intervals of a rate, and its data sets: items in questions, repeats in items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from validity.beta import Array, draw_beta, question_sizes, sum_by_question

__all__ = ["RateCell", "RateData", "full_grid", "quick_grid", "simulate_rates"]

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
N_CLUSTERS = (20, 100, 1000)
CORRELATIONS = (0.0, 0.2, 0.5)
REPEATS = (1, 10)
REPEAT_CORRELATIONS = (0.2, 0.8)
BLOCK = 400_000
"""Items drawn at once; it bounds the memory."""


@dataclass(frozen=True, slots=True)
class RateCell:
    """One point of the grid; ``correlation`` between items of a question, ``repeat_correlation`` within an item."""

    rate: float
    n_clusters: int
    sizes: str
    correlation: float
    repeats: int
    repeat_correlation: float

    @property
    def n_items(self) -> int:
        """Items of all questions."""
        return int(question_sizes(self.sizes, self.n_clusters).sum())

    @property
    def expected_to_err(self) -> float:
        """Questions expected to err, counted as if the items of each were one."""
        return self.rate * self.n_clusters

    @property
    def is_plain(self) -> bool:
        """Whether every verdict is independent: one item a question, one repeat an item."""
        return self.sizes == "one" and self.repeats == 1


@dataclass(frozen=True, slots=True)
class RateData:
    """A block of data sets: item means (S, n), their sums by question (S, G), items by question (G,)."""

    means: Array
    sums: Array
    sizes: NDArray[np.int64]
    repeats: int

    def first(self, share: float) -> RateData:
        """The first ``share`` of the data sets, one or more."""
        kept = math.ceil(share * len(self.means))
        return RateData(self.means[:kept], self.sums[:kept], self.sizes, self.repeats)


def full_grid() -> list[RateCell]:
    """Every cell, without those that differ only in a correlation that cannot act."""
    points = product(RATES, N_CLUSTERS, ("one", "five", "unequal"), CORRELATIONS, REPEATS, REPEAT_CORRELATIONS)
    return [cell for cell in (RateCell(*point) for point in points) if _acts(cell)]


def quick_grid() -> list[RateCell]:
    """A few cells of each kind."""
    wanted = {(0.05, 100), (0.2, 20), (0.5, 20)}
    return [cell for cell in full_grid() if (cell.rate, cell.n_clusters) in wanted]


def simulate_rates(cell: RateCell, rng: np.random.Generator, n_draws: int) -> Iterator[RateData]:
    """Draw data sets from the beta-binomial model in two stages, block by block."""
    sizes = question_sizes(cell.sizes, cell.n_clusters)
    block = max(1, BLOCK // int(sizes.sum()))
    for start in range(0, n_draws, block):
        centre = np.full((min(block, n_draws - start), cell.n_clusters), cell.rate)
        chances = np.repeat(draw_beta(centre, cell.correlation, rng), sizes, axis=1)
        if cell.repeats > 1:
            chances = draw_beta(chances, cell.repeat_correlation, rng)
        means = rng.binomial(cell.repeats, chances) / cell.repeats
        yield RateData(means, sum_by_question(means, sizes), sizes, cell.repeats)


def _acts(cell: RateCell) -> bool:
    between = cell.sizes != "one" or cell.correlation == CORRELATIONS[0]
    within = cell.repeats > 1 or cell.repeat_correlation == REPEAT_CORRELATIONS[0]
    return between and within
