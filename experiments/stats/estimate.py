"""The result types of the statistics: an estimate, and a difference with its test."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Difference", "Estimate"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval and what it rests on.

    ``value``, ``low`` and ``high`` are ``None`` where they are not defined. ``level`` is the
    confidence level (0.95), ``method`` names the interval. ``n`` counts items, ``clusters``
    questions, ``repeats`` verdicts an item: the most that any item has.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    clusters: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference with its interval, and the two-sided p-value of no difference.

    ``p_value`` is ``None`` where the test is not defined; ``test`` names the test.
    """

    estimate: Estimate
    p_value: float | None
    test: str
