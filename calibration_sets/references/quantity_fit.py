"""Whether one quantity lies within one acceptable range, with the reasons to abstain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from calibration_sets.references.quantities import Quantity, normalise, read_quantities
from calibration_sets.references.reference import AcceptableRange, Reference
from calibration_sets.references.units import (
    CURRENCIES,
    SCALES,
    UNITS,
    canonical_noun,
    convert,
    dimension_of,
    is_power_of_ten,
    units_of_dimension,
)

__all__ = ["Fit", "Outcome", "RangeTarget", "fit_quantity", "target_of"]

Outcome = Literal["in", "out", "undecided"]
"""Whether a quantity lies in a range; ``undecided`` where it cannot be told."""

# A response in one of these cannot be a reference in another of them.
_PHYSICAL = frozenset(
    ["length", "area", "volume", "mass", "time", "temperature", "speed", "power", "frequency", "pressure", "voltage"]
)
_MANTISSA_SCALES = sorted({scale for scale in SCALES.values() if scale >= 1000})
_SCALE_WORD = re.compile(r"[0-9]\s?(?:(?:thousand|lakh|million|crore|billion|trillion)|(?:k|M|bn|b)\b)")
_DOWNWARD = re.compile(
    r"\b(?:below|under|minus|negative|south|west|loss|deficit|debt|decrease\w*|fell|drop\w*)\b", re.IGNORECASE
)
_NEGATIVE_LEAD = re.compile(r"(?:^|\b(?:is|was|of|at|to)\s|[=:(]\s*)$")
_HEMISPHERE = re.compile(r"\s?°?\s?(N|S|E|W|[Nn]orth|[Ss]outh|[Ee]ast|[Ww]est)\b")
_SHORT = 40


@dataclass(frozen=True, slots=True)
class Fit:
    """Outcome for one quantity and its reason."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class RangeTarget:
    """A range and what the writing of its reference says about how answers to it may be written."""

    range: AcceptableRange
    clock_fields: int = 0
    scaled: bool = False
    ordinal: bool = False
    hemisphere: str = ""

    @property
    def dimension(self) -> str | None:
        """Dimension of the range's unit."""
        return dimension_of(self.range.unit)

    def holds(self, value: Decimal | Fraction) -> bool:
        """Whether a value in the range's own unit lies within the inclusive bounds, exactly."""
        low, high = self.range.low, self.range.high
        return (low.is_infinite() or Fraction(low) <= value) and (high.is_infinite() or value <= Fraction(high))


def target_of(reference: Reference, range_: AcceptableRange) -> RangeTarget:
    """Describe one range of a reference."""
    quantities = read_quantities(normalise(reference.answer[:500]), dimension_of(range_.unit))
    clock = max((quantity.clock_fields for quantity in quantities), default=0)
    ordinal = range_.unit == "minute" or any(quantity.kind == "ordinal" for quantity in quantities)
    has_scale = any(quantity.scaled for quantity in quantities) or bool(_SCALE_WORD.search(reference.text))
    hemisphere = _hemisphere(normalise(reference.answer[:500]), quantities[0].end) if quantities else ""
    return RangeTarget(range_, clock, has_scale, ordinal, hemisphere)


def _hemisphere(text: str, place: int) -> str:
    """``N`` in ``40.7° N`` and ``40.7 degrees north``; empty where none is named."""
    found = _HEMISPHERE.match(text, place) or _HEMISPHERE.match(text, place - 1)
    return found.group(1)[0].upper() if found else ""


def _hemisphere_fits(target: RangeTarget, quantity: Quantity, text: str) -> bool:
    """Unnamed, or the reference's own; north and east are what an angle without a name is."""
    return _hemisphere(text, quantity.end) in {"", *(target.hemisphere or "NE")}


def fit_quantity(target: RangeTarget, quantity: Quantity, text: str) -> Fit:
    """Judge one quantity of the response ``text`` (normalised) against one range."""
    fit = _fit(target, quantity, text)
    if fit.outcome != "out" or _sign_is_plain(quantity, text):
        return fit
    mirrored = _fit(target, replace(quantity, value=-quantity.value), text)
    return Fit("undecided", "the sign is not certain") if mirrored.outcome == "in" else fit


def _fit(target: RangeTarget, quantity: Quantity, text: str) -> Fit:
    if target.clock_fields or quantity.kind == "clock":
        return _fit_clock(target, quantity)
    if "degree" in (target.range.unit, quantity.unit) and not _hemisphere_fits(target, quantity, text):
        return Fit("undecided", "a half of the globe that the reference does not name")
    if quantity.kind == "ordinal" and not target.ordinal:
        return Fit("undecided", "an ordinal, where the reference has a count")
    unit, expected = _same_sign_unit(quantity, target), target.range.unit
    if unit is None:
        return _fit_bare(target, quantity, text)
    if expected is None:
        return _fit_unexpected_unit(target, quantity, unit)
    if expected not in UNITS:
        return Fit("undecided", f"the unit {unit} where the reference counts '{expected}'")
    if dimension_of(unit) == target.dimension:
        return _fit_converted(target, quantity, unit)
    return _fit_other_dimension(target, quantity, unit, text)


