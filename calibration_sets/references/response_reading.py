"""What number a response commits to, if it plainly commits to one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from calibration_sets.references.compounds import merge_compounds
from calibration_sets.references.quantities import Quantity, normalise, read_quantities
from calibration_sets.references.units import convert, dimension_of

__all__ = ["MAX_CHARACTERS", "ResponseReading", "committed_quantities", "read_response", "with_shared_unit"]

# Longer responses hold more numbers than a rule can weigh; leaving them to the grader bounds the work.
MAX_CHARACTERS = 20_000
"""Characters of a response that are read; of a longer one nothing is decided."""

# Each makes the whole response undecided, wherever outside of a number it stands.
_DOUBTS = (
    (
        "a negation",
        r"\b(?:not|no|nor|neither|never|none|nobody|nothing|without|cannot|incorrect|wrong|false|untrue|except|excluding"
        r"|instead|unlikely|den(?:y|ied|ies)|myth|unable|refus\w+|fail\w*|contrary|opposed|disagree\w*|reject\w*"
        r"|nicht|kein\w*|pas|jamais|ni|não|nunca|ikke|inte|niet|geen|nie|не|нет)\b|n't\b",
    ),
    (
        "a hedge",
        r"\b(?:or|either|maybe|perhaps|possibl[ey]|probabl[ey]|might|could|would|should|unsure|uncertain|unclear|unknown"
        r"|guess\w*|think|believe|suppos\w+|assum\w+|seem\w*|likely|presumably|disput\w+|reportedly|alleged\w*"
        r"|alternatively|depend\w*|var(?:y|ies|ied)|if|unless|suggest\w*|doubt\w*|sources?\s+differ|somewhere"
        r"|anywhere|ballpark|although|though|however|whereas|but|while|other\s+sources|hard\s+to\s+say|claim\w*"
        r"|rumou?r\w*|some\s+(?:say|people|sources)|others|thought|used\s+to|formerly|originally|previously|initially"
        r"|expected|planned|predicted|projected|forecast\w*|proposed|please|knowledge|trained|check|verify|consult"
        r"|recommend\w*)\b"
        r"|\bmay(?=\s+(?:be|have)\b)|\?",
    ),
    (
        "a correction",
        r"\b(?:wait|actually|correction|correcting|sorry|scratch\s+that|i\s+mean|rather|second\s+thought|oops)\b",
    ),
    (
        "arithmetic",
        r"\b(?:half|halves|twice|thrice|double[ds]?|triple[ds]?|third\s+of|quarters?|minus|plus|times|multipl\w+"
        r"|divided|sum|difference|ratio|squared|cubed)\b|[½¼¾⅓⅔⅛√∞]|\bbelow\s+(?:zero|freezing)\b",
    ),
    (
        "a vague number",
        r"\b(?:dozens?|hundreds?|thousands?|lakhs?|crores?|millions?|billions?|trillions?|several|few|couple|handful"
        r"|many|numerous|minimum\s+of|maximum\s+of|a\s+lot|gross|a\s+score)\b",
    ),
    ("a range of values", r"±|\+/-|\bbetween\b|\brang(?:e|es|ed|ing)\b|\bspan(?:s|ned|ning)?\b|\bdecade\b|\bcentury\b"),
)
_PATTERNS = tuple((reason, re.compile(pattern, re.IGNORECASE)) for reason, pattern in _DOUBTS)
_APPROXIMATE = re.compile(
    r"\b(?:about|around|approx(?:imately)?|roughly|circa|ca?\.|some|estimat\w+|thereabouts)\b|[~≈∼]", re.I
)
_BOUND_BEFORE = re.compile(
    r"(?:\bthan|\b(?:over|under|above|below|beyond|near|nearly|almost|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|past"
    r"|barely|approaching|short\s+of|at\s+(?:least|most)|up\s+to|upwards?\s+of|north\s+of|south\s+of|close\s+to"
    r"|in\s+excess\s+of|as\s+(?:many|much|few|little|high|low|long|far)\s+as|within|until|till|from|after|before"
    r"|out\s+of|first|last|next|another|remaining|additional|extra|further|every|except|top|increase\s+of|decrease\s+of)"
    r"|[<>≥≤+]=?)\s*(?:(?:the|an?|all|only|exactly|precisely|about|around|approximately|roughly|some)\s+){0,2}[\"'(]?$",
    re.IGNORECASE,
)
_LABEL_BEFORE = re.compile(
    r"\b(?:versions?|chapter|page|pp?\.|section|figure|fig\.|table|note|step|no\.|question|option|item|route|room|flight"
    r"|article|volume|vol\.|issue|season|episode|level|grade|psalm|verse)\s*#?$"
    r"|\b(?:see|cf\.|refs?\.?|references?|sources?|citations?)\s*\[$",
    re.IGNORECASE,
)
# A capitalised word inside a sentence makes a name of the number that follows it: "on Apollo 11".
_NAME_BEFORE = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+ $")
_CODE_BEFORE = re.compile(r"\b(?!(?:USD|INR|EUR|GBP|JPY|CHF|AUD|CAD|HKD|CNY|RMB)\b)[A-Z]{2,} ?$")
_LIST_MARKER = re.compile(r"^[ ]*(?:[0-9]{1,2}\.|[0-9]{1,3}\))[ ]+\S", re.MULTILINE)
_UNREAD_DIGIT = re.compile(r"(?<![a-z](?=[23]\b))[0-9]")
_SCALE_LIKE = (
    r"(?:grand|thou|mil|mill(?!im)\w*|mio|mrd|tausend|mille|milliers|MM|T"
    r"|тыс\w*|млн|млрд|миллион\w*|[万萬億亿千百만억])"
)
_BOUND_AFTER = re.compile(
    r"\s*\+|,?[\s-]*(?:plus|at\s+(?:least|most)|and\s+(?:a\s+bit|counting|more|change|some)|more|less|fewer|odd|ish|fold"
    r"|something|dozens?|score\s+and|gross|pairs?|couples|tens|short|percentage|out\s+of|longer|shorter|higher|lower|older"
    r"|younger|taller|larger|smaller|better|worse|faster|slower|later|earlier|ahead|behind|additional|extra"
    r"|further|(?:hundredth|thousandth|millionth|tenth|third|fourth|fifth|sixth|seventh|eighth|ninth|quarter|halve)s?"
    rf"|{_SCALE_LIKE})(?!\w)",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:answer|total|result)(?:\s+here)?\s*(?:is|was|:|=|-|–)\s*"
    r"(?:therefore|thus|exactly|precisely|simply|just|about|approximately|roughly|around|a\s+total\s+of|:)?\s*[\"'(\[]?$",
    re.IGNORECASE,
)
_CUE_REACH = 60
# "8,282 people.[1]": a footnote, where something else stands before it that holds a digit
_FOOTNOTE = re.compile(r"(?:(?<=[0-9%])\s?|(?<=[^\W\d_]{2})|(?<=[.,;]))(?:\[[0-9]{1,2}\])+(?=$|[\s.,;])")
_IN_YEAR = re.compile(r"\bin\s+$", re.IGNORECASE)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_OPERATOR = re.compile(r"\s*(?:[-–—x*+/:,;]|by|to|and|or|vs\.?|versus|times|plus|minus|)\s*", re.IGNORECASE)
_MULTIPLIED = re.compile(r"\b(?:of|per|each|by)\s*$", re.IGNORECASE)  # "4 boxes of 4" says 16
_RESTATEMENT = re.compile(
    r"\s*(?:[(\[,;/=]|,?\s?i\.e\.,?|,?\s?which\sis|,?\s?that\sis,?|,?\s?equivalent\sto)\s*(?:[~≈]|about\s|approx\.\s)?\s*"
)
# Two roundings of one length, in metres and feet, may differ by this share.
_RESTATEMENT_TOLERANCE = Fraction(1, 50)


@dataclass(frozen=True, slots=True)
class ResponseReading:
    """The numbers of a response; ``doubt`` says why none of them can be taken as its answer."""

    text: str
    quantities: tuple[Quantity, ...] = ()
    doubt: str | None = None
    approximate: bool = False


def read_response(response: str, dimension: str | None) -> ResponseReading:
    """Read all numbers of a response, and the first reason, if any, to abstain from judging them."""
    if len(response) > MAX_CHARACTERS:
        return ResponseReading("", doubt="the response is too long")
    text = _without_footnotes(normalise(response))
    quantities = tuple(merge_compounds(text, read_quantities(text, dimension)))
    rest = _without(text, quantities)
    doubt = "no number" if not quantities else _first_doubt(text, rest, quantities)
    return ResponseReading(text, quantities, doubt, _APPROXIMATE.search(rest) is not None)


def _without_footnotes(text: str) -> str:
    plain = _FOOTNOTE.sub("", text)
    return plain if re.search(r"[0-9]", plain) else text


def _without(text: str, quantities: tuple[Quantity, ...]) -> str:
    """The text with each number replaced by a mark, so that ``four and a half`` hides no ``half``."""
    parts, position = [], 0
    for quantity in quantities:
        parts += [text[position : quantity.start], " # "]
        position = quantity.end
    return "".join([*parts, text[position:]])


def _first_doubt(text: str, rest: str, quantities: tuple[Quantity, ...]) -> str | None:
    for quantity in quantities:
        if quantity.doubt:
            return quantity.doubt
        if reason := _context_doubt(text, quantity):
            return reason
    if _UNREAD_DIGIT.search(rest):
        return "digits that were not read"
    if _LIST_MARKER.search(text):
        return "a list"
    return next((reason for reason, pattern in _PATTERNS if pattern.search(rest)), None)


def _context_doubt(text: str, quantity: Quantity) -> str | None:
    before = text[max(0, quantity.start - 60) : quantity.start]
    if _BOUND_BEFORE.search(before) or _BOUND_AFTER.match(text, quantity.end):
        return "a bound or a part, not a value"
    named = _NAME_BEFORE.search(before) or (_CODE_BEFORE.search(before) and text != text.upper())
    if _LABEL_BEFORE.search(before) or (named and quantity.unit is None):
        return "a number in a name"
    return None


def committed_quantities(reading: ResponseReading) -> list[Quantity]:
    """Return the quantity that the response plainly gives as its answer; empty where that is unclear.

    Several are returned where they restate one quantity (``110 m (361 ft)``): all must agree. With
    several different numbers only an explicit ``the answer is`` tells which one counts, and only
    where no other number comes after it.
    """
    quantities = list(reading.quantities)
    if quantities and quantities[0].unit:
        quantities = [quantity for quantity in quantities if not _is_in_year(reading.text, quantity)]
    if len(quantities) <= 1:
        return quantities
    cued = [place for place, quantity in enumerate(quantities) if _is_cued(reading.text, quantity)]
    if cued:
        return quantities[cued[0] :] if _restate(reading.text, quantities[cued[0] :]) else []
    return quantities if _restate(reading.text, quantities) else []


def _is_in_year(text: str, quantity: Quantity) -> bool:
    """``in 1989`` behind a measured quantity dates it and is no answer beside it."""
    bare = not (quantity.unit or quantity.noun) and _YEAR.fullmatch(text[quantity.start : quantity.end])
    return bool(bare and _IN_YEAR.search(text[max(0, quantity.start - 8) : quantity.start]))


def _is_cued(text: str, quantity: Quantity) -> bool:
    return _CUE.search(text[max(0, quantity.start - _CUE_REACH) : quantity.start]) is not None


def _restate(text: str, quantities: list[Quantity]) -> bool:
    """Whether all that follows the first quantity repeats it, in the same or in other units."""
    first = quantities[0]
    for left, right in pairwise(quantities):
        gap = text[left.end : right.start]
        same = _is_same(first, right) and not _OPERATOR.fullmatch(gap) and not _MULTIPLIED.search(gap)
        if not same and not (_RESTATEMENT.fullmatch(gap) and _is_rounding(first, right)):
            return False
    return True


def _is_same(first: Quantity, second: Quantity) -> bool:
    if first.kind != second.kind:
        return False
    if first.unit is None or second.unit is None:
        nouns_agree = not (first.noun and second.noun) or first.noun.lower() == second.noun.lower()
        return first.value == second.value and nouns_agree
    return convert(second.value, second.unit, first.unit) == first.value


def _is_rounding(first: Quantity, second: Quantity) -> bool:
    if first.unit == second.unit or dimension_of(first.unit) is None:
        return False
    if dimension_of(first.unit) == dimension_of(second.unit) == "temperature":
        return True  # the fits of both must agree anyway
    converted = convert(second.value, second.unit, first.unit)
    if converted is None:
        return False
    return abs(converted - Fraction(first.value)) <= _RESTATEMENT_TOLERANCE * abs(Fraction(first.value))


def with_shared_unit(text: str, quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """Give a bare number the unit of the next one in ``405 x 480 cm`` and ``4 by 5 m``."""
    shared = list(quantities)
    for place in range(len(shared) - 2, -1, -1):
        left, right = shared[place], shared[place + 1]
        joint = text[left.end : right.start].strip().lower()
        if left.unit is None and not left.noun and right.unit and joint in {"x", "by"}:
            shared[place] = replace(left, unit=right.unit)
    return tuple(shared)
