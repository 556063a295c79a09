"""Intervals of corrected scores, from the uncertainty of both samples: delta method and bootstrap.

Both resample or linearise questions, never items, and treat the two samples as independent unless they are said to
share questions. Both are laid around the corrected shares after their move to the simplex, so that an interval at an
edge is one-sided but never a point; there the bootstrap is the wider, since its spread is that of the raw shares. Both
count the made-up questions of :mod:`experiments.stats.correction.samples`, so that a class without a wrong verdict is
not a class without error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.clusters.cluster_bootstrap import bootstrap_sums, percentile_interval
from experiments.stats.correction.confusion_inversion import invert_confusion, project_to_simplex
from experiments.stats.correction.human_label_error import human_label_variance
from experiments.stats.correction.influence import score_influence, student_half_width
from experiments.stats.correction.samples import Samples, split_totals
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.estimate import Estimate

__all__ = ["SharesDraws", "bootstrap_estimate", "bootstrap_shares", "delta_estimate", "solve_draws"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SharesDraws:
    """Corrected shares of each resample, ``draws`` (B, K), and how many were ``undefined`` (their rows are NaN).

    Undefined: a resample in which people gave some label to no item, or whose matrix is singular.
    """

    draws: Array
    undefined: int

    @property
    def undefined_rows(self) -> NDArray[np.bool_]:
        """(B,) which these are."""
        return np.asarray(np.isnan(self.draws).any(axis=1), dtype=np.bool_)


def delta_estimate(name: str, pi: Array, samples: Samples, choice: ScoreChoice, *, level: float) -> Estimate:
    """A score of the corrected shares ``pi`` (K,) with Student's interval on its delta-method standard error.

    ``value`` is ``None`` where the score is not defined there. The interval is cut at the score's smallest and largest
    possible value.
    """
    value = float(choice.value(name, pi))
    if np.isnan(value):
        return _estimate(None, None, samples, method="inversion-delta", level=level)
    half = _half_width(name, pi, samples, choice, level=level)
    low, high = choice.span(name)
    bounds = max(low, value - half), min(high, value + half)
    return _estimate(value, bounds, samples, method="inversion-delta", level=level)


def bootstrap_shares(samples: Samples, pi: Array, *, rng: np.random.Generator, resamples: int) -> SharesDraws:
    """Corrected shares of ``resamples`` resamples of questions, laid around ``pi`` (K,) and moved to the simplex.

    Each sample is resampled by itself, or both together where they share questions. All resamples are solved at once.
    """
    blocks = samples.blocks(made_up=True)
    totals = np.sum([bootstrap_sums(block, rng=rng, resamples=resamples) for block in blocks], axis=0)
    return solve_draws(totals, np.sum([block.sum(axis=0) for block in blocks], axis=0), pi)


def solve_draws(drawn_totals: Array, whole_totals: Array, pi: Array) -> SharesDraws:
    """Corrected shares of drawn totals (B, K + K * K), laid around ``pi`` (K,) and moved to the simplex.

    Each lies as far from ``pi`` as its own solution does from that of ``whole_totals`` (K + K * K,).
    """
    drawn, whole = split_totals(drawn_totals, len(pi)), split_totals(whole_totals, len(pi))
    shares = invert_confusion(drawn.observed, drawn.matrix)
    shares = shares + (pi - invert_confusion(whole.observed, whole.matrix))
    undefined = np.asarray(np.isnan(shares).any(axis=1))
    nearest = project_to_simplex(np.where(undefined[:, None], pi, shares))
    return SharesDraws(np.where(undefined[:, None], np.nan, nearest), int(undefined.sum()))


def bootstrap_estimate(
    name: str,
    pi: Array,
    samples: Samples,
    choice: ScoreChoice,
    draws: SharesDraws,
    *,
    level: float,
    rng: np.random.Generator,
) -> Estimate:
    """A score of the corrected shares ``pi`` (K,) with the percentile interval of its resamples.

    Where several people labelled, their variance (:mod:`experiments.stats.correction.human_label_error`) is added to
    each draw as normal noise from ``rng``. Where the resamples give no interval (more than half undefined, or all
    equal) it is the delta method's, and ``method`` says so.
    """
    value = float(choice.value(name, pi))
    if np.isnan(value):
        return _estimate(None, None, samples, method="inversion-bootstrap", level=level)
    drawn = choice.value(name, draws.draws)
    people = human_label_variance(samples, pi, choice.gradient(name, pi))
    if people:
        drawn = np.clip(drawn + people**0.5 * rng.standard_normal(len(drawn)), *choice.span(name))
    interval = percentile_interval(drawn, level=level)
    if interval is None or interval[1] - interval[0] < 1e-12:
        return delta_estimate(name, pi, samples, choice, level=level)
    bounds = min(interval[0], value), max(interval[1], value)
    return _estimate(value, bounds, samples, method="inversion-bootstrap", level=level)


def _half_width(name: str, pi: Array, samples: Samples, choice: ScoreChoice, *, level: float) -> float:
    gradient = choice.gradient(name, pi)
    parts = score_influence(samples, pi, gradient)
    half = student_half_width(samples, parts, level=level)
    people = human_label_variance(samples, pi, gradient) or 0.0
    return half * (1 + people / parts.variance) ** 0.5 if parts.variance > 0 else half


def _estimate(
    value: float | None, bounds: tuple[float, float] | None, samples: Samples, *, method: str, level: float
) -> Estimate:
    low, high = bounds or (None, None)
    repeats = int(samples.repeats.max(initial=0))
    return Estimate(value, low, high, level, method, len(samples.shares), samples.n_clusters, repeats)
