"""A deterministic cross-check of graders: does a response's number lie in the acceptable range?

The check is never a verdict. It says ``in`` or ``out`` only where the response plainly commits to
one number; whatever needs a guess (hedges, negations, several numbers, unclear units) is
``undecided``, because a wrong cross-check would accuse a right grader. It sees the reference, not
the question: units that only the question names are unknown to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from calibration_sets.references.compounds import merge_compounds
from calibration_sets.references.quantities import Quantity, normalise, read_quantities
from calibration_sets.references.quantity_fit import Fit, Outcome, RangeTarget, fit_quantity, target_of
from calibration_sets.references.reference import AcceptableRange, Reference
from calibration_sets.references.response_reading import (
    ResponseReading,
    committed_quantities,
    read_response,
    with_shared_unit,
)
from calibration_sets.references.units import canonical_noun, convert, dimension_of

__all__ = ["RangeCheck", "check_range"]


@dataclass(frozen=True, slots=True)
class RangeCheck:
    """Outcome of the cross-check.

    ``outcome`` is ``in``, ``out`` or ``undecided``, ``reason`` one short phrase, ``found`` the
    quantities that were understood in the response.
    """

    outcome: Outcome
    reason: str
    found: tuple[Quantity, ...] = ()


def check_range(reference: Reference, response: str) -> RangeCheck:
    """Compare the number that a response gives with the reference; never raises on any string.

    Parameters
    ----------
    reference
        As :func:`calibration_sets.parse_reference` returns it. Bounds are inclusive and compared
        exactly. Without ranges only a reference that is one plain number is compared: ``in`` for
        the same number, ``out`` for another integer where no rounding can be meant.
    response
        The answer under judgement. A bare number takes the reference's unit.
    """
    if any(range_.low > range_.high for range_ in reference.ranges):
        return RangeCheck("undecided", "the reference's range is empty")
    if len(reference.ranges) > 1:
        return _check_several(reference, response)
    if reference.ranges:
        return _check_one(target_of(reference, reference.ranges[0]), response)
    return _check_plain(reference, response)


def _undecided(reading: ResponseReading, reason: str) -> RangeCheck:
    return RangeCheck("undecided", reason, reading.quantities)


def _check_one(target: RangeTarget, response: str) -> RangeCheck:
    reading = read_response(response, target.dimension)
    if reading.doubt:
        return _undecided(reading, reading.doubt)
    committed = committed_quantities(reading)
    if not committed:
        return _undecided(reading, "several numbers, and none is plainly the answer")
    if any(_may_be_year(quantity, reading.text) for quantity in committed):
        return _undecided(reading, "may be a year")
    return _agree([fit_quantity(target, quantity, reading.text) for quantity in committed], committed)


def _agree(fits: Sequence[Fit], found: Sequence[Quantity]) -> RangeCheck:
    """The outcome of the first number, unless a restatement of it says otherwise."""
    first = fits[0]
    if any(fit.outcome not in (first.outcome, "undecided") for fit in fits):
        return RangeCheck("undecided", "restatements of the number disagree", tuple(found))
    return RangeCheck(first.outcome, first.reason, tuple(found))


_YEAR_LEAD = re.compile(
    r"(?:\b(?:in|since|during|circa|until|year|early|late|mid|before|after|from|by|as\s+of|the|for|on)\s+|\S\s*\(|,\s)$",
    re.IGNORECASE,
)


def _may_be_year(quantity: Quantity, text: str) -> bool:
    """A bare four-digit number behind ``in``, ``since``, ``the`` and the like."""
    if quantity.unit or not re.fullmatch(r"1[0-9]{3}|20[0-9]{2}", text[quantity.start : quantity.end]):
        return False
    lead = text[max(0, quantity.start - 12) : quantity.start]
    return _YEAR_LEAD.search(lead) is not None and (not quantity.noun or lead.lower().endswith("the "))


def _check_several(reference: Reference, response: str) -> RangeCheck:
    targets = [target_of(reference, range_) for range_ in reference.ranges]
    reading = read_response(response, targets[0].dimension)
    if reading.doubt:
        return _undecided(reading, reading.doubt)
    if all(target.dimension in {"time", "calendar"} for target in targets):
        return _check_duration(targets, reading)
    return _check_ordered(targets, reading)


def _check_duration(targets: list[RangeTarget], reading: ResponseReading) -> RangeCheck:
    """``10 years 3 months`` is one total; years beside days must each be given in their own unit."""
    units = [target.range.unit for target in targets]
    if len({target.dimension for target in targets}) == 1 and len(reading.quantities) == 1:
        total = _total(targets)
        quantity = reading.quantities[0]
        if quantity.unit != total.range.unit:
            return _check_coarse(total, quantity, reading)
        return _agree([fit_quantity(total, quantity, reading.text)], [quantity])
    if [quantity.unit for quantity in reading.quantities] != units:
        return _undecided(reading, "the parts of the duration are not those of the reference")
    if any(quantity.unit == "day" and quantity.value >= 365 for quantity in reading.quantities):
        return _undecided(reading, "days that may make up a year")
    pairs = zip(targets, reading.quantities, strict=True)
    return _all_hold([fit_quantity(target, quantity, reading.text) for target, quantity in pairs], reading)


def _check_coarse(total: RangeTarget, quantity: Quantity, reading: ResponseReading) -> RangeCheck:
    """``12 years`` where the reference has months too: out if no rounding of it reaches the range."""
    bounds = [convert(quantity.value + step, quantity.unit, total.range.unit) for step in (-1, 1)]
    low, high = bounds
    is_plain = quantity.kind == "number" and not quantity.decimals and not reading.approximate
    if is_plain and low is not None and high is not None and (low > total.range.high or high < total.range.low):
        return RangeCheck("out", "outside the range, however it was rounded", (quantity,))
    return _undecided(reading, "a part of the duration is missing")


def _total(targets: list[RangeTarget]) -> RangeTarget:
    unit = targets[-1].range.unit
    lows = [convert(target.range.low, target.range.unit, unit) or Fraction(0) for target in targets]
    highs = [convert(target.range.high, target.range.unit, unit) or Fraction(0) for target in targets]
    low, high = (Decimal(total.numerator) / Decimal(total.denominator) for total in (sum(lows), sum(highs)))
    return RangeTarget(AcceptableRange(low, high, None, unit))


def _check_ordered(targets: list[RangeTarget], reading: ResponseReading) -> RangeCheck:
    """One number a range, in the reference's order; the other order is not refused, only left open."""
    quantities = with_shared_unit(reading.text, reading.quantities)
    if len(quantities) != len(targets):
        return _undecided(reading, f"{len(quantities)} numbers where the reference has {len(targets)}")
    fits = [fit_quantity(t, q, reading.text) for t, q in zip(targets, quantities, strict=True)]
    reversed_ = [fit_quantity(t, q, reading.text) for t, q in zip(targets, reversed(quantities), strict=True)]
    if any(fit.outcome != "in" for fit in fits) and not any(fit.outcome == "out" for fit in reversed_):
        return _undecided(reading, "the numbers may be in another order")
    return _all_hold(fits, reading)


