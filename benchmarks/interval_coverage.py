"""Coverage of intervals for a rate over items in questions and repeats in items, by simulation.

Run it where the package is installed: ``python benchmarks/interval_coverage.py``, or with ``--draws 50`` in its short
form. Each cell of a grid (rate, questions, repeats, sizes of questions, two correlations) draws questions, items and
verdicts from a beta-binomial model in two stages and asks each candidate for a 95% interval of the true rate. Printed
for the cells in which five or more questions are expected to err, and for the others: mean and lowest coverage,
the number of cells under .93 and .94 and over .97, and the mean width. The default is the product's own code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.stats.intervals.clustered_wilson import clustered_bounds

Array = NDArray[np.float64]
LEVEL = 0.95
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
N_CLUSTERS = (20, 100, 1000)
REPEATS = (1, 10)
SIZES = {"one": (1,), "five": (5,), "unequal": (1, 1, 1, 2, 2, 3, 5, 8, 12, 20)}
CORRELATIONS = (0.05, 0.5), (0.2, 0.8)  # between the items of a question; between the repeats of an item


@dataclass(frozen=True)
class Cell:
    """One point of the grid; ``within`` and ``again`` are the two intraclass correlations."""

    rate: float
    n_clusters: int
    repeats: int
    sizes: str
    within: float
    again: float

    @property
    def expected_to_err(self) -> float:
        """Questions expected to err, counted as if the items of each were one."""
        return self.rate * self.n_clusters


@dataclass(frozen=True)
class Draws:
    """Simulated data sets (S,): sums of item means by question (S, G), items by question (G,)."""

    sums: Array
    sizes: Array
    repeats: int

    @property
    def n_items(self) -> float:
        return float(self.sizes.sum())

    @property
    def n_verdicts(self) -> float:
        return self.n_items * self.repeats

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)

    @property
    def rate(self) -> Array:
        return np.asarray(self.sums.sum(axis=1) / self.n_items)

    @property
    def effective(self) -> Array:
        """Effective sample size by the plain cluster-robust variance; the number of questions where that is 0."""
        variance = ((self.sums - self.rate[:, None] * self.sizes) ** 2).sum(axis=1) / self.n_items**2
        seen = variance > 1e-15
        return np.where(seen, self.rate * (1 - self.rate) / np.where(seen, variance, 1), self.n_clusters)


Candidate = Callable[[Draws], tuple[Array, Array]]


def capped(cap: Callable[[Draws], float]) -> Candidate:
    """Wilson on the effective sample size up to a cap, Student's t with G - 1 degrees of freedom."""

    def bounds(draws: Draws) -> tuple[Array, Array]:
        quantile = stats.t.ppf((1 + LEVEL) / 2, draws.n_clusters - 1)
        return wilson_bounds(draws.rate, quantile**2 / np.minimum(draws.effective, cap(draws)))

    return bounds


def pooled(draws: Draws) -> tuple[Array, Array]:
    """Plain Wilson over pooled verdicts: what the product never offers."""
    return wilson_bounds(draws.rate, np.full(len(draws.sums), stats.norm.ppf((1 + LEVEL) / 2) ** 2 / draws.n_verdicts))


def default(draws: Draws) -> tuple[Array, Array]:
    """The product's own interval."""
    verdicts = int(draws.n_verdicts)
    pairs = [clustered_bounds(sums, draws.sizes, n_verdicts=verdicts, level=LEVEL) for sums in draws.sums]
    low, high = np.array(pairs).T
    return low, high


CANDIDATES: dict[str, Candidate] = {
    "pooled verdicts": pooled,
    "cap: verdicts": capped(lambda draws: draws.n_verdicts),
    "cap: items": capped(lambda draws: draws.n_items),
    "cap: 2 x questions": capped(lambda draws: 2.0 * draws.n_clusters),
    "cap: questions": capped(lambda draws: draws.n_clusters),
    "cap: sqrt(questions x verdicts)": capped(lambda draws: (draws.n_clusters * draws.n_verdicts) ** 0.5),
    "cap: sqrt(items x verdicts)": capped(lambda draws: (draws.n_items * draws.n_verdicts) ** 0.5),
    "cap: verdicts x (G - 1) / (G + 1)": capped(
        lambda draws: draws.n_verdicts * (draws.n_clusters - 1) / (draws.n_clusters + 1)
    ),
    "default": default,
}


