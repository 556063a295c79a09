"""Cells over processes: each has a seed of its own, so neither their order nor the number of processes matters."""

from __future__ import annotations

import multiprocessing
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Task", "cell_generator", "run_tasks"]


@dataclass(frozen=True, slots=True)
class Task:
    """One cell to measure by ``measure(cell, rng, draws)``; the costliest are begun first."""

    measure: Callable[[Any, np.random.Generator, int], list[Any]]
    cell: Any
    draws: int
    seed: int
    cost: float


def cell_generator(seed: int, cell: object) -> np.random.Generator:
    """Generator of a cell: by the seed and what the cell says of itself."""
    return np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])


def run_tasks(tasks: Sequence[Task], *, processes: int) -> list[Any]:
    """The rows of all tasks, in the order of the tasks."""
    order = sorted(range(len(tasks)), key=lambda index: -tasks[index].cost)
    ordered = [tasks[index] for index in order]
    if processes == 1:
        return _in_place(map(_run, ordered), order)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes share the cores; the server that forks them starts below
    with multiprocessing.get_context("forkserver").Pool(processes) as pool:
        return _in_place(pool.imap(_run, ordered, chunksize=1), order)


def _in_place(results: Iterable[list[Any]], order: Sequence[int]) -> list[Any]:
    """Rows in the order of the tasks; how far it is stands on standard error, where that is a terminal."""
    placed: dict[int, list[Any]] = {}
    for index, rows in zip(order, results, strict=True):
        placed[index] = rows
        if sys.stderr.isatty():
            print(f"\r{len(placed)} of {len(order)} cells", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return [row for index in range(len(order)) for row in placed[index]]


def _run(task: Task) -> list[Any]:
    return task.measure(task.cell, cell_generator(task.seed, task.cell), task.draws)
