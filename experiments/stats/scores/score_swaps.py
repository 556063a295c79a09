"""Swapping two models within questions: the permutation test of a paired difference that need be no mean.

If the models do not differ, each question's pair of results might as well have come the other way round. A swap only
exchanges the question's class sums, so all scores of all swaps follow from one matrix product, without a Python loop
over swaps (only over blocks of them, which bound the memory).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import BLOCK

__all__ = ["all_swaps_fit", "swap_p_value", "swapped_totals"]

_TIE = 1e-10
"""Swaps whose difference comes this near to the observed one, relative to the largest, are as extreme: rounding."""


def swapped_totals(sums: NDArray[np.float64], *, rng: np.random.Generator, resamples: int) -> NDArray[np.float64]:
    """Totals of both models under swaps, shape (B, 2 D).

    Parameters
    ----------
    sums
        (G, 2 D) each question's sums, the first model's D and the second's D.
    rng
        The only source of randomness.
    resamples
        Number of random swaps. Where all swaps are no more than that (:func:`all_swaps_fit`), each comes once.

    Raises
    ------
    ValueError
        Fewer than one random swap.
    """
    if resamples < 1:
        raise ValueError(f"resamples: too few, got {resamples}; expected 1 or more")
    first, second = np.split(_differing(sums), 2, axis=1)
    n = len(first)
    if all_swaps_fit(sums, resamples):
        swaps = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        moved = swaps.astype(np.float64) @ (second - first)
    else:
        rows = max(1, BLOCK // n)
        blocks = [min(rows, resamples - start) for start in range(0, resamples, rows)]
        moved = np.concatenate(
            [rng.integers(2, size=(size, n)).astype(np.float64) @ (second - first) for size in blocks]
        )
    return np.asarray(sums.sum(axis=0) + np.concatenate([moved, -moved], axis=1), dtype=np.float64)


def swap_p_value(draws: NDArray[np.float64], value: float, *, complete: bool) -> float:
    """Two-sided p-value: the share of swaps whose difference is at least as large as ``value``.

    Parameters
    ----------
    draws
        (B,) the difference under each swap. One that is not defined (NaN) counts as extreme, which is conservative.
    value
        The observed difference.
    complete
        Whether ``draws`` are all swaps. If not, the observed one is added to them [Phipson and Smyth 2010].
    """
    largest = float(np.max(np.abs(draws), initial=abs(value), where=~np.isnan(draws)))
    extreme = int((~(np.abs(draws) < abs(value) - _TIE * largest)).sum())
    return extreme / len(draws) if complete else (extreme + 1) / (len(draws) + 1)


def all_swaps_fit(sums: NDArray[np.float64], resamples: int) -> bool:
    """Whether all swaps of the questions on which the models differ are no more than ``resamples``."""
    return bool(2 ** len(_differing(sums)) <= resamples)


def _differing(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    first, second = np.split(sums, 2, axis=1)
    return np.asarray(sums[(first != second).any(axis=1)], dtype=np.float64)
