"""Calibration sets into folders, in the format that :mod:`calibration_sets.loader` reads."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.errors import SetFileError
from calibration_sets.loader import ITEMS, LABELS, SET, load_set, read_items, read_label_records
from calibration_sets.records import item_data, label_data, set_data
from calibration_sets.strict import parse_json, raise_problems, read_text

__all__ = ["json_line", "replace_text", "stamp_labels", "toml_text", "write_lines", "write_set"]

_FILES = frozenset({SET, ITEMS, LABELS})


def write_set(calibration_set: CalibrationSet, folder: Path, *, overwrite: bool = False) -> None:
    """Write a set so that loading it gives the same digest.

    The files are written and read back beside the folder, then put in its place, so that a
    folder never holds half a set.

    Raises
    ------
    SetFileError
        If the folder is not empty and ``overwrite`` is false, if it holds files that are not a
        set's, or if the set in memory is not one that the format can say.
    """
    _check_room(folder, overwrite=overwrite)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as work:
        fresh, old = Path(work, "new"), Path(work, "old")
        fresh.mkdir()
        _write_files(calibration_set, fresh)
        if load_set(fresh).digest != calibration_set.digest:
            raise SetFileError(f"{folder}: set {calibration_set.name!r} would read back otherwise; nothing written")
        _swap(fresh, folder, old)


def _swap(fresh: Path, folder: Path, old: Path) -> None:
    """Put one folder in the place of another, or leave the other where it is."""
    if folder.exists():
        folder.rename(old)
    try:
        fresh.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise


def _check_room(folder: Path, *, overwrite: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SetFileError(f"{folder}: a file; expected a folder")
    names = {path.name for path in folder.iterdir()}
    if names and not overwrite:
        raise SetFileError(f"{folder}: not empty; expected a new or empty folder")
    strangers = sorted(names - _FILES)
    if strangers:
        raise SetFileError(f"{folder}: holds {', '.join(strangers)}; will overwrite only {', '.join(sorted(_FILES))}")


def _write_files(calibration_set: CalibrationSet, folder: Path) -> None:
    (folder / SET).write_text(toml_text(set_data(calibration_set)), encoding="utf-8", newline="\n")
    write_lines(folder / ITEMS, map(item_data, calibration_set.items))
    if calibration_set.human_labels:
        labels = (label_data(label, calibration_set.rubric) for label in calibration_set.human_labels)
        write_lines(folder / LABELS, labels)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line; an existing file is replaced only when all is written."""
    replace_text(path, "".join(f"{json_line(row, path.name)}\n" for row in rows))


def json_line(row: Mapping[str, Any], where: str) -> str:
    """One JSON object without anything that other programs take for a line break.

    Raises ``SetFileError`` where a value has no place in JSON, NaN included.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SetFileError(f"{where}: row {row.get('id')!r} is not JSON ({error}); expected plain values") from None
    return re.sub("[\x7f\x85\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def replace_text(path: Path, text: str) -> None:
    """Write a text file at once or not at all; one that is there keeps its mode."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8", newline="\n")
        shutil.copymode(path, scratch) if path.exists() else None
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def toml_text(data: Mapping[str, Any]) -> str:
    """TOML of text, truth values, lists of text and tables of these; tables come last."""
    plain = {key: value for key, value in data.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in plain.items()]
    for key, table in tables.items():
        lines += ["", f"[{key}]", *(f"{name} = {_toml_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml_value(key)} = {_toml_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    # A JSON string is a TOML string, but for the one control character that JSON leaves alone.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def stamp_labels(folder: Path) -> int:
    """Fill in the missing digests of a hand-written ``human_labels.jsonl``; how many were missing.

    This says that the people saw the items as they are now. Rows that have a digest are left
    as they are, even where it is another than the item's.

    Raises
    ------
    SetFileError
        If a file is malformed or a label names an item that is not there; nothing is written then.
    """
    digests = {item.item_id: item.digest for item in read_items(folder)}
    path = folder / LABELS
    unstamped = {line: record.item for line, record in read_label_records(path) if record.digest is None}
    raise_problems(
        [f"{LABELS}:{at}: item {item!r} is not in {ITEMS}" for at, item in unstamped.items() if item not in digests],
        SetFileError,
    )
    lines = read_text(path, SetFileError).split("\n")
    for at, item in unstamped.items():
        row = {"item": item} | parse_json(lines[at - 1]) | {"digest": digests[item]}
        lines[at - 1] = json_line(row, LABELS)
    if unstamped:
        replace_text(path, "\n".join(lines))
    return len(unstamped)
