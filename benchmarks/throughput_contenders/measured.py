"""What every contender says about its run: options in, one line of JSON out."""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def read_options(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True)
    parser.add_argument("--prompts", type=Path, required=True, help="made by make_prompts.py")
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--choices", type=int, default=1)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--folder", type=Path, required=True, help="where the contender keeps what it stores")
    parser.add_argument("--variant", default="")
    return parser.parse_args()


def read_prompts(options: argparse.Namespace) -> list[dict[str, str]]:
    with options.prompts.open(encoding="utf-8") as lines:
        return [json.loads(line) for _, line in zip(range(options.items), lines, strict=False)]


class Measure:
    """Fill in ``verdicts`` before the end."""

    verdicts = 0


@contextmanager
def measured(options: argparse.Namespace) -> Iterator[Measure]:
    """Time what is inside and print the account of it."""
    measure = Measure()
    before, cpu = time.perf_counter(), time.process_time()
    yield measure
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    stored = sum(file.stat().st_size for file in options.folder.rglob("*") if file.is_file())
    print(
        json.dumps(
            {
                "verdicts": measure.verdicts,
                "seconds": seconds,
                "cpu_seconds": cpu,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "stored_bytes": stored,
            }
        )
    )
