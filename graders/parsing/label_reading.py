"""Reading a label at one place of a reply, and whether it stands there as a verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from graders.parsing.label_words import Vocabulary

__all__ = ["Reading", "read_label", "read_off_scale", "read_whole"]

Status = Literal["label", "several", "none"]

_SPACE = r"[^\S\n]"
_OPEN = re.compile(rf"(?:{_SPACE}|[\"'(\[{{<«【「『《〔〖|]){{0,12}}")
_CLOSE = rf"(?:{_SPACE}|[\"')\]}}>»】」』》〕〗|]){{0,12}}"
_BETWEEN = re.compile(
    rf"{_CLOSE}(?:(?:[:=,、;/|&–—→-]|->|=>|\b(?:or|and|vs|nor)\b){_SPACE}{{0,4}}){{0,3}}{_CLOSE}{_OPEN.pattern}",
    re.IGNORECASE,
)
_STOP_BETWEEN = re.compile(rf"{_CLOSE}\.{_SPACE}{{0,4}}{_OPEN.pattern}")
_HEDGES = (
    r"but|except|however|though|although|albeit|yet|only|if|unless|partial(?:ly)?|partly|mostly|or|and|not|nor|"
    r"in part|at best|depending|in spirit|to some|with reservations|maybe|perhaps|probably|possibly|n't"
)
_HEDGED = re.compile(rf"{_CLOSE}(?:{_SPACE}|[,;:(\[–—/-]){{0,8}}(?:{_HEDGES})\b|{_CLOSE}[?~%+]", re.IGNORECASE)
_ENDED = re.compile(
    rf"{_CLOSE}(?:$|\n|[.!。…]{{1,12}}(?:$|\s|[\"')\]}}>»】」』》〕〗|])|[,;:(\[–—→。、]|-(?=\s)|[,.](?=\D)"
    rf"|{_SPACE}?[✅✓✔☑👍]|(?<=\s)[|>]|\b(?:because|since|as|due to|given|based on)\b)",
    re.IGNORECASE,
)
_LIST_END = re.compile(rf"{_CLOSE}(?:$|[\n.!?,;:/|)\]。，；、!–—-]|\b(?:or|and|nor)\b)", re.IGNORECASE)

_PARTIAL = (
    r"(?:partial(?:ly)?|partly|mostly|largely|half|semi|somewhat|nearly|almost|incomplete(?:ly)?|mixed)"
    r"(?:[\s_-]{0,3}(?:correct|incorrect|right|wrong|true|false|attempted|accurate|credit|match|answer(?:ed)?))?"
)
_OFF_SCALE = re.compile(
    rf"(?P<letter>[A-Za-z][+#*-]?(?![\w'’./-]))|(?P<number>[-+]?\d[\d.,]{{0,12}}(?:\s?/\s?\d+)?\s?%?(?![\w/]))"
    rf"|(?P<partial>{_PARTIAL})(?!\w)",
    re.IGNORECASE,
)
_ORNAMENT = re.compile(r"(?:[^\w?~%+/\\$€£@&#=^-]|[^\S\n]-(?=\s)|^-\s)+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands at a place: one label, several different ones, or none that is a verdict.

    ``is_word`` is whether a label word was among what was read, not a letter alone; ``text`` is
    the first label as it is spelt there; ``n_labels`` counts different labels.
    """

    status: Status
    label: str | None
    begin: int
    end: int
    is_word: bool = False
    text: str = ""
    n_labels: int = 0

    @property
    def is_emphatic(self) -> bool:
        """Spelt as a name (all capitals, or exactly the label), not as an everyday adjective."""
        return not self.is_word or self.text.isupper() or self.text == self.label


_Hit = tuple[re.Match[str], str, bool]


def read_label(vocabulary: Vocabulary, text: str, position: int, *, any_case: bool = False) -> Reading:
    """Read the label that begins at ``position``, together with others joined to it.

    ``A: CORRECT`` is one label, ``A/B`` and ``NOT_ATTEMPTED (A)`` are several. A label that runs on
    into a sentence (``A response that``, ``correct answer``) or is hedged (``CORRECT, but``) is none.
    """
    begin = _skip(_OPEN, text, position)
    hit = _label_at(vocabulary, text, begin, any_case=any_case)
    if hit is None:
        return Reading("none", None, begin, begin)
    labels, end, is_word = {hit[1]}, hit[0].end(), hit[2]
    first = hit
    for _ in range(16):
        joined = _joined_label(vocabulary, text, end, hit)
        if joined is None:
            break
        hit = joined
        labels.add(hit[1])
        end, is_word = hit[0].end(), is_word or hit[2]
    if len(labels) > 1:
        return Reading("several", None, begin, end, is_word, first[0].group(), len(labels))
    if _HEDGED.match(text, end) or not _ENDED.match(text, end):
        return Reading("none", None, begin, end, is_word, first[0].group())
    return Reading("label", first[1], begin, end, is_word, first[0].group(), 1)


def read_whole(vocabulary: Vocabulary, text: str) -> Reading:
    """Read a text that is nothing but a label, in any case, with any ornament around it."""
    lead = _ORNAMENT.match(text)
    reading = read_label(vocabulary, text, lead.end() if lead else 0, any_case=True)
    if reading.status == "none":
        return reading
    rest = _ORNAMENT.sub("", text[reading.end :].strip())
    return reading if not rest else Reading("none", None, reading.begin, reading.end)


def read_off_scale(text: str, position: int) -> str | None:
    """A letter, number or shade of right that is a complete verdict but none of the scale's labels."""
    begin = _skip(_OPEN, text, position)
    found = _OFF_SCALE.match(text, begin)
    if found is None or _HEDGED.match(text, found.end()) or not _ENDED.match(text, found.end()):
        return None
    return found.group()


def _label_at(vocabulary: Vocabulary, text: str, position: int, *, any_case: bool) -> _Hit | None:
    word = vocabulary.word.match(text, position)
    if word and (label := vocabulary.label_of_word(word.group())):
        return word, label, True
    letter = (vocabulary.any_case if any_case else vocabulary.letter).match(text, position)
    if letter and (label := vocabulary.label_of_letter(letter.group())):
        return letter, label, False
    return None


def _joined_label(vocabulary: Vocabulary, text: str, end: int, before: _Hit) -> _Hit | None:
    """The label that a separator joins to the one before it, if it does not run on into a sentence."""
    gap = _BETWEEN.match(text, end)
    hit = _label_at(vocabulary, text, gap.end(), any_case=False) if gap and gap.end() > end else None
    if hit is None and not before[2]:  # "B. INCORRECT": a full stop joins a letter to its word
        gap = _STOP_BETWEEN.match(text, end)
        hit = _label_at(vocabulary, text, gap.end(), any_case=False) if gap else None
        hit = hit if hit and hit[2] else None
    return hit if hit and _LIST_END.match(text, hit[0].end()) else None


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position
