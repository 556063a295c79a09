"""Statistics of graders whose verdicts are known as chances of the labels, not as draws.

Each takes ``shares`` of shape (n, L): a row of chances an item, or a row of NaN where there is no
verdict. ``draws`` is the number R of draws that such a distribution stands for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, gammaln, xlogy

from experiments.stats.errors.majority import MajorityErrorRates, draw_outcomes
from experiments.stats.errors.rates import ErrorRateBounds
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_labels, encode_clusters, encode_labels
from experiments.stats.intervals.clustered_wilson import clustered_wilson

__all__ = [
    "check_shares",
    "exact_agreement",
    "exact_bounds",
    "exact_entropy",
    "exact_error_rates",
    "exact_flip_rate",
    "exact_majority_error_rates",
    "exact_pairwise_disagreement",
]

_TOLERANCE = 1e-6


def check_shares(shares: ArrayLike, *, n: int, n_labels: int) -> NDArray[np.float64]:
    """Chances of labels as an array of shape (n, n_labels); rows add up to 1, or are all NaN.

    Raises
    ------
    ValueError
        Another shape; a chance outside [0, 1]; a row that does not add up to 1.
    """
    table = np.asarray(shares, dtype=np.float64)
    table = table if table.size else table.reshape(0, n_labels)
    if table.shape != (n, n_labels):
        raise ValueError(f"shares: wrong shape, got {table.shape}; expected ({n}, {n_labels}), a row an item")
    chances = ((table >= 0) & (table <= 1)).all(axis=1) & (np.abs(table.sum(axis=1) - 1) <= _TOLERANCE)
    bad = np.flatnonzero(~chances & ~np.isnan(table).all(axis=1))
    if len(bad):
        raise ValueError(
            f"shares[{bad[0]}]: no distribution, got {table[bad[0]].tolist()}; expected chances that add up to 1"
        )
    return table


def exact_error_rates(
    reference: Sequence[str],
    shares: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    draws: int,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    """False-negative and false-positive rate of one draw; means of item chances, as for sampled verdicts.

    ``shares`` (n, L) are each item's chances of the labels, which add up to 1, or NaN where it has none.

    Raises
    ------
    ValueError
        A label off the scale, no distribution, lengths that differ.
    """
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_shares(shares, n=len(people), n_labels=len(labels))
    position = list(labels).index(positive)
    row = people == position
    passed = table[:, position]
    return (
        _mean(1.0 - passed, row, clusters, draws=draws, level=level),
        _mean(passed, ~row, clusters, draws=draws, level=level),
    )


def exact_bounds(
    reference: Sequence[str], shares: ArrayLike, *, labels: Sequence[str], positive: str
) -> ErrorRateBounds:
    """Error rates of one draw if every item without a distribution were right, and if every one were wrong.

    ``shares`` (n, L) as in :func:`exact_error_rates`.
    """
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_shares(shares, n=len(people), n_labels=len(labels))
    position = list(labels).index(positive)
    row, passed = people == position, table[:, position]
    return ErrorRateBounds(_span(1.0 - passed[row]), _span(passed[~row]))


def _span(wrong: NDArray[np.float64]) -> tuple[float, float] | None:
    if not len(wrong):
        return None
    # Sorted, so that the order of items cannot move the last bit of a sum.
    return _sorted_mean(np.nan_to_num(wrong, nan=0.0)), _sorted_mean(np.nan_to_num(wrong, nan=1.0))


def _sorted_mean(values: NDArray[np.float64]) -> float:
    return float(np.sort(values).mean())


def exact_agreement(
    reference: Sequence[str],
    shares: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    draws: int,
    level: float = 0.95,
) -> Estimate:
    """Chance that one draw is people's label; ``shares`` (n, L) as in :func:`exact_error_rates`."""
    check_labels(labels)
    people = encode_labels(reference, labels)
    table = check_shares(shares, n=len(people), n_labels=len(labels))
    same = table[np.arange(len(people)), people]
    return _mean(same, np.ones(len(people), dtype=np.bool_), clusters, draws=draws, level=level)


