"""Strict reading of UTF-8 text, JSON lines and TOML, with errors that name file and line.

The ``error_type`` of each function is the exception that a caller's package raises for files that
people have to mend; its message is one line, ``where: what, got; expected``. Where a file has
several problems, the first line says so and the others follow, one a line.
"""

from __future__ import annotations

import ast
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

__all__ = [
    "JsonLine",
    "kind_of",
    "parse_json",
    "raise_problems",
    "read_json_lines",
    "read_text",
    "read_toml",
    "shorten",
    "text_problem",
]

MOST_LISTED = 20
"""So many problems of one file are listed; more of them are counted."""

MOST_SHOWN = 60
"""So many characters of an offending value are shown."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_WIDE_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One JSON object of a file and the number of its line, counted from 1."""

    line: int
    data: dict[str, Any]


def shorten(value: object) -> str:
    """A value as Python writes it, cut to a length that fits an error message."""
    shown = repr(value)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 1]}…"


def raise_problems(problems: Sequence[str], error_type: type[Exception]) -> None:
    """Raise one error for all problems; return if there are none."""
    if not problems:
        return
    lines = [" ".join(problem.splitlines()) for problem in problems]
    if len(lines) == 1:
        raise error_type(lines[0])
    first = f"{lines[0]} (and {len(lines) - 1} more)"
    hidden = len(lines) - MOST_LISTED
    tail = [f"... and {hidden} more"] if hidden > 0 else []
    raise error_type("\n".join([first, *lines[1:MOST_LISTED], *tail]))


def read_text(path: Path, error_type: type[Exception]) -> str:
    """The text of a UTF-8 file, without its byte order mark if it has one; line ends are kept."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise error_type(f"{path.name}: no such file in {path.parent}; expected a file of that name") from None
    except OSError as error:
        raise error_type(f"{path.name}: cannot be read ({error.strerror}); expected a file in UTF-8") from error
    encoding = _wide_encoding(data)
    if encoding:
        raise error_type(f"{path.name}: text in {encoding}; expected UTF-8, please convert the file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise error_type(
            f"{path.name}:{line}: byte 0x{byte:02x} is not UTF-8 (perhaps Windows-1252 or Latin-1); "
            "expected UTF-8, please convert the file"
        ) from None


def _wide_encoding(data: bytes) -> str | None:
    for mark, encoding in _WIDE_ENCODINGS:
        if data.startswith(mark):
            return encoding
    # Without a mark, every other byte of mostly Latin text in UTF-16 is a null.
    head = data[:200]
    return "UTF-16 (without a byte order mark)" if len(head) > 3 and head.count(0) >= len(head) // 3 else None


def read_json_lines(path: Path, error_type: type[Exception]) -> list[JsonLine]:
    """The JSON objects of a file, one a line; all bad lines are reported together.

    Records end at line feeds only, so that other line breaks inside a string never split one.
    Blank lines are passed over.
    """
    lines, problems = [], []
    for line, text, is_cut in _numbered_lines(read_text(path, error_type)):
        try:
            lines.append(JsonLine(line, _parse_object(text)))
        except ValueError as error:
            hint = " (last line without a line end: is the file cut off?)" if is_cut else ""
            problems.append(f"{path.name}:{line}: {error}{hint}")
    raise_problems(problems, error_type)
    return lines


def _numbered_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    lines = text.split("\n")
    for line, content in enumerate(lines, start=1):
        if content.strip(" \t\r"):
            yield line, content, line == len(lines)


def _parse_object(text: str) -> dict[str, Any]:
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"JSON {kind_of(value)} {shorten(value)}; expected an object")
    return value


def parse_json(text: str) -> Any:
    """One JSON value, without the liberties that :mod:`json` takes by default.

    Raises
    ------
    ValueError
        If the text is not JSON, a key comes twice, a number is not finite, or a string holds a
        null character or half a surrogate pair. The message has no location in it.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant, parse_float=_finite_float
        )
    except json.JSONDecodeError as error:
        raise ValueError(_not_json(text, error)) from None
    except RecursionError:
        raise ValueError("JSON nested too deeply; expected plain values") from None
    # Only an escape can bring in what a file in UTF-8 and JSON's own rules keep out.
    problem = text_problem(value) if "\\u" in text or _SURROGATE.search(text) else None
    if problem:
        raise ValueError(problem)
    return value


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data" and text[error.pos :].strip() == ",":
        return f"not JSON, a comma at column {error.colno} behind the value; expected one JSON value"
    if _is_python_literal(text):
        return "a Python literal, not JSON; expected double quotes and true, false, null (json.dumps writes them)"
    return f"not JSON, {error.msg} at column {error.colno}; expected one JSON value"


def _is_python_literal(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text.strip()), dict | list | tuple)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    repeated = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
    if repeated:
        raise ValueError(f"key {', '.join(map(repr, repeated))} comes twice; expected each key once")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"the number {name}; JSON has no such number")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:MOST_SHOWN]} is too large; expected a finite one")
    return number


def text_problem(value: Any) -> str | None:
    """What is wrong with the strings inside plain data, or ``None``."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            return f"half a surrogate pair in {ascii(value)[:MOST_SHOWN]}; expected whole characters"
        return f"a null character in {shorten(value)}; expected text without one" if "\0" in value else None
    if isinstance(value, Mapping):
        return next(filter(None, map(text_problem, [*value, *value.values()])), None)
    if isinstance(value, list):
        return next(filter(None, map(text_problem, value)), None)
    return None


def read_toml(path: Path, error_type: type[Exception]) -> dict[str, Any]:
    """The tables of a TOML file."""
    text = read_text(path, error_type)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), flags=re.DOTALL)
        if place:
            raise error_type(f"{path.name}:{place[2]}: not TOML, {place[1]} at column {place[3]}") from None
        raise error_type(f"{path.name}: not TOML, {error}") from None
    problem = text_problem(data)
    if problem:
        raise error_type(f"{path.name}: {problem}")
    return data


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "truth value"),
    (str, "text"),
    (int, "number"),
    (float, "number"),
    (list, "list"),
    (dict, "object"),
)


def kind_of(value: object) -> str:
    """What JSON calls a value."""
    return "null" if value is None else next((kind for type_, kind in _KINDS if isinstance(value, type_)), "value")
