"""The grid for corrections of a score, and its data sets: a benchmark and a calibration set of one population."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from experiments.stats.correction.samples import GradedItems, LabelledItems
from validity.beta import Array

__all__ = ["CorrectionCell", "Drawn", "full_corrections", "quick_corrections", "simulate_correction"]

N_BENCHMARK = 1000
CALIBRATION_SIZES = (50, 100, 200, 500, 2000)
WITHIN, AGAIN = 0.3, 0.5
TWO = ("incorrect", "correct")
THREE = ("incorrect", "not_attempted", "correct")
GRADERS = {
    "good": ((0.95, 0.05), (0.05, 0.95)),
    "poor": ((0.8, 0.2), (0.1, 0.9)),
    "three labels": ((0.9, 0.05, 0.05), (0.06, 0.9, 0.04), (0.05, 0.02, 0.93)),
}
"""Confusion matrices, people in rows."""


@dataclass(frozen=True, slots=True)
class CorrectionCell:
    """One point of the grid: true shares of the labels, a grader, and the number of calibration items.

    ``clustered``: five items a question, whose true labels correlate by .3, and three repeats, whose errors correlate
    by .5. ``balanced``: the calibration set has equal shares of all labels, unlike the benchmark.
    """

    shares: tuple[float, ...]
    grader: str
    n_calibration: int
    clustered: bool
    balanced: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The scale."""
        return TWO if len(self.shares) == 2 else THREE


@dataclass(frozen=True, slots=True)
class Drawn:
    """One data set."""

    benchmark: GradedItems
    calibration: LabelledItems


def full_corrections() -> list[CorrectionCell]:
    """Every cell."""
    two = product(((0.7, 0.3), (0.3, 0.7)), ("good", "poor"), CALIBRATION_SIZES, (False, True))
    cells = [CorrectionCell(*point) for point in two]
    cells += [
        CorrectionCell((0.35, 0.25, 0.4), "three labels", size, clustered)
        for size, clustered in product(CALIBRATION_SIZES, (False, True))
    ]
    return cells + [CorrectionCell((0.7, 0.3), "poor", size, False, balanced=True) for size in CALIBRATION_SIZES]


def quick_corrections() -> list[CorrectionCell]:
    """A few cells of each kind."""
    return [cell for cell in full_corrections() if cell.n_calibration == 200 and cell.shares != (0.3, 0.7)]


def simulate_correction(cell: CorrectionCell, rng: np.random.Generator) -> Drawn:
    """Draw a benchmark of 1,000 items and its calibration set, from different questions."""
    even = (1 / len(cell.shares),) * len(cell.shares)
    _, counts, clusters = _draw_items(cell, cell.shares, N_BENCHMARK, rng)
    truth, labelled, asked = _draw_items(cell, even if cell.balanced else cell.shares, cell.n_calibration, rng)
    benchmark = GradedItems(counts, [f"benchmark {number}" for number in clusters])
    reference = [cell.labels[place] for place in truth]
    return Drawn(benchmark, LabelledItems(reference, labelled, [f"calibration {number}" for number in asked]))


def _draw_items(
    cell: CorrectionCell, shares: tuple[float, ...], n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """True labels (n,), counts of verdicts (n, L) and questions (n,)."""
    size, repeats = (5, 3) if cell.clustered else (1, 1)
    clusters = np.repeat(np.arange(-(-n // size)), size)[:n]
    chances = np.tile(np.asarray(shares), (clusters.max() + 1, 1))
    if cell.clustered:
        chances = _draw_dirichlet(chances, WITHIN, rng)
    truth = rng.multinomial(1, chances[clusters]).argmax(axis=1)
    verdicts = np.asarray(GRADERS[cell.grader])[truth]
    if cell.clustered:
        verdicts = _draw_dirichlet(verdicts, AGAIN, rng)
    return truth, rng.multinomial(repeats, verdicts), clusters


def _draw_dirichlet(mean: Array, correlation: float, rng: np.random.Generator) -> Array:
    drawn = np.maximum(rng.standard_gamma(mean * (1 - correlation) / correlation), 1e-300)
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
