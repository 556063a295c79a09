"""Runs of digits: which of them are certainly one number, and which."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Numeral", "normalise", "read_numeral"]

_MAX_CHARACTERS = 24
_DASHES = dict.fromkeys("\u2010\u2011\ufe63\uff0d", "-")
_MARKS = {
    "\u066b": ".",
    "\u066c": ",",
    "\uff0e": ".",
    "\uff0c": ",",
    "\uff05": "%",
    "\ufe6a": "%",
    "\uff1a": ":",
    "\uff04": "$",
    "\uffe5": "¥",
    "\u2103": "°C",
    "\u2109": "°F",
    "\u03bc": "µ",
    "\u2019": "'",
    "\u2018": "'",
    "\u2032": "'",
    "\u2033": '"',
    "\u201c": '"',
    "\u201d": '"',
    "\u00d7": "x",
    "\u200b": "",
    "\ufeff": "",
}
_TRANSLATION = str.maketrans({**_DASHES, **_MARKS})
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
# Between digits: thin, figure, narrow and plain no-break spaces, and the Swiss apostrophe.
_GROUP_SPACE = re.compile(r"(?<=[0-9])[\u2009\u2007\u202f\u00a0'](?=[0-9]{3}(?![0-9]))")
_ODD_SPACE = re.compile(r"[^\S\n ]")
_LATEX_THIN = re.compile(r"(?<=[0-9])(?:\\,|\{,\})(?=[0-9]{3}(?![0-9]))")
_MARKUP = re.compile(
    r"(?<![0-9])\*\*|\*\*(?![0-9])|__|`|\\boxed\{|\\text\{|\\mathrm\{|\\\(|\\\)|\\\[|\\\]|[{}]|</?[A-Za-z]{1,12}>"
)
# 2h7m14s, 5'10", 5ft10in: a space after each unit that digits follow.
_PACKED = re.compile(
    r"(?<=[0-9])(h(?=[0-9]{1,2}(?![0-9]))|m(?:in)?(?=[0-9]{1,2}(?:\.[0-9]+)?\s?s)|'(?=[0-9]{1,2}(?:\.[0-9]+)?(?:\"|''))"
    r"|ft(?=[0-9]{1,2}\s?in))"
)
_MATH = re.compile(r"\$(\s?[-−]?[0-9][0-9.,]*\s?)\$(?![0-9])")
_EMPHASIS = re.compile(r"\*([^*\s][^*\n]{0,80})\*")

_INTEGER = re.compile(r"0|[1-9][0-9]*")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]*)?\.[0-9]+")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_GROUPED_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_DOT_AS_GROUP = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_CLOCK = re.compile(r"([0-9]{1,3}):([0-5][0-9])(?::([0-5][0-9]))?(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Numeral:
    """One run of digits; ``value`` is ``None`` where it is not certainly one number.

    A clock time has its value in seconds (two fields are read as minutes and seconds) and its
    number of ``clock_fields``, otherwise 0. ``other`` is the second reading of ``1.234`` and
    ``1,234`` by those who swap comma and stop.
    """

    value: Decimal | None
    clock_fields: int = 0
    other: Decimal | None = None


def _plain_digit(match: re.Match[str]) -> str:
    digit = unicodedata.decimal(match.group(0), None)
    return match.group(0) if digit is None else str(digit)


def normalise(text: str) -> str:
    """Fold what typography varies without changing a number: digits of other scripts, spaces, markup."""
    text = unicodedata.normalize("NFC", text).translate(_TRANSLATION)
    if not text.isascii():
        text = _FOREIGN_DIGIT.sub(_plain_digit, text)
    text = _ODD_SPACE.sub(" ", _GROUP_SPACE.sub(",", _LATEX_THIN.sub(",", text)))
    text = _EMPHASIS.sub(r"\1", _MARKUP.sub(" ", text))
    return _PACKED.sub(r"\1 ", _MATH.sub(r"\1", text))


def read_numeral(run: str) -> Numeral:
    """Read a run of digits, commas, stops and colons (without closing punctuation)."""
    if len(run) > _MAX_CHARACTERS:
        return Numeral(None)
    if clock := _CLOCK.fullmatch(run):
        return _read_clock(clock)
    if _INTEGER.fullmatch(run):
        return Numeral(Decimal(run))
    if _DECIMAL.fullmatch(run):
        other = Decimal(run.replace(".", "")) if _DOT_AS_GROUP.fullmatch(run) else None
        return Numeral(Decimal(run), other=other)
    if _GROUPED.fullmatch(run) or _GROUPED_INDIAN.fullmatch(run):
        one_comma = run.count(",") == 1 and "." not in run
        return Numeral(Decimal(run.replace(",", "")), other=Decimal(run.replace(",", ".")) if one_comma else None)
    return Numeral(None)


def _read_clock(match: re.Match[str]) -> Numeral:
    first, second, third, fraction = match.groups()
    if third is None:
        seconds, fields = int(first) * 60 + int(second), 2
    else:
        seconds, fields = int(first) * 3600 + int(second) * 60 + int(third), 3
    return Numeral(Decimal(f"{seconds}{fraction or ''}"), clock_fields=fields)
