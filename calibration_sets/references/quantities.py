"""Quantities in running text: value, unit, and every reason to doubt the reading.

Nothing is guessed here: what could be read in two ways is returned with a ``doubt``, and the
callers (range notes, the range check) give up on it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from decimal import Decimal

from calibration_sets.references.number_words import NUMBER_WORD_START, read_number_words
from calibration_sets.references.numerals import normalise, read_numeral
from calibration_sets.references.quantity import Quantity
from calibration_sets.references.quantity_units import read_scale, read_unit
from calibration_sets.references.units import match_currency_before

__all__ = ["Quantity", "normalise", "read_quantities"]

_MAX_QUANTITIES = 64
# The 2 of "per km2" is no number.
_NO_POWER = "".join(rf"(?<!\b{unit}(?=[23]\b))" for unit in ("km", "cm", "mm", "m", "mi", "ft"))
_START = re.compile(
    rf"(?P<digits>{_NO_POWER}(?<![0-9])\.?[0-9][0-9.,:]*)|(?P<words>{NUMBER_WORD_START})", re.IGNORECASE
)
_SPACED_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9]|[.,:][0-9])")
_POWER = re.compile(r"e([+-]?[0-9]{1,2})(?![\w.])|\s?x\s?10\s?\^\s?\(?([-−]?[0-9]{1,2})\)?(?![0-9])", re.IGNORECASE)
_SUPERSCRIPT = re.compile(r"\s?x\s?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,3})")
_FROM_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?!\w)", re.IGNORECASE)
_HALF = re.compile(r"\s?(?:([½¼¾])|and\s+a\s+(half|quarter)\b)", re.IGNORECASE)
_PARTS = {"½": "0.5", "half": "0.5", "¼": "0.25", "quarter": "0.25", "¾": "0.75"}
_PADDED_TIME = re.compile(r"0[0-9]\s?(?:m|mins?|minutes|s|secs?|seconds)\b")
_NEGATIVE_WORD = re.compile(r"\b(?:minus|negative)\s+$", re.IGNORECASE)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
_MONTH_BEFORE = re.compile(rf"\b{_MONTH},?\s*(?:the\s+)?$")
_MONTH_AFTER = re.compile(rf",?\s*(?:of\s+)?{_MONTH}")
_HOUR_AFTER = re.compile(r"\s?(?:[ap]\.?m\b|o'clock|hours\s+GMT|GMT|UTC)", re.IGNORECASE)
_ERA_AFTER = re.compile(r"\s?(?:BCE?|AD|CE)\b")
_NOUN = re.compile(r"[\s-]?\s?((?:[^\W\d_][\w'²³/]*)(?:[ -](?:[^\W\d_][\w'²³/]*)){0,6})")
_NOUN_STOP = re.compile(
    r"(?:^|[ -])(?:and|or|to|in|at|as|by|for|from|on|with|which|who|that|is|was|were|are|has|had|have|of|the|x|but"
    r"|because|according|during|since|when|while|after|before|into|between|through|this|it|there|total|long|wide"
    r"|tall|high|deep|thick|old|exactly|approximately|about|around|inclusive|altogether|overall|acceptable|accepted|allowed|here|now|then"
    r"|above|below|up|plus|plusminus|minus|not|than|so|if|though|although)(?![\w'])",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\s?(?:/\s?\w|per\b|(?:an?|each|every)\s+(?:second|minute|hour|day|week|month|year)\b)", re.IGNORECASE
)


def read_quantities(text: str, dimension: str | None = None) -> list[Quantity]:
    """Read every number of ``text``, which :func:`normalise` has returned, from left to right.

    ``dimension`` is the one that is expected; it settles symbols such as ``m``, ``K`` or ``'``.
    """
    found: list[Quantity] = []
    position = 0
    while len(found) <= _MAX_QUANTITIES and (match := _START.search(text, position)):
        quantity = _read_one(text, match, previous_end=_noun_end(text, found), dimension=dimension)
        found.append(quantity)
        position = max(quantity.end, match.start() + 1)
    if len(found) > _MAX_QUANTITIES:
        return [replace(found[0], doubt="too many numbers")]
    return found


def _noun_end(text: str, found: list[Quantity]) -> int:
    """Where the last quantity ends with its noun, so that ``4 seats-6 seats`` holds a dash and no sign."""
    if not found:
        return 0
    end, noun = found[-1].end, found[-1].noun
    return text.index(noun, end) + len(noun) if noun and noun in text[end : end + 200] else end


def _read_one(text: str, match: re.Match[str], *, previous_end: int, dimension: str | None) -> Quantity:
    quantity = _read_words(text, match) if match.group("words") else _read_digits(text, match)
    quantity = _read_before(text, quantity, previous_end)
    if quantity.doubt:
        return quantity
    quantity = read_scale(text, quantity, dimension)
    quantity = read_unit(text, quantity, dimension)
    return _read_after(text, quantity)


def _read_words(text: str, match: re.Match[str]) -> Quantity:
    number = read_number_words(text, match.start())
    end = max(number.end, match.start() + 1)
    quantity = Quantity(number.value or Decimal(0), match.start(), end, scale=number.scale)
    if number.value is None:
        return replace(quantity, doubt="number words that are not one number")
    return replace(quantity, kind="ordinal" if number.ordinal else "number")


def _read_digits(text: str, match: re.Match[str]) -> Quantity:
    start = match.start()
    if groups := _SPACED_GROUPS.match(text, start):
        value = Decimal(groups.group(0).replace(" ", ""))
        return Quantity(value, start, groups.end(), loose=True)
    run = match.group("digits").rstrip(".,:")
    if _PADDED_TIME.match(text, start):
        return Quantity(Decimal(run), start, start + len(run))
    numeral, end = read_numeral(run), start + len(run)
    if numeral.value is None:
        return Quantity(Decimal(0), start, end, doubt="digits that are not certainly one number")
    kind = "clock" if numeral.clock_fields else "number"
    decimals = len(run.partition(".")[2])
    quantity = Quantity(
        numeral.value, start, end, None, "", kind, numeral.clock_fields, numeral.other, decimals=decimals
    )
    return _read_tail(text, replace(quantity))


def _read_tail(text: str, quantity: Quantity) -> Quantity:
    """Read what can be glued to plain digits: a power of ten, a vulgar fraction, an ordinal ending."""
    if quantity.kind == "clock":
        return quantity
    if power := _POWER.match(text, quantity.end):
        exponent = int((power.group(1) or power.group(2)).replace("−", "-"))
        return replace(
            quantity, value=quantity.value.scaleb(exponent), end=power.end(), scale=10 ** max(1, exponent), other=None
        )
    if power := _SUPERSCRIPT.match(text, quantity.end):
        written = power.group(1).translate(_FROM_SUPERSCRIPT)
        if not re.fullmatch(r"-?[0-9]+", written):
            return replace(quantity, doubt="exponent not understood")
        return replace(quantity, value=quantity.value.scaleb(int(written)), end=power.end(), scale=10, other=None)
    if half := _HALF.match(text, quantity.end):
        part = Decimal(_PARTS[(half.group(1) or half.group(2)).lower()])
        return replace(quantity, value=quantity.value + part, end=half.end(), decimals=2)
    if (ending := _ORDINAL.match(text, quantity.end)) and not quantity.decimals:
        return replace(quantity, kind="ordinal", end=ending.end())
    return quantity


def _read_before(text: str, quantity: Quantity, previous_end: int) -> Quantity:
    """Take currency sign and minus sign in, and doubt whatever else is glued to the front."""
    start = quantity.start
    if (sign := _sign_at(text, start, previous_end)) is not None:
        start, quantity = sign, replace(quantity, value=-quantity.value, start=sign)
    if currency := match_currency_before(text, start):
        unit, start = currency
        quantity = replace(quantity, unit=unit, start=start)
        if quantity.value >= 0 and (sign := _sign_at(text, start, previous_end)) is not None:
            start, quantity = sign, replace(quantity, value=-quantity.value, start=sign)
    if negative := _NEGATIVE_WORD.search(text[max(0, start - 12) : start]):
        start -= len(negative.group(0))
        quantity = replace(quantity, value=-abs(quantity.value), start=start)
    if _is_glued_before(text, start, previous_end):
        return replace(quantity, doubt="something is glued to the front of a number")
    if _MONTH_BEFORE.search(text[max(0, start - 16) : start]):
        return replace(quantity, doubt="part of a date")
    return quantity


def _sign_at(text: str, start: int, previous_end: int) -> int | None:
    """Place of the minus sign just before ``start``; a dash that joins two numbers is none."""
    place = start - 1
    if place < 0 or text[place] not in "-−":
        return None
    if place == 0:
        return place
    if previous_end and not text[previous_end:place].strip():
        return None
    return place if text[place - 1] in " \n([{\"'=:;,~≈-–—>" else None


def _is_glued_before(text: str, start: int, previous_end: int) -> bool:
    if start == 0 or (previous_end and text[previous_end:start] in {"-", "–", "—", "−", "x"}):
        return False
    before = text[start - 1]
    if before == ":":
        return not (start >= 2 and text[start - 2].isalpha())
    if text[start : start + 1] == "." and before == ".":
        return True
    if before in "-–—−":
        return before != "—" or (start >= 2 and text[start - 2].isalnum())
    return before.isalnum() or before in "/\\^#@&+_<>±≥≤%.,°²³" or _is_currency_sign(before)


def _read_after(text: str, quantity: Quantity) -> Quantity:
    """Doubt what is glued to the end, dates and hours of the day; else take the noun that follows."""
    if quantity.doubt:
        return quantity
    for pattern, reason in (
        (_HOUR_AFTER, "an hour of the day"),
        (_ERA_AFTER, "a year"),
        (_MONTH_AFTER, "part of a date"),
    ):
        if pattern.match(text, quantity.end):
            return replace(quantity, doubt=reason)
    if _is_glued_after(text, quantity):
        return replace(quantity, doubt="something is glued to the end of a number")
    if quantity.unit and _RATE.match(text, quantity.end):
        rate = text[quantity.end - len(quantity.symbol) : quantity.end + 24].split(",")[0]
        return replace(quantity, unit=None, noun=" ".join(rate.split()[:4]))
    return replace(quantity, noun="" if quantity.unit else _noun_at(text, quantity.end))


def _is_glued_after(text: str, quantity: Quantity) -> bool:
    after = text[quantity.end : quantity.end + 2]
    if not after:
        return False
    if after[0] in "/" and quantity.unit:
        return False
    if after[0] in "-–" and len(after) == 2 and after[1].isalpha():
        return after[0] == "-" and not _noun_at(text, quantity.end)
    if re.match(r"x\s?[0-9]", text[quantity.end : quantity.end + 3]):
        return False
    if _is_currency_sign(after[0]):
        return True
    return after[0].isalnum() or after[0] in "/\\^#@&+_=<>±≥≤%‰‱°~½¼¾" or (after[0] == "'" and after[1:].isalpha())


def _is_currency_sign(mark: str) -> bool:
    """A sign that was not read as a unit is of a currency that is not known here, such as ``NZ$``."""
    return unicodedata.category(mark) == "Sc"


def _noun_at(text: str, place: int) -> str:
    match = _NOUN.match(text, place)
    if not match or (match.start(1) == place):
        return ""
    return _NOUN_STOP.split(match.group(1), maxsplit=1)[0].strip(" -")
