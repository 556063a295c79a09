"""Error rates of the majority of K draws, exactly, from the verdicts at hand.

Items with the same counts have the same chances, so the distribution of a draw is summed once for each distinct row of
counts and each K. The chances are then added up by question once for all K, so that a curve costs little more than
one point of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_labels, check_level, encode_clusters, encode_labels
from experiments.stats.intervals.clustered_wilson import clustered_bounds

__all__ = ["MajorityErrorRates", "majority_curve", "majority_error_rates"]

LARGEST_KEY = 2**20
"""Rows of counts that are told apart by a table of all that there could be."""


@dataclass(frozen=True, slots=True)
class MajorityErrorRates:
    """Error rates of the most frequent label of ``k`` draws.

    Over items that people called positive: ``false_negative`` (another label wins) and ``false_negative_ties``
    (no label wins). Over all others: ``false_positive`` (the positive label wins) and ``false_positive_ties``.
    A tie is no verdict: neither right nor wrong.
    """

    k: int
    false_negative: Estimate
    false_positive: Estimate
    false_negative_ties: Estimate
    false_positive_ties: Estimate


def majority_error_rates(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    k: int,
    level: float = 0.95,
) -> MajorityErrorRates:
    """Error rates of the most frequent label of ``k`` of an item's verdicts, drawn without replacement.

    Exact: the multivariate hypergeometric distribution of the draw is summed over all its outcomes, none is
    simulated. With ``k = 1`` these are the single-draw rates. Items with fewer than ``k`` valid verdicts are
    left out, so ``n`` of the estimates can shrink as ``k`` grows.

    Parameters
    ----------
    reference, counts, clusters, labels, positive, level
        As in :func:`experiments.stats.false_negative_rate`.
    k
        Number of draws, 1 or more.

    Raises
    ------
    ValueError
        ``k`` below 1, a label off the scale, a negative count, lengths that differ.
    """
    if k < 1:
        raise ValueError(f"k: too few draws, got {k}; expected 1 or more")
    votes = _read_votes(reference, counts, clusters, labels=labels, positive=positive)
    return _majority_points(votes, [k], level=level)[0]


def majority_curve(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> tuple[MajorityErrorRates, ...]:
    """:func:`majority_error_rates` for every number of draws from 1 to the most verdicts that any item has.

    With unequal repeats later points rest on fewer items (``n`` of each estimate), and a step of the curve may come
    from the items that drop out. Even K have ties; compare odd K with odd K.

    Parameters
    ----------
    reference, counts, clusters, labels, positive, level
        As in :func:`experiments.stats.false_negative_rate`.

    Returns
    -------
    tuple of MajorityErrorRates
        One a K, in order; empty without a valid verdict.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    votes = _read_votes(reference, counts, clusters, labels=labels, positive=positive)
    return tuple(_majority_points(votes, range(1, int(votes.valid.max(initial=0)) + 1), level=level))


@dataclass(frozen=True, slots=True)
class _Votes:
    """Verdicts (n, L), how many are valid (n,), whose label is positive (n,), the question (n,), the positive label."""

    table: NDArray[np.int64]
    valid: NDArray[np.int64]
    is_positive: NDArray[np.bool_]
    codes: NDArray[np.int64]
    position: int


def _read_votes(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
) -> _Votes:
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    position = list(labels).index(positive)
    codes = encode_clusters(clusters, n=len(people))
    return _Votes(table, table.sum(axis=1), people == position, codes, position)


def _majority_points(votes: _Votes, draws: Sequence[int], *, level: float) -> list[MajorityErrorRates]:
    check_level(level)
    if not draws:
        return []
    distinct, which = _distinct_rows(votes.table)
    valid = distinct.sum(axis=1)
    shares = np.zeros((len(distinct), len(draws), 4))  # lost, won, tied, and whether the item has enough verdicts
    for place, k in enumerate(draws):
        enough = valid >= k
        wins, ties = majority_shares(distinct[enough], votes.position, k)
        shares[enough, place] = np.column_stack([np.clip(1 - wins - ties, 0, 1), wins, ties, np.ones_like(wins)])
    rows = {True: votes.is_positive, False: ~votes.is_positive}
    sums = {right: _cluster_shares(shares, which[row], votes.codes[row]) for right, row in rows.items()}
    most = {right: int(votes.valid[row].max(initial=0)) for right, row in rows.items()}

    def rate(right: bool, place: int, kind: int) -> Estimate:
        return _share_estimate(sums[right][:, place, kind], sums[right][:, place, 3], repeats=most[right], level=level)

    return [
        MajorityErrorRates(k, rate(True, place, 0), rate(False, place, 1), rate(True, place, 2), rate(False, place, 2))
        for place, k in enumerate(draws)
    ]


