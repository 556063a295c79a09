"""How often tests reject: pairs of graders, and families of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np

from experiments.stats.comparisons.best_set import best_set
from experiments.stats.comparisons.equivalence import equivalence_test, non_inferiority_test
from experiments.stats.comparisons.mcnemar import mcnemar_test, paired_table
from experiments.stats.comparisons.multiplicity import adjust_p_values
from experiments.stats.comparisons.newcombe import newcombe_interval
from experiments.stats.comparisons.paired_comparison import compare_all, paired_comparison
from validity.beta import Array, draw_beta, question_sizes
from validity.pair_grid import PairCell, simulate_pairs

__all__ = ["ALPHA", "FamilyCell", "Rejections", "full_families", "measure_family", "measure_pair", "quick_families"]

ALPHA = 0.05
RESAMPLES = 999
TWO_SIDED = ("sign-flip", "cluster t", "McNemar exact", "McNemar mid-p", "Newcombe interval")
MARGIN_TESTS = ("equivalence", "non-inferiority")
GRADERS = tuple("ABCDEF")
BETTER = 0.1


@dataclass(frozen=True, slots=True)
class FamilyCell:
    """Six graders on the same items, each wrong at ``rate``; with ``one_better``, A is wrong less often by .1."""

    rate: float
    n_clusters: int
    sizes: str
    repeats: int
    one_better: bool


@dataclass(frozen=True, slots=True)
class Rejections:
    """How often a test rejected (or failed, for sets) in a cell; ``null`` says whether its hypothesis is true there."""

    cell: PairCell | FamilyCell
    test: str
    null: bool
    draws: int
    rejected: float

    @property
    def share(self) -> float:
        """Share of the data sets in which it did."""
        return self.rejected / self.draws


def full_families() -> list[FamilyCell]:
    """Every cell."""
    return [FamilyCell(0.3, *point) for point in product((20, 100, 500), ("one", "unequal"), (1, 5), (False, True))]


def quick_families() -> list[FamilyCell]:
    """A few cells."""
    return [cell for cell in full_families() if cell.n_clusters == 100 and cell.repeats == 1]


def measure_pair(cell: PairCell, rng: np.random.Generator, n_draws: int) -> list[Rejections]:
    """Rejections of every test of two graders at 5%."""
    clusters = np.repeat(np.arange(cell.n_clusters), question_sizes(cell.sizes, cell.n_clusters)).tolist()
    first, second = simulate_pairs(cell, rng, n_draws)
    rejected: Counter[str] = Counter()
    for one, other in zip(first, second, strict=True):
        rejected.update(_rejecting(cell, one, other, clusters, rng))
    tests = TWO_SIDED[: None if cell.is_plain else 2]
    return [
        *(Rejections(cell, test, cell.difference == 0, n_draws, rejected[test]) for test in tests),
        *(Rejections(cell, test, cell.difference > 0, n_draws, rejected[test]) for test in MARGIN_TESTS),
    ]


def measure_family(cell: FamilyCell, rng: np.random.Generator, n_draws: int) -> list[Rejections]:
    """Families with a false finding, shares of true findings, and sets that lack the best grader."""
    clusters = np.repeat(np.arange(cell.n_clusters), question_sizes(cell.sizes, cell.n_clusters)).tolist()
    counts = {"no adjustment": np.zeros(2), "Holm": np.zeros(2)}
    lacking = 0
    for _ in range(n_draws):
        means = _simulate_family(cell, rng)
        compared = compare_all(means, clusters, names=GRADERS, rng=rng, resamples=RESAMPLES)
        raw = [row.difference.p_value for row in compared]
        true = np.array([cell.one_better and "A" in (row.first, row.second) for row in compared])
        adjusted = [row.adjusted for row in adjust_p_values(raw).rows]
        for name, p_values in (("no adjustment", raw), ("Holm", adjusted)):
            found = _at_most_alpha(p_values)
            counts[name] += (found & ~true).any(), found[true].mean() if true.any() else 0.0
        chosen = best_set(means, clusters, names=GRADERS, rng=rng, resamples=RESAMPLES)
        lacking += "A" not in chosen.members
    rows = [Rejections(cell, f"{name}, a false finding", True, n_draws, counts[name][0]) for name in counts]
    rows.append(Rejections(cell, "set of the best lacks the best", True, n_draws, lacking))
    if cell.one_better:
        rows += [Rejections(cell, f"{name}, true ones found", False, n_draws, counts[name][1]) for name in counts]
    return rows


def _rejecting(cell: PairCell, one: Array, other: Array, clusters: list[int], rng: np.random.Generator) -> list[str]:
    compared = paired_comparison(one, other, clusters, rng=rng, resamples=RESAMPLES)
    p_values = {"sign-flip": compared.difference.p_value, "cluster t": compared.student_p_value}
    if cell.is_plain:
        table = paired_table(one, other, clusters)
        tested, interval = mcnemar_test(table), newcombe_interval(table)
        p_values |= {"McNemar exact": tested.exact, "McNemar mid-p": tested.mid_p}
        outside = interval.low is not None and interval.high is not None and not interval.low <= 0 <= interval.high
        p_values["Newcombe interval"] = 0.0 if outside else 1.0
    found = [name for name, hit in zip(p_values, _at_most_alpha(list(p_values.values())), strict=True) if hit]
    if equivalence_test(one, other, clusters, margin=cell.margin).passed:
        found.append("equivalence")
    if non_inferiority_test(one, other, clusters, margin=cell.margin, lower_is_better=True).passed:
        found.append("non-inferiority")
    return found


def _at_most_alpha(p_values: list[float | None]) -> np.ndarray:
    return np.array([p_value is not None and p_value <= ALPHA + 1e-12 for p_value in p_values])


def _simulate_family(cell: FamilyCell, rng: np.random.Generator) -> Array:
    """Item means (n, 6): graders share the difficulty of a question, and have items of their own that are hard."""
    sizes = question_sizes(cell.sizes, cell.n_clusters)
    shared = np.repeat(draw_beta(np.full(cell.n_clusters, cell.rate), 0.2, rng), sizes)
    chances = np.repeat(shared[:, None], len(GRADERS), axis=1)
    if cell.one_better:
        chances[:, 0] *= 1 - BETTER / cell.rate
    if cell.repeats > 1:
        chances = draw_beta(chances, 0.3, rng)
    return np.asarray(rng.binomial(cell.repeats, chances) / cell.repeats)
