"""Runs from one store to another, of the same kind or the other, and a check that all of them arrived."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, update

from experiments.errors import StoreError
from experiments.store.copied_tables import ROWS_AT_A_TIME, CopiedTable, Part, list_parts
from experiments.store.database import NewRows
from experiments.store.part_comparison import PartComparison, compare_part
from experiments.store.run_descriptions import describe_run
from experiments.store.run_store import RunStore
from experiments.store.store_place import StorePlace

__all__ = ["StoreCopy", "Told", "copy_store", "open_source"]

Told = Callable[[str, str | None, int], None]
"""Is told what is being done, of which grader, and how many rows more."""


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """What a copy brought: the two stores, the runs that were named (``None`` for all), and every part compared."""

    source: StorePlace
    target: StorePlace
    run_ids: tuple[str, ...] | None
    parts: tuple[PartComparison, ...]

    @property
    def n_others(self) -> int:
        """Rows that were left out, as the target holds something else under their keys."""
        return sum(part.n_others for part in self.parts)


@contextmanager
def open_source(place: StorePlace) -> Iterator[RunStore]:
    """A store to be copied from, which is not changed: one of an earlier version is brought up to date aside.

    Raises
    ------
    StoreError
        If there is no store, or no room for the copy of an old one.
    """
    with RunStore(place, must_exist=True, option="another A") as store:
        if store.has_row_keys:
            yield store
            return
        with tempfile.TemporaryDirectory(prefix="autorater-") as folder:
            aside = Path(folder) / place.name
            with store.reading() as connection, closing(sqlite3.connect(aside)) as target:
                connection.connection.driver_connection.backup(target)  # type: ignore[union-attr]  # only files are so old
            with RunStore(aside) as current:
                yield current


def copy_store(source: RunStore, target: RunStore, run_names: Sequence[str] | None, told: Told) -> StoreCopy:
    """Copy runs with their sets and all that is stored of their graders, and compare what arrived.

    Nothing is deleted, and what is there stays; doing it again, also after an interruption, goes on. One state of the
    source is read, whatever is written to it meanwhile, a thousand rows at a time.

    Parameters
    ----------
    run_names
        Names of runs, as :meth:`RunStore.find_run` takes them; ``None`` for the whole store.

    Raises
    ------
    RunNotFoundError
        If a name means no run, or several.
    StoreError
        If a store cannot be read or written, or rows are missing afterwards.
    """
    records = None if run_names is None else [source.find_run(name) for name in run_names]
    run_ids = None if records is None else tuple(record.run_id for record in records)
    grader_ids = None if run_ids is None else _graders_of(source, run_ids)
    with source.reading() as connection:
        parts = list(list_parts(connection, run_ids, grader_ids))
        for part in parts:
            _copy_part(part, connection, target, told)
        compared = tuple(_compare(part, connection, target, told) for part in parts)
    missing = [part for part in compared if part.n_missing]
    if missing:
        raise StoreError(
            f"{target.place}: {missing[0].table}: {missing[0].n_missing} rows are not there after the copy; "
            "expected nobody to delete them meanwhile: the same command goes on"
        )
    return StoreCopy(source.place, target.place, run_ids, tuple(part for part in compared if part.n_source))


def _graders_of(source: RunStore, run_ids: Sequence[str]) -> list[str]:
    """Graders and respondents of runs, each once."""
    found: dict[str, None] = {}
    for run_id in run_ids:
        run = describe_run(source, source.load_run(run_id))
        found.update(dict.fromkeys(grader.grader_id for grader in run.graders))
        if run.answering is not None:
            found.update(dict.fromkeys(one.respondent_id for one in run.answering.respondents))
    return list(found)


def _copy_part(part: Part, connection: Connection, target: RunStore, told: Told) -> None:
    copied, rows = part.copied, part.in_writing_order(connection)
    while some := list(islice(rows, ROWS_AT_A_TIME)):
        target.insert([NewRows(copied.table, copied.columns, some)])
        if copied.newer is not None:
            _renew(copied, copied.newer, some, target)
        told(f"copying {copied.table.name}", part.grader_id, len(some))


def _renew(copied: CopiedTable, time: str, rows: Sequence[tuple[Any, ...]], target: RunStore) -> None:
    """Let newer rows stand in the place of older ones."""
    table = copied.table
    of_key = [table.c[name] == bindparam(f"old_{name}") for name in copied.key]
    change = (
        update(table)
        .where(*of_key, table.c[time] < bindparam("old_time"))
        .values({name: bindparam(f"new_{name}") for name in copied.times})
    )
    places = {name: place for place, name in enumerate(copied.columns)}
    values = [
        {f"old_{name}": row[places[name]] for name in copied.key}
        | {f"new_{name}": row[places[name]] for name in copied.times}
        | {"old_time": row[places[time]]}
        for row in rows
    ]
    target.write(lambda connection: connection.execute(change, values))


def _compare(part: Part, connection: Connection, target: RunStore, told: Told) -> PartComparison:
    def counted(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(rows, 1):
            if number % ROWS_AT_A_TIME == 0:
                told(f"comparing {part.copied.table.name}", part.grader_id, ROWS_AT_A_TIME)
            yield row

    with target.reading() as theirs:
        return compare_part(part, counted(part.in_key_order(connection)), part.in_key_order(theirs))
