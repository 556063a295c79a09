"""Scale words and units behind a number."""

from __future__ import annotations

import re
from dataclasses import replace

from calibration_sets.references.quantity import Quantity
from calibration_sets.references.units import dimension_of, match_scale, match_unit

__all__ = ["read_scale", "read_unit"]

_MILLION = re.compile(r"\s?[Mm](?:illion)?(?![\w²³^'/])")
_INCH = re.compile(r"\s?in(?=\s*(?:$|[.;,)\]x–-]|by\b|to\b|and\b|wide\b|long\b|tall\b|high\b|deep\b|thick\b))")
_GLUED_INCH = re.compile(r"in(?!\w)")
_MINUTE_BEFORE = re.compile(r"\bminute\s$", re.IGNORECASE)
_SCALE_GAP = re.compile(r"[ \n-]?")
_UNIT_GAP = re.compile(r"[ \n]{0,2}-?")


def read_scale(text: str, quantity: Quantity, dimension: str | None) -> Quantity:
    """Take in ``million``, ``k``, ``lakh crore`` and their like."""
    if quantity.kind != "number":
        return quantity
    million = _MILLION.match(text, quantity.end)
    if million and not million.group(0).strip().lower().startswith("mi"):
        return _read_short_million(text, quantity, million, dimension)
    if dimension == "temperature" and re.match(r"\s?K\b", text[quantity.end : quantity.end + 4]):
        return replace(quantity, unit="kelvin", end=text.index("K", quantity.end) + 1)
    end, factor, gap = quantity.end, 1, _SCALE_GAP
    while (joint := gap.match(text, end)) and (scale := match_scale(text, joint.end())):
        is_letter = text[joint.end() : scale[1]].lower() in {"b", "k"}
        if is_letter and (joint.group(0) or factor > 1):
            break
        factor, end = factor * scale[0], scale[1]
    if factor == 1:
        return quantity
    value = quantity.value * factor
    doubt = None if factor <= 10**15 else "scale words not understood"
    end -= text[end - 1] == "."
    return replace(quantity, value=value, end=end, scale=factor, other=None, doubt=doubt)


def _read_short_million(text: str, quantity: Quantity, match: re.Match[str], dimension: str | None) -> Quantity:
    """``m`` is metre or minute where that is expected, million beside a currency, else unclear."""
    letter = match.group(0).strip()
    money_follows = (unit := match_unit(text, match.end() + (text[match.end() : match.end() + 1] == " "))) and (
        dimension_of(unit[0]) in {"dollar", "euro", "sterling", "rupee", "yen", "yuan"}
    )
    if quantity.unit or money_follows:
        return replace(quantity, value=quantity.value * 10**6, end=match.end(), scale=10**6, other=None)
    if letter == "m" and dimension in {"length", "time"}:
        return quantity
    if letter == "M" and match.group(0) == "M" and dimension not in {"length", "time"}:
        return replace(quantity, value=quantity.value * 10**6, end=match.end(), scale=10**6, other=None)
    return replace(quantity, end=match.end(), doubt=f"'{letter}' may be metre, minute or million")


def read_unit(text: str, quantity: Quantity, dimension: str | None) -> Quantity:
    """Take in the unit behind a number, or doubt a symbol that may mean something else."""
    if quantity.doubt or quantity.kind == "clock" or quantity.unit == "kelvin":
        return quantity
    if mark := _read_mark(text, quantity, dimension):
        return mark
    inch = _GLUED_INCH.match(text, quantity.end) or _INCH.match(text, quantity.end)
    if inch and quantity.kind == "number":
        return replace(quantity, unit="inch", end=inch.end(), symbol="in")
    joint = _UNIT_GAP.match(text, quantity.end)
    place = joint.end() if joint else quantity.end
    unit = match_unit(text, place) or _read_letter_degree(text, place, dimension)
    if unit is None:
        return _unit_before(text, quantity)
    symbol = text[place : unit[1]]
    if quantity.unit and quantity.unit != unit[0]:
        return replace(quantity, doubt="two units")
    if len(symbol) == 1 and symbol.isalpha() and place > quantity.end and dimension_of(unit[0]) != dimension:
        unclear = not (symbol == "m" and dimension == "time")
        return replace(quantity, unit=unit[0], end=unit[1], symbol=symbol, doubt="unclear symbol" if unclear else None)
    return replace(quantity, unit=unit[0], end=unit[1], symbol=symbol)


def _read_mark(text: str, quantity: Quantity, dimension: str | None) -> Quantity | None:
    """``72'`` and ``5'10"``: minutes and seconds, or feet and inches, or closing quotation marks."""
    mark = text[quantity.end : quantity.end + 1]
    if mark not in ("'", '"') or text[quantity.start - 1 : quantity.start] == mark:
        return None
    if mark == "'" and re.match(r"[^\W\d_]", text[quantity.end + 1 : quantity.end + 2]):
        return replace(quantity, doubt="something is glued to the end of a number")
    unit = {"time": ("minute", "second"), "length": ("foot", "inch")}.get(dimension or "")
    if unit is None:
        is_closing = mark in text[: quantity.start]
        return None if is_closing else replace(quantity, end=quantity.end + 1, doubt="a mark of unclear meaning")
    return replace(quantity, unit=unit[mark == '"'], end=quantity.end + 1, symbol=mark)


def _read_letter_degree(text: str, place: int, dimension: str | None) -> tuple[str, int] | None:
    if dimension == "temperature" and re.match(r"[CF](?!\w)", text[place : place + 2]):
        return ("degree Celsius" if text[place] == "C" else "degree Fahrenheit"), place + 1
    return None


def _unit_before(text: str, quantity: Quantity) -> Quantity:
    """``minute 71``."""
    if not quantity.unit and _MINUTE_BEFORE.search(text[max(0, quantity.start - 8) : quantity.start]):
        return replace(quantity, unit="minute", symbol="minute")
    return quantity
