"""The mean of values that lie between 0 and 1 but are no shares of verdicts: squared errors, an item's own F1.

The interval is :func:`experiments.stats.intervals.clustered_wilson`'s, with one rule less. That one takes a verdict for
a 0 or a 1, so a mean of n verdicts cannot vary less than that of n tosses of a coin, and its effective sample size is
capped at their number. Values in between do vary less: a score that is at most one step off, of four, has a mean error
with about a fifth of that variance. Here the variance between questions decides alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from experiments.stats.estimate import Estimate
from experiments.stats.intervals.clustered_wilson import LARGEST_SAMPLE, clustered_bounds, clustered_wilson, share_sums

__all__ = ["bounded_mean"]


def bounded_mean(item_means: ArrayLike, clusters: Sequence[Hashable], *, repeats: int, level: float = 0.95) -> Estimate:
    """Mean of values in [0, 1] with Wilson's interval on the cluster-robust variance.

    Parameters
    ----------
    item_means
        (n,) each item's value, in [0, 1].
    clusters
        (n,) the question of each item.
    repeats
        The most verdicts that any item has; only carried along.
    level
        Confidence level.

    Returns
    -------
    Estimate
        All ``None`` without items. Where all questions agree the interval is that of as many single labels.

    Raises
    ------
    ValueError
        A value outside [0, 1], lengths that differ, a ``level`` not between 0 and 1.
    """
    plain = clustered_wilson(item_means, clusters, repeats=repeats, level=level)
    if plain.value is None:
        return plain
    low, high = clustered_bounds(*share_sums(item_means, clusters), n_verdicts=int(LARGEST_SAMPLE), level=level)
    return replace(plain, low=low, high=high, method="wilson-bounded")
