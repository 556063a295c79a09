"""What kind of number an answer is, and how far a right answer may be from it: proposals that a person confirms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Literal

from calibration_sets.curation.settings import RangeSettings
from calibration_sets.references.quantity import Quantity
from calibration_sets.references.units import CURRENCIES, dimension_of

__all__ = ["NumberClass", "ProposedRange", "classify_number", "names_something", "propose_range"]

NumberClass = Literal["identifier", "exact", "medium", "large"]
"""What sort of number an answer is, which decides whether a range around it makes sense."""

# A number that names its thing; "number of" counts instead.
_IDENTIFIER = re.compile(
    r"\bnumber\b(?!\s+of\b)|\b(?:which|what)\s+(?:\w+\s+){0,2}?"
    r"(?:year|date|day|episode|chapter|page|volume|issue|edition|season|round|inning|verse|room|gate|route|highway"
    r"|channel|stanza|track|lot|place|position|rank|grade|century|decade|version|district)\b"
    r"|\bnumber\s+of\s+the\s+(?:executive|bill|act|law|resolution|bus|train|ship|house|patent)\b"
    r"|^\W*year\s+of\b"
    r"|\b(?:code|postcode|plate|digits|ID|isbn|issn|doi|serial|catalogu?e?|registration|designation|identifier|zip|postal|telephone|phone"
    r"|patent|numbered|ranked|peak(?:ed)?\s+on)\b",
    re.IGNORECASE,
)
_EXACTLY = Context(prec=200)
"""Digits enough for the longest number of an answer: a wide step on a vast number must not run out of them."""

_WHEN = re.compile(r"^\W*when\s+(?:did|does|was|were|is)\b", re.IGNORECASE)
_AGE = re.compile(r"\bhow\s+old\b|\bage\b", re.IGNORECASE)
_COUNTED = re.compile(r"\bnumber\s+of\b(?!\s+the\b)|\bhow\s+(?:many|much)\b|\bpopulation\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProposedRange:
    """Inclusive bounds in the unit of the reference."""

    low: Decimal
    high: Decimal


def classify_number(question: str, quantity: Quantity, settings: RangeSettings) -> NumberClass:
    """The class of a number: by the words of its question, its unit and its size.

    A number that names something and an ordinal have no neighbourhood. Ages are exact, and so is a small whole count,
    of years or money too, but not of a measure such as degrees.
    """
    if names_something(question, quantity):
        return "identifier"
    if quantity.value == 0 or _AGE.search(question):
        return "exact"
    size = abs(quantity.value)
    counted = quantity.unit is None or dimension_of(quantity.unit) in {None, "calendar", *CURRENCIES}
    if counted and size == size.to_integral_value() and size < settings.exact_below:
        return "exact"
    return "large" if size >= settings.large_from else "medium"


def names_something(question: str, quantity: Quantity) -> bool:
    """Whether a number is an ordinal or names its thing, such as a year or an episode: near it is not right."""
    if quantity.kind == "ordinal" or (quantity.unit is None and _WHEN.search(question)):
        return True
    return bool(_IDENTIFIER.search(question) and not _COUNTED.search(question))


def propose_range(quantity: Quantity, number_class: NumberClass, settings: RangeSettings) -> ProposedRange | None:
    """The value with its class's share on both sides, widened to the next whole step; ``None`` where none is due.

    The step is 1 for whole numbers from 10 and a hundredth, or the value's own last digit, for others.
    """
    shares = {"medium": settings.medium_share, "large": settings.large_share}
    if number_class not in shares:
        return None
    value = quantity.value
    whole = value == value.to_integral_value() and not quantity.decimals
    step = Decimal(1) if whole and abs(value) >= 10 else Decimal(1).scaleb(-max(2, quantity.decimals))
    wide = _EXACTLY.multiply(abs(value), Decimal(str(shares[number_class])))
    half = wide.quantize(step, rounding=ROUND_CEILING, context=_EXACTLY)
    return ProposedRange(_EXACTLY.subtract(value, half), _EXACTLY.add(value, half))
