"""Verdicts in JSON objects, also in Python's notation, inside whatever text surrounds them."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["JsonObject", "Pairs", "find_objects", "flag_values", "verdict_values"]

_MOST_OBJECTS = 32  # a reply with more is looked at from its end
_LONGEST_LITERAL = 20_000  # characters
_DEEPEST = 50

_FIRST_KEYS = re.compile(
    r"grade|verdict|label|judge?ment|rating|classification|score|decision|category|ruling|evaluation|assessment|grading|"
    r"correctness|lettergrade|gradeletter|gradelabel|verdictlabel|判定|评分|等级|结论"
)
_SECOND_KEYS = re.compile(r"answer|result|outcome|output|response|conclusion|value|choice|class")
_FLAG_KEYS = re.compile(r"(?:is|was)?(?:correct|right|match)")
_QUALIFIERS = re.compile(r"^(?:final|overall|grader|judge|the|my)+")

_ARGUMENTS = re.compile(r"arguments?|args|parameters|input", re.IGNORECASE)

_START = re.compile(r"\{\s*(?=[\"'}])")
_STRUCTURE = re.compile(r"""["'{}\\]""")


class Pairs(list[tuple[str, object]]):
    """An object's keys and values in order, repeated keys kept."""


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object found in a text, and where it stands."""

    content: Pairs
    begin: int
    end: int


def find_objects(text: str) -> list[JsonObject]:
    """The outermost objects of a text, in order; at most the last 32 candidates are tried."""
    starts = [found.start() for found in _START.finditer(text)][-_MOST_OBJECTS:]
    found_objects: list[JsonObject] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        found = _json_at(text, start) or _literal_at(text, start)
        if found:
            found_objects.append(found)
            end = found.end
    return found_objects


def verdict_values(content: object) -> list[object]:
    """Values of the keys that name a verdict; of ``answer``, ``result`` and such only if there are no better keys."""
    entries = list(_walk(content, 0))
    first = [value for key, value in entries if _FIRST_KEYS.fullmatch(key)]
    second = [value for key, value in entries if _SECOND_KEYS.fullmatch(key)]
    return first or second


def flag_values(content: object) -> set[bool]:
    """What keys such as ``is_correct`` say, where that is true or false."""
    return {value for key, value in _walk(content, 0) if _FLAG_KEYS.fullmatch(key) and isinstance(value, bool)}


def _walk(content: object, depth: int) -> Iterator[tuple[str, object]]:
    if depth > _DEEPEST:
        return
    if isinstance(content, Pairs):
        for key, value in content:
            value = _written_object(key, _only_element(value))
            if isinstance(value, Pairs) or (isinstance(value, list) and any(isinstance(part, Pairs) for part in value)):
                yield from _walk(value, depth + 1)
            else:
                yield _canonical_key(key), value
    elif isinstance(content, list):
        for part in content:
            yield from _walk(part, depth + 1)


def _written_object(key: str, value: object) -> object:
    """The arguments of a tool call, which services write as JSON inside a string."""
    if not (isinstance(value, str) and _ARGUMENTS.fullmatch(key)):
        return value
    found = find_objects(value)
    return found[-1].content if len(found) == 1 else value


def _only_element(value: object) -> object:
    while isinstance(value, list) and not isinstance(value, Pairs) and len(value) == 1:
        value = value[0]
    return value


def _canonical_key(key: str) -> str:
    plain = re.sub(r"[\W_]+", "", key.casefold())
    is_key = _FIRST_KEYS.fullmatch(plain) or _SECOND_KEYS.fullmatch(plain)
    return plain if is_key else _QUALIFIERS.sub("", plain)


def _json_at(text: str, start: int) -> JsonObject | None:
    decoder = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)
    try:
        content, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return JsonObject(content, start, end) if isinstance(content, Pairs) else None


def _literal_at(text: str, start: int) -> JsonObject | None:
    end = _balanced_end(text, start)
    if end is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings that somebody else wrote
            tree = ast.parse(text[start:end].replace("\n", " "), mode="eval")
            content = _content_of(tree.body, 0)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return JsonObject(content, start, end) if isinstance(content, Pairs) else None


def _balanced_end(text: str, start: int) -> int | None:
    """Where the brace that opens at ``start`` is closed; braces inside of strings do not count."""
    depth, quote, position, limit = 0, "", start, min(len(text), start + _LONGEST_LITERAL)
    while found := _STRUCTURE.search(text, position, limit):
        mark, position = found.group(), found.end()
        if mark == "\\":
            position += 1
        elif quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        else:
            depth += 1 if mark == "{" else -1
            if depth == 0:
                return position
    return None


def _content_of(node: ast.expr, depth: int) -> object:
    """Literal value of a syntax tree; repeated keys survive, as they would not in a dictionary."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(node, ast.Dict):
        keys = [str(ast.literal_eval(key)) if key else "" for key in node.keys]
        values = [_content_of(value, depth + 1) for value in node.values]
        return Pairs(zip(keys, values, strict=True))
    if isinstance(node, ast.List | ast.Tuple):
        return [_content_of(part, depth + 1) for part in node.elts]
    if isinstance(node, ast.Name) and node.id in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[node.id]
    return ast.literal_eval(node)
