"""Decide in simulated worlds whose truth is known, and write ``docs/worlds.md``.

Run it where the package is installed: ``python benchmarks/worlds.py --worlds 200 --out docs/worlds.md``. Twelve models,
ten answer wordings, twelve graders, a calibration set: what ``ab``, ``choose`` and ``score`` decide there is held
against the truth, and so is what a reader without their care would decide. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from validity.workers import Task, run_tasks
from worlds.page import render_page
from worlds.trials import WorldCell, WorldTrials, try_world


def main() -> None:
    """Try the worlds asked for and write the document."""
    options = parse_options()
    started = time.monotonic()
    trials = try_worlds(options.worlds, seed=options.seed, processes=options.processes)
    print(f"{options.worlds} worlds: {time.monotonic() - started:.0f} s", file=sys.stderr)
    text = render_page(trials, seed=options.seed)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Decisions of ab, choose and score in worlds whose truth is known.")
    parser.add_argument("--worlds", type=read_count, default=200, help="10 take about half a minute on two idle cores")
    parser.add_argument("--out", type=Path, help="file to write; printed without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args(arguments)


def read_count(text: str) -> int:
    """A number of worlds."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} worlds; expected one or more")
    return count


def try_worlds(n: int, *, seed: int, processes: int) -> list[WorldTrials]:
    """Worlds 0 to n - 1, each by a seed of its own."""
    tasks = [Task(try_world, WorldCell(number), 1, seed, 1.0) for number in range(n)]
    return run_tasks(tasks, processes=processes)


if __name__ == "__main__":
    main()
