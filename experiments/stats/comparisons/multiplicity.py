"""P-values adjusted for the size of their family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from experiments.stats.inputs import check_level

__all__ = ["AdjustedPValue", "AdjustedPValues", "Adjustment", "adjust_p_values"]

Adjustment = Literal["holm", "benjamini-hochberg"]
"""Holm's step-down method (family-wise error), or Benjamini and Hochberg's (false discovery rate)."""


@dataclass(frozen=True, slots=True)
class AdjustedPValue:
    """One test of a family: its name, raw and adjusted p-value, and whether it is significant.

    All three are ``None`` where the test is not defined.
    """

    name: str
    p_value: float | None
    adjusted: float | None
    significant: bool | None


@dataclass(frozen=True, slots=True)
class AdjustedPValues:
    """A family of tests in the order given; ``tested`` counts those that are defined and were adjusted for."""

    method: Adjustment
    level: float
    tested: int
    rows: tuple[AdjustedPValue, ...]


def adjust_p_values(
    p_values: Sequence[float | None],
    *,
    names: Sequence[str] | None = None,
    method: Adjustment = "holm",
    level: float = 0.95,
) -> AdjustedPValues:
    """Adjust the p-values of a family of tests.

    Parameters
    ----------
    p_values
        (m,) raw p-values; ``None`` where a test is not defined. Such a test stays ``None``, is not counted in the
        size of the family, and is not significant.
    names
        (m,) what each test is called; by default its place, from 1.
    method
        ``holm`` [Holm 1979] keeps the chance of any false finding below ``1 - level`` under any dependence;
        ``benjamini-hochberg`` [1995] keeps the expected share of false findings below it, under independence or
        positive dependence.
    level
        A test is significant where its adjusted p-value is at most ``1 - level``.

    Raises
    ------
    ValueError
        A p-value outside [0, 1], names that are not as many, an unknown method.
    """
    check_level(level)
    labels = [str(place + 1) for place in range(len(p_values))] if names is None else list(names)
    if len(labels) != len(p_values):
        raise ValueError(f"names: wrong length, got {len(labels)}; expected {len(p_values)}, one a p-value")
    if method not in get_args(Adjustment):
        raise ValueError(f"method: unknown, got {method!r}; expected one of {list(get_args(Adjustment))}")
    for place, p_value in enumerate(p_values):
        if p_value is not None and not 0 <= p_value <= 1:
            raise ValueError(f"p_values[{place}]: not a p-value, got {p_value}; expected 0 to 1 or None")
    raw = np.array([p_value for p_value in p_values if p_value is not None], dtype=np.float64)
    found = iter((_holm if method == "holm" else _benjamini_hochberg)(raw).tolist())
    adjusted = [None if p_value is None else next(found) for p_value in p_values]
    rows = (_row(*row, level=level) for row in zip(labels, p_values, adjusted, strict=True))
    return AdjustedPValues(method, level, len(raw), tuple(rows))


def _row(name: str, p_value: float | None, adjusted: float | None, *, level: float) -> AdjustedPValue:
    # 1 - 0.95 is a little above 0.05 and 1 - 0.9 a little below 0.1: rounding must not decide.
    significant = None if adjusted is None else bool(adjusted <= 1 - level + 1e-12)
    return AdjustedPValue(name, p_value, adjusted, significant)


def _holm(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    return _in_place(np.minimum(stepped, 1.0), order)


def _benjamini_hochberg(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * len(raw) / np.arange(1, len(raw) + 1)
    return _in_place(np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0), order)


def _in_place(ordered: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    placed = np.empty_like(ordered)
    placed[order] = ordered
    return placed
