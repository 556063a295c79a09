"""The files of an export, opened only where they are what its description says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.errors import ExportError
from experiments.parquet.columns import VERDICTS_FOLDER
from experiments.parquet.description import DESCRIPTION_FILE, ExportDescription, PartRecord

__all__ = ["check_listed", "iter_batches", "open_file", "read_columns"]

ROWS_AT_A_TIME = 2**18


def check_listed(folder: Path, description: ExportDescription) -> None:
    """Every file that is described is there in its size, and no other file of verdicts is.

    Raises
    ------
    ExportError
        Naming the first that is missing, another, or not described.
    """
    for record in description.files:
        _check_size(folder, record)
    known = {record.file for record in description.files}
    for path in sorted((folder / VERDICTS_FOLDER).rglob("*.parquet")):
        if path.relative_to(folder).as_posix() not in known:
            raise ExportError(f"{path}: not in {DESCRIPTION_FILE}; expected only the files that it lists")


def open_file(folder: Path, record: PartRecord, schema: pa.Schema, *, words: list[str] | None = None) -> pq.ParquetFile:
    """A file whose content is the one that was written; ``words`` are read as dictionaries.

    Raises
    ------
    ExportError
        If it is missing, was changed, or has other columns or rows.
    """
    path = folder / record.file
    _check_size(folder, record)
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != record.sha256:
        raise ExportError(f"{path}: changed, SHA-256 {digest[:12]}; expected {record.sha256[:12]} as written")
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise ExportError(f"{path}: no Parquet file ({error}); expected one as written") from error
    if names != schema.names:
        raise ExportError(f"{path}: columns {names}; expected {schema.names}")
    opened = pq.ParquetFile(path, read_dictionary=words)
    if opened.metadata.num_rows != record.rows:
        raise ExportError(f"{path}: {opened.metadata.num_rows} rows; expected {record.rows}")
    return opened


def iter_batches(opened: pq.ParquetFile) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a file, some at a time, with the number of the first."""
    start = 0
    for batch in opened.iter_batches(batch_size=ROWS_AT_A_TIME):
        yield start, batch
        start += batch.num_rows


def read_columns(folder: Path, record: PartRecord, schema: pa.Schema, columns: list[str]) -> pa.Table:
    """Some columns of a whole file, texts as dictionaries; ``ExportError`` as :func:`open_file` says."""
    words = [name for name in columns if not pa.types.is_integer(schema.field(name).type)]
    return open_file(folder, record, schema, words=words).read(columns=columns)


def _check_size(folder: Path, record: PartRecord) -> None:
    path = folder / record.file
    if not path.is_file():
        raise ExportError(f"{path}: missing; expected a file of {record.rows} rows")
    if path.stat().st_size != record.bytes:
        raise ExportError(f"{path}: changed, {path.stat().st_size} bytes; expected {record.bytes} as written")
