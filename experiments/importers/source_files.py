"""Other tools' files: JSON read a record at a time, named where it is damaged, or of another kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration_sets.strict import shorten
from experiments.errors import ImportFileError

__all__ = ["FILE_LIMIT", "JsonRecord", "digest_files", "read_document", "read_records", "read_whole", "refuse_kind"]

FILE_LIMIT = 1_000_000_000
"""Bytes of a file that is one JSON value or one page, and has to be held whole."""

_SIGNS: Mapping[str, frozenset[str]] = {
    "a line of lm-eval's sample log ('autorater import lm-eval')": frozenset({"doc_id", "doc", "target"}),
    "a line of OpenAI's batch output ('autorater import openai-batch')": frozenset({"custom_id", "response"}),
    "a line of a batch's input file, not of its output": frozenset({"custom_id", "body"}),
    "a result of promptfoo ('autorater import promptfoo')": frozenset({"testCase", "promptIdx"}),
    "results of promptfoo ('autorater import promptfoo')": frozenset({"evalId", "results"}),
    "results of simple-evals ('autorater import simple-evals')": frozenset({"htmls", "convos"}),
    "a log of Inspect ('autorater import inspect')": frozenset({"eval", "plan"}),
    "a verdict ('autorater import verdicts')": frozenset({"item", "grader"}),
}


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One JSON object; ``where`` is its file and line."""

    where: str
    data: Mapping[str, Any]


def digest_files(files: Sequence[Path]) -> Mapping[str, Path]:
    """SHA-256, in hex, of each file's content to the file, in an order that hangs on the content alone.

    Raises
    ------
    ImportFileError
        If one cannot be read, or comes twice.
    """
    digests: dict[str, Path] = {}
    for path in files:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(path, error) from error
        if digest in digests:
            raise ImportFileError(f"{path.name}: the same content as {digests[digest].name}; expected each file once")
        digests[digest] = path
    return dict(sorted(digests.items()))


def read_records(path: Path, expected: str) -> Iterator[JsonRecord]:
    """The JSON objects of a file, one a line, each read when it is asked for; blank lines are passed over.

    Parameters
    ----------
    expected
        What the file should be, for messages.

    Raises
    ------
    ImportFileError
        If the file cannot be read, or a line is no JSON object.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    where = f"{path.name}:{number}"
                    yield JsonRecord(where, _parse_object(line, where, expected))
    except OSError as error:
        raise _unreadable(path, error) from error


def read_document(path: Path, expected: str) -> Mapping[str, Any]:
    """The JSON object that a file is.

    Raises
    ------
    ImportFileError
        If the file cannot be read, is larger than :data:`FILE_LIMIT`, or is no JSON object.
    """
    return _parse_object(read_whole(path), path.name, expected)


def read_whole(path: Path) -> bytes:
    """The bytes of a file that has to be held whole; ``ImportFileError`` where it is too large for that."""
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise ImportFileError(
                f"{path.name}: {path.stat().st_size:,} bytes in one piece; expected at most {FILE_LIMIT:,}, "
                "or a form with one record a line"
            )
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def refuse_kind(where: str, data: Mapping[str, Any], expected: str) -> ImportFileError:
    """The error of a record that is not what it should be; says what it looks like, where that is known."""
    known = next((kind for kind, signs in _SIGNS.items() if signs <= data.keys()), None)
    got = known or f"an object with {shorten(sorted(data)[:6])}"
    return ImportFileError(f"{where}: {got}; expected {expected}")


def _parse_object(content: bytes, where: str, expected: str) -> Mapping[str, Any]:
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{where}: byte {error.start} is not UTF-8; expected {expected}") from None
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        is_cut = error.pos >= len(content.rstrip()) - 1 and not content.endswith(b"\n")
        cut = ", is the file cut off?" if is_cut else ""
        raise ImportFileError(f"{where}: not JSON, {error.msg} at {at}{cut}; expected {expected}") from None
    except (RecursionError, ValueError) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ImportFileError(f"{where}: JSON {told}; expected {expected}") from None
    if not isinstance(value, dict):
        raise ImportFileError(f"{where}: JSON {type(value).__name__} {shorten(value)}; expected {expected}")
    return value


def _unreadable(path: Path, error: OSError) -> ImportFileError:
    return ImportFileError(f"{path}: {error.strerror or error}; expected a file that can be read")
