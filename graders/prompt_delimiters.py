"""What fences an item off inside a prompt, and how data are kept from imitating it.

A grader prompt puts question, reference and response between delimiters: tags
(``<response>`` ... ``</response>``), code fences, line labels (``Predicted answer:``) or marker lines
(``[END DATA]``). Data may contain the same strings, by accident or to break out. They are then
written with an HTML character reference in place of their first significant character
(``&lt;/response>``, ``&#96;&#96;&#96;``, ``Grade&#58;``): still readable, no longer a delimiter. All
else in the data, such as ``{{ 7*7 }}``, ``$question`` or ``<|im_end|>``, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from string import Template

__all__ = ["FIELDS", "Placeholder", "Surroundings", "find_placeholders", "find_surroundings", "neutralise"]

FIELDS: tuple[str, ...] = ("question", "reference", "response")
"""The placeholders that every prompt has."""

_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_TAG = re.compile(r"</?\s*([A-Za-z][\w-]*)[^<>|]*>")
_FENCE = re.compile(r"`{3,}")
_LABEL = re.compile(r"[^\w]*(\w[\w ()'/-]{0,39}):")
_MARKER = re.compile(r"(?P<mark>[^\w\s]+)(?:[^\n]{0,38}[^\w\s])?")
_EXAMPLE_LABELS = re.compile(r"^(Question|Reference|Response|Why|Grade):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The delimiters next to a placeholder; ``None`` where there is none on that side."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A place in a prompt's text that starts with a dollar sign; ``name`` is ``None`` for a stray one."""

    name: str | None
    start: int
    end: int


def find_placeholders(text: str) -> list[Placeholder]:
    """``$name`` and ``${name}`` in order, and dollar signs that are neither these nor ``$$``."""
    return [
        Placeholder(match["named"] or match["braced"], match.start(), match.end())
        for match in Template.pattern.finditer(text)
        if match["escaped"] is None
    ]


def find_surroundings(text: str) -> dict[str, Surroundings]:
    """The delimiters around the first occurrence of each placeholder of a prompt's text.

    A delimiter stands on the placeholder's own line or, where nothing else does, on the nearest
    line that is not blank.
    """
    found: dict[str, Surroundings] = {}
    for place in find_placeholders(text):
        if place.name in FIELDS and place.name not in found:
            before = _nearest(text[: place.start].split("\n"), last=True)
            after = _nearest(text[place.end :].split("\n"), last=False)
            found[place.name] = Surroundings(before, after)
    return found


def _nearest(lines: list[str], *, last: bool) -> str | None:
    ordered = reversed(lines) if last else iter(lines)
    line = next((line.strip() for line in ordered if line.strip()), "")
    is_delimiter = _TAG.fullmatch(line) or _LABEL.fullmatch(line) or (len(line) <= 40 and _MARKER.fullmatch(line))
    if is_delimiter and "$" not in line:
        return line
    return _edge(line, last=last)


def _edge(line: str, *, last: bool) -> str | None:
    """A tag or label at the near end of a line that holds more than the delimiter."""
    pattern = r"(</?\s*[A-Za-z][\w-]*[^<>|]*>)"
    tag = re.search(pattern + "$" if last else "^" + pattern, line)
    if tag:
        return tag[1]
    label = None if last else re.match(r"(\w[\w ]{0,39}:)\s*\$", line)
    return label[1] if label else None


def neutralise(data: str, text: str) -> str:
    """Data with every delimiter of a prompt's text made harmless; the same data where it has none.

    Parameters
    ----------
    data
        Question, reference or response, as stored.
    text
        The prompt's text with its placeholders.
    """
    for pattern, replace in _rules(text):
        data = pattern.sub(replace, data)
    return data


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


@lru_cache(maxsize=64)
def _rules(text: str) -> tuple[_Rule, ...]:
    adjacent = [side for sides in find_surroundings(text).values() for side in (sides.before, sides.after) if side]
    names = {*FIELDS, *(match[1].lower() for match in _TAG.finditer(text))}
    labels = {match[1].lower() for side in adjacent if (match := _LABEL.fullmatch(side))}
    labels |= {match[1].lower() for match in _EXAMPLE_LABELS.finditer(text)}
    markers = {side for side in adjacent if not _TAG.fullmatch(side) and not _LABEL.fullmatch(side)}
    rules: list[_Rule] = [(_tag_pattern(names), _escape_first), (_FENCE, _escape_all)]
    rules += [(_marker_pattern(marker), _escape_first) for marker in sorted(markers) if not _FENCE.match(marker)]
    return (*rules, (_label_pattern(labels), _escape_last)) if labels else tuple(rules)


def _tag_pattern(names: set[str]) -> re.Pattern[str]:
    """An opening or closing tag of one of the names, however spaced, cased or interspersed."""
    gap = f"[{_INVISIBLE}]*"
    spelt = "|".join(gap.join(map(re.escape, name)) for name in sorted(names))
    return re.compile(rf"[<\uff1c\ufe64][\s/\uff0f{_INVISIBLE}]*(?:{spelt})(?![\w-])", re.IGNORECASE)


def _marker_pattern(marker: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, marker.split())), re.IGNORECASE)


def _label_pattern(labels: set[str]) -> re.Pattern[str]:
    """A label at the start of a line, after nothing but spaces and Markdown marks."""
    spelt = "|".join(r"[^\S\n]+".join(map(re.escape, label.split())) for label in sorted(labels))
    start = f"(?:^|(?<=[{_BREAKS}]))"
    marks = rf"(?:[^\S{_BREAKS}]|[>*#_~|•{_INVISIBLE}-])*"
    return re.compile(rf"{start}{marks}(?:{spelt}){marks}[:\uff1a]", re.IGNORECASE)


def _escape_first(match: re.Match[str]) -> str:
    return _reference(match[0][0]) + match[0][1:]


def _escape_last(match: re.Match[str]) -> str:
    return match[0][:-1] + _reference(match[0][-1])


def _escape_all(match: re.Match[str]) -> str:
    return "".join(map(_reference, match[0]))


def _reference(character: str) -> str:
    return "&lt;" if character == "<" else f"&#{ord(character)};"
