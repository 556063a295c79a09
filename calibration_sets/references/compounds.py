"""Quantities given in several units: ``2 h 7 min 14 s``, ``5 ft 10 in``, ``10 years 3 months``."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from calibration_sets.references.quantities import Quantity
from calibration_sets.references.units import UNITS, convert, dimension_of

__all__ = ["merge_compounds", "settle_minutes"]

_JOINT = re.compile(r"[\s,]*(?:(?:and|&)\s*)?")
_COMPOUNDED = {"time", "calendar", "length", "mass"}


def merge_compounds(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """Join neighbours such as hours and minutes into one quantity in the smallest unit.

    Years and days stay apart, for a year has no certain number of days; so do neighbours of which
    the second is not a proper part of the first (``9 years 15 months``).
    """
    merged: list[Quantity] = []
    for quantity in settle_minutes(text, quantities):
        joined = _join(merged[-1], quantity, text) if merged else None
        if joined is None:
            merged.append(quantity)
        else:
            merged[-1] = joined
    return merged


def settle_minutes(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """Read ``m`` as minutes where it stands behind hours or before seconds."""
    settled = list(quantities)
    for place, quantity in enumerate(settled):
        if quantity.symbol != "m" or quantity.unit != "metre":
            continue
        before = settled[place - 1] if place else None
        after = settled[place + 1] if place + 1 < len(settled) else None
        if (before and before.unit == "hour" and _touch(text, before, quantity)) or (
            after and after.unit == "second" and after.value < 60 and _touch(text, quantity, after)
        ):
            settled[place] = replace(quantity, unit="minute", doubt=None)
    return settled


def _touch(text: str, left: Quantity, right: Quantity) -> bool:
    return _JOINT.fullmatch(text, left.end, right.start) is not None


def _join(left: Quantity, right: Quantity, text: str) -> Quantity | None:
    dimension = dimension_of(right.unit)
    if dimension not in _COMPOUNDED or dimension_of(left.unit) != dimension or not _touch(text, left, right):
        return None
    if left.doubt or right.doubt or left.unit is None or right.unit is None or right.value < 0:
        return None
    larger, smaller = UNITS[left.unit].factor, UNITS[right.unit].factor
    if smaller >= larger or Fraction(right.value) * smaller >= larger or left.value != left.value.to_integral_value():
        return None
    whole = convert(left.value, left.unit, right.unit)
    if whole is None or whole.denominator != 1:
        return None
    value = Decimal(whole.numerator) + right.value if left.value >= 0 else Decimal(whole.numerator) - right.value
    return replace(left, value=value, unit=right.unit, end=right.end, noun="", other=None, decimals=right.decimals)
