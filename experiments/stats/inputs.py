"""Checks on what the statistics are given, and the two encodings that they share.

Every check raises ``ValueError`` with one line of the form ``where: what, got; expected``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ScaleLevel",
    "as_clusters",
    "check_counts",
    "check_expected",
    "check_labels",
    "check_level",
    "encode_clusters",
    "encode_labels",
]

ScaleLevel = Literal["nominal", "ordinal", "interval"]
"""Level of measurement of a label scale."""

SCALE_LEVELS = get_args(ScaleLevel)


def check_level(level: float) -> None:
    """Raise ``ValueError`` unless the confidence level lies strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level: not a confidence level, got {level!r}; expected a number between 0 and 1")


def check_labels(labels: Sequence[str], positive: str | None = None, scale_level: ScaleLevel = "nominal") -> None:
    """Raise ``ValueError`` unless the scale is a list of distinct labels with ``positive``, of a known level."""
    if isinstance(labels, str) or not labels:
        raise ValueError(f"labels: not a scale, got {labels!r}; expected a list of one or more labels")
    if len(set(labels)) != len(labels):
        raise ValueError(f"labels: a label stands twice, got {list(labels)}; expected distinct labels")
    if positive is not None and positive not in labels:
        raise ValueError(f"positive: label not on the scale, got {positive!r}; expected one of {list(labels)}")
    if scale_level not in SCALE_LEVELS:
        raise ValueError(f"scale_level: unknown, got {scale_level!r}; expected one of {list(SCALE_LEVELS)}")


def check_counts(counts: ArrayLike, *, n: int | None = None, n_labels: int | None = None) -> NDArray[np.int64]:
    """Counts of valid verdicts as an integer array of shape (n, n_labels), any n or n_labels where ``None``.

    Raises
    ------
    ValueError
        Another shape, a negative or fractional count, a count that is not a number.
    """
    try:
        table = np.asarray(counts)
    except ValueError:
        raise ValueError("counts: wrong shape, got rows of unequal length; expected one column a label") from None
    if table.shape == (0,):
        table = table.reshape(0, n_labels or 0)
    wanted = ("n" if n is None else n, "labels" if n_labels is None else n_labels)
    if table.ndim != 2 or n not in (None, len(table)) or n_labels not in (None, table.shape[1]):
        raise ValueError(f"counts: wrong shape, got {table.shape}; expected ({wanted[0]}, {wanted[1]}), a row an item")
    return _whole_numbers("counts", table)


def check_expected(expected: int | Sequence[int], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Verdicts expected of each item, shape (n,); ``ValueError`` for less than one, or fewer than arrived."""
    asked = np.asarray(expected)
    if asked.ndim == 0:
        asked = np.repeat(asked, len(counts))
    if asked.shape != (len(counts),):
        raise ValueError(f"expected: wrong shape, got {asked.shape}; expected one number, or one for each item")
    asked = _whole_numbers("expected", asked)
    if np.any(asked < 1):
        raise ValueError(f"expected: too few verdicts, got {asked.min()}; expected 1 or more an item")
    surplus = counts.sum(axis=1) > asked
    if np.any(surplus):
        row = int(np.flatnonzero(surplus)[0])
        raise ValueError(f"counts[{row}]: more verdicts than asked for, got {counts[row].sum()}; expected {asked[row]}")
    return asked


def encode_labels(reference: Sequence[str], labels: Sequence[str], where: str = "reference") -> NDArray[np.int64]:
    """Position of each label on the scale, shape (n,); ``ValueError`` for a stranger to the scale."""
    array = _as_array(reference)
    if array is not None:
        return _encode_label_array(array, labels, where)
    positions = {label: position for position, label in enumerate(labels)}
    for row, label in enumerate(reference):
        if label not in positions:
            raise _stranger(where, row, label, labels)
    return np.array([positions[label] for label in reference], dtype=np.int64)


def _encode_label_array(reference: NDArray[Any], labels: Sequence[str], where: str) -> NDArray[np.int64]:
    """The same of an array of texts, without a loop over its items."""
    codes = np.full(len(reference), -1, dtype=np.int64)
    for position, label in enumerate(labels):
        codes[reference == label] = position
    strange = np.flatnonzero(codes < 0)
    if len(strange):
        raise _stranger(where, int(strange[0]), reference[strange[0]], labels)
    return codes


def _stranger(where: str, row: int, label: str, labels: Sequence[str]) -> ValueError:
    return ValueError(f"{where}[{row}]: label not on the scale, got {label!r}; expected one of {list(labels)}")


def encode_clusters(clusters: Sequence[Hashable], *, n: int) -> NDArray[np.int64]:
    """Whole number of each item's cluster, shape (n,), in order of first appearance; ``ValueError`` for another n."""
    if len(clusters) != n:
        raise ValueError(f"clusters: wrong length, got {len(clusters)}; expected {n}, one an item")
    array = _as_array(clusters)
    if array is not None and array.dtype.kind in "iu":
        return _encode_numbers(array)
    codes: dict[Hashable, int] = {}
    return np.array([codes.setdefault(cluster, len(codes)) for cluster in clusters], dtype=np.int64)


def as_clusters(codes: NDArray[np.int64]) -> Sequence[Hashable]:
    """Whole numbers (n,) as the clusters of n items: :func:`encode_clusters` reads an array without a loop over it."""
    return cast(Sequence[Hashable], codes)


def _as_array(given: object) -> NDArray[Any] | None:
    return given if isinstance(given, np.ndarray) else None


def _encode_numbers(clusters: NDArray[Any]) -> NDArray[np.int64]:
    """Clusters that are whole numbers already, numbered by first appearance."""
    _, first, inverse = np.unique(clusters, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return np.asarray(place[inverse.ravel()], dtype=np.int64)


def _whole_numbers(where: str, numbers: NDArray[Any]) -> NDArray[np.int64]:
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise ValueError(f"{where}: not numbers, got {numbers.dtype}; expected whole numbers")
    bad = numbers[~(np.isfinite(numbers) & (numbers >= 0) & (np.floor(numbers) == numbers))] if numbers.size else []
    if len(bad):
        raise ValueError(f"{where}: not a count, got {bad[0]}; expected whole numbers, 0 or more")
    return numbers.astype(np.int64)
