"""Numbers written in English words.

Own code, not ``word2number`` or ``text2num``: those read ``under investigation`` or ``nineteen
ninety-four`` as some number or other; here a run of words either obeys the grammar or is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

__all__ = ["NUMBER_WORD_START", "WordNumber", "read_number_words"]

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12}
_BELOW_HUNDRED = {
    **{word: value for value, word in enumerate(_ONES, 1)},
    **{word: value for value, word in enumerate(_TEENS, 10)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "fourty": 40,
}
# A lone "first" or "second" is far more often an adverb or a unit than an answer, so it is left out.
_ORDINALS = {
    "third": "three",
    "fourth": "four",
    "fifth": "five",
    "sixth": "six",
    "seventh": "seven",
    "eighth": "eight",
    "ninth": "nine",
    "tenth": "ten",
    "eleventh": "eleven",
    "twelfth": "twelve",
    **{f"{word}th": word for word in _TEENS[3:]},
    **{f"{word[:-1]}ieth": word for word in _TENS},
    "hundredth": "hundred",
    "thousandth": "thousand",
    "millionth": "million",
}
_TAIL_ORDINALS = {"first": "one", "second": "two", **_ORDINALS}
_FRACTIONS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "quarters": Decimal("0.75")}
_ANY = "|".join(sorted([*_BELOW_HUNDRED, "zero", *_ORDINALS], key=len, reverse=True))
_SCALE = "|".join(["hundred", *_SCALES])
# Idioms in which "one" counts nothing.
_IDLE_BEFORE = "".join(f"(?<!\\b{word}[ ])" for word in ("no", "the", "this", "that", "which", "every", "any", "each"))
_IDLE_AFTER = r"(?!\s+(?:of|another|can|could|day|should|must|may|or)\b)"
NUMBER_WORD_START = rf"(?<![\w-])(?:(?!one\b)(?:{_ANY})|{_IDLE_BEFORE}one{_IDLE_AFTER}|an?\s+(?:{_SCALE}))(?!\w)"
"""A pattern that finds where a number in words begins; ``one`` and ``a`` count only where they are one."""
# "eight thousand, two hundred": a comma goes on only into another hundred or scale
_COMMA = rf"(?<=[dn]),\s+(?=(?:{_ANY})(?:[\s-]+(?:{_ANY}))?[\s-]+(?:{_SCALE})\b(?!\s+of\b))"
_WORD = re.compile(rf"(\s+and\s+|\s*-\s*|{_COMMA}|\s+)?([a-z]+)(?![\w])", re.IGNORECASE)
_AND_FRACTION = re.compile(r"\s+and\s+(?:(?:a|one)\s+(half|quarter)|three\s+(quarters))\b", re.IGNORECASE)
_POINT = re.compile(rf"\s+point((?:\s+(?:zero|{'|'.join(_ONES)}))+)(?!\w)", re.IGNORECASE)
_DIGITS = {"zero": "0", **{word: str(value) for value, word in enumerate(_ONES, 1)}}


@dataclass(frozen=True, slots=True)
class WordNumber:
    """A run of number words; ``value`` is ``None`` where it is not one well-formed number.

    ``scale`` is that of a final scale word, otherwise 1.
    """

    value: Decimal | None
    end: int
    ordinal: bool = False
    scale: int = 1


@dataclass(slots=True)
class _Sum:
    """What has been read so far: whole groups, the open group below one thousand, the last scale."""

    total: int = 0
    group: int = 0
    scale: int = 10**15
    words: list[str] = field(default_factory=list)

    def add(self, word: str) -> bool:
        """Take one more word if the grammar allows it here."""
        done = self._add_small(word) or self._add_hundred(word) or self._add_scale(word)
        if done:
            self.words.append(word)
        return done

    def _add_small(self, word: str) -> bool:
        value = _BELOW_HUNDRED.get(word)
        if value is None or self.words[-1:] == ["zero"]:
            return False
        room = self.group % 100
        if room == 0 or (value < 10 and room >= 20 and room % 10 == 0):
            self.group += value
            return True
        return False

    def _add_hundred(self, word: str) -> bool:
        if word != "hundred" or not 1 <= self.group <= 99:
            return False
        self.group *= 100
        return True

    def _add_scale(self, word: str) -> bool:
        size = _SCALES.get(word)
        if size is None or not self.group or size >= self.scale:
            return False
        self.total += self.group * size
        self.group, self.scale = 0, size
        return True

    @property
    def takes_and(self) -> bool:
        """Whether ``and`` can follow: only after a hundred or a scale word."""
        return self.words[-1:] == ["hundred"] or self.words[-1] in _SCALES


def read_number_words(text: str, start: int) -> WordNumber:
    """Read the number whose first word starts at ``start`` (a match of :data:`NUMBER_WORD_START`)."""
    sum_, end, ordinal, well_formed = _Sum(), start, False, True
    article = re.compile(r"an?\s+", re.IGNORECASE).match(text, start)
    if article:
        sum_.group, end, sum_.words = 1, article.end(), ["one"]
    while not ordinal and len(sum_.words) < 32 and (match := _WORD.match(text, end)):
        joint, word = (match.group(1) or "").strip().lower(), match.group(2).lower()
        cardinal = _TAIL_ORDINALS.get(word, word)
        is_number = cardinal in _BELOW_HUNDRED or cardinal in _SCALES or cardinal in {"hundred", "zero"}
        if not is_number or (joint in {"and", ","} and not sum_.takes_and) or _is_unit_second(word, joint, sum_):
            break
        if cardinal == "zero" and not sum_.words:
            sum_.words.append("zero")
        elif not sum_.add(cardinal):
            well_formed, end = False, match.end()
            break
        ordinal, end = cardinal != word, match.end()
    return _finish(text, sum_, end, ordinal=ordinal, well_formed=well_formed)


def _is_unit_second(word: str, joint: str, sum_: _Sum) -> bool:
    """``twenty second`` is a duration as often as an ordinal; only ``twenty-second`` is read."""
    return word in {"first", "second"} and (not sum_.words or (word == "second" and joint != "-"))


def _finish(text: str, sum_: _Sum, end: int, *, ordinal: bool, well_formed: bool) -> WordNumber:
    value = Decimal(sum_.total + sum_.group)
    scale = _SCALES.get(sum_.words[-1], 1) if sum_.words else 1
    if not well_formed or not sum_.words:
        return WordNumber(None, max(end, 0), ordinal, scale)
    if fraction := _AND_FRACTION.match(text, end):
        if scale > 1:  # "a million and a half" is a million more than it adds up to
            return WordNumber(None, fraction.end(), ordinal, scale)
        return WordNumber(value + _FRACTIONS[(fraction.group(1) or fraction.group(2)).lower()], fraction.end())
    if point := _POINT.match(text, end):
        digits = "".join(_DIGITS[word] for word in point.group(1).lower().split()[:10])
        return WordNumber(Decimal(f"{value}.{digits}"), point.end())
    return WordNumber(value, end, ordinal, scale)