def _same_sign_unit(quantity: Quantity, target: RangeTarget) -> str | None:
    """The quantity's unit; ``degrees`` and ``pounds`` take the meaning that the reference gives them."""
    if quantity.unit == "degree" and target.dimension == "temperature":
        return None
    if quantity.unit == "pound" and target.dimension == "sterling" and quantity.symbol.casefold().startswith("pound"):
        return "pound sterling"
    return quantity.unit


def _fit_clock(target: RangeTarget, quantity: Quantity) -> Fit:
    if quantity.kind == "clock":
        if quantity.clock_fields != target.clock_fields:
            return Fit("undecided", "a clock time in another form than the reference's")
        return _plain(target.holds(quantity.value))
    if dimension_of(quantity.unit) != "time" or quantity.kind == "ordinal":
        return Fit("undecided", "no time, where the reference is a clock time")
    fit = _fit_converted(target, quantity, quantity.unit or "second")
    seconds = convert(quantity.value, quantity.unit, "second")
    if fit.outcome == "out" and target.clock_fields == 2 and seconds is not None and target.holds(seconds / 60):
        return Fit("undecided", "two clock fields may be hours and minutes")
    return fit


def _plain(holds: bool) -> Fit:
    return Fit("in", "within the range") if holds else Fit("out", "outside the range")


def _fit_bare(target: RangeTarget, quantity: Quantity, text: str) -> Fit:
    is_adjective = target.range.unit is None and text[quantity.end : quantity.end + 1] == "-"
    if is_adjective or not _noun_fits(target, quantity):
        return Fit("undecided", f"counts '{quantity.noun}', which is not the reference's unit")
    if target.holds(quantity.value):
        return _fit_inside(target, quantity)
    for value, reason in _other_readings(target, quantity):
        if target.holds(value):
            return Fit("undecided", reason)
    if quantity.loose:
        return Fit("undecided", "digits grouped by spaces")
    return Fit("out", "outside the range")


def _fit_inside(target: RangeTarget, quantity: Quantity) -> Fit:
    """``150.000`` beside whole numbers groups digits as likely as it has three decimals."""
    bounds = (target.range.low, target.range.high)
    are_whole = all(bound == bound.to_integral_value() for bound in bounds)
    if are_whole and quantity.decimals == 3 and quantity.other is not None:
        return Fit("undecided", "the stop may group digits or mark decimals")
    return Fit("in", "within the range")


def _noun_fits(target: RangeTarget, quantity: Quantity) -> bool:
    expected, noun = target.range.unit, canonical_noun(quantity.noun)
    if not noun:
        return True
    if expected is None:
        return not re.search(r"\b(?:per|each|every)\b|/|^(?:[nsew]|north|south|east|west)$", noun)
    if expected in UNITS:
        return False
    words, wanted = noun.split(), expected.split()
    heads = {canonical_noun(words[0]), canonical_noun(" ".join(words[: len(wanted)]))}
    return bool(heads & {expected, wanted[-1]}) and ("per" in wanted or "per" not in words)


def _other_readings(target: RangeTarget, quantity: Quantity) -> Iterator[tuple[Fraction, str]]:
    """Values that the writer of an out-of-range bare number may have meant."""
    value = Fraction(quantity.value)
    if quantity.other is not None:
        yield Fraction(quantity.other), "the comma or stop may group digits or mark decimals"
    if quantity.scaled and target.range.unit is None:
        yield value / quantity.scale, "a scale word where the reference may have left it out"
    if not quantity.scaled and (target.scaled or quantity.decimals):
        for scale in _MANTISSA_SCALES:
            yield value * scale, "a bare mantissa where the reference may need a scale word"
    if target.range.unit == "percent" or (target.range.unit is None and abs(value) < 1):
        yield value * 100, "a share that may be meant as a percentage"
    if quantity.decimals and target.dimension:
        here = UNITS[target.range.unit or ""]
        for unit in units_of_dimension(target.dimension):
            if unit is not here and is_power_of_ten(unit.factor / here.factor):
                yield value * unit.factor / here.factor, f"may be meant in {unit.name}"


def _sign_is_plain(quantity: Quantity, text: str) -> bool:
    if quantity.value >= 0:
        return not _DOWNWARD.search(text)
    lead = text[max(0, quantity.start - 12) : quantity.start]
    return text[quantity.start] != "-" or _NEGATIVE_LEAD.search(lead) is not None


