"""One quantity of a text."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Quantity"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a text with what belongs to it.

    ``unit`` is a canonical unit of :mod:`calibration_sets.references.units`; where there is none, ``noun``
    holds the words that follow. ``kind`` is ``number``, ``ordinal`` or ``clock`` (value in seconds,
    from ``clock_fields`` fields). ``other`` is a second possible value, ``scale`` the power of ten
    of a scale word, ``symbol`` the unit as written. ``start`` and ``end`` are the place in the
    normalised text, ``decimals`` counts the digits behind the decimal point. ``doubt`` says why the
    reading is not certain.
    """

    value: Decimal
    start: int
    end: int
    unit: str | None = None
    noun: str = ""
    kind: str = "number"
    clock_fields: int = 0
    other: Decimal | None = None
    scale: int = 1
    loose: bool = False
    decimals: int = 0
    symbol: str = ""
    doubt: str | None = None

    @property
    def scaled(self) -> bool:
        """Whether a scale word or a power of ten was written."""
        return self.scale != 1

    def __str__(self) -> str:
        """Value and unit, for a report."""
        return " ".join(part for part in (f"{self.value:f}", self.unit or self.noun) if part)
