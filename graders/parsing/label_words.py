"""The words and letters of a label scale, found in text as whole words only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from calibration_sets.scale import LabelScale

__all__ = ["Vocabulary", "build_vocabulary", "canonical_phrase"]

_MARKS = "\u0300-\u036f\u20d0-\u20ff"  # combining marks belong to the letter before them
_GAP = r"[\s_-]{0,3}"
_NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a scale's labels look like in a reply.

    Attributes
    ----------
    labels
        The labels themselves.
    phrases
        Canonical phrase to label.
    letters
        Letter or number to label, in the scale's own spelling.
    word
        Matches a whole phrase in any case.
    spellings
        Labels and words as they were given, for those that have no letters in them.
    letter
        Matches a whole letter or number, in the scale's own case.
    any_case
        Matches a whole letter or number in any case.
    """

    labels: tuple[str, ...]
    phrases: Mapping[str, str]
    letters: Mapping[str, str]
    spellings: Mapping[str, str]
    word: re.Pattern[str]
    letter: re.Pattern[str]
    any_case: re.Pattern[str]

    def label_of_word(self, phrase: str) -> str | None:
        """Label of a matched phrase."""
        return self.phrases.get(canonical_phrase(phrase))

    def label_of_letter(self, letter: str) -> str | None:
        """Label of a letter, in the scale's own case or, failing that, in any."""
        if letter in self.letters:
            return self.letters[letter]
        folded = {own.casefold(): label for own, label in self.letters.items()}
        return folded.get(letter.casefold())

    def label_of_spelling(self, text: str) -> str | None:
        """Label that a text is spelt exactly as, but for case."""
        return self.spellings.get(_spelling(text))

    def completions_of(self, text: str) -> set[str]:
        """Labels with a phrase of which ``text`` is a proper beginning."""
        begun = _joined(canonical_phrase(text))
        if not begun:
            return set()
        return {
            label
            for phrase, label in self.phrases.items()
            if _joined(phrase).startswith(begun) and _joined(phrase) != begun
        }


def canonical_phrase(phrase: str) -> str:
    """Case, spaces, underscores and hyphens made equal."""
    folded = unicodedata.normalize("NFC", phrase).casefold()
    return re.sub(rf"[^\w{_MARKS}]+|_+", " ", folded).strip()


def build_vocabulary(scale: LabelScale) -> Vocabulary:
    """The vocabulary of a scale; a phrase that would stand for two labels stands for none."""
    words = tuple((label, tuple(scale.words.get(label, ()))) for label in scale.labels)
    return _build(scale.labels, tuple(scale.letters.items()), words)


@lru_cache(maxsize=64)
def _build(
    labels: tuple[str, ...], letters: tuple[tuple[str, str], ...], words: tuple[tuple[str, tuple[str, ...]], ...]
) -> Vocabulary:
    spoken = [(word, label) for label, more in words for word in (label, *more)]
    letter_map = _unique([*((letter, label) for label, letter in letters), *(_letter_like(spoken))])
    phrases = _unique([(canonical_phrase(word), label) for word, label in spoken if canonical_phrase(word)])
    phrases |= {_joined(phrase): label for phrase, label in phrases.items() if _joined(phrase) not in phrases}
    phrases = {phrase: label for phrase, label in phrases.items() if phrase not in _folded(letter_map)}
    return Vocabulary(
        labels=labels,
        phrases=phrases,
        letters=letter_map,
        spellings=_unique([(_spelling(word), label) for word, label in spoken]),
        word=re.compile(_whole_word(phrases), re.IGNORECASE),
        letter=re.compile(_whole_letter(letter_map)),
        any_case=re.compile(_whole_letter(letter_map), re.IGNORECASE),
    )


def _letter_like(spoken: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Labels such as ``A`` or ``4``: in running text they say as little as a letter does."""
    return [(word, label) for word, label in spoken if re.fullmatch(r"[A-Za-z]|\d{1,3}", word)]


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for text, label in pairs:
        found.setdefault(text, set()).add(label)
    return {text: labels.pop() for text, labels in found.items() if len(labels) == 1}


def _folded(texts: Iterable[str]) -> set[str]:
    return {text.casefold() for text in texts}


def _spelling(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


def _joined(phrase: str) -> str:
    return phrase.replace(" ", "")


def _whole_word(phrases: Iterable[str]) -> str:
    """No part of another word, also not behind a hyphen, slash or apostrophe."""
    longest_first = sorted(phrases, key=len, reverse=True)
    alternatives = "|".join(_GAP.join(map(re.escape, phrase.split())) for phrase in longest_first) or _NEVER
    return rf"(?<![\w{_MARKS}])(?<!\w[-'/@&])(?:{alternatives})(?![\w{_MARKS}])(?![-'/@&]\w)(?![-+~]?ish\b)"


def _whole_letter(letters: Iterable[str]) -> str:
    """No abbreviation, unit, price, power, school grade such as ``B+``, or part of a number."""
    alternatives = "|".join(map(re.escape, sorted(letters, key=len, reverse=True))) or _NEVER
    before = rf"(?<![\w{_MARKS}$€£°#@&+~^\\%])(?<!\w[-'/.@&])(?<!\d[,:])(?<!-(?=\d))"
    return rf"{before}(?:{alternatives})(?![\w{_MARKS}+#~^°%$€£/@&-])(?![.,:]\d)(?![.']\w)"
