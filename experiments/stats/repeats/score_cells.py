"""Scores and verdicts as cells: what a grader's scores of one item add to variance components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.stats.inputs import check_counts, check_labels, encode_labels
from experiments.stats.repeats.pair_variances import Cells

__all__ = ["check_scores", "correctness_cells", "score_cells"]

Array = NDArray[np.float64]


def check_scores(scores: ArrayLike, largest_difference: float, *, shape: str, depth: int) -> Array:
    """Scores as an array of ``depth`` axes, NaN where there is none; ``ValueError`` for anything else."""
    if not 0 < largest_difference < np.inf:
        raise ValueError(f"largest_difference: not a distance, got {largest_difference}; expected a number above 0")
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != depth:
        raise ValueError(f"scores: wrong shape, got {table.shape}; expected {shape}")
    if np.isinf(table).any():
        raise ValueError("scores: not a finite number, got inf; expected finite numbers, NaN where there is none")
    seen = table[~np.isnan(table)]
    spread = float(np.ptp(seen)) if len(seen) else 0.0
    if spread > largest_difference * (1 + 1e-9):
        raise ValueError(f"scores: differ by {spread}, got largest_difference={largest_difference}; expected no less")
    return table


def score_cells(table: Array, largest_difference: float) -> Cells:
    """Cells of scores (K, n, R), centred, on a scale on which they differ by 1 at most."""
    ordered = np.sort(table, axis=-1)  # NaN last: the order of repeats cannot move the last bit of a sum
    seen = ~np.isnan(ordered)
    centre = (np.nanmin(ordered) + np.nanmax(ordered)) / 2 if seen.any() else 0.0
    scores = np.where(seen, (ordered - centre) / largest_difference, 0.0)
    sizes = seen.sum(axis=-1)
    held = np.maximum(sizes, 1)
    return Cells(sizes, scores.sum(axis=-1) / held, (scores**2).sum(axis=-1) / held)


def correctness_cells(
    reference: Sequence[str], counts: Sequence[ArrayLike], *, labels: Sequence[str], positive: str
) -> Cells:
    """Cells of 0 and 1: the mean square is the mean; ``ValueError`` without a grader."""
    check_labels(labels, positive)
    people = encode_labels(reference, labels)
    if not len(counts):
        raise ValueError("counts: no grader, got none; expected (graders, n, labels)")
    tables = [check_counts(table, n=len(people), n_labels=len(labels)) for table in counts]
    position = list(labels).index(positive)
    sizes = np.stack([table.sum(axis=1) for table in tables])
    passed = np.stack([table[:, position] for table in tables])
    right = np.where(people == position, passed, sizes - passed) / np.maximum(sizes, 1)
    return Cells(sizes, right, right)