def _distinct_rows(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of a table of counts in ascending order, and which of them each row is."""
    base = max(int(table.max(initial=0)) + 1, 2)
    if base ** table.shape[1] > LARGEST_KEY:
        distinct, which = np.unique(table, axis=0, return_inverse=True)
        return distinct, which.ravel()
    # A row as one number, the first count its first digit: sorts as the rows do, in a hundredth of the time.
    keys = np.ravel_multi_index(tuple(table.T), (base,) * table.shape[1])
    present = np.bincount(keys, minlength=base ** table.shape[1]) > 0
    distinct = np.column_stack(np.unravel_index(np.flatnonzero(present), (base,) * table.shape[1]))
    return distinct, (np.cumsum(present) - 1)[keys]


def _cluster_shares(
    shares: NDArray[np.float64], which: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Sums of the items' shares by cluster, (G, K, 4), from the shares of distinct rows (D, K, 4)."""
    n_distinct, n_draws, kinds = shares.shape
    sums = sum_by_cluster(shares.reshape(n_distinct, n_draws * kinds)[which], codes)
    return sums.reshape(len(sums), n_draws, kinds)


def _share_estimate(sums: NDArray[np.float64], sizes: NDArray[np.float64], *, repeats: int, level: float) -> Estimate:
    """Clustered Wilson interval from sums of shares and numbers of items by cluster, clusters without items too."""
    used = sizes > 0
    if not used.any():
        return Estimate(None, None, None, level, "wilson-clustered", 0, 0, 0)
    sums, sizes = sums[used], sizes[used]
    n = int(sizes.sum())
    low, high = clustered_bounds(sums, sizes, n_verdicts=n * repeats, level=level)
    return Estimate(float(sums.sum() / n), low, high, level, "wilson-clustered", n, len(sums), repeats)


def majority_shares(table: NDArray[np.int64], position: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance that label ``position`` is the most frequent of ``k`` draws, and chance of a tie, each (n,)."""
    outcomes = draw_outcomes(k, table.shape[1])
    best = outcomes.max(axis=1)
    tied = (outcomes == best[:, None]).sum(axis=1) > 1
    won = ~tied & (outcomes[:, position] == best)
    distinct, which = _distinct_rows(table)
    # Ways to draw c of n by [n, c]: a look-up for every row instead of a binomial for each of its outcomes.
    most = int(distinct.sum(axis=1).max(initial=0))
    ways = comb(np.arange(most + 1)[:, None], np.arange(k + 1))
    if np.isinf(ways).any():
        raise ValueError(f"counts: too many verdicts of an item for {k} draws, got {most}; expected 1029 or fewer")
    chances = [ways[row, outcomes].prod(axis=1) / ways[row.sum(), k] for row in distinct]
    shares = np.array([[chance[won].sum(), chance[tied].sum()] for chance in chances]).reshape(-1, 2)
    wins, ties = np.clip(shares, 0.0, 1.0)[which].T
    return wins, ties


def draw_outcomes(k: int, n_labels: int) -> NDArray[np.int64]:
    """Every way in which k draws can fall on the labels, shape (n_ways, n_labels)."""
    # Stars and bars: the places of the bars among k + L - 1 places give every way to share out k draws.
    bars = np.array(list(combinations(range(k + n_labels - 1), n_labels - 1)), dtype=np.int64)
    bars = bars.reshape(-1, n_labels - 1)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), k + n_labels - 1)])
    return np.diff(edges, axis=1) - 1
