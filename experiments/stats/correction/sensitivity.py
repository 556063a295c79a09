"""What a corrected score would be under other error rates than those of the calibration items.

A correction assumes that error rates carry over. Two looks at what hangs on it: the error rates of each stratum of the
calibration items (respondent, data set), and a box around the error rates.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from experiments.stats.correction.confusion_inversion import NotIdentifiedError, invert_confusion, project_to_simplex
from experiments.stats.correction.corrected_scores import ScoreCorrection, correct_scores
from experiments.stats.correction.samples import GradedItems, LabelledItems, build_samples
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.inputs import check_counts

__all__ = ["ScoreRange", "StratumCorrection", "box_ranges", "carry_over_note", "stratum_corrections"]

_MOST_MATRICES = 200_000

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StratumCorrection:
    """Scores corrected by the error rates of one stratum of ``n`` calibration items."""

    stratum: Hashable
    n: int
    correction: ScoreCorrection


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """A corrected score and its range over a box of error rates.

    ``low`` and ``high`` are ``None`` where the score is defined nowhere. ``unidentified`` is the share of the box's
    points at which nothing is identified; where it is above 0 the range leaves them out and says too little.
    """

    value: float | None
    low: float | None
    high: float | None
    unidentified: float


def stratum_corrections(
    benchmark: GradedItems,
    calibration: LabelledItems,
    strata: Sequence[Hashable],
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    level: float = 0.95,
    shared_clusters: bool = False,
) -> tuple[StratumCorrection, ...]:
    """The benchmark's scores under the error rates of each stratum, in order of first appearance.

    Parameters
    ----------
    benchmark, calibration
        The two samples.
    strata
        (n,) the stratum of each calibration item.
    labels, correct, not_attempted, penalty, level, shared_clusters
        As in :func:`experiments.stats.correction.correct_scores`.

    Returns
    -------
    tuple
        A stratum whose items do not identify the shares is ``uncorrected``, with the reason.

    Raises
    ------
    ValueError
        Lengths that differ, a label off the scale.
    """
    n = len(calibration.reference)
    counts = check_counts(calibration.counts, n=n, n_labels=len(labels))
    if len(strata) != n or len(calibration.clusters) != n:
        raise ValueError(f"strata: wrong length, got {len(strata)}; expected {n}, one a calibration item")

    def part(stratum: Hashable) -> StratumCorrection:
        rows = [row for row in range(n) if strata[row] == stratum]
        items = LabelledItems(
            [calibration.reference[row] for row in rows],
            counts[rows],
            [calibration.clusters[row] for row in rows],
            None if calibration.weights is None else np.asarray(calibration.weights, dtype=np.float64)[rows],
        )
        corrected = correct_scores(
            benchmark,
            items,
            labels=labels,
            correct=correct,
            not_attempted=not_attempted,
            penalty=penalty,
            level=level,
            shared_clusters=shared_clusters,
        )
        return StratumCorrection(stratum, len(rows), corrected)

    return tuple(part(stratum) for stratum in dict.fromkeys(strata))


def box_ranges(
    benchmark: GradedItems,
    calibration: LabelledItems,
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    delta: float,
    penalty: float = 1.0,
    steps: int = 5,
) -> dict[str, ScoreRange]:
    """Range of each corrected score if the chance of a right verdict on each class were off by up to ``delta``.

    With two classes these are sensitivity and specificity, each moved by up to ``delta`` (and kept in [0, 1]); in
    general the diagonal of M, the rest of each row keeping its proportions (or spread evenly where it is empty).

    Parameters
    ----------
    benchmark, calibration
        The two samples.
    labels, correct, not_attempted, penalty
        As in :func:`experiments.stats.correction.correct_scores`.
    delta
        Largest move of each rate, from 0 to 1.
    steps
        Points along each side of the box, 2 or more; all their combinations are tried. With two classes the shares
        are monotone in each rate, so that the corners give the exact range.

    Raises
    ------
    NotIdentifiedError
        The error rates themselves cannot be inverted.
    ValueError
        ``delta`` outside [0, 1], fewer than two ``steps``, too many combinations, a label off the scale.
    """
    _check_box(delta, steps, len(labels))
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    totals = build_samples(benchmark, calibration, labels=labels).totals()
    if np.isnan(totals.matrix).any():
        raise NotIdentifiedError("not identified: people gave some label to no calibration item")
    centre = _solve(totals.observed, totals.matrix[None])[0]
    if np.isnan(centre).any():
        raise NotIdentifiedError("not identified: the confusion matrix cannot be inverted")
    moves = np.array(list(product(np.linspace(-delta, delta, steps), repeat=len(labels))))
    shares = _solve(totals.observed, _moved(totals.matrix, moves))
    unidentified = float(np.isnan(shares).any(axis=1).mean())
    shares = np.concatenate([shares, centre[None]])
    return {name: _range(choice.value(name, shares), unidentified) for name in choice.names}


def carry_over_note(calibration: str, benchmark: str) -> str:
    """The sentence that belongs beside a correction by error rates from elsewhere."""
    return (
        f"The error rates were measured on {calibration} and are assumed to carry over to {benchmark}; "
        "the interval does not include the error of this assumption."
    )


def _moved(matrix: Array, moves: Array) -> Array:
    """Matrices (B, K, K) with the diagonal moved by ``moves`` (B, K) and rows that still sum to one."""
    n_labels = len(matrix)
    wrong = matrix * (1 - np.eye(n_labels))
    mass = wrong.sum(axis=1, keepdims=True)
    proportions = np.where(mass > 0, wrong / np.where(mass > 0, mass, 1.0), (1 - np.eye(n_labels)) / (n_labels - 1))
    right = np.clip(np.diag(matrix) + moves, 0.0, 1.0)
    return np.asarray((1 - right)[:, :, None] * proportions + right[:, :, None] * np.eye(n_labels), dtype=np.float64)


def _solve(observed: Array, matrices: Array) -> Array:
    """Shares on the simplex, (B, K), NaN where a verdict does not point to its class."""
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    others = (matrices - 2.0 * np.eye(matrices.shape[1])).max(axis=1)
    points = (diagonal > others).all(axis=1)
    raw = invert_confusion(np.broadcast_to(observed, diagonal.shape), matrices)
    return np.where(points[:, None], project_to_simplex(raw), np.nan)


def _range(values: Array, unidentified: float) -> ScoreRange:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return ScoreRange(None, None, None, unidentified)
    value = None if np.isnan(values[-1]) else float(values[-1])
    return ScoreRange(value, float(defined.min()), float(defined.max()), unidentified)


def _check_box(delta: float, steps: int, n_labels: int) -> None:
    if not 0.0 <= delta <= 1.0:
        raise ValueError(f"delta: not a move of a rate, got {delta!r}; expected a number from 0 to 1")
    if steps < 2 or n_labels < 2:
        raise ValueError(f"steps: too few, got {steps} with {n_labels} labels; expected 2 or more of both")
    if steps**n_labels > _MOST_MATRICES:
        raise ValueError(f"steps: too many, got {steps}**{n_labels} matrices; expected {_MOST_MATRICES} or fewer")
