"""Differences of corrected scores, whose uncertainty is joint.

Two respondents that one grader judged share its error rates, and mostly their questions. What these move moves both
scores, so the variance of the difference is not the sum of two. With ``b_c + k_c`` what question c adds to a corrected
score through the benchmark and through the calibration items (:mod:`experiments.stats.correction.influence`), it is
``sum_c (b1_c - b2_c + k1_c - k2_c)**2``. Interval and two-sided p-value are Student's with the degrees of freedom of
Welch 1947 and Satterthwaite 1946, of the questions of the sample that has fewer. The made-up questions
(:mod:`experiments.stats.correction.samples`) count: those of one set of calibration items once for both scores.

By bootstrap, a resample of questions moves both scores at once; benchmark and calibration are resampled each by
itself, unless they share questions. The interval is the percentile one, and the p-value is twice the smaller share of
draws on either side of zero, the drawn ones and one more counted [Davison and Hinkley 1997, section 4.4], so that it is
never below ``2 / (1 + resamples)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval, sum_by_cluster
from experiments.stats.correction.corrected_scores import check_source, solve_samples
from experiments.stats.correction.identification import check_identification
from experiments.stats.correction.influence import Influence, degrees_of_freedom, influence_of_sums
from experiments.stats.correction.samples import GradedItems, LabelledItems, Samples, assemble_samples, split_totals
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.correction.uncertainty import SharesDraws, solve_draws
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level, encode_clusters

__all__ = ["CorrectedDifferences", "corrected_differences"]

_MADE_UP = 0.5
_METHOD, _DRAWN = "inversion-delta-joint", "inversion-bootstrap-joint"

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CorrectedDifferences:
    """Difference of every corrected score, first respondent minus second, by the score's name.

    ``differences`` is ``None`` where either side cannot be corrected, and ``reason`` says why in one line. ``common``
    counts the questions that both have, ``only_first`` and ``only_second`` those that one has. ``undefined_resamples``
    counts the resamples that could not be solved (bootstrap alone).
    """

    status: Literal["corrected", "uncorrected"]
    reason: str
    differences: Mapping[str, Difference] | None
    common: int
    only_first: int
    only_second: int
    undefined_resamples: int = 0


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
    method: Literal["delta", "bootstrap"] = "delta",
    rng: np.random.Generator | None = None,
    resamples: int = 10_000,
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
    labels, correct, not_attempted, penalty, level, method, rng, resamples
        As in :func:`experiments.stats.correction.correct_scores`. Where the resamples give no interval, a difference
        has that of the delta method, and its ``method`` says so.
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
    source = check_source(method, rng)
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    known = [calibration, calibration if second_calibration is None else second_calibration]
    sides = _build_sides((first, second), known, labels=labels, shared_clusters=shared_clusters)
    counts = _question_counts(sides)
    reasons = [_fault(side, level=level) for side in sides]
    if any(reasons):
        return CorrectedDifferences("uncorrected", next(filter(None, reasons)), None, *counts)
    joint = _Joint(sides, same_calibration=_same_items(*known), choice=choice, level=level)
    draws = None if source is None else joint.draw(rng=source, resamples=resamples)
    differences = {name: joint.difference(name, draws) for name in choice.names}
    undefined = 0 if draws is None else int((draws[0].undefined_rows | draws[1].undefined_rows).sum())
    return CorrectedDifferences("corrected", "", MappingProxyType(differences), *counts, undefined)


class _Joint:
    """Both sides' sums by question, row by row the same question."""

    def __init__(self, sides: Sequence[Samples], *, same_calibration: bool, choice: ScoreChoice, level: float) -> None:
        self.sides, self.choice, self.level = sides, choice, level
        self.blocks = _joint_blocks(sides, same_calibration=same_calibration)
        self.sums = _split_sides(np.concatenate(self.blocks), len(choice.labels))
        self.shares = [np.array(solve_samples(side, correct=choice.correct).shares) for side in sides]
        self.questions = np.min([[side.n_clusters, *side.row_clusters] for side in sides], axis=0)
        self.n_clusters = len(np.union1d(sides[0].codes, sides[1].codes))

    def draw(self, *, rng: np.random.Generator, resamples: int) -> list[SharesDraws]:
        """Corrected shares of each side in the same resamples."""
        totals = np.sum([bootstrap_sums(block, rng=rng, resamples=resamples) for block in self.blocks], axis=0)
        drawn = _split_sides(totals, len(self.choice.labels))
        return [
            solve_draws(side, sums.sum(axis=0), pi)
            for side, sums, pi in zip(drawn, self.sums, self.shares, strict=True)
        ]

    def difference(self, name: str, draws: Sequence[SharesDraws] | None) -> Difference:
        """One score's; by resamples where there are any that give an interval."""
        linear = self._delta(name)
        if draws is None or linear.estimate.value is None:
            return linear
        one, two = (self.choice.value(name, side.draws) for side in draws)
        interval = percentile_interval(one - two, level=self.level)
        if interval is None:
            return linear
        value = linear.estimate.value
        estimate = self._estimate(value, (min(interval[0], value), max(interval[1], value)), _DRAWN)
        return Difference(estimate, _drawn_p_value(one - two), _DRAWN)

    def _delta(self, name: str) -> Difference:
        values = [float(self.choice.value(name, shares)) for shares in self.shares]
        value = values[0] - values[1]
        if np.isnan(value):
            return Difference(self._estimate(None, None, _METHOD), None, _METHOD)
        one, two = (self._influence(name, sums, shares) for sums, shares in zip(self.sums, self.shares, strict=True))
        parts = Influence(one.benchmark - two.benchmark, one.rows - two.rows)
        error, freedom = parts.variance**0.5, degrees_of_freedom(parts, self.questions)
        half = float(special.stdtrit(freedom, (1 + self.level) / 2)) * error
        low, high = self.choice.span(name)
        bounds = max(low - high, value - half), min(high - low, value + half)
        p_value = min(1.0, 2 * float(special.stdtr(freedom, -abs(value) / error))) if error > 0 else None
        return Difference(self._estimate(value, bounds, _METHOD), p_value, _METHOD)

    def _influence(self, name: str, sums: Array, shares: Array) -> Influence:
        totals = split_totals(sums.sum(axis=0), len(shares))
        direction = np.asarray(np.linalg.solve(totals.matrix, self.choice.gradient(name, shares)), dtype=np.float64)
        return influence_of_sums(sums, direction, -shares[:, None] * direction[None, :])

    def _estimate(self, value: float | None, bounds: tuple[float, float] | None, method: str) -> Estimate:
        low, high = bounds or (None, None)
        n = min(len(side.shares) for side in self.sides)
        repeats = max(int(side.repeats.max(initial=0)) for side in self.sides)
        return Estimate(value, low, high, self.level, method, n, self.n_clusters, repeats)


def _drawn_p_value(draws: Array) -> float:
    defined = draws[~np.isnan(draws)]
    smaller = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (1 + smaller) / (1 + len(defined)))


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


def _joint_blocks(sides: Sequence[Samples], *, same_calibration: bool) -> list[Array]:
    """Sums by question of both sides, (G, 2 K + 2 K * K) with both benchmarks first, the made-up questions last.

    One array for each sample that is resampled by itself: benchmark and calibration, or both if they share questions.
    """
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
    parts_of_blocks = [slice(None)] if sides[0].shared else [slice(0, 2), slice(2, None)]
    return [
        np.concatenate([sum_by_cluster(np.concatenate(rows[part]), np.concatenate(codes[part])), *extra[part]])
        for part in parts_of_blocks
    ]


def _split_sides(sums: Array, n_labels: int) -> tuple[Array, Array]:
    """Columns of :func:`_joint_blocks` as those of each side, (G, K + K * K) each."""
    first, second, one, two = np.split(sums, np.cumsum([n_labels, n_labels, n_labels * n_labels]), axis=1)
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
