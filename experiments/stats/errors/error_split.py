"""Which part of an error rate repeats would remove, and which part they would not.

Item i has a chance e_i that one verdict is wrong, so the single-draw rate is the mean of e_i. It is the sum of

- the systematic part, the mean of ``e_i**2``: the chance that two independent verdicts of an item are both wrong;
- the random part, the mean of ``e_i (1 - e_i)``: the chance that the first is wrong and the second right, which is
  half the chance that two verdicts of an item differ, and the variance of one verdict about its item.

Of w wrong verdicts among r of an item, the ordered pairs that are wrong twice are ``w (w - 1)`` of ``r (r - 1)``, and
those that are wrong and then right ``w (r - w)``. Both shares are unbiased for any r of two or more [U-statistics:
Hoeffding 1948], and they add up to ``w / r``, the item's part of the rate. With one verdict there is no pair.

Why this definition: what survives *any* number of repeats under a majority is the share of items with ``e_i > 1/2``.
That share has no unbiased estimator from finitely many repeats, since it jumps where e_i passes 1/2; the curve of
:func:`experiments.stats.errors.majority_curve` shows how far the repeats at hand go towards it. The definitions agree
where items are always right or always wrong, and ``e (2 e - 1) <= 1{e > 1/2} <= e**2 + 3 e (1 - e)`` holds for every e
in [0, 1], so that the share lies between ``systematic - random`` and ``systematic + 3 random``, the sharpest linear
bounds in the two parts: :attr:`ErrorSplit.majority_limit`. Little randomness pins it down.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_labels, encode_clusters, encode_labels
from experiments.stats.intervals.clustered_wilson import clustered_wilson

__all__ = ["ErrorSplit", "ErrorSplits", "error_split", "split_wrong_verdicts"]


@dataclass(frozen=True, slots=True)
class ErrorSplit:
    """An error rate and its two parts, all three over the items with two or more valid verdicts.

    ``rate.value`` is ``systematic.value + random.value``. ``single_verdict`` items had one valid verdict and
    ``no_verdict`` items none: they are left out. The random part is never above one half.
    """

    rate: Estimate
    systematic: Estimate
    random: Estimate
    single_verdict: int
    no_verdict: int

    @property
    def majority_limit(self) -> tuple[float, float] | None:
        """Bounds of the share of items that most verdicts get wrong, at the estimated parts (no sampling error)."""
        if self.systematic.value is None or self.random.value is None:
            return None
        return (
            max(0.0, self.systematic.value - self.random.value),
            min(1.0, self.systematic.value + 3 * self.random.value),
        )


@dataclass(frozen=True, slots=True)
class ErrorSplits:
    """Splits of a grader's error rates.

    ``false_negative`` is over items that people called positive, ``false_positive`` over all others. Over all items:
    ``wrong_side`` counts either of the two as the error, ``wrong_label`` any label but people's; on a scale of two
    labels these are the same.
    """

    false_negative: ErrorSplit
    false_positive: ErrorSplit
    wrong_side: ErrorSplit
    wrong_label: ErrorSplit


def error_split(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> ErrorSplits:
    """Systematic and random parts of a grader's error rates.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; repeats may be unequal.
    clusters
        (n,) the question of each item.
    labels
        (L,) the scale.
    positive
        The label that counts as right.
    level
        Confidence level of the intervals.

    Returns
    -------
    ErrorSplits
        Values are ``None`` where no item has two valid verdicts.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    codes = encode_clusters(clusters, n=len(people))
    valid, position = table.sum(axis=1), list(labels).index(positive)
    is_positive, passed = people == position, table[:, position]
    side = np.where(is_positive, valid - passed, passed)
    label = valid - table[np.arange(len(table)), people]

    def split(wrong: NDArray[np.int64], row: NDArray[np.bool_]) -> ErrorSplit:
        return split_wrong_verdicts(wrong[row], valid[row], codes[row].tolist(), level=level)

    everything = np.ones(len(people), dtype=np.bool_)
    return ErrorSplits(
        split(side, is_positive), split(side, ~is_positive), split(side, everything), split(label, everything)
    )


def split_wrong_verdicts(
    wrong: ArrayLike, valid: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95
) -> ErrorSplit:
    """Systematic and random part of any error that a verdict either makes or does not.

    Parameters
    ----------
    wrong
        (n,) wrong verdicts of each item.
    valid
        (n,) valid verdicts of each item, no fewer than the wrong ones.
    clusters
        (n,) the question of each item.
    level
        Confidence level of the intervals.

    Returns
    -------
    ErrorSplit
        The intervals are :func:`experiments.stats.clustered_wilson` over the items' parts; that of the random part
        is taken for the share of pairs that differ, which lies in [0, 1], and halved.

    Raises
    ------
    ValueError
        Numbers that are no counts, more wrong verdicts than valid ones, lengths that differ.
    """
    bad, seen = _check_wrong(wrong, valid)
    codes = encode_clusters(clusters, n=len(bad))
    paired = seen >= 2
    w, r, groups = bad[paired], seen[paired], codes[paired].tolist()
    most, pairs = int(r.max(initial=0)), r * (r - 1)

    def mean(shares: NDArray[np.float64]) -> Estimate:
        return clustered_wilson(shares, groups, repeats=most, level=level)

    return ErrorSplit(
        rate=mean(w / np.maximum(r, 1)),
        systematic=mean(w * (w - 1) / pairs),
        random=_halved(mean(2 * w * (r - w) / pairs)),
        single_verdict=int((seen == 1).sum()),
        no_verdict=int((seen == 0).sum()),
    )


def _halved(estimate: Estimate) -> Estimate:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, value=estimate.value / 2, low=estimate.low / 2, high=estimate.high / 2)


def _check_wrong(wrong: ArrayLike, valid: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    bad, seen = np.asarray(wrong), np.asarray(valid)
    if bad.ndim != 1 or bad.shape != seen.shape:
        raise ValueError(f"wrong, valid: wrong shapes, got {bad.shape} and {seen.shape}; expected (n,) twice")
    both = check_counts(np.column_stack([bad, seen]), n_labels=2)
    surplus = np.flatnonzero(both[:, 0] > both[:, 1])
    if len(surplus):
        row = int(surplus[0])
        raise ValueError(f"wrong[{row}]: more wrong verdicts than valid, got {bad[row]}; expected {seen[row]} at most")
    return both[:, 0], both[:, 1]