def _all_hold(fits: Sequence[Fit], reading: ResponseReading) -> RangeCheck:
    outcomes = {fit.outcome for fit in fits}
    outcome: Outcome = "undecided" if "undecided" in outcomes else "out" if "out" in outcomes else "in"
    reason = next(fit.reason for fit in fits if fit.outcome == outcome)
    return RangeCheck(outcome, reason, reading.quantities)


# --- references without a range ---------------------------------------------------------------


def _check_plain(reference: Reference, response: str) -> RangeCheck:
    answer = normalise(reference.answer[:500])
    own = _own_quantities(answer)
    is_identical = response.strip().rstrip(".").casefold() == reference.answer.rstrip(".").casefold()
    if is_identical and own:
        return RangeCheck("in", "identical to the reference", tuple(own))
    if len(own) == 2 and _is_span(answer, own):
        return _check_span(own, response)
    if len(own) != 1 or own[0].doubt or not _is_whole(answer, own[0]):
        return RangeCheck("undecided", "the reference is not one plain number")
    return _check_number(answer, own[0], response)


def _own_quantities(answer: str) -> list[Quantity]:
    """Quantities of the reference; an ``m`` in it is a metre."""
    own = merge_compounds(answer, read_quantities(answer))
    return merge_compounds(answer, read_quantities(answer, "length")) if any(q.doubt for q in own) else own


# Nouns that multiply: "2 dozen" is 24, which no number beside it says.
_MULTIPLE = re.compile(r"(?:dozen|score|gross|pair|couple|fortnight|half|hundred|thousand)", re.IGNORECASE)
_MEASURED = re.compile(r"\b(?:old|tall|long|high|wide|deep|in\s+total)\b", re.IGNORECASE)


