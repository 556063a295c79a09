"""Worked examples that a prompt tells in prose, and what arithmetic and plain words say about an example.

Prose is read only where it is plain: blocks of ``Question:`` / ``Reference:`` / ``Response:`` lines,
``reference 2.08 m, response 2.12: CORRECT`` on one line, rows of a table with such columns, and
sentences that quote a reference, then responses, then a label. What is not plain is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from calibration_sets.references.range_check import check_range
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import LabelScale
from graders.prompt import PromptExample
from graders.providers.answer_words import contains_words, split_words
from graders.providers.declines import is_decline

__all__ = ["FoundExample", "NumericOutcome", "check_numbers", "check_words", "find_prose_examples"]

NumericOutcome = Literal["in", "out", "undecided"]
"""What a range says of an example's number."""

_KEYS = {
    "question": r"question",
    "reference": r"(?:gold(?:en)?|reference|correct|true|target|ground[- ]truth)(?:[ -](?:target|answer|value))?s?",
    "response": r"(?:predicted|model(?:'s)?|student(?:'s)?|candidate|given)? ?"
    r"(?:answer|response|prediction)s?(?: \d+)?",
    "label": r"(?:grade|label|verdict|judge?ment|result|mark)",
    "why": r"(?:why|reason|because|explanation)",
}
_ANY_KEY = "|".join(f"(?P<{key}>{pattern})" for key, pattern in _KEYS.items())
_FIELD = re.compile(rf"[\s>*\-`]*\**(?:{_ANY_KEY})\**\s*:\**\s*(?P<value>.*)", re.IGNORECASE)
_QUOTED = r"[\"“”]([^\"“”\n]+)[\"“”]"
_ONE_LINE = re.compile(
    rf"{_KEYS['reference']}\s*(?:is|of|=|:)?\s*(?P<reference>(?:[^,;|\n]|,(?=\d))+?)\s*[,;|]\s*"
    rf"(?:and\s+|the\s+|an?\s+)*{_KEYS['response']}\s*(?:is|of|=|:)?\s*(?P<response>(?:[^,;|\n]|,(?=\d))+?)\s*"
    r"(?:->|=>|→|⇒|:|,|;|\||=|—|–|\bis\b|\bmeans\b|\bgets\b)+\s*(?P<label>[^\n]+)",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"(?P<lead>(?:about|around|approximately|roughly|circa|[$€£¥~])?\s*)(?P<number>[-−]?\d[\d,]*(?:\.\d+)?)"
    r"(?P<unit>\s?[^\d\s(),;]+(?:\s[^\d\s(),;]+)?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundExample:
    """An example and its line in the text that it was found in, from 1."""

    example: PromptExample
    line: int


def find_prose_examples(text: str, scale: LabelScale) -> list[FoundExample]:
    """Examples that a prompt's text tells in prose, in order, each once."""
    found: dict[tuple[str, str, str], FoundExample] = {}
    lines = text.splitlines()
    for example in (*_from_blocks(lines, scale), *_from_lines(lines, scale), *_from_quotes(lines, scale)):
        told = example.example
        found.setdefault((told.reference, told.response, told.label), example)
    return sorted(found.values(), key=lambda example: example.line)


def check_numbers(reference: str, response: str) -> NumericOutcome:
    """Whether a response agrees with a reference in numbers, where arithmetic can tell.

    An acceptable range decides where the reference names one. Otherwise the last significant
    figure does: ``in`` within half a unit of the last digit written, ``out`` beyond half a unit of
    the last figure that can count as significant (trailing zeros of a whole number need not);
    between the two, and for all that is not one plain quantity, ``undecided``.
    """
    parsed = parse_reference(reference)
    if parsed.ranges:
        return check_range(parsed, response).outcome
    quantity = _QUANTITY.fullmatch(reference.strip().rstrip("."))
    if not quantity:
        return "undecided"
    if check_range(parse_reference(_with_range(quantity, strict=False)), response).outcome == "out":
        return "out"
    inside = check_range(parse_reference(_with_range(quantity, strict=True)), response).outcome == "in"
    return "in" if inside else "undecided"


def check_words(example: PromptExample) -> str | None:
    """What the words of an example say against its label, to be followed by the reference; ``None`` if nothing.

    Only what no rubric can mean otherwise is said: an answer that repeats the reference word for word
    is right, and one that declines in plain words is not.
    """
    response = split_words(example.response)
    aliases = [words for alias in parse_reference(example.reference).aliases if (words := split_words(alias))]
    if response in aliases:
        return "it repeats" if example.label in ("INCORRECT", "NOT_ATTEMPTED") else None
    if example.label != "CORRECT" or any(contains_words(response, words) for words in aliases):
        return None
    return "it declines to give" if is_decline(example.response, in_own_words=True) else None


def _with_range(quantity: re.Match[str], *, strict: bool) -> str:
    """A quantity with the range that its last figure stands for, in the words of SimpleQA Verified."""
    digits = quantity["number"].replace(",", "").replace("−", "-")
    value = Decimal(digits)
    whole = digits.lstrip("-")
    zeros = 0 if strict or "." in digits else len(whole) - len(whole.rstrip("0")) if whole.strip("0") else 0
    step = Decimal(1).scaleb(zeros if "." not in digits else -len(digits.partition(".")[2]))
    margin = step * (Decimal("0.499") if strict else Decimal("0.5"))
    lead, unit = quantity["lead"], quantity["unit"] or ""
    low, high = (f"{lead}{bound:f}{unit}" for bound in (value - margin, value + margin))
    return f"{lead}{digits}{unit} (acceptable range: anything between {low} and {high})"


def _from_blocks(lines: list[str], scale: LabelScale) -> Iterator[FoundExample]:
    """Blocks of ``Key: value`` lines; without a grade line, the last sentence about examples decides."""
    announced: str | None = None
    fields: dict[str, str] = {}
    waiting: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, "# end"], start=1):
        key, value = _read_field(line)
        label = _read_label(value, scale) if key == "label" else announced
        closes = key in ("label", "question") or (key is None and line.strip(" `") != "")
        if closes and label:
            yield from (_found(at, fields, response, label) for at, response in waiting if fields.get("reference"))
        if closes:
            waiting = []
        if key == "question":
            fields = {}
        if key == "response" and "$" not in value:
            waiting.append((number, value))
        elif key in ("question", "reference"):
            fields[key] = value
        elif key is None and re.search(r"\bexamples?\b|^#", line):
            announced = _only_label(line, scale)


