"""Error rates under missing verdicts: the range that the missing allow, with an interval around the whole range.

Without an assumption about the missing verdicts an error rate is only known to lie between its value with all of them
right and its value with all of them wrong [Manski 1989]. Both ends are estimates. The interval here runs from the lower
limit of the lower end to the upper limit of the upper end, each from a two-sided interval at ``level`` [Horowitz and
Manski 2000]: each limit is missed with chance ``(1 - level) / 2`` at most, so the whole range is inside with chance
``level`` or more, and so is the rate itself, whatever the missing verdicts would have been. The interval of Imbens and
Manski [2004] holds the rate but not the range. Its margins are at best ``1.645 / 1.96`` times as long at 95%, it
rests on normal limits, which a rate of few errors does not follow, and it says less than two bounds seem to say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_expected, check_labels, encode_clusters, encode_labels
from experiments.stats.intervals.clustered_wilson import clustered_wilson

__all__ = ["BoundedErrorRates", "BoundedRate", "bounded_error_rates"]


@dataclass(frozen=True, slots=True)
class BoundedRate:
    """A rate that missing verdicts leave open.

    ``best`` is the rate with every missing verdict right, ``worst`` with every one wrong, each with its own interval.
    ``missing`` of ``expected`` verdicts did not arrive.
    """

    best: Estimate
    worst: Estimate
    missing: int
    expected: int

    @property
    def low(self) -> float | None:
        """Lower limit of the interval that holds the whole range."""
        return self.best.low

    @property
    def high(self) -> float | None:
        """Upper limit of the interval that holds the whole range."""
        return self.worst.high


@dataclass(frozen=True, slots=True)
class BoundedErrorRates:
    """Error rates over items that people called positive, over all others, and over all items (the wrong side)."""

    false_negative: BoundedRate
    false_positive: BoundedRate
    wrong_side: BoundedRate


def bounded_error_rates(
    reference: Sequence[str],
    counts: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    expected: int | Sequence[int],
    labels: Sequence[str],
    positive: str,
    level: float = 0.95,
) -> BoundedErrorRates:
    """Error rates if every missing verdict had been right, and if every one had been wrong, with intervals.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; items without any count in full.
    clusters
        (n,) the question of each item.
    expected
        Verdicts asked for, of every item or of each one.
    labels
        (L,) the scale.
    positive
        The label that counts as right.
    level
        Confidence level: the interval from ``low`` to ``high`` holds the whole range with this chance or more.

    Returns
    -------
    BoundedErrorRates
        The values are those of :func:`experiments.stats.error_rate_bounds`; ``None`` where people gave no such label.
        With no verdict missing ``best`` and ``worst`` are the single-draw rate. ``n`` counts every item asked about.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ, more verdicts of an item than were expected.
    """
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    table = check_counts(counts, n=len(people), n_labels=len(labels))
    asked, codes = check_expected(expected, table), encode_clusters(clusters, n=len(people))
    valid, position = table.sum(axis=1), list(labels).index(positive)
    is_positive, passed = people == position, table[:, position]
    wrong = np.where(is_positive, valid - passed, passed)

    def bound(row: NDArray[np.bool_]) -> BoundedRate:
        return _bounded_rate(wrong[row], valid[row], asked[row], codes[row].tolist(), level=level)

    return BoundedErrorRates(bound(is_positive), bound(~is_positive), bound(np.ones(len(people), dtype=np.bool_)))


def _bounded_rate(
    wrong: NDArray[np.int64],
    valid: NDArray[np.int64],
    asked: NDArray[np.int64],
    groups: Sequence[Hashable],
    *,
    level: float,
) -> BoundedRate:
    missing = asked - valid
    repeats = int(valid.max(initial=0))  # verdicts that are made up tell nothing more
    return BoundedRate(
        best=clustered_wilson(wrong / asked, groups, repeats=repeats, level=level),
        worst=clustered_wilson((wrong + missing) / asked, groups, repeats=repeats, level=level),
        missing=int(missing.sum()),
        expected=int(asked.sum()),
    )
