"""Items in Parquet: one file, or a folder of parts as clusters write them, read some thousands of rows at a time.

A row has the keys of a line of ``items.jsonl``, and the same is demanded of them. A null says what an absent key says;
``metadata`` may be a struct, whose nulls are absent keys, a map with keys of text, or text that holds a JSON object.
A struct or map may hold what JSON can: no dates, bytes or decimals, whose text would be a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration_sets.errors import SetFileError
from calibration_sets.item import Item
from calibration_sets.records import ItemRecord
from calibration_sets.strict import MOST_LISTED, parse_json, raise_problems, shorten, text_problem
from calibration_sets.strict_models import validate_row

__all__ = ["read_parquet_items"]

_ROWS = 5_000
"""Rows in memory as Parquet has them, at a time."""


def read_parquet_items(path: Path) -> tuple[Item, ...]:
    """The items of a Parquet file, or of the ``.parquet`` files in a folder by name, in their order.

    Raises
    ------
    SetFileError
        If it is no Parquet, has no row, or rows are malformed; messages name file and row, counted from 1.
    """
    items: list[Item] = []
    problems: list[str] = []
    first: dict[str, str] = {}
    for where, row in _iter_rows(path):
        record, complaints = _read_row(row, where)
        if record is not None and record.id in first:
            complaints = [f"{where}: duplicate id {shorten(record.id)}, also {first[record.id]}; expected one row each"]
        elif record is not None and not problems:
            first[record.id] = where
            items.append(record.to_item())
        problems += complaints
        if len(problems) > MOST_LISTED:
            break  # of ten million rows of the wrong shape nobody reads more
    raise_problems(problems, SetFileError)
    if not items:
        raise SetFileError(f"{path.name}: empty; expected at least one item")
    return tuple(items)


def _read_row(row: Mapping[str, Any], where: str) -> tuple[ItemRecord | None, list[str]]:
    data = {key: value for key, value in row.items() if value is not None}
    try:
        if "metadata" in data:
            data["metadata"] = _metadata(data["metadata"])
        problem = text_problem(data)
    except ValueError as error:
        problem = f"metadata{error}"
    if problem:
        return None, [f"{where}: {problem}"]
    return validate_row(ItemRecord, data, where)


def _metadata(value: object) -> object:
    if not isinstance(value, str):
        return {} if value == [] else _as_json(value, "")  # [] is a map without entries
    try:
        return parse_json(value)
    except ValueError as error:
        raise ValueError(f": {error}") from None


def _as_json(value: object, where: str) -> object:
    """A value as JSON has it; ``ValueError`` with its place where JSON has none."""
    if isinstance(value, list) and value and all(isinstance(entry, tuple) for entry in value):
        value = _map(value, where)
    if isinstance(value, dict):
        return {key: _as_json(entry, f"{where}.{key}") for key, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [_as_json(entry, f"{where}[{place}]") for place, entry in enumerate(value)]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(
        f"{where}: {shorten(value)}; expected what JSON can hold: text, finite numbers, truth values, lists, objects"
    )


def _map(pairs: Sequence[tuple[object, object]], where: str) -> dict[object, object]:
    """A map, which Parquet lets have a key twice."""
    found: dict[object, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{where}: key {shorten(key)} twice; expected it once")
        found[key] = value
    return found


def _iter_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows with where they are."""
    # Imported here, as it takes longer to load than most sets.
    import pyarrow as pa
    import pyarrow.parquet as pq

    for part in _parts(path):
        name = part.name if part == path else f"{path.name}/{part.name}"
        n_before = 0
        try:
            with pq.ParquetFile(part) as file:
                _check_columns(file.schema_arrow.names, name)
                for batch in file.iter_batches(batch_size=_ROWS):
                    for number, row in enumerate(batch.to_pylist(), start=n_before + 1):
                        yield f"{name}: row {number}", row
                    n_before += batch.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise SetFileError(f"{name}: {said}; expected a Parquet file") from error


def _parts(path: Path) -> Sequence[Path]:
    """The files to read, by name, without what writers hide: names that begin with a dot or underscore."""
    if not path.is_dir():
        return [path]
    seen = sorted(part for part in path.iterdir() if not part.name.startswith((".", "_")))
    for part in seen:
        # Left out, they would make a smaller set than the folder holds.
        if part.is_dir():
            raise SetFileError(f"{path.name}/{part.name}: a folder; expected the parts in {path.name} itself")
    return [part for part in seen if part.suffix == ".parquet"]


def _check_columns(names: Sequence[str], where: str) -> None:
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise SetFileError(f"{where}: column {shorten(twice[0])} twice; expected it once")
