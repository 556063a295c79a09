"""What looks wrong in a reference before anything is graded by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from calibration_sets.references.range_notes import find_range_note
from calibration_sets.references.reference import AcceptableRange, Reference

__all__ = ["ASYMMETRY_FACTOR", "lint_reference"]

# Rounding a symmetric range to printed digits moves a bound by one last digit at most, so a larger
# difference counts once one side is half as long again as the other. Of the published ranges that
# flags two: 12.27 in 12.14 to 12.89 (a typing error) and 33.7738 in 33.7586 to 33.8022; the next
# longest ratio is 4 to 3 units, which is rounding.
ASYMMETRY_FACTOR = Decimal("1.5")
"""How many times longer than the other one side of a range may be before it is looked at."""
_NUMERIC_DATE = re.compile(
    r"(?<![\w./-])([0-9]{1,2})(?:([/.-])([0-9]{1,2})\2(?:1[0-9]{3}|20[0-9]{2})|/([0-9]{1,2})/[0-9]{2})(?![\w/-]|\.\w)"
)


def lint_reference(reference: Reference) -> list[str]:
    """Return one finding a problem, in words; empty where the reference looks sound.

    Findings begin with ``range not understood``, ``low bound above high bound``, ``target outside
    its own range``, ``asymmetric range`` (the longer side is more than :data:`ASYMMETRY_FACTOR`
    times the shorter one) or ``ambiguous numeric date`` (day and month could be swapped).
    """
    findings = [finding for range_ in reference.ranges for finding in _lint_range(range_)]
    if not reference.ranges and (note := find_range_note(reference.text)):
        findings.append(f"range not understood: {note.body!r}")
    findings += [f"ambiguous numeric date: {date!r}" for date in _ambiguous_dates(reference.answer)]
    return findings


def _lint_range(range_: AcceptableRange) -> Iterator[str]:
    low, high, target = range_.low, range_.high, range_.target
    if low > high:
        yield f"low bound above high bound: {low:f} > {high:f}"
        return
    if target is None or low.is_infinite() or high.is_infinite():
        return
    if not low <= target <= high:
        yield f"target outside its own range: {target:f} is not in {low:f} to {high:f}"
        return
    below, above = target - low, high - target
    last_digit = max(Decimal(1).scaleb(_exponent(bound)) for bound in (low, high))
    if max(below, above) > min(below, above) * ASYMMETRY_FACTOR and abs(above - below) > last_digit:
        yield f"asymmetric range: {below:f} below and {above:f} above the target {target:f}"


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _ambiguous_dates(answer: str) -> Iterator[str]:
    for match in _NUMERIC_DATE.finditer(answer):
        first, second = int(match.group(1)), int(match.group(3) or match.group(4))
        if 1 <= first <= 12 and 1 <= second <= 12 and first != second:
            yield match.group(0)
