"""Notes on acceptable ranges: where one stands in a reference and which bounds it gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from calibration_sets.references.compounds import merge_compounds, settle_minutes
from calibration_sets.references.quantities import Quantity, normalise, read_quantities
from calibration_sets.references.reference import AcceptableRange
from calibration_sets.references.units import UNITS, canonical_noun, convert, dimension_of

__all__ = ["RangeNote", "find_range_note", "parse_range_note"]

_KIND = r"(?:acceptable|accepted|allowed|allowable|valid|permitted|permissible|tolerated|tolerable|admissible|correct)"
_STRONG = (
    rf"(?:the\s+)?{_KIND}\s+(?:answers?\s+|values?\s+|numeric(?:al)?\s+)?(?:ranges?|interval|tolerance|bounds|margin)\b"
)
_WEAK = (
    r"(?:(?:answer\s+)?(?:range|tolerance|margin)(?:\s*:|\s+(?=from|between|[-−±\d]))"
    r"|(?=[^()\[\]]{3,80}?\b(?:acceptable|accepted|allowed)\s*[)\]])"
    r"|accept(?:able|ed|s)?\b\s*:?\s*(?=(?:answers?:?\s+|values?:?\s+)?(?:anything|anywhere|any|between|from|within|[-−±≥≤\d]))"
    r"|(?=(?:anything|anywhere|any\s+(?:value|number|answer))\s+(?:between|from|within|in)\b)"
    r"|(?=between\s+\S+\s+and\s)|(?=[±≥≤]\s?[\d$€£₹])|(?=(?:plus\s+or\s+minus|\+/-)\s))"
)
_LINK = r"\s*(?:is|are|of|:|=)?\s*"
_BRACKETED = re.compile(rf"[(\[]\s*(?:{_STRONG}|{_WEAK}){_LINK}", re.IGNORECASE)
_OPEN = re.compile(rf"(?<!\w){_STRONG}{_LINK}", re.IGNORECASE)
_MAX_NOTE = 500
_MAX_TEXT = 20_000

_REWRITES = (
    (re.compile(r"≥|>="), " at least "),
    (re.compile(r"≤|<="), " at most "),
    (re.compile(r"±|\+/[-−]|\bplus\s+or\s+minus\b", re.IGNORECASE), " plusminus "),
    (re.compile(r"\.{2,}|…"), " to "),
    (re.compile(r"\[([^\[\],]+|[^\[\]]+?),\s+([^\[\],]+)\]"), r"\1 to \2"),
    (re.compile(r"\b(?:no|not)\s+less\s+than\b", re.IGNORECASE), " at least "),
    (re.compile(r"\b(?:no|not)\s+more\s+than\b", re.IGNORECASE), " at most "),
)
_DASH = re.compile(r"(?:[-–—−~…]|--|\.\.\.?|to|through|thru|until|till|up to|at most (?:[a-z] )?at most)")
_AND = re.compile(r"(?:and|&|,? ?and)")
_FILLER = re.compile(
    r"(?:anything|anywhere|any|everything|values?|numbers?|answers?|between|from|in|the|range|of|within|inclusive(?:ly)?"
    r"|and|a|an|about|approximately|roughly|is|are|either|x|by|&|[\[\](){},;:.*])"
)
_TAIL = re.compile(r"(?:\D|(?<=[a-z])[23](?!\d))*")
_OR_MORE = re.compile(r"\bor (?:more|higher|greater)$")
_OR_LESS = re.compile(r"\bor (?:less|lower|fewer)$")
_EXCEPTION = re.compile(r"\b(?:not|except|excluding|exclusive|exclusively|but|without|or)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RangeNote:
    """A note on an acceptable range: the answer around it, and its body behind the label."""

    answer: str
    body: str


@dataclass(frozen=True, slots=True)
class _Span:
    low: Quantity
    high: Quantity
    fixed: bool = False


def find_range_note(text: str) -> RangeNote | None:
    """Find the note, if the text has one, whether or not its body can be understood."""
    if len(text) > _MAX_TEXT:
        return None
    for match in _BRACKETED.finditer(text):
        end = _closing(text, match.start())
        answer = f"{text[: match.start()].rstrip()} {text[end:].lstrip()}".strip()
        labelled = re.match(rf"[(\[]\s*{_STRONG}", match.group(0), re.IGNORECASE)
        if labelled or any(q.start == 0 for q in read_quantities(normalise(answer[:100]))):
            return RangeNote(answer, text[match.end() : end - _is_closed(text, match.start(), end)].strip())
    opened = _OPEN.search(text)
    if opened and opened.start() > 0:
        return RangeNote(text[: opened.start()].rstrip(" \n\t,;.:–—-").lstrip(), text[opened.end() :].strip())
    return None


def _closing(text: str, start: int) -> int:
    """Index behind the bracket that closes the one at ``start``, or the end of the text."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if depth == 0:
            return place + 1
    return len(text)