def exact_pairwise_disagreement(
    shares: ArrayLike, clusters: Sequence[Hashable], *, draws: int, level: float = 0.95
) -> Estimate:
    """Chance that two draws of an item differ, ``1 - sum_l p_l ** 2``, the mean over items.

    ``shares`` (n, L) as in :func:`exact_error_rates`.
    """
    table = _table(shares, n=len(clusters))
    return _mean(1.0 - (table**2).sum(axis=1), _all(table), clusters, draws=draws, level=level)


def exact_flip_rate(shares: ArrayLike, clusters: Sequence[Hashable], *, draws: int, level: float = 0.95) -> Estimate:
    """Chance that R draws of an item show two different labels, ``1 - sum_l p_l ** R``, the mean over items.

    ``shares`` (n, L) as in :func:`exact_error_rates`.
    """
    table = _table(shares, n=len(clusters))
    return _mean(1.0 - (table**draws).sum(axis=1), _all(table), clusters, draws=draws, level=level)


def exact_entropy(shares: ArrayLike) -> list[float | None]:
    """Entropy of each item's distribution in bits; ``None`` where there is none."""
    bits = entr(_table(shares, n=len(np.asarray(shares)))).sum(axis=1) / np.log(2)
    return [None if np.isnan(value) else float(value) for value in bits]


def exact_majority_error_rates(
    reference: Sequence[str],
    shares: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    k: int,
    draws: int,
    level: float = 0.95,
) -> MajorityErrorRates:
    """Error rates of the most frequent label of ``k`` draws, from the multinomial distribution of the draws.

    ``draws``, not ``k``, bounds the intervals, as for draws that were really made: at ``k = 1`` they are those
    of :func:`exact_error_rates`.

    Raises
    ------
    ValueError
        ``k`` below 1.
    """
    if k < 1:
        raise ValueError(f"k: too few draws, got {k}; expected 1 or more")
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_shares(shares, n=len(people), n_labels=len(labels))
    position = list(labels).index(positive)
    wins, ties = _majority_chances(table, position, k)
    row = people == position

    def rate(values: NDArray[np.float64], rows: NDArray[np.bool_]) -> Estimate:
        return _mean(values, rows, clusters, draws=draws, level=level)

    return MajorityErrorRates(
        k=k,
        false_negative=rate(1.0 - wins - ties, row),
        false_positive=rate(wins, ~row),
        false_negative_ties=rate(ties, row),
        false_positive_ties=rate(ties, ~row),
    )


def _majority_chances(
    table: NDArray[np.float64], position: int, k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance that a label is the most frequent of k draws, and chance of a tie, each (n,)."""
    outcomes = draw_outcomes(k, table.shape[1])
    best = outcomes.max(axis=1)
    tied = (outcomes == best[:, None]).sum(axis=1) > 1
    won = ~tied & (outcomes[:, position] == best)
    ways = gammaln(k + 1) - gammaln(outcomes + 1).sum(axis=1)
    chances = np.exp(ways + xlogy(outcomes[None, :, :], table[:, None, :]).sum(axis=2))
    return chances[:, won].sum(axis=1), chances[:, tied].sum(axis=1)


def _table(shares: ArrayLike, *, n: int) -> NDArray[np.float64]:
    table = np.asarray(shares, dtype=np.float64)
    return check_shares(table, n=n, n_labels=table.shape[1] if table.ndim == 2 else 1)


def _all(table: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.ones(len(table), dtype=np.bool_)


def _mean(
    values: NDArray[np.float64], row: NDArray[np.bool_], clusters: Sequence[Hashable], *, draws: int, level: float
) -> Estimate:
    if draws < 1:
        raise ValueError(f"draws: too few, got {draws}; expected 1 or more")
    used = row & ~np.isnan(values)
    groups = encode_clusters(clusters, n=len(values))[used]
    return clustered_wilson(np.clip(values[used], 0.0, 1.0), groups.tolist(), repeats=draws, level=level)
