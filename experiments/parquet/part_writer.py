"""Verdicts to Parquet files of a bounded number of rows, in bounded memory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.parquet.columns import VERDICTS, grader_folder
from experiments.parquet.description import PartRecord
from graders.verdict import Verdict

__all__ = ["ROWS_A_PART", "VerdictWriter", "write_table"]

ROWS_A_PART = 2_000_000
"""Rows of a file of verdicts."""
ROWS_A_GROUP = 2**17
"""Rows that are held before they are written, and that a reader holds at once."""

_WORDS = ["label", "failure", "detail"]
_NUMBERS = {"content": "DELTA_BINARY_PACKED", "repeat": "DELTA_BINARY_PACKED"}


def write_table(folder: Path, file: str, table: pa.Table) -> PartRecord:
    """Write one whole file."""
    pq.write_table(table, folder / file, compression="zstd")
    return _record(folder, file, rows=table.num_rows)


class VerdictWriter:
    """Writes the verdicts of one grader into an export's folder; ``records`` are its files, in order.

    Verdicts come one by one (:meth:`add`) or as tables with the columns of ``VERDICTS`` (:meth:`write`).
    """

    def __init__(self, folder: Path, grader_id: str, *, rows_a_part: int = ROWS_A_PART) -> None:
        self.records: list[PartRecord] = []
        self._folder, self._place, self._rows_a_part = folder, grader_folder(grader_id), rows_a_part
        self._open: pq.ParquetWriter | None = None
        self._rows = 0
        self._held: list[tuple[int, int, str | None, str | None, str | None]] = []
        (folder / self._place).mkdir(parents=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        self._close(whole=kind is None)

    def add(self, content: int, verdict: Verdict) -> None:
        """One verdict on a content."""
        detail = verdict.detail if verdict.failure == "not_answered" else None
        self._held.append((content, verdict.repeat, verdict.label, verdict.failure, detail))
        if len(self._held) >= ROWS_A_GROUP:
            self._flush()

    def write(self, table: pa.Table) -> None:
        """Verdicts of a table, after those that came before."""
        start = 0
        while start < table.num_rows:
            size = min(self._rows_a_part - self._rows, ROWS_A_GROUP, table.num_rows - start)
            self._writer().write_table(table.slice(start, size), row_group_size=ROWS_A_GROUP)
            self._rows += size
            start += size
            if self._rows == self._rows_a_part:
                self._close(whole=True)

    def _flush(self) -> None:
        if self._held:
            columns = zip(*self._held, strict=True)
            arrays = [pa.array(column, type=field.type) for column, field in zip(columns, VERDICTS, strict=True)]
            self._held = []
            self.write(pa.Table.from_arrays(arrays, schema=VERDICTS))

    def _writer(self) -> pq.ParquetWriter:
        if self._open is None:
            self._open = pq.ParquetWriter(
                self._folder / self._file(),
                VERDICTS,
                compression="zstd",
                use_dictionary=_WORDS,
                column_encoding=_NUMBERS,
            )
        return self._open

    def _file(self) -> str:
        return f"{self._place}/part-{len(self.records):05d}.parquet"

    def _close(self, *, whole: bool) -> None:
        if self._open is None:
            return
        self._open.close()
        if whole:
            self.records.append(_record(self._folder, self._file(), rows=self._rows))
        self._open, self._rows = None, 0


def _record(folder: Path, file: str, *, rows: int) -> PartRecord:
    with (folder / file).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return PartRecord(file=file, rows=rows, bytes=(folder / file).stat().st_size, sha256=digest)