def _is_closed(text: str, start: int, end: int) -> bool:
    opened = sum(text.count(bracket, start, end) for bracket in "([")
    return opened == sum(text.count(bracket, start, end) for bracket in ")]")


def parse_range_note(note: RangeNote) -> tuple[AcceptableRange, ...]:
    """Return the ranges that the note gives, one a quantity; empty where it is not understood.

    A bound that the note leaves open is infinite. A fixed part (``1 year, between 160 and 162
    days``) is a range of one value. Scale words and units that stand on one bound hold for both.
    """
    if len(note.body) > _MAX_NOTE or len(note.answer) > _MAX_NOTE:
        return ()
    body, answer = _rewrite(normalise(note.body)), normalise(note.answer)
    for dimension in _dimensions(body, answer):
        spans = _read_spans(body, answer, dimension)
        if spans:
            return _ranges(spans, answer, dimension)
    return ()


def _rewrite(body: str) -> str:
    for pattern, words in _REWRITES:
        body = pattern.sub(words, body)
    return " ".join(body.split())


def _dimensions(body: str, answer: str) -> list[str | None]:
    """Dimensions to read the note in, likeliest first."""
    seen = [dimension_of(quantity.unit) for part in (body, answer) for quantity in read_quantities(part)]
    stated = [dimension for dimension in seen if dimension]
    is_minutes = "'" in body and '"' not in body
    if re.search(r"[0-9] K\b", body):
        stated.insert(0, "temperature")
    return [*dict.fromkeys(stated), None, "time" if is_minutes else "length", "length", "time", "temperature"]


def _read_spans(body: str, answer: str, dimension: str | None) -> list[_Span]:
    quantities = merge_compounds(body, read_quantities(body, dimension))
    if not quantities or any(quantity.doubt for quantity in quantities):
        return []
    tail = body[quantities[-1].end :]
    gaps = [body[left.end : right.start].lstrip().removeprefix(left.noun) for left, right in pairwise(quantities)]
    leads = [body[: quantities[0].start], *gaps]
    if _EXCEPTION.search(_OR_LESS.sub("", _OR_MORE.sub("", tail))) or not _TAIL.fullmatch(tail):
        return []
    if one_sided := _read_open_bounds(quantities, leads, tail, answer, dimension):
        return one_sided
    return _read_closed(quantities, leads)


def _read_closed(quantities: list[Quantity], leads: list[str]) -> list[_Span]:
    spans: list[_Span] = []
    place = 0
    while place < len(quantities):
        if not _is_filler(leads[place]):
            return []
        following = leads[place + 1].strip().lower() if place + 1 < len(quantities) else ""
        is_between = re.search(r"between|any|within|range|from", leads[place], re.IGNORECASE)
        if _DASH.fullmatch(following) or (is_between and _AND.fullmatch(following)):
            low, high = quantities[place : place + 2]
            if low.unit and high.unit and convert(Decimal(1), low.unit, high.unit) is None:
                return []
            spans.append(_share(low, high))
            place += 2
        else:
            spans.append(_Span(quantities[place], quantities[place], fixed=True))
            place += 1
    return spans if _are_coherent(spans) else []


def _are_coherent(spans: list[_Span]) -> bool:
    """At least one true range; fixed parts only of durations (years beside days)."""
    fixed = [span for span in spans if span.fixed]
    calendar = {"calendar", "time"}
    return len(fixed) < len(spans) and all(dimension_of(span.low.unit) in calendar for span in fixed)


def _is_filler(gap: str) -> bool:
    return all(_FILLER.fullmatch(word) for word in re.findall(r"\w+|[^\w\s]", gap.lower()))


