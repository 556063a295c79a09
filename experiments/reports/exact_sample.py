"""Items with a computed distribution of verdicts in place of draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from experiments.reports.sample import Sample
from graders.exact import VerdictDistribution

__all__ = ["ExactSample", "with_distributions"]


@dataclass(frozen=True)
class ExactSample(Sample):
    """A sample whose ``counts`` hold each item's likeliest label once.

    Attributes
    ----------
    shares
        (n, L) chances of the labels, a row of NaN where there is no verdict.
    draws
        Repeated draws that the distributions stand for.
    outside
        (n,) bound on the mass outside the labels, NaN where there is no verdict.
    """

    shares: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    draws: int = 1
    outside: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def take(self, keep: Sequence[bool]) -> ExactSample:
        """The items whose flag is set."""
        rows = [row for row, kept in enumerate(keep) if kept]
        plain = Sample.take(self, keep)
        given = {entry.name: getattr(plain, entry.name) for entry in fields(Sample)}
        return ExactSample(**given, shares=self.shares[rows], draws=self.draws, outside=self.outside[rows])


def with_distributions(sample: Sample, distributions: Mapping[str, VerdictDistribution], *, draws: int) -> ExactSample:
    """The sample with the distributions of its items, by their digest."""
    rows = [_row(distributions.get(item.digest), sample.scale.labels) for item in sample.items]
    found = [distributions.get(item.digest) for item in sample.items]
    outside = [np.nan if one is None or one.outside is None else one.outside for one in found]
    given = {entry.name: getattr(sample, entry.name) for entry in fields(Sample)}
    shares = np.array(rows, dtype=np.float64).reshape(-1, len(sample.scale.labels))
    return ExactSample(**given, shares=shares, draws=draws, outside=np.array(outside, dtype=np.float64))


def _row(distribution: VerdictDistribution | None, labels: Sequence[str]) -> list[float]:
    if distribution is None or distribution.probabilities is None:
        return [np.nan] * len(labels)
    return [distribution.probabilities[label] for label in labels]