def _read_field(line: str) -> tuple[str | None, str]:
    match = _FIELD.fullmatch(line)
    if not match:
        return None, ""
    return next((key for key in _KEYS if match[key]), None), match["value"].strip()


def _found(line: int, fields: dict[str, str], response: str, label: str) -> FoundExample:
    return FoundExample(PromptExample(fields.get("question", ""), fields["reference"], response, label), line)


def _from_lines(lines: list[str], scale: LabelScale) -> Iterator[FoundExample]:
    """``reference: X, response: Y -> LABEL``, and table rows under a header of these columns."""
    columns: list[str | None] = []
    for number, line in enumerate(lines, start=1):
        if not line.lstrip().startswith("|"):
            columns = []
            for match in _ONE_LINE.finditer(line):
                label = _read_label(match["label"], scale)
                if label:
                    yield _told(number, match["reference"], match["response"], label)
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = [_column(cell) for cell in cells]
            continue
        row = dict(zip(columns, cells, strict=False))
        label = _read_label(row.get("label", ""), scale)
        if label and row.get("reference") and "response" in row:
            yield _told(number, row["reference"], row["response"], label)


def _column(cell: str) -> str | None:
    return next((key for key, pattern in _KEYS.items() if re.fullmatch(pattern, cell, re.IGNORECASE)), None)


def _from_quotes(lines: list[str], scale: LabelScale) -> Iterator[FoundExample]:
    """Quoted responses that a label follows, after a quoted reference; the reference holds until the next one."""
    named = rf"\b{_KEYS['reference']}\s*(?:is|was|of|=|:)?\s*{_QUOTED}"
    token = re.compile(
        rf"(?P<reference>{named})|(?P<quote>{_QUOTED})|(?P<label>{_label_pattern(scale)})", re.IGNORECASE
    )
    reference: str | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            reference = None
        pending: list[str] = []
        for match in token.finditer(line):
            if match["reference"]:
                reference, pending = _unquote(match["reference"]), []
            elif match["quote"]:
                pending.append(_unquote(match["quote"]))
            elif reference is not None:
                label = _read_label(match["label"], scale)
                yield from (_told(number, reference, response, label) for response in pending if label)
                pending = []


def _unquote(text: str) -> str:
    match = re.search(_QUOTED, text)
    return match[1].strip() if match else text


def _told(line: int, reference: str, response: str, label: str) -> FoundExample:
    return FoundExample(PromptExample("", reference.strip(" \"“”'`"), response.strip(" \"“”'`"), label), line)


def _spellings(scale: LabelScale) -> dict[str, str]:
    """Every spelling of a label, in lower case with blanks, to the label."""
    spoken = {label.replace("_", " ").casefold(): label for label in scale.labels}
    return spoken | {word.casefold(): label for label, words in scale.words.items() for word in words}


def _label_pattern(scale: LabelScale) -> str:
    longest_first = sorted(_spellings(scale), key=len, reverse=True)
    return r"(?<!\w)(?:" + "|".join(re.escape(word).replace(r"\ ", r"[ _-]") for word in longest_first) + r")(?!\w)"


def _labels_in(text: str, scale: LabelScale) -> list[str]:
    spellings = _spellings(scale)
    said = re.findall(_label_pattern(scale), text, re.IGNORECASE)
    return [spellings[re.sub(r"[_-]", " ", word).casefold()] for word in said]


def _read_label(text: str, scale: LabelScale) -> str | None:
    """The first label word of a text, or its label by a letter that stands alone."""
    said = _labels_in(text, scale)
    if said:
        return said[0]
    letters = {letter: label for label, letter in scale.letters.items()}
    return letters.get(text.strip(" .()[]*`\"'"))


def _only_label(text: str, scale: LabelScale) -> str | None:
    said = set(_labels_in(text, scale))
    return said.pop() if len(said) == 1 else None
