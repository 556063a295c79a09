"""Values of a TOML file replaced where they stand, so that comments and order are kept."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from calibration_sets.writer import toml_text

__all__ = ["replace_values"]


def replace_values(text: str, values: Mapping[str, Any]) -> str:
    """The text with other values, by ``key`` or ``table.key``; what is not there is added.

    Meant for tables with a header of their own and one value after the other. A text that is written otherwise may
    come out as no TOML or with the old values: whoever calls must read the outcome.
    """
    # Other signs that Python takes for the end of a line may stand inside a value.
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    for path, value in values.items():
        table, _, key = path.rpartition(".")
        lines = _replace(lines, table, key, value)
    return "".join(lines)


def _replace(lines: Sequence[str], table: str, key: str, value: Any) -> list[str]:
    start, end = _section(lines, table)
    if start is None:
        return [*lines, "\n", f"[{table}]\n", toml_text({key: value})]
    for at in range(start, end):
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[at]):
            behind, comment = _value_end(lines, at)
            return [*lines[:at], f"{toml_text({key: value}).rstrip()}{comment}\n", *lines[behind:]]
    return [*lines[:start], toml_text({key: value}), *lines[start:]]


def _section(lines: Sequence[str], table: str) -> tuple[int | None, int]:
    """Where the lines of a table begin and end; those of no table come first."""
    headers = [at for at, line in enumerate(lines) if re.match(r"\s*\[", line)]
    start = 0 if not table else None
    for at in headers:
        if re.match(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?$", lines[at]):
            start = at + 1
    end = next((at for at in headers if start is not None and at >= start), len(lines))
    return start, end


def _value_end(lines: Sequence[str], at: int) -> tuple[int, str]:
    """The line behind a value that begins on a line, and the comment behind it."""
    behind = next((end for end in range(at + 1, len(lines) + 1) if _read("".join(lines[at:end])) is not None), at + 1)
    last, before = lines[behind - 1].rstrip(), "".join(lines[at : behind - 1])
    whole = _read(before + last)
    marks = (place for place, sign in enumerate(last) if sign == "#")
    comment = next((last[place:] for place in marks if _read(before + last[:place]) == whole), "")
    return behind, f"  {comment}" if comment else ""


def _read(text: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
