"""Verdicts of twelve graders on items of one to five a question, the same for every contender; needs numpy only."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

GRADERS = 12
MOST_BYTES = 12 * 2**30
PAIRS = tuple(combinations(range(GRADERS), 2))
Row = tuple[float, float, float]
Contest = tuple[Sequence[Row], Sequence[Row], Sequence[float]]


def write_verdicts(path: Path, n_items: int, n_repeats: int) -> None:
    """Store people's labels (n,), questions (n,) and each grader's verdicts (12, n, R), all seeded."""
    rng = np.random.default_rng(20)
    sizes = rng.integers(1, 6, size=n_items)
    questions = np.repeat(np.arange(n_items), sizes)[:n_items]
    reference = rng.random(n_items) < rng.beta(3, 2, size=n_items)[questions]
    difficulty = rng.beta(0.4, 1.6, size=n_items)[questions]
    verdicts = np.empty((GRADERS, n_items, n_repeats), dtype=bool)
    for grader in range(GRADERS):
        own = rng.beta(0.3, 2.0, size=n_items)
        error = np.clip((0.25 + 0.05 * grader) * difficulty + 0.3 * own, 0, 1)
        verdicts[grader] = reference[:, None] ^ (rng.random((n_items, n_repeats)) < error[:, None])
    np.savez(path, reference=reference, questions=questions, verdicts=verdicts)


def wrong_shares(stored: dict[str, np.ndarray]) -> np.ndarray:
    """Share of each item's verdicts that differ from people's label, (12, n)."""
    return np.asarray((stored["verdicts"] != stored["reference"][:, None]).mean(axis=2))


def run_contender(contest: Callable[[dict[str, np.ndarray], argparse.Namespace], Contest]) -> None:
    """Time ``contest`` and print its account as one line of JSON.

    It gives rates with bounds (false negatives of each grader, then false positives), differences with bounds, and
    p-values, and may stop after ``--rates`` and ``--pairs`` of them.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("--rates", type=int, default=2 * GRADERS)
    parser.add_argument("--pairs", type=int, default=len(PAIRS))
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--part", choices=("rates", "pairs", "both"), default="both")
    options = parser.parse_args()
    if options.part != "both":
        options.rates, options.pairs = (options.rates, 0) if options.part == "rates" else (0, options.pairs)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    with np.load(options.verdicts) as archive:
        stored = dict(archive)
    began, cpu = time.perf_counter(), time.process_time()
    rates, differences, p_values = contest(stored, options)
    account = {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rates": [list(map(float, row)) for row in rates],
        "differences": [list(map(float, row)) for row in differences],
        "p_values": list(map(float, p_values)),
    }
    print(json.dumps(account))


if __name__ == "__main__":
    write_verdicts(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
