"""Error rates of the majority of K draws, exactly, from the verdicts at hand."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_labels, encode_clusters, encode_labels
from experiments.stats.intervals import clustered_wilson

__all__ = ["MajorityErrorRates", "majority_error_rates"]


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
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(people))
    enough = table.sum(axis=1) >= k
    position = list(labels).index(positive)
    wins, ties = majority_shares(table[enough], position, k)
    repeats = int(table[enough].sum(axis=1).max(initial=0))

    def rate(shares: NDArray[np.float64], row: NDArray[np.bool_]) -> Estimate:
        return clustered_wilson(shares[row], codes[enough][row].tolist(), repeats=repeats, level=level)

    row = people[enough] == position
    return MajorityErrorRates(
        k=k,
        false_negative=rate(np.clip(1.0 - wins - ties, 0.0, 1.0), row),
        false_positive=rate(wins, ~row),
        false_negative_ties=rate(ties, row),
        false_positive_ties=rate(ties, ~row),
    )


def majority_shares(table: NDArray[np.int64], position: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance that label ``position`` is the most frequent of ``k`` draws, and chance of a tie, each (n,)."""
    outcomes = draw_outcomes(k, table.shape[1])
    best = outcomes.max(axis=1)
    tied = (outcomes == best[:, None]).sum(axis=1) > 1
    won = ~tied & (outcomes[:, position] == best)
    distinct, which = np.unique(table, axis=0, return_inverse=True)
    chances = [comb(row, outcomes).prod(axis=1) / comb(row.sum(), k) for row in distinct]
    shares = np.array([[chance[won].sum(), chance[tied].sum()] for chance in chances]).reshape(-1, 2)
    wins, ties = np.clip(shares, 0.0, 1.0)[which.ravel()].T
    return wins, ties


def draw_outcomes(k: int, n_labels: int) -> NDArray[np.int64]:
    """Every way in which k draws can fall on the labels, shape (n_ways, n_labels)."""
    # Stars and bars: the places of the bars among k + L - 1 places give every way to share out k draws.
    bars = np.array(list(combinations(range(k + n_labels - 1), n_labels - 1)), dtype=np.int64)
    bars = bars.reshape(-1, n_labels - 1)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), k + n_labels - 1)])
    return np.diff(edges, axis=1) - 1