def _fit_unexpected_unit(target: RangeTarget, quantity: Quantity, unit: str) -> Fit:
    """The reference names no unit (the question does): out only where no unit of the dimension fits."""
    dimension = dimension_of(unit) or ""
    if dimension in CURRENCIES:
        readings = [value for value, _ in _other_readings(target, quantity)]
        if not target.holds(quantity.value) and any(target.holds(value) for value in readings):
            return Fit("undecided", "an amount whose scale is not certain")
        return _plain(target.holds(quantity.value))
    if dimension == "calendar" or dimension == "temperature":
        return Fit("undecided", f"the reference names no unit, the response {unit}")
    values = [convert(quantity.value, unit, other.name) for other in units_of_dimension(dimension)]
    shares = [Fraction(quantity.value) / 100] if unit == "percent" else []
    if any(target.holds(value) for value in (*values, *shares, Fraction(quantity.value)) if value is not None):
        return Fit("undecided", f"the reference names no unit, the response {unit}")
    return Fit("out", "outside the range in every unit of its dimension")


def _fit_converted(target: RangeTarget, quantity: Quantity, unit: str) -> Fit:
    expected = target.range.unit
    if unit == expected:
        return _fit_same_unit(target, quantity)
    if target.dimension == "temperature":
        return _fit_temperature(target, quantity, unit)
    low, value, high = (convert(number, unit, expected) for number in _rounding_interval(quantity))
    if low is None or value is None or high is None:
        return Fit("undecided", f"{unit} does not certainly convert to {expected}")
    other = convert(quantity.other, unit, expected) if quantity.other is not None else None
    if other is not None and target.holds(other) and not target.holds(value):
        return Fit("undecided", "the comma or stop may group digits or mark decimals")
    if is_power_of_ten(UNITS[unit].factor / UNITS[expected or ""].factor):
        return _plain(target.holds(value))
    if value in (target.range.low, target.range.high):
        return Fit("in", "exactly a bound")
    if target.holds(value) != target.holds(low) or target.holds(value) != target.holds(high):
        return Fit("undecided", "at a bound, within the rounding of the converted value")
    return _plain(target.holds(value))


def _fit_same_unit(target: RangeTarget, quantity: Quantity) -> Fit:
    if target.holds(quantity.value):
        return _fit_inside(target, quantity)
    readings = [quantity.other] if quantity.other is not None else []
    if quantity.loose or any(target.holds(value) for value in readings):
        return Fit("undecided", "the comma, stop or space may group digits or mark decimals")
    may_lack_scale = dimension_of(quantity.unit) in CURRENCIES and not quantity.scaled
    if may_lack_scale and any(target.holds(value) for value, _ in _other_readings(target, quantity)):
        return Fit("undecided", "a bare mantissa where the reference may need a scale word")
    return Fit("out", "outside the range")


def _rounding_interval(quantity: Quantity) -> tuple[Fraction, Fraction, Fraction]:
    """The value and half a unit of its last written digit on both sides."""
    half = Fraction(quantity.scale, 2) / 10**quantity.decimals
    return Fraction(quantity.value) - half, Fraction(quantity.value), Fraction(quantity.value) + half


_TO_KELVIN = {
    "kelvin": (Fraction(1), Fraction(0)),
    "degree Celsius": (Fraction(1), Fraction(27315, 100)),
    "degree Fahrenheit": (Fraction(5, 9), Fraction(45967, 180)),
}


def _fit_temperature(target: RangeTarget, quantity: Quantity, unit: str) -> Fit:
    """Convert as a reading and as a difference: a reference does not say which of them it is."""
    slope, offset = _TO_KELVIN[unit]
    own_slope, own_offset = _TO_KELVIN[target.range.unit or "kelvin"]
    values = [(number * slope + offset - own_offset) / own_slope for number in _rounding_interval(quantity)]
    values.append(Fraction(quantity.value) * slope / own_slope)
    outcomes = {target.holds(value) for value in values}
    if len(outcomes) > 1:
        return Fit("undecided", "a temperature or a difference of temperatures, or at a bound")
    return _plain(outcomes.pop())


def _fit_other_dimension(target: RangeTarget, quantity: Quantity, unit: str, text: str) -> Fit:
    given, wanted = dimension_of(unit) or "", target.dimension or ""
    if quantity.symbol.lower() == "mm" and wanted in CURRENCIES:
        return Fit("undecided", "'mm' may be million")
    both_physical = given in _PHYSICAL and wanted in _PHYSICAL
    money_for_matter = (given in CURRENCIES and wanted in _PHYSICAL) or (given in _PHYSICAL and wanted in CURRENCIES)
    is_whole_answer = len(text.strip()) - (quantity.end - quantity.start) <= _SHORT
    if (both_physical or money_for_matter) and unit != "pound" and is_whole_answer:
        return Fit("out", f"{unit} cannot be {target.range.unit}")
    return Fit("undecided", f"{unit} does not certainly convert to {target.range.unit}")
