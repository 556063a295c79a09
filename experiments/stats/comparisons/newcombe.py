"""Newcombe's interval for the difference of two shares of the same items, single labels only."""

from __future__ import annotations

from math import sqrt

from experiments.stats.comparisons.mcnemar import PairedTable
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level
from experiments.stats.intervals.clustered_wilson import wilson

__all__ = ["newcombe_interval"]


def newcombe_interval(table: PairedTable, *, level: float = 0.95) -> Estimate:
    """Difference ``first - second`` of two shares of the same items, with the interval of method 10 [Newcombe 1998].

    The Wilson intervals of both shares, squared and added, less what their correlation takes off. The correlation is
    phi of the table, its numerator ``both * neither - first_only * second_only`` reduced by n / 2 (not below 0)
    where it is positive; 0 where a margin is empty.

    Parameters
    ----------
    table
        From :func:`experiments.stats.comparisons.mcnemar.paired_table`, which refuses repeats and shared questions.
    level
        Confidence level.

    Returns
    -------
    Estimate
        All ``None`` without items. The width is never zero, and the interval stays within -1 and 1.

    References
    ----------
    Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired
    data, Statistics in Medicine 17:2635-2650; Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33.
    """
    check_level(level)
    n = table.n
    first, second = (
        wilson(count, n, level=level) for count in (table.both + table.first_only, table.both + table.second_only)
    )
    below, above = _arms(first), _arms(second)
    if below is None or above is None:
        return Estimate(None, None, None, level, "newcombe-paired", 0, 0, 0)
    value, phi = (table.first_only - table.second_only) / n, _correlation(table)
    low = value - _add(below[0], above[1], phi)
    high = value + _add(below[1], above[0], phi)
    return Estimate(value, max(-1.0, low), min(1.0, high), level, "newcombe-paired", n, n, 1)


def _arms(share: Estimate) -> tuple[float, float] | None:
    """How far the interval of a share reaches below it and above it."""
    if share.value is None or share.low is None or share.high is None:
        return None
    return share.value - share.low, share.high - share.value


def _add(one: float, other: float, phi: float) -> float:
    return sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))


def _correlation(table: PairedTable) -> float:
    first, second = table.both + table.first_only, table.both + table.second_only
    margins = first * (table.n - first) * second * (table.n - second)
    if margins == 0:
        return 0.0
    numerator = table.both * table.neither - table.first_only * table.second_only
    return (max(numerator - table.n / 2, 0.0) if numerator > 0 else numerator) / sqrt(margins)
