"""Differences of corrected scores, whose uncertainty is joint.

Two respondents that one grader judged share its error rates, and mostly their questions. What these move moves both
scores, so the variance of the difference is not the sum of two. With ``b_c + k_c`` what question c adds to a corrected
score through the benchmark and through the calibration items (:mod:`experiments.stats.correction.influence`), it is
``sum_c (b1_c - b2_c + k1_c - k2_c)**2``. Interval and two-sided p-value are Student's with the degrees of freedom of
Welch 1947 and Satterthwaite 1946, of the questions of the sample that has fewer. The made-up questions
(:mod:`experiments.stats.correction.samples`) count: those of one set of calibration items once for both scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import sum_by_cluster
from experiments.stats.correction.corrected_scores import solve_samples
from experiments.stats.correction.identification import check_identification
from experiments.stats.correction.influence import Influence, degrees_of_freedom, influence_of_sums
from experiments.stats.correction.samples import GradedItems, LabelledItems, Samples, assemble_samples, split_totals
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["CorrectedDifferences", "corrected_differences"]

_MADE_UP = 0.5
_METHOD = "inversion-delta-joint"

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CorrectedDifferences:
    """Difference of every corrected score, first respondent minus second, by the score's name.

    ``differences`` is ``None`` where either side cannot be corrected, and ``reason`` says why in one line. ``common``
    counts the questions that both have, ``only_first`` and ``only_second`` those that one has.
    """

    status: Literal["corrected", "uncorrected"]
    reason: str
    differences: Mapping[str, Difference] | None
    common: int
    only_first: int
    only_second: int


def corrected_differences(
    first: GradedItems,
    second: GradedItems,
    calibration: LabelledItems,
    *,
    second_calibration: LabelledItems | None = None,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    level: float = 0.95,
    shared_clusters: bool = False,
) -> CorrectedDifferences:
    """Compare the corrected scores of two respondents, or of one on two sets.

    Parameters
    ----------
    first, second
        Benchmark items of each, with the grader's verdicts. A question of the same name in both is the same question;
        each score is that of all its items, also those on questions that the other lacks.
    calibration
        Labelled items that give the error rates of both; of the first alone if ``second_calibration`` is given.
    second_calibration
        Labelled items that give the second's error rates. A question of the same name in both calibrations is the same.
    labels, correct, not_attempted, penalty, level
        As in :func:`experiments.stats.correction.correct_scores`.
    shared_clusters
        Whether a question of the same name in benchmark and calibration is the same question.

    Returns
    -------
    CorrectedDifferences
        A difference is all ``None`` where either score is not defined. ``n`` counts the items of the one with fewer,
        ``clusters`` the questions of both together.

    Raises
    ------
    ValueError
        As in :func:`experiments.stats.correction.correct_scores`.
    """
    check_level(level)
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    known = [calibration, calibration if second_calibration is None else second_calibration]
    sides = _build_sides((first, second), known, labels=labels, shared_clusters=shared_clusters)
    counts = _question_counts(sides)
    reasons = [_fault(side, level=level) for side in sides]
    if any(reasons):
        return CorrectedDifferences("uncorrected", next(filter(None, reasons)), None, *counts)
    joint = _Joint(sides, same_calibration=_same_items(*known), choice=choice, level=level)
    differences = {name: joint.difference(name) for name in choice.names}
    return CorrectedDifferences("corrected", "", MappingProxyType(differences), *counts)


class _Joint:
    """Both sides' sums by question, row by row the same question."""

    def __init__(self, sides: Sequence[Samples], *, same_calibration: bool, choice: ScoreChoice, level: float) -> None:
        self.sides, self.choice, self.level = sides, choice, level
        self.sums = _side_sums(sides, same_calibration=same_calibration)
        self.shares = [np.array(solve_samples(side, correct=choice.correct).shares) for side in sides]
        self.questions = np.min([[side.n_clusters, *side.row_clusters] for side in sides], axis=0)
        self.n_clusters = len(np.union1d(sides[0].codes, sides[1].codes))

    def difference(self, name: str) -> Difference:
        values = [float(self.choice.value(name, shares)) for shares in self.shares]
        value = values[0] - values[1]
        if np.isnan(value):
            return Difference(self._estimate(None, None), None, _METHOD)
        one, two = (self._influence(name, sums, shares) for sums, shares in zip(self.sums, self.shares, strict=True))
        parts = Influence(one.benchmark - two.benchmark, one.rows - two.rows)
        error, freedom = parts.variance**0.5, degrees_of_freedom(parts, self.questions)
        half = float(special.stdtrit(freedom, (1 + self.level) / 2)) * error
        low, high = self.choice.span(name)
        bounds = max(low - high, value - half), min(high - low, value + half)
        p_value = min(1.0, 2 * float(special.stdtr(freedom, -abs(value) / error))) if error > 0 else None
        return Difference(self._estimate(value, bounds), p_value, _METHOD)

    def _influence(self, name: str, sums: Array, shares: Array) -> Influence:
        totals = split_totals(sums.sum(axis=0), len(shares))
        direction = np.asarray(np.linalg.solve(totals.matrix, self.choice.gradient(name, shares)), dtype=np.float64)
        return influence_of_sums(sums, direction, -shares[:, None] * direction[None, :])

    def _estimate(self, value: float | None, bounds: tuple[float, float] | None) -> Estimate:
        low, high = bounds or (None, None)
        n = min(len(side.shares) for side in self.sides)
        repeats = max(int(side.repeats.max(initial=0)) for side in self.sides)
        return Estimate(value, low, high, self.level, _METHOD, n, self.n_clusters, repeats)


