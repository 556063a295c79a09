"""Krippendorff's alpha from counts. The only module that imports the ``krippendorff`` library (GPL-3.0-or-later)."""

from __future__ import annotations

import krippendorff
import numpy as np
from numpy.typing import NDArray

from experiments.stats.inputs import ScaleLevel

__all__ = ["alpha_of_counts"]


def alpha_of_counts(counts: NDArray[np.int64], *, scale_level: ScaleLevel) -> float | None:
    """Krippendorff's alpha of items rated by any number of raters.

    Parameters
    ----------
    counts
        (n, L) how many raters (or repeats) gave each item each label. Items with fewer than two labels
        have no pair and are left out.
    scale_level
        ``nominal``, ``ordinal`` or ``interval``; on the last one the labels lie one apart.

    Returns
    -------
    float or None
        ``None`` where alpha is not defined: no item with two labels, or one label only. There the library raises,
        warns or returns NaN, depending on the form of its input.

    Notes
    -----
    A count-based formula: the time grows with n, not with the number of pairs of raters.
    """
    pairable = counts[counts.sum(axis=1) >= 2]
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return None
    # Sorted, so that the order of items cannot move the last bit of a sum.
    ordered = pairable[np.lexsort(pairable.T)]
    domain = np.arange(counts.shape[1], dtype=np.float64)
    return float(krippendorff.alpha(value_counts=ordered, value_domain=domain, level_of_measurement=scale_level))
