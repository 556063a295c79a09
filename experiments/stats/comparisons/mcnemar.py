"""McNemar's test on single labels: exact, mid-p and asymptotic.

With repeats or with several items a question its assumptions fail; the sign-flip test of
:mod:`experiments.stats.comparisons.paired_comparison` takes both.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from experiments.stats.inputs import encode_clusters

__all__ = ["McNemar", "PairedTable", "mcnemar_test", "paired_table"]


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Items on which both, one or neither of two graders had the outcome (such as an error).

    ``left_out`` counts items that either grader lacks.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    left_out: int = 0

    def __post_init__(self) -> None:
        cells = (self.both, self.first_only, self.second_only, self.neither, self.left_out)
        if any(cell < 0 or cell != int(cell) for cell in cells):
            raise ValueError(f"PairedTable: not counts, got {cells}; expected whole numbers, 0 or more")

    @property
    def n(self) -> int:
        """Items that both graders have."""
        return self.both + self.first_only + self.second_only + self.neither


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two-sided p-values of McNemar's test, and the discordant items that they rest on.

    Without discordant items the exact p-value is 1 and the two others are ``None``.
    """

    exact: float
    mid_p: float | None
    asymptotic: float | None
    first_only: int
    second_only: int


def paired_table(first: ArrayLike, second: ArrayLike, clusters: Sequence[Hashable]) -> PairedTable:
    """Cross-tabulate single outcomes of two graders.

    Parameters
    ----------
    first, second
        (n,) whether each item has the outcome: ``True`` or 1, ``False`` or 0, ``None`` or NaN where missing.
    clusters
        (n,) the question of each item.

    Raises
    ------
    ValueError
        A share between 0 and 1, which repeats give; two items of one question among those that both graders
        have; lengths that differ.
    """
    one, two = _outcomes(first, "first"), _outcomes(second, "second")
    if one.shape != two.shape:
        raise ValueError(f"second: wrong length, got {len(two)}; expected {len(one)}, one an item")
    codes = encode_clusters(clusters, n=len(one))
    used = ~(np.isnan(one) | np.isnan(two))
    if len(np.unique(codes[used])) < used.sum():
        raise ValueError(
            f"clusters: items share questions, got {int(used.sum())} items of {len(np.unique(codes[used]))} questions; "
            "expected one item a question (the sign-flip test takes several)"
        )
    a, b = one[used] == 1, two[used] == 1
    both, first_only, second_only, neither, left_out = (
        int(cell.sum()) for cell in (a & b, a & ~b, ~a & b, ~a & ~b, ~used)
    )
    return PairedTable(both, first_only, second_only, neither, left_out)


def mcnemar_test(table: PairedTable) -> McNemar:
    """McNemar's test of equal shares [McNemar 1947].

    With b and c the discordant items, ``exact`` doubles the smaller binomial tail and is capped at 1;
    ``asymptotic`` refers ``(b - c)**2 / (b + c)`` to chi-square with one degree of freedom, without continuity
    correction; ``mid_p`` takes half the chance of what was observed from the exact p-value, and is the one
    that Fagerland, Lydersen and Laake [2013] recommend: the exact one is far too cautious.
    """
    b, c = table.first_only, table.second_only
    n = b + c
    if n == 0:
        return McNemar(1.0, None, None, b, c)
    point = float(stats.binom.pmf(b, n, 0.5))
    exact = min(1.0, 2 * float(stats.binom.cdf(min(b, c), n, 0.5)))
    mid_p = 1 - point / 2 if b == c else exact - point
    return McNemar(exact, mid_p, float(special.chdtrc(1, (b - c) ** 2 / n)), b, c)


def _outcomes(values: ArrayLike, where: str) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{where}: wrong shape, got {numbers.shape}; expected (n,)")
    strange = np.flatnonzero(~(np.isnan(numbers) | (numbers == 0) | (numbers == 1)))
    if len(strange):
        row = int(strange[0])
        raise ValueError(f"{where}[{row}]: not a single label, got {numbers[row]}; expected 0 or 1, one label an item")
    return numbers