def _build_sides(
    graded: Sequence[GradedItems], known: Sequence[LabelledItems], *, labels: Sequence[str], shared_clusters: bool
) -> list[Samples]:
    """Samples of both sides, their questions numbered alike."""
    names: list[object] = [name for items in graded for name in items.clusters]
    for labelled in known:
        names += labelled.clusters if shared_clusters else [("calibration", name) for name in labelled.clusters]
    sizes = [*(len(items.clusters) for items in graded), *(len(items.clusters) for items in known)]
    codes = np.split(encode_clusters(names, n=len(names)), np.cumsum(sizes)[:-1])
    return [
        assemble_samples(graded[k], known[k], codes[k], codes[2 + k], labels=labels, shared_clusters=shared_clusters)
        for k in range(2)
    ]


def _side_sums(sides: Sequence[Samples], *, same_calibration: bool) -> tuple[Array, Array]:
    """Sums by question of each side, (G, K + K * K) each, the made-up questions last."""
    n_labels = len(sides[0].labels)
    cells = n_labels * n_labels
    width = 2 * (n_labels + cells)
    starts = (0, n_labels, 2 * n_labels, 2 * n_labels + cells)
    parts = [*(side.shares for side in sides), *(_cells(side) for side in sides)]
    rows = [_placed(part, start, width) for part, start in zip(parts, starts, strict=True)]
    codes = [*(side.codes for side in sides), *(side.labelled_codes for side in sides)]
    extra = [_placed(_MADE_UP * np.eye(part.shape[1]), start, width) for part, start in zip(parts, starts, strict=True)]
    if same_calibration:
        extra[2:] = [extra[2] + extra[3]]
    sums = np.concatenate([sum_by_cluster(np.concatenate(rows), np.concatenate(codes)), *extra])
    first, second, one, two = np.split(sums, starts[1:], axis=1)
    return np.hstack([first, one]), np.hstack([second, two])


def _cells(side: Samples) -> Array:
    return np.asarray((side.people[:, :, None] * side.verdicts[:, None, :]).reshape(len(side.people), -1))


def _placed(part: Array, start: int, width: int) -> Array:
    return np.pad(part, ((0, 0), (start, width - start - part.shape[1])))


def _same_items(first: LabelledItems, second: LabelledItems) -> bool:
    """Whether two calibrations use the same items, however they weigh them."""
    if first is second:
        return True
    return (
        list(first.reference) == list(second.reference)
        and list(first.clusters) == list(second.clusters)
        and np.array_equal(np.asarray(first.counts), np.asarray(second.counts))
        and np.array_equal(_used(first), _used(second))
    )


def _used(items: LabelledItems) -> NDArray[np.bool_]:
    """Which items have a weight."""
    if items.weights is None:
        return np.ones(len(items.reference), dtype=bool)
    return np.asarray(items.weights, dtype=np.float64) > 0


def _question_counts(sides: Sequence[Samples]) -> tuple[int, int, int]:
    one, two = (np.unique(side.codes) for side in sides)
    common = len(np.intersect1d(one, two))
    return common, len(one) - common, len(two) - common


def _fault(side: Samples, *, level: float) -> str:
    """Why a side cannot be corrected; empty if it can."""
    if not len(side.people):
        return "uncorrected: no calibration data"
    if not len(side.shares):
        return "uncorrected: no benchmark item has a valid verdict"
    return check_identification(side, level=level).reason
