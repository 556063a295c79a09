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
from itertools import combinations
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.cluster_bootstrap import percentile_interval
from experiments.stats.correction.corrected_scores import check_source, solve_samples
from experiments.stats.correction.identification import check_identification
from experiments.stats.correction.influence import Influence, degrees_of_freedom, influence_of_sums
from experiments.stats.correction.joint_samples import (
    build_sides,
    draw_sides,
    group_calibrations,
    joint_blocks,
    split_sides,
)
from experiments.stats.correction.samples import GradedItems, LabelledItems, Samples, split_totals
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.correction.uncertainty import SharesDraws
from experiments.stats.estimate import Difference, Estimate
from experiments.stats.inputs import check_level

__all__ = ["CorrectedDifferences", "corrected_differences", "corrected_pairs"]

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
    known = [calibration, calibration if second_calibration is None else second_calibration]
    return corrected_pairs(
        [first, second],
        known,
        labels=labels,
        correct=correct,
        not_attempted=not_attempted,
        penalty=penalty,
        level=level,
        method=method,
        rng=rng,
        resamples=resamples,
        shared_clusters=shared_clusters,
    )[0]


def corrected_pairs(
    graded: Sequence[GradedItems],
    calibrations: Sequence[LabelledItems],
    *,
    labels: Sequence[str],
    correct: str,
    not_attempted: str | None,
    penalty: float = 1.0,
    level: float = 0.95,
    method: Literal["delta", "bootstrap"] = "delta",
    rng: np.random.Generator | None = None,
    resamples: int = 10_000,
    shared_clusters: bool = False,
) -> list[CorrectedDifferences]:
    """Compare the corrected scores of every two of several respondents.

    Parameters
    ----------
    graded
        Benchmark items of each of R respondents.
    calibrations
        Labelled items that give the error rates of each.
    labels, correct, not_attempted, penalty, level, method, rng, resamples, shared_clusters
        As in :func:`corrected_differences`; all respondents are resampled at once.

    Returns
    -------
    Pairs in the order of :func:`itertools.combinations`, each as :func:`corrected_differences` has it.

    Raises
    ------
    ValueError
        As in :func:`experiments.stats.correction.correct_scores`; not one calibration a respondent.
    """
    check_level(level)
    source = check_source(method, rng)
    if len(calibrations) != len(graded):
        raise ValueError(f"calibrations: wrong number, got {len(calibrations)}; expected {len(graded)}, one each")
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    sides = build_sides(graded, calibrations, labels=labels, shared_clusters=shared_clusters)
    respondents = _Respondents(sides, group_calibrations(calibrations), choice, level)
    draws = {} if source is None else respondents.draw(rng=source, resamples=resamples)
    return [respondents.compare(one, two, draws) for one, two in combinations(range(len(sides)), 2)]


class _Respondents:
    """All respondents, of which some cannot be corrected."""

    def __init__(self, sides: Sequence[Samples], groups: Sequence[int], choice: ScoreChoice, level: float) -> None:
        self.sides, self.groups, self.choice, self.level = sides, groups, choice, level
        self.reasons = [_fault(side, level=level) for side in sides]
        self.shares = {
            place: np.array(solve_samples(side, correct=choice.correct).shares)
            for place, (side, reason) in enumerate(zip(sides, self.reasons, strict=True))
            if not reason
        }

    def draw(self, *, rng: np.random.Generator, resamples: int) -> dict[int, SharesDraws]:
        """Corrected shares of each in the same resamples, of those that can be corrected."""
        if not self.shares:
            return {}
        sides, groups = [self.sides[place] for place in self.shares], [self.groups[place] for place in self.shares]
        drawn = draw_sides(sides, groups, list(self.shares.values()), rng=rng, resamples=resamples)
        return dict(zip(self.shares, drawn, strict=True))

    def compare(self, one: int, two: int, draws: Mapping[int, SharesDraws]) -> CorrectedDifferences:
        """One less two; by resamples where there are any."""
        sides = [self.sides[one], self.sides[two]]
        reason = self.reasons[one] or self.reasons[two]
        if reason:
            return CorrectedDifferences("uncorrected", reason, None, *_question_counts(sides))
        shares = [self.shares[one], self.shares[two]]
        joint = _Joint(sides, [self.groups[one], self.groups[two]], shares, self.choice, self.level)
        return joint.compare([draws[one], draws[two]] if draws else None)


class _Joint:
    """Both sides' sums by question, row by row the same question."""

    def __init__(
        self,
        sides: Sequence[Samples],
        groups: Sequence[int],
        shares: Sequence[Array],
        choice: ScoreChoice,
        level: float,
    ) -> None:
        self.sides, self.shares, self.choice, self.level = sides, shares, choice, level
        self.sums = split_sides(np.concatenate(joint_blocks(sides, groups)), len(choice.labels))
        self.questions = np.min([[side.n_clusters, *side.row_clusters] for side in sides], axis=0)
        self.n_clusters = len(np.union1d(sides[0].codes, sides[1].codes))

    def compare(self, draws: Sequence[SharesDraws] | None) -> CorrectedDifferences:
        """All scores, by resamples where there are any."""
        differences = {name: self.difference(name, draws) for name in self.choice.names}
        undefined = 0 if draws is None else int((draws[0].undefined_rows | draws[1].undefined_rows).sum())
        counts = _question_counts(self.sides)
        return CorrectedDifferences("corrected", "", MappingProxyType(differences), *counts, undefined)

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
