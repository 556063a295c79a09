"""Weights that bring the calibration items' strata to the shares that they have on the benchmark.

Post-stratification by known shares [Holt and Smith 1979]: an item of stratum s weighs ``W_s / (n_s / n)``, W_s the
benchmark's share of s and n_s of the n calibration items in it. A row of the confusion matrix is then the mean over
strata of their own rows, ``M[a] = sum_s W_s r_s[a] M_s[a] / sum_s W_s r_s[a]``, r_s[a] the share of the stratum's items
that people call a. It carries over if, within a stratum, the grader errs alike on both and the classes are as common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["MissingStrataError", "post_stratification_weights"]


class MissingStrataError(ValueError):
    """Strata of the benchmark have no calibration item; ``strata`` are these, the message names them in one line."""

    def __init__(self, strata: Sequence[Hashable]) -> None:
        self.strata = tuple(strata)
        named = ", ".join(repr(stratum) for stratum in self.strata)
        super().__init__(f"strata: no calibration item, got none of {named}; expected some of each of the benchmark's")


def post_stratification_weights(strata: Sequence[Hashable], benchmark: Sequence[Hashable]) -> NDArray[np.float64]:
    """Weight of each calibration item, 1 on average; 0 in a stratum that the benchmark does not have.

    Parameters
    ----------
    strata
        (n,) the stratum of each calibration item.
    benchmark
        (N,) the stratum of each benchmark item.

    Returns
    -------
    (n,) weights, for :class:`experiments.stats.correction.LabelledItems`.

    Raises
    ------
    MissingStrataError
        Strata of the benchmark without a calibration item: nothing is known of the errors there.
    ValueError
        No benchmark item.
    """
    if not len(benchmark):
        raise ValueError("benchmark: no item, got 0; expected some, whose shares of strata are aimed at")
    sizes, wanted = Counter(strata), Counter(benchmark)
    missing = [stratum for stratum in wanted if stratum not in sizes]
    if missing:
        raise MissingStrataError(missing)
    n, n_benchmark = len(strata), len(benchmark)
    return np.array([wanted[stratum] * n / (n_benchmark * sizes[stratum]) for stratum in strata], dtype=np.float64)
