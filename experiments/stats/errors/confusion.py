"""The confusion matrix of a grader against people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.inputs import check_counts, check_labels, encode_labels

__all__ = ["ConfusionMatrix", "confusion_matrix"]


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """People in rows, the grader in columns, both in the order of ``labels``.

    ``counts`` are valid verdicts. ``rates`` are the mean, over a row's items with a valid verdict, of the
    item's shares; a row without such an item is all ``None``. With unequal repeats a rate is therefore not
    a count over its row's sum.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    rates: tuple[tuple[float | None, ...], ...]


def confusion_matrix(reference: Sequence[str], counts: ArrayLike, *, labels: Sequence[str]) -> ConfusionMatrix:
    """Confusion matrix in verdicts and in row rates.

    Parameters
    ----------
    reference
        (n,) people's label of each item.
    counts
        (n, L) valid verdicts of each item with each label; rows of zeros are left out of the rates.
    labels
        (L,) the scale, which fixes the order of rows and columns.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ.
    """
    check_labels(labels)
    codes = encode_labels(reference, labels)
    table = check_counts(counts, n=len(codes), n_labels=len(labels))
    rows = [table[codes == position] for position in range(len(labels))]
    return ConfusionMatrix(
        labels=tuple(labels),
        counts=tuple(tuple(int(count) for count in row.sum(axis=0)) for row in rows),
        rates=tuple(_row_rates(row) for row in rows),
    )


def _row_rates(row: NDArray[np.int64]) -> tuple[float | None, ...]:
    valid = row[row.sum(axis=1) > 0]
    if not len(valid):
        return tuple(None for _ in range(row.shape[1]))
    shares = valid / valid.sum(axis=1, keepdims=True)
    # Sorted, so that the order of items cannot move the last bit of a sum.
    return tuple(float(rate) for rate in np.sort(shares, axis=0).mean(axis=0))