def _is_whole(answer: str, number: Quantity) -> bool:
    """Whether the reference is that number (with its unit or noun) and nothing else."""
    rest = answer[: number.start] + _MEASURED.sub("", answer[number.end :].replace(number.noun, "", 1))
    return not re.search(r"\w", rest) and number.doubt is None and not _MULTIPLE.fullmatch(canonical_noun(number.noun))


def _check_number(answer: str, number: Quantity, response: str) -> RangeCheck:
    unit = "second" if number.kind == "clock" else number.unit or canonical_noun(number.noun) or None
    range_ = AcceptableRange(number.value, number.value, number.value, unit)
    target = RangeTarget(range_, number.clock_fields, number.scaled, number.kind == "ordinal" or unit == "minute")
    is_year = _is_year_like(number, answer)
    reading = read_response(response, dimension_of(unit))
    committed = committed_quantities(reading)
    if reading.doubt or not committed:
        return _undecided(reading, reading.doubt or "several numbers, and none is plainly the answer")
    if not is_year and any(_may_be_year(quantity, reading.text) for quantity in committed):
        return _undecided(reading, "may be a year")
    check = _agree([fit_quantity(target, quantity, reading.text) for quantity in committed], committed)
    if check.outcome == "in" and not _same_digits(number, committed[0]):
        return _undecided(reading, "equal as a number, but the reference may be a version or a code")
    if check.outcome == "out" and (is_year or not _is_plainly_other(answer, number, committed, reading)):
        return _undecided(reading, "another number, but rounding or another meaning is possible")
    return check


def _is_year_like(number: Quantity, answer: str) -> bool:
    return not number.unit and not number.noun and bool(re.fullmatch(r"\W*(?:1[0-9]{3}|20[0-9]{2})\W*", answer))


def _same_digits(number: Quantity, given: Quantity) -> bool:
    """A decimal without a unit may be a version: 31.2 is not 31.20."""
    if number.unit or number.scaled or not number.decimals:
        return True
    return str(number.value) == str(given.value)


def _is_plainly_other(answer: str, number: Quantity, committed: list[Quantity], reading: ResponseReading) -> bool:
    given = committed[0]
    if reading.approximate or number.kind != "number" or given.kind != "number" or number.scaled or given.scaled:
        return False
    if number.decimals or number.loose or given.value != given.value.to_integral_value():
        return False
    if given.unit not in {None, number.unit} and not (number.unit is None and given.unit):
        return False
    digits = re.sub(r"\D", "", answer[number.start : number.end])
    may_be_rounded = len(digits) > 1 and digits.endswith("0")
    return not may_be_rounded and not _is_rounding_of(number.value, given.value)


def _is_rounding_of(value: Decimal, given: Decimal) -> bool:
    """Whether ``given`` ends in zeros and is ``value`` rounded to the place before them."""
    zeros = len(str(abs(int(given)))) - len(str(abs(int(given))).rstrip("0"))
    if not given or not zeros:
        return False
    step = Decimal(10) ** zeros
    return (value / step).quantize(Decimal(1), rounding=ROUND_HALF_UP) * step == given


_SPAN_JOINT = re.compile(r"\s*(?:[-–—]|to|through)\s*", re.IGNORECASE)


def _is_span(text: str, numbers: Sequence[Quantity]) -> bool:
    first, second = numbers
    rest = (text[: first.start] + text[second.end :]).replace(second.noun, "", 1)
    joined = _SPAN_JOINT.fullmatch(text, first.end, second.start) is not None
    return joined and not re.search(r"\w", rest) and not first.doubt and not second.doubt and first.value < second.value


def _check_span(own: list[Quantity], response: str) -> RangeCheck:
    """A reference such as ``10-11``: the same two numbers, joined alike, are the same answer."""
    text = normalise(response[:500])
    given = read_quantities(text)
    found = tuple(given)
    if len(response) > 500 or len(given) != 2 or not _is_span(text, given):
        return RangeCheck("undecided", "the reference is a span of numbers", found)
    if [q.value for q in own] == [q.value for q in given] and all(q.unit in {None, own[1].unit} for q in given):
        return RangeCheck("in", "the same span of numbers", found)
    return RangeCheck("undecided", "another span of numbers", found)
