"""Variances and correlations from kinds of pairs, each with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from experiments.stats.clusters.bca_interval import bca_interval
from experiments.stats.clusters.cluster_bootstrap import percentile_interval
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level, encode_clusters
from experiments.stats.repeats.pair_variances import (
    KINDS,
    Cells,
    jackknife_pairs,
    pair_sums,
    pair_variances,
    resample_pairs,
)

__all__ = ["PairEstimates", "estimate_pairs"]

Array = NDArray[np.float64]

_SAME = 1e-12
"""Draws this close are equal, and a variance this small is none, on a scale on which scores differ by 1 at most."""


@dataclass(frozen=True, slots=True)
class PairEstimates:
    """Mean half squared differences by kind: of the data (6,), of resamples (6, B), without each question (6, G).

    Scores are on a scale on which they differ by 1 at most. ``terms`` are kinds with their signs, to be added up.
    """

    value: Array
    draws: Array
    jackknife: Array
    level: float
    n: int
    clusters: int
    repeats: int

    def has(self, kind: str) -> bool:
        """Whether the data hold a pair of this kind."""
        return not np.isnan(self.value[KINDS.index(kind)])

    def variance(self, terms: Mapping[str, float], *, scale: float) -> Estimate:
        """A sum of kinds in units of the score, ``scale`` being the square of the largest difference."""
        value, draws, jackknife = (_add(terms, kinds) for kinds in (self.value, self.draws, self.jackknife))
        number, half = float(value), self._half()
        still = (max(min(number, 0.0), number - half), number + half)
        return self._estimate(number, draws, jackknife, still=still, scale=scale)

    def ratio(self, terms: Mapping[str, float], whole: Mapping[str, float]) -> Estimate:
        """One sum of kinds over another, a correlation; not defined where the other is zero."""
        value, draws, jackknife = (
            _divide(_add(terms, kinds), _add(whole, kinds)) for kinds in (self.value, self.draws, self.jackknife)
        )
        number, half = float(value), self._half() / max(float(_add(whole, self.value)), _SAME)
        still = (min(number, max(-1.0, number - half)), max(number, min(1.0, number + half)))
        return self._estimate(number, draws, jackknife, still=still, scale=1.0)

    def undefined(self) -> Estimate:
        """What the data cannot tell."""
        return Estimate(None, None, None, self.level, "bootstrap-bca", self.n, self.clusters, self.repeats)

    def _estimate(
        self, value: float, draws: Array, jackknife: Array, *, still: tuple[float, float], scale: float
    ) -> Estimate:
        if np.isnan(value):
            return self.undefined()
        method = "bootstrap-bca"
        limits = bca_interval(draws, value=value, jackknife=jackknife, level=self.level)
        if limits is None:
            method, limits = "bootstrap-percentile", percentile_interval(draws, level=self.level)
        defined = draws[~np.isnan(draws)]
        if limits is None and len(defined) and np.ptp(defined) < _SAME:
            method, limits = "wilson-clustered", still
        low, high = (None, None) if limits is None else (limits[0] * scale, limits[1] * scale)
        return Estimate(value * scale, low, high, self.level, method, self.n, self.clusters, self.repeats)

    def _half(self) -> float:
        """Half-width where no draw varies: Wilson's upper limit of 0 in G of the questions, each wrong by 1/2.

        One half is the largest half squared difference of two scores.
        """
        normal = float(special.ndtri((1 + self.level) / 2)) ** 2
        return normal / (self.clusters + normal) / 2


def estimate_pairs(
    cells: Cells, clusters: Sequence[Hashable], *, level: float, resamples: int, rng: np.random.Generator
) -> PairEstimates:
    """Every kind of pair of the cells (K, n), resampled by question; items without a score are left out."""
    check_level(level)
    codes = encode_clusters(clusters, n=cells.sizes.shape[1])
    used = (cells.sizes > 0).any(axis=0)
    kept = Cells(cells.sizes[:, used], cells.means[:, used], cells.squares[:, used])
    sums = pair_sums(kept, np.unique(codes[used], return_inverse=True)[1])
    n_questions = len(sums.linear)
    return PairEstimates(
        value=pair_variances(sums.linear.sum(axis=0), sums.quadratic.sum(axis=0)),
        draws=resample_pairs(sums, rng=rng, resamples=resamples) if n_questions else np.zeros((len(KINDS), 0)),
        jackknife=jackknife_pairs(sums),
        level=level,
        n=int(used.sum()),
        clusters=n_questions,
        repeats=int(cells.sizes.max(initial=0)),
    )


def _add(terms: Mapping[str, float], kinds: Array) -> Array:
    # Kinds that are not named may have no pair (NaN), so they are left out and not multiplied by zero.
    return np.asarray(sum(sign * kinds[KINDS.index(kind)] for kind, sign in terms.items()), dtype=np.float64)


def _divide(numerator: Array, denominator: Array) -> Array:
    defined = denominator > _SAME
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)