def main() -> None:
    """Simulate the grid and print the table."""
    parser = argparse.ArgumentParser(description="Coverage of intervals for clustered rates, by simulation.")
    parser.add_argument("--draws", type=int, default=2000, help="data sets a cell")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    cells = build_grid()
    results = [measure_cell(cell, rng, options.draws) for cell in cells]
    print_table("five or more questions expected to err", cells, results, lambda cell: cell.expected_to_err >= 5)
    print_table("fewer", cells, results, lambda cell: cell.expected_to_err < 5)


def build_grid() -> list[Cell]:
    """Every cell, without those that differ only in a correlation that cannot act."""
    everything = product(RATES, N_CLUSTERS, REPEATS, SIZES, *CORRELATIONS)
    cells = [Cell(*point) for point in everything]
    within, again = CORRELATIONS
    return [
        cell
        for cell in cells
        if (cell.sizes != "one" or cell.within == within[0]) and (cell.repeats > 1 or cell.again == again[0])
    ]


def measure_cell(cell: Cell, rng: np.random.Generator, n_draws: int) -> list[tuple[float, float]]:
    """Coverage and mean width of each candidate."""
    draws = simulate(cell, rng, n_draws)
    measured = []
    for candidate in CANDIDATES.values():
        low, high = candidate(draws)
        covered = (low <= cell.rate + 1e-12) & (cell.rate <= high + 1e-12)
        measured.append((float(covered.mean()), float((high - low).mean())))
    return measured


def simulate(cell: Cell, rng: np.random.Generator, n_draws: int) -> Draws:
    """Draw data sets in blocks, since the largest cells have thousands of items."""
    sizes = np.resize(SIZES[cell.sizes], cell.n_clusters)
    block = max(1, 500_000 // int(sizes.sum()))
    parts = [simulate_sums(cell, sizes, rng, min(block, n_draws - start)) for start in range(0, n_draws, block)]
    return Draws(np.concatenate(parts), sizes.astype(np.float64), cell.repeats)


def simulate_sums(cell: Cell, sizes: NDArray[np.int64], rng: np.random.Generator, n_draws: int) -> Array:
    centre = np.full((n_draws, len(sizes)), cell.rate)
    if cell.sizes != "one":
        centre = draw_beta(centre, cell.within, rng)
    chances = draw_beta(np.repeat(centre, sizes, axis=1), cell.again, rng)
    means = rng.binomial(cell.repeats, chances) / cell.repeats
    return np.asarray(np.add.reduceat(means, np.cumsum(sizes) - sizes, axis=1))


def draw_beta(mean: Array, correlation: float, rng: np.random.Generator) -> Array:
    """Beta draws with the given means and intraclass correlation."""
    weight = (1 - correlation) / correlation
    return rng.beta(np.maximum(mean * weight, 1e-12), np.maximum((1 - mean) * weight, 1e-12))


def wilson_bounds(rate: Array, ratio: Array) -> tuple[Array, Array]:
    middle = (rate + ratio / 2) / (1 + ratio)
    half = np.sqrt(ratio * rate * (1 - rate) + ratio**2 / 4) / (1 + ratio)
    return middle - half, middle + half


def print_table(
    title: str, cells: list[Cell], results: list[list[tuple[float, float]]], belongs: Callable[[Cell], bool]
) -> None:
    chosen = np.array([result for cell, result in zip(cells, results, strict=True) if belongs(cell)])
    print(f"\n{title}: {len(chosen)} cells\n")
    print(f"{'interval':<34} {'mean':>5} {'lowest':>7} {'<.93':>5} {'<.94':>5} {'>.97':>5} {'width':>7}")
    for number, name in enumerate(CANDIDATES):
        cover, width = chosen[:, number].T
        below, near, above = (
            int(count) for count in ((cover < 0.93).sum(), (cover < 0.94).sum(), (cover > 0.97).sum())
        )
        print(f"{name:<34} {cover.mean():5.3f} {cover.min():7.3f} {below:5d} {near:5d} {above:5d} {width.mean():7.4f}")


if __name__ == "__main__":
    main()
