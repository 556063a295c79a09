"""Small made-up samples for the tests of corrected scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.stats.correction import (
    GradedItems,
    LabelledItems,
    Samples,
    build_samples,
)
from experiments.stats.correction.score_choice import ScoreChoice

LABELS = ("INCORRECT", "NOT_ATTEMPTED", "CORRECT")
TWO = ("INCORRECT", "CORRECT")
MATRIX = np.array([[0.9, 0.04, 0.06], [0.05, 0.85, 0.1], [0.1, 0.02, 0.88]])
TWO_MATRIX = np.array([[0.9, 0.1], [0.08, 0.92]])
PI = np.array([0.4, 0.2, 0.4])
ROLES: dict[str, Any] = {"labels": LABELS, "correct": "CORRECT", "not_attempted": "NOT_ATTEMPTED"}
TWO_ROLES: dict[str, Any] = {"labels": TWO, "correct": "CORRECT", "not_attempted": None}
CHOICE_TWO = ScoreChoice(TWO, "CORRECT", None)
CHOICE = ScoreChoice(LABELS, "CORRECT", "NOT_ATTEMPTED")

Ints = NDArray[np.int64]


def graded(
    rng: np.random.Generator,
    n: int,
    pi: NDArray[np.float64] = PI,
    matrix: NDArray[np.float64] = MATRIX,
    repeats: int = 1,
) -> tuple[Ints, Ints]:
    people = rng.choice(len(pi), p=pi, size=n)
    return people, np.array([rng.multinomial(repeats, matrix[a]) for a in people])


def both(
    seed: int, n_benchmark: int, n: int, *, questions: int | None = None, shared: bool = False, repeats: int = 1
) -> Samples:
    rng = np.random.default_rng(seed)
    _, counts = graded(rng, n_benchmark, repeats=repeats)
    people, labelled = graded(rng, n, repeats=repeats)
    first = rng.integers(questions, size=n_benchmark) if questions else np.arange(n_benchmark)
    second = rng.integers(questions, size=n) if questions else np.arange(n)
    items = LabelledItems([LABELS[a] for a in people], labelled, second.tolist())
    return build_samples(GradedItems(counts, first.tolist()), items, labels=LABELS, shared_clusters=shared)


def repeated(counts: dict[int, int], n_labels: int) -> list[list[int]]:
    return [[int(place == label) for place in range(n_labels)] for label, times in counts.items() for _ in range(times)]


def two_classes(
    wrong: int, right: int, cells: tuple[tuple[int, int], tuple[int, int]]
) -> tuple[GradedItems, LabelledItems]:
    """Benchmark verdicts, and calibration cells with people in rows."""
    benchmark = GradedItems(repeated({0: wrong, 1: right}, 2), range(wrong + right))
    reference = [TWO[row] for row in (0, 1) for _ in range(sum(cells[row]))]
    counts = [line for row in cells for line in repeated(dict(enumerate(row)), 2)]
    return benchmark, LabelledItems(reference, counts, range(len(reference)))
