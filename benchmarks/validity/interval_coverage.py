"""Coverage and mean width of every interval in one cell, and summaries of many cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from validity.interval_methods import interval_methods
from validity.rate_grid import RateCell, simulate_rates

__all__ = ["LEVELS", "Coverage", "CoverageSummary", "measure_rates", "summarise"]

LEVELS = (0.9, 0.95)
SLACK = 0.02
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often a method held the true rate of a cell, and its mean width."""

    cell: RateCell
    method: str
    level: float
    draws: int
    covered: int
    width: float

    @property
    def share(self) -> float:
        """Share of the data sets whose interval held the truth."""
        return self.covered / self.draws


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """Several cells of one method: how many are ``below`` their level by .02, and how many luck alone would make."""

    cells: int
    mean: float
    lowest: float
    below: int
    by_luck: float
    width: float


def measure_rates(
    cell: RateCell, rng: np.random.Generator, n_draws: int, methods: Sequence[str] | None = None
) -> list[Coverage]:
    """Coverage of each method (all of them, or the named ones) on the same data sets."""
    chosen = [
        method for method in interval_methods() if method.fits(cell) and (methods is None or method.name in methods)
    ]
    tried: dict[tuple[str, float], list[tuple[int, int, float]]] = defaultdict(list)
    for data in simulate_rates(cell, rng, n_draws):
        for method in chosen:
            part = data.first(method.share(cell))
            for level in LEVELS:
                low, high = method.bounds(part, level, rng)
                covered = (low <= cell.rate + ROUNDING) & (cell.rate <= high + ROUNDING)
                tried[method.name, level].append((len(covered), int(covered.sum()), float((high - low).sum())))
    return [_coverage(cell, name, level, blocks) for (name, level), blocks in tried.items()]


def summarise(rows: Iterable[Coverage]) -> CoverageSummary | None:
    """Mean and lowest coverage, cells more than .02 below their level, mean width; ``None`` of no cells."""
    chosen = list(rows)
    if not chosen:
        return None
    shares = np.array([row.share for row in chosen])
    levels = np.array([row.level for row in chosen])
    return CoverageSummary(
        cells=len(chosen),
        mean=float(shares.mean()),
        lowest=float(shares.min()),
        below=int((shares < levels - SLACK - ROUNDING).sum()),
        by_luck=float(sum(short_by_luck(row.level, row.draws) for row in chosen)),
        width=float(np.mean([row.width for row in chosen])),
    )


def short_by_luck(level: float, draws: int) -> float:
    """Chance that an interval with exactly this coverage comes out more than .02 below it."""
    return float(stats.binom.cdf(np.ceil(draws * (level - SLACK) - 1e-9) - 1, draws, level))


def _coverage(cell: RateCell, name: str, level: float, blocks: Sequence[tuple[int, int, float]]) -> Coverage:
    draws, covered, width = (sum(column) for column in zip(*blocks, strict=True))
    return Coverage(cell, name, level, int(draws), int(covered), width / draws)
