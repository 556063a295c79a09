"""The grid for comparisons of two graders on the same items, and its data sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from validity.beta import Array, draw_beta, question_sizes

__all__ = ["PairCell", "full_pairs", "quick_pairs", "simulate_pairs"]

RATES = (0.1, 0.3)
DIFFERENCES = (0.0, 0.05, 0.1)
N_CLUSTERS = (20, 100, 500)
WITHIN, AGAIN, CONCENTRATED = 0.2, 0.3, 0.5


@dataclass(frozen=True, slots=True)
class PairCell:
    """One point of the grid: the second grader errs at ``rate``, the first at ``rate + difference``.

    ``skewed``: the first grader's errors sit in few questions, the second's in any; then the two are not exchangeable
    even where their rates are equal.
    """

    rate: float
    difference: float
    n_clusters: int
    sizes: str
    repeats: int
    skewed: bool

    @property
    def is_plain(self) -> bool:
        """Whether labels are single: one item a question, one repeat an item."""
        return self.sizes == "one" and self.repeats == 1

    @property
    def margin(self) -> float:
        """Margin of equivalence: the true difference, so that the test is at its limit, or .1 where there is none."""
        return self.difference or DIFFERENCES[-1]


def full_pairs() -> list[PairCell]:
    """Every cell."""
    points = product(RATES, DIFFERENCES, N_CLUSTERS, ("one", "unequal"), (1, 5), (False, True))
    return [PairCell(*point) for point in points]


def quick_pairs() -> list[PairCell]:
    """A few cells of each kind."""
    return [cell for cell in full_pairs() if (cell.rate, cell.n_clusters) == (0.3, 100) and cell.difference != 0.05]


def simulate_pairs(cell: PairCell, rng: np.random.Generator, n_draws: int) -> tuple[Array, Array]:
    """Item means of the first and the second grader, each (S, n), items question by question."""
    sizes = question_sizes(cell.sizes, cell.n_clusters)
    shape = (n_draws, cell.n_clusters)
    if cell.skewed:
        first = draw_beta(np.full(shape, cell.rate + cell.difference), CONCENTRATED, rng)
        second = np.full(shape, cell.rate)
    else:
        second = draw_beta(np.full(shape, cell.rate), WITHIN, rng)
        first = second + cell.difference * (1 - second) / (1 - cell.rate)
    chances = [np.repeat(question, sizes, axis=1) for question in (first, second)]
    if cell.repeats > 1 and not cell.skewed:
        chances = [draw_beta(chance, AGAIN, rng) for chance in chances]
    one, other = (rng.binomial(cell.repeats, chance) / cell.repeats for chance in chances)
    return one, other