def _read_open_bounds(
    quantities: list[Quantity], leads: list[str], tail: str, answer: str, dimension: str | None
) -> list[_Span]:
    """Read ``at least``, ``at most``, ``or more``, ``or less`` and plus-or-minus."""
    words = [" ".join(re.findall(r"[a-z]+", lead.lower())) for lead in leads]
    first, last = quantities[0], quantities[-1]
    if words == ["at least", "and at most"] or words == ["at least", "at most"]:
        return [_share(first, last)]
    infinity = Decimal("Infinity")
    if words in (["at least"], ["minimum"]) or (words == [""] and _OR_MORE.search(tail)):
        return [_Span(first, replace(first, value=infinity))]
    if words in (["at most"], ["up to"]) or (words == [""] and _OR_LESS.search(tail)):
        return [_Span(replace(first, value=-infinity), first)]
    if words[-1] in {"plusminus", "within plusminus"} and len(quantities) <= 2:
        centre = first if len(quantities) == 2 else next(iter(_targets(answer, dimension)), None)
        return _around(centre, last)
    return []


def _around(centre: Quantity | None, margin: Quantity) -> list[_Span]:
    if centre is None or centre.doubt:
        return []
    if margin.unit == "percent" and centre.unit != "percent":
        width = abs(centre.value) * margin.value / 100
    else:
        converted = convert(margin.value, margin.unit or centre.unit, centre.unit)
        if converted is None:
            return []
        width = _decimal(converted)
    return [_Span(replace(centre, value=centre.value - width), replace(centre, value=centre.value + width))]


def _share(low: Quantity, high: Quantity) -> _Span:
    """Give each bound the scale word and the unit that only the other one has."""
    if high.scaled and not low.scaled:
        if low.value * high.scale <= high.value:
            low = replace(low, value=low.value * high.scale, scale=high.scale)
    elif low.scaled and not high.scaled and low.value <= high.value * low.scale:
        high = replace(high, value=high.value * low.scale, scale=low.scale)
    unit = high.unit or low.unit
    noun = "" if unit else (high.noun or low.noun)
    bounds = [replace(bound, value=_in_unit(bound, unit), unit=unit, noun=noun) for bound in (low, high)]
    return _Span(bounds[0], bounds[1])


def _in_unit(bound: Quantity, unit: str | None) -> Decimal:
    if bound.unit in {None, unit}:
        return bound.value
    converted = convert(bound.value, bound.unit, unit)
    return bound.value if converted is None else _decimal(converted)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _targets(answer: str, dimension: str | None) -> list[Quantity]:
    return merge_compounds(answer, read_quantities(answer, dimension))


def _ranges(spans: list[_Span], answer: str, dimension: str | None) -> tuple[AcceptableRange, ...]:
    apart = settle_minutes(answer, read_quantities(answer, dimension))
    targets = _targets(answer, dimension)[:1] if len(spans) == 1 else apart
    if len(targets) != len(spans) or any(target.doubt for target in targets):
        targets = []
    units = [_unit_of(span.high) for span in spans]
    if any(_conflict(_unit_of(target), unit) for target, unit in zip(targets, units, strict=False)):
        return ()
    answered = [_unit_of(target) for target in targets] or [None] * len(spans)
    last = next((unit for unit in reversed([*answered, *units]) if unit), None)
    chosen = [unit or own or last for unit, own in zip(units, answered, strict=True)]
    return tuple(
        AcceptableRange(span.low.value, span.high.value, _target(targets, place, unit), unit)
        for place, (span, unit) in enumerate(zip(spans, chosen, strict=True))
    )


def _conflict(own: str | None, unit: str | None) -> bool:
    """Whether the answer and its note are in units that do not convert."""
    return own in UNITS and unit in UNITS and convert(Decimal(1), own, unit) is None


def _unit_of(quantity: Quantity) -> str | None:
    if quantity.kind == "clock":
        return "second"
    return quantity.unit or canonical_noun(quantity.noun) or None


def _target(targets: list[Quantity], place: int, unit: str | None) -> Decimal | None:
    if not targets:
        return None
    own = targets[place].unit
    if own is None or own == unit:
        return targets[place].value
    value = convert(targets[place].value, own, unit)
    return None if value is None else _decimal(value)
