"""How often each item passed: the share of its verdicts that are its label, and what missing verdicts leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.reports.exact_sample import ExactSample
from experiments.reports.sample import Sample
from experiments.stats.estimate import Estimate
from experiments.stats.intervals import rate_interval

__all__ = ["PassShares", "pass_interval", "pass_shares"]


@dataclass(frozen=True)
class PassShares:
    """Items of a sample in its order.

    Attributes
    ----------
    shares
        (n,) share of valid verdicts that pass, computed or drawn; NaN where there is none.
    worst, best
        (n,) share of all verdicts asked for that pass if every missing one fails, and if it passes.
    clusters
        (n,) the question of each item.
    repeats
        The most verdicts that any item has.
    """

    shares: NDArray[np.float64]
    worst: NDArray[np.float64]
    best: NDArray[np.float64]
    clusters: tuple[str, ...]
    repeats: int

    @property
    def any_verdict(self) -> bool:
        """Whether any item has a verdict."""
        return bool((~np.isnan(self.shares)).any())

    def take(self, rows: NDArray[np.bool_]) -> PassShares:
        """The items whose flag is set; ``repeats`` stays that of all."""
        clusters = tuple(cluster for cluster, kept in zip(self.clusters, rows, strict=True) if kept)
        return PassShares(self.shares[rows], self.worst[rows], self.best[rows], clusters, self.repeats)


def pass_shares(sample: Sample) -> PassShares:
    """The shares of a sample whose every item has a label."""
    n = sample.n_items
    places = np.array([sample.scale.index(label) for label in sample.labels_given], dtype=np.int64)
    if isinstance(sample, ExactSample):
        shares = np.clip(sample.shares[np.arange(n), places], 0.0, 1.0)
        worst, best = np.nan_to_num(shares, nan=0.0), np.nan_to_num(shares, nan=1.0)
        return PassShares(shares, worst, best, tuple(sample.clusters), sample.draws)
    passed = sample.counts[np.arange(n), places]
    shares = np.where(sample.valid > 0, passed / np.maximum(sample.valid, 1), np.nan)
    missing = sample.expected - sample.valid
    worst, best = passed / sample.expected, (passed + missing) / sample.expected
    return PassShares(shares, worst, best, tuple(sample.clusters), sample.most_repeats)


def pass_interval(values: NDArray[np.float64], shares: PassShares, *, level: float) -> Estimate:
    """The mean of one of a sample's three shares, NaN left out, with Clopper and Pearson's interval by question."""
    used = ~np.isnan(values)
    clusters = [cluster for cluster, kept in zip(shares.clusters, used, strict=True) if kept]
    return rate_interval(values[used], clusters, repeats=shares.repeats, level=level, method="clopper-pearson")
