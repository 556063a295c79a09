"""Time Krippendorff's alpha with its bootstrap interval, ours beside a loop that calls the library for each resample.

    python benchmarks/agreement_speed.py [--items 1000] [--repeats 10] [--resamples 1000] [--looped 50]

The loop is timed on fewer resamples and scaled up, since it takes minutes. Both see the same verdicts, and the point
values must agree. What is printed is a ratio of two times of one run on one machine.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from experiments.stats import alpha_repeats
from experiments.stats.raters.krippendorff_alpha import alpha_of_counts

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")


def draw_counts(rng: np.random.Generator, n_items: int, n_repeats: int) -> np.ndarray:
    """Counts of verdicts by label, (n_items, 3), of a grader that is mostly sure of an item's label."""
    shares = rng.dirichlet([0.3, 0.3, 0.3], size=n_items)
    return np.array([rng.multinomial(n_repeats, share) for share in shares])


def time_ours(counts: np.ndarray, clusters: list[str], resamples: int, seed: int) -> tuple[float, float | None]:
    began = time.perf_counter()
    estimate = alpha_repeats(
        counts,
        clusters,
        labels=LABELS,
        scale_level="nominal",
        rng=np.random.default_rng(seed),
        resamples=resamples,
    )
    return time.perf_counter() - began, estimate.value


def time_loop(counts: np.ndarray, resamples: int, seed: int) -> tuple[float, float | None]:
    rng = np.random.default_rng(seed)
    value = alpha_of_counts(counts, scale_level="nominal")
    began = time.perf_counter()
    for _ in range(resamples):
        rows = rng.integers(len(counts), size=len(counts))
        alpha_of_counts(counts[rows], scale_level="nominal")
    return time.perf_counter() - began, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--looped", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts = draw_counts(np.random.default_rng(options.seed), options.items, options.repeats)
    clusters = [f"q{number}" for number in range(options.items)]
    ours, value = time_ours(counts, clusters, options.resamples, options.seed)
    looped, library_value = time_loop(counts, options.looped, options.seed)
    if value is None or library_value is None or abs(value - library_value) > 1e-9:
        raise SystemExit(f"values differ: ours {value}, library {library_value}")
    scaled = looped / options.looped * options.resamples
    print(f"alpha {value:.4f} of {options.items} items x {options.repeats} repeats, {options.resamples} resamples")
    print(f"ours {ours:.3f} s; library in a loop {scaled:.1f} s (from {options.looped} resamples)")
    print(f"ratio {scaled / ours:.0f}")


if __name__ == "__main__":
    main()
