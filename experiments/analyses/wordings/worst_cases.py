"""What is missing, taken to have gone against a wording: what a rule must stand before a wording is adopted.

Nothing is known of what is missing. Where the verdicts of a cell are filled in by whatever makes its score lowest, or
highest, the data are complete, and an interval of them is one for the lowest, or highest, score that could be true
[Manski 2003; the interval of such an end as in Horowitz and Manski 2000]. All scores are ratios of shares, so that
their ends lie where all that is missing has one and the same class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.stats.scores import score_value

__all__ = ["fill_chances", "fill_shares"]

Array = NDArray[np.float64]


def fill_shares(
    shares: Array,
    present: Array,
    quantity: str,
    *,
    best: bool,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float,
) -> tuple[Array, Array]:
    """Shares of labels with all that is missing put where it makes a score highest, or lowest.

    Parameters
    ----------
    shares
        (n, L) shares of each question's labels, a row of zeros where it has none.
    present
        (n,) the part of each question's verdicts that its shares rest on, 0 to 1.
    quantity, labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.scores.score_functions.score_value`.
    best
        Highest, not lowest.

    Returns
    -------
    (n, L) filled shares, and (n, L) the part of them that was filled in.
    """
    parts = np.where(shares.sum(axis=1) > 0, present, 0.0)
    known = shares * parts[:, None]
    totals = np.sort(known, axis=0).sum(axis=0) + np.sort(1 - parts).sum() * np.eye(len(labels))
    values = score_value(quantity, totals, labels=labels, correct=correct, not_attempted=not_attempted, penalty=penalty)
    ends = np.where(np.isnan(values), -np.inf, values if best else -values)
    missing = (1 - parts)[:, None] * np.eye(len(labels))[int(ends.argmax())]
    return known + missing, missing


def fill_chances(chances: Array, present: Array, *, best: bool) -> Array:
    """(n,) chances that a verdict is right, with those that are missing all right, or all wrong.

    ``chances`` may be anything where ``present`` is 0; NaN marks items that the chance is not about.
    """
    return np.asarray(chances * present + (1 - present) * best, dtype=np.float64)
