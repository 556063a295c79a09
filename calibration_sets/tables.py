"""Tables of CSV, TSV, JSONL and Parquet files, without guesses about types.

A cell of a CSV or TSV file is the text that stands there: ``NA``, ``None``, ``0012`` and ``31.20``
stay what they are. JSONL and Parquet have types; their whole numbers and truth values become
text exactly, their fractions cannot (``31.20`` was lost when it became a number) and are an error
in a column that is used.
"""

from __future__ import annotations

import csv
import io
import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration_sets.errors import SetFileError
from calibration_sets.strict import raise_problems, read_json_lines, read_text, shorten

__all__ = ["Row", "Table", "cell_text", "read_csv", "read_table", "refuse_queue"]

_FIELD_LIMIT_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Row:
    """One record: ``where`` names file and line (or row, counted from 1) for messages."""

    where: str
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in the order of the file, and its records."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def require(self, columns: Mapping[str, str]) -> None:
        """Raise ``SetFileError`` where a column (value) that a field (key) is to come from is not there."""
        found = ", ".join(map(repr, self.columns))
        problems = [
            f"{self.file}: no column {column!r}{'' if field == column else f' for {field}'}; found {found}"
            for field, column in columns.items()
            if column not in self.columns
        ]
        raise_problems(problems, SetFileError)


_OF_A_QUEUE = frozenset({"part", "probability", "queue", "item_digest"})
"""Columns that only the file of a review queue has together."""


def refuse_queue(table: Table) -> None:
    """Raise ``SetFileError`` where the table is a review queue.

    Its items are in it because graders were unsure of them, each with its own probability. A set or a run made of it
    would have rates that say nothing of the items it was drawn from. A whole queue that was drawn at random alone is
    a random sample like any other, and is let through.
    """
    if set(table.columns) >= _OF_A_QUEUE and not _is_random(table):
        raise SetFileError(
            f"{table.file}: a review queue, whose items were not chosen at random; expected "
            "'autorater queue rates' with it, which weighs each label by its probability"
        )


def _is_random(table: Table) -> bool:
    """Whether all rows of a queue are of its random part, and none is missing: the random part alone is no sample."""
    numbers = [str(row.cells.get("row")) for row in table.rows]
    whole = numbers == [str(number) for number in range(1, len(numbers) + 1)]
    return whole and all(row.cells["part"] == "random" for row in table.rows)


def read_table(path: Path) -> Table:
    """The table in a ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` file.

    Raises
    ------
    SetFileError
        If the file has another ending, is not what its ending says, has no records, or has
        records of unequal width or columns of one name.
    """
    readers = {".csv": read_csv, ".tsv": _read_tsv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SetFileError(f"{path.name}: ending {path.suffix!r}; expected one of {', '.join(readers)}")
    table = reader(path)
    if not table.rows:
        raise SetFileError(f"{path.name}: no records; expected at least one")
    return table


def read_csv(path: Path, *, delimiter: str = ",", strict: bool = True, columns: tuple[str, ...] | None = None) -> Table:
    """The records of an RFC 4180 file; a quoted field may hold line breaks and be of any length.

    ``strict`` refuses text after a closing quote, which is otherwise joined to the field.
    ``columns`` are names to use in place of those on the first line.

    Raises
    ------
    SetFileError
        If the file is empty, or is no CSV.
    """
    text = read_text(path, SetFileError)
    records = _csv_records(text, path.name, delimiter=delimiter, strict=strict)
    if not records:
        raise SetFileError(f"{path.name}: empty; expected a line of column names")
    _check_delimiter(path.name, records[0][1], delimiter)
    header = list(columns or records[0][1])
    _check_columns(path.name, header)
    rows, problems = [], []
    for line, record in records[1:]:
        if len(record) != len(header):
            problems.append(f"{path.name}:{line}: {len(record)} fields; expected {len(header)} ({', '.join(header)})")
        elif record == records[0][1]:
            problems.append(
                f"{path.name}:{line}: the column names once more, are these several files? expected a record"
            )
        else:
            rows.append(Row(f"{path.name}:{line}", dict(zip(header, record, strict=True))))
    raise_problems(problems, SetFileError)
    return Table(path.name, tuple(header), tuple(rows))


def _read_tsv(path: Path) -> Table:
    return read_csv(path, delimiter="\t")


def _csv_records(text: str, file: str, *, delimiter: str, strict: bool) -> list[tuple[int, list[str]]]:
    """Records with the number of the line they begin on; blank lines are passed over."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    records, line = [], 1
    with _field_limit(len(text)):
        try:
            for record in reader:
                records.append((line, record))
                line = reader.line_num + 1
        except csv.Error as error:
            raise SetFileError(f"{file}:{line}: not readable ({error}); {_csv_hint(str(error))}") from None
    return [(at, record) for at, record in records if record]


def _csv_hint(message: str) -> str:
    if "unexpected end" in message:
        return "a quoted field that begins here never ends, is the file cut off?"
    return "expected quotes around the whole field, and those inside it doubled"


@contextmanager
def _field_limit(n_characters: int) -> Iterator[None]:
    """The csv module's limit is one for all readers, and lower than real answers are long."""
    with _FIELD_LIMIT_LOCK:
        before = csv.field_size_limit(max(n_characters, csv.field_size_limit()))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _check_delimiter(file: str, first: list[str], delimiter: str) -> None:
    """Some spreadsheets part fields by other signs than commas, and all columns are one then."""
    names = {",": "commas", ";": "semicolons", "\t": "tabs"}
    found = next((sign for sign in names if len(first) == 1 and sign != delimiter and sign in first[0]), None)
    if found is not None and delimiter in names:
        parted = f"fields are parted by {names[found]}, found {first[0][:80]!r}"
        raise SetFileError(f"{file}:1: {parted}; expected {names[delimiter]}")


def _check_columns(file: str, columns: list[str]) -> None:
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise SetFileError(f"{file}:1: column {', '.join(map(repr, repeated))} comes twice; expected different names")


def _read_jsonl(path: Path) -> Table:
    lines = read_json_lines(path, SetFileError)
    columns = dict.fromkeys(key for line in lines for key in line.data)
    return Table(path.name, tuple(columns), tuple(Row(f"{path.name}:{line.line}", line.data) for line in lines))


def _read_parquet(path: Path) -> Table:
    # Slow to import, and needed by this one format.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise SetFileError(f"{path.name}: no such file in {path.parent}; expected a file of that name") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SetFileError(f"{path.name}: not a readable Parquet file ({reason})") from None
    columns = list(table.column_names)
    _check_columns(path.name, columns)
    rows = (Row(f"{path.name}:row {number}", cells) for number, cells in enumerate(table.to_pylist(), start=1))
    return Table(path.name, tuple(columns), tuple(rows))


def cell_text(row: Row, column: str) -> str | None:
    """The text of one cell; ``None`` where the record has no value there.

    Raises
    ------
    SetFileError
        For a value that is not text and has no exact form as text.
    """
    value = row.cells.get(column)
    if value is None or isinstance(value, str):
        return _checked(row, column, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        what = "not a number (NaN)" if math.isnan(value) else f"the fraction {value!r}, not the text that it was"
        raise SetFileError(f"{row.where}: column {column!r} holds {what}; expected text")
    raise SetFileError(f"{row.where}: column {column!r} holds {shorten(value)}; expected text")


def _checked(row: Row, column: str, value: str | None) -> str | None:
    if value is not None and "\0" in value:
        raise SetFileError(f"{row.where}: column {column!r} holds a null character; expected text without one")
    return value
