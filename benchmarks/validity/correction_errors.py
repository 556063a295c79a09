"""Bias, error and coverage of corrected scores in one cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from experiments.stats.correction.corrected_scores import ScoreCorrection, correct_scores
from experiments.stats.correction.prediction_powered import powered_scores
from experiments.stats.estimate import Estimate
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.scores.score_functions import score_value
from validity.correction_grid import CorrectionCell, Drawn, simulate_correction

__all__ = ["LEVEL", "METHODS", "CorrectionErrors", "measure_correction"]

LEVEL = 0.95
RESAMPLES = 1000
UNCORRECTED, PEOPLE = "uncorrected", "people's labels alone"
METHODS = (UNCORRECTED, PEOPLE, "inversion, delta", "inversion, bootstrap", "PPI++")


@dataclass(frozen=True, slots=True)
class CorrectionErrors:
    """What a method made of a score in a cell.

    ``given`` counts the data sets in which it gave an interval; the sums of errors, of squared errors and of widths
    and the number of intervals that held the truth are over these.
    """

    cell: CorrectionCell
    method: str
    score: str
    truth: float
    draws: int
    given: int
    covered: int
    errors: float
    squares: float
    widths: float


def measure_correction(cell: CorrectionCell, rng: np.random.Generator, n_draws: int) -> list[CorrectionErrors]:
    """Every method on the same data sets."""
    scores = ("correct",) if len(cell.labels) == 2 else ("correct", "f1")
    found: dict[tuple[str, str], list[Estimate]] = defaultdict(list)
    for _ in range(n_draws):
        drawn = simulate_correction(cell, rng)
        for method, estimates in _estimates(cell, drawn, rng).items():
            for score in scores:
                if score in estimates:
                    found[method, score].append(estimates[score])
    return [
        _errors(cell, method, score, found[method, score], n_draws)
        for method in METHODS
        for score in scores
        if (method, score) in found
    ]


def _estimates(cell: CorrectionCell, drawn: Drawn, rng: np.random.Generator) -> dict[str, dict[str, Estimate]]:
    not_attempted = "not_attempted" if "not_attempted" in cell.labels else None
    delta = _correct(cell, drawn, "delta", rng)
    found = {UNCORRECTED: dict(delta.uncorrected), "inversion, delta": dict(delta.corrected or {})}
    found["inversion, bootstrap"] = dict(_correct(cell, drawn, "bootstrap", rng).corrected or {})
    if cell.balanced:
        return found
    powered = powered_scores(
        drawn.calibration,
        drawn.benchmark,
        labels=cell.labels,
        correct="correct",
        not_attempted=not_attempted,
        labelled_at_random=True,
        level=LEVEL,
    )
    found["PPI++"] = {name: score.estimate for name, score in powered.items()}
    right = [float(label == "correct") for label in drawn.calibration.reference]
    found[PEOPLE] = {"correct": clustered_wilson(right, drawn.calibration.clusters, repeats=1, level=LEVEL)}
    return found


def _correct(
    cell: CorrectionCell, drawn: Drawn, method: Literal["delta", "bootstrap"], rng: np.random.Generator
) -> ScoreCorrection:
    return correct_scores(
        drawn.benchmark,
        drawn.calibration,
        labels=cell.labels,
        correct="correct",
        not_attempted="not_attempted" if "not_attempted" in cell.labels else None,
        level=LEVEL,
        method=method,
        rng=rng,
        resamples=RESAMPLES,
    )


def _errors(
    cell: CorrectionCell, method: str, score: str, estimates: Sequence[Estimate], draws: int
) -> CorrectionErrors:
    truth = true_score(cell, score)
    given = [(e.value, e.low, e.high) for e in estimates if None not in (e.value, e.low, e.high)]
    value, low, high = np.array(given, dtype=np.float64).reshape(-1, 3).T
    covered = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    return CorrectionErrors(
        cell,
        method,
        score,
        truth,
        draws=draws,
        given=len(given),
        covered=int(covered.sum()),
        errors=float((value - truth).sum()),
        squares=float(((value - truth) ** 2).sum()),
        widths=float((high - low).sum()),
    )


def true_score(cell: CorrectionCell, score: str) -> float:
    """The score of the population that the cell draws from."""
    not_attempted = "not_attempted" if "not_attempted" in cell.labels else None
    shares = np.asarray(cell.shares)
    return float(score_value(score, shares, labels=cell.labels, correct="correct", not_attempted=not_attempted))
