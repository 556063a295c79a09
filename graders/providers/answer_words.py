"""Answers as words that can be compared: for the grader without a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["ARTICLES", "contains_words", "fold_diacritics", "number_words_to_digits", "split_words"]

ARTICLES = frozenset({"a", "an", "the"})
"""Words that make no difference between two answers."""
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_WHOLE_DECIMALS = re.compile(r"(?<![\d.])(\d+)\.0+(?![\d.])")
_SIGN = re.compile(r"(?<![^\s(\[{:=,;$€£])[-−](?=\.?\d)")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_MINUS, _DECIMAL = "\ue000", "\ue001"  # private letters that stand for the two marks until words are split
_FOLDED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŋ": "n"}
)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_DIGITS = {word: str(number) for number, word in enumerate(re.findall(r"\w+", _NUMBER_WORDS))}


class _Spacing(dict[int, str]):
    """Translation of single characters, filled as they occur: marks to blanks, words kept."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if _is_unspaced(code):
            kept = f" {char} " if kind[0] != "M" else char
        elif char in "%\u2030°" or char in (_MINUS, _DECIMAL) or kind[0] in "LNM":
            kept = char
        else:
            # apostrophes and the dots of initials join what they stand in: O'Hara, U.S.
            kept = "" if char in "'’‘ʼ`´." or kind == "Cf" else f" {char} " if kind[0] == "S" and code > 127 else " "
        self[code] = kept
        return kept


_SPACING = _Spacing()


def split_words(text: str, *, keep_percent: bool = True) -> tuple[str, ...]:
    """Words of a text for comparison: composed (NFC), without case, marks and English articles.

    Numbers keep sign and decimal point and lose separators of thousands and empty decimals
    (``$2,350,000.00`` is ``2350000``); a percent sign stays with its number unless told otherwise.
    Scripts that do not put blanks between words come apart into characters. A text of nothing but
    articles keeps them.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    if any(map(str.isdigit, text)):
        text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
        text = _WHOLE_DECIMALS.sub(r"\1", text)
        text = _POINT.sub(_DECIMAL, _SIGN.sub(_MINUS, text))
        text = re.sub(r"(?<=\d)\s+%", "%", text)
    if not keep_percent:
        text = text.replace("%", " ").replace("per cent", " ").replace("percent", " ")
    words = text.translate(_SPACING).replace(_MINUS, "-").replace(_DECIMAL, ".").split()
    without = tuple(word for word in words if word not in ARTICLES)
    return without or tuple(words)


def contains_words(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether ``part`` (not empty) stands in ``words``, whole words in a row."""
    if not part or len(part) > len(words):
        return False
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def fold_diacritics(words: Sequence[str]) -> tuple[str, ...]:
    """Words of the Latin, Greek and Cyrillic scripts without diacritics; other scripts unchanged."""
    return tuple(word if word.isascii() else _fold(word) for word in words)


def number_words_to_digits(words: Sequence[str]) -> tuple[str, ...]:
    """English number words up to twenty as digits."""
    return tuple(_DIGITS.get(word, word) for word in words)


def _fold(word: str) -> str:
    kept: list[str] = []
    after_letter = False
    for char in unicodedata.normalize("NFD", word):
        if unicodedata.combining(char) and after_letter:
            continue
        after_letter = unicodedata.name(char, "").startswith(("LATIN", "GREEK", "CYRILLIC"))
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_FOLDED)


def _is_unspaced(code: int) -> bool:
    return (
        0x0E00 <= code <= 0x0EFF  # Thai, Lao
        or 0x1000 <= code <= 0x109F  # Burmese
        or 0x1780 <= code <= 0x17FF  # Khmer
        or (0x3005 <= code <= 0x3007 or 0x3040 <= code <= 0x30FF)  # iteration marks, kana
        or 0x3400 <= code <= 0x9FFF  # Han
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x3FFFF
    )
