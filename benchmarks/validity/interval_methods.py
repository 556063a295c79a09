"""Intervals under test: the package's own, and other limits of the effective sample size that it could have had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from experiments.stats.intervals.clustered_wilson import clustered_bounds
from experiments.stats.intervals.rate_intervals import RateMethod, rate_interval
from validity.beta import Array
from validity.rate_grid import RateCell, RateData

__all__ = ["DEFAULT", "IntervalMethod", "interval_methods"]

DEFAULT = "wilson-clustered"
RESAMPLES = 1000
Bounds = Callable[[RateData, float, np.random.Generator], tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class IntervalMethod:
    """A share of a cell's data sets is tried (slow methods: few); ``fits`` says for which cells the method is meant."""

    name: str
    bounds: Bounds
    share: Callable[[RateCell], float] = lambda _: 1.0
    fits: Callable[[RateCell], bool] = lambda _: True


def interval_methods() -> list[IntervalMethod]:
    """Every method, the default first, then all that the package offers, then the candidates."""
    offered = [
        IntervalMethod(DEFAULT, default),
        IntervalMethod("wilson", partial(offered_bounds, method="wilson"), fits=lambda cell: cell.is_plain),
        IntervalMethod("clopper-pearson", partial(offered_bounds, method="clopper-pearson"), share=_quarter),
        IntervalMethod("jeffreys", partial(offered_bounds, method="jeffreys"), share=_quarter),
        IntervalMethod("bootstrap-percentile", partial(offered_bounds, method="bootstrap-percentile"), share=_few),
        IntervalMethod("bootstrap-bca", partial(offered_bounds, method="bootstrap-bca"), share=_few),
    ]
    candidates: dict[str, Bounds] = {
        "candidate: pooled verdicts": pooled_wilson,
        "candidate: n_eff up to verdicts, t(G - 1)": partial(capped, cap=_verdicts),
        "candidate: n_eff up to items, t(G - 1)": partial(capped, cap=_items),
        "candidate: n_eff up to sqrt(G x verdicts), t(G - 1)": partial(capped, cap=_between),
        "candidate: n_eff up to G, t(G - 1)": partial(capped, cap=_questions),
    }
    return [*offered, *(IntervalMethod(name, bounds) for name, bounds in candidates.items())]


def default(data: RateData, level: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """The package's default, from its sums by question."""
    sizes = data.sizes.astype(np.float64)
    verdicts = int(data.sizes.sum()) * data.repeats
    low, high = np.array([clustered_bounds(sums, sizes, n_verdicts=verdicts, level=level) for sums in data.sums]).T
    return low, high


def offered_bounds(
    data: RateData, level: float, rng: np.random.Generator, *, method: RateMethod
) -> tuple[Array, Array]:
    """Any interval that the package offers, through its public function."""
    clusters = np.repeat(np.arange(len(data.sizes)), data.sizes).tolist()
    low, high = np.empty(len(data.means)), np.empty(len(data.means))
    for place, means in enumerate(data.means):
        estimate = rate_interval(
            means, clusters, repeats=data.repeats, level=level, method=method, rng=rng, resamples=RESAMPLES
        )
        low[place], high[place] = estimate.low, estimate.high
    return low, high


def pooled_wilson(data: RateData, level: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Plain Wilson over pooled verdicts: what the package never offers with repeats or clusters."""
    ratio = float(special.ndtri((1 + level) / 2)) ** 2 / (data.sizes.sum() * data.repeats)
    return wilson_bounds(_rate(data), np.full(len(data.sums), ratio))


def capped(
    data: RateData, level: float, rng: np.random.Generator, *, cap: Callable[[RateData], float]
) -> tuple[Array, Array]:
    """Wilson on the effective sample size up to a cap, Student's t with G - 1 degrees of freedom."""
    quantile = float(special.stdtrit(len(data.sizes) - 1, (1 + level) / 2))
    return wilson_bounds(_rate(data), quantile**2 / np.minimum(_effective(data), cap(data)))


def wilson_bounds(rate: Array, ratio: Array) -> tuple[Array, Array]:
    """Wilson's interval [Wilson 1927] for rates (S,) with ``ratio = quantile**2 / sample size`` (S,)."""
    middle = (rate + ratio / 2) / (1 + ratio)
    half = np.sqrt(ratio * rate * (1 - rate) + ratio**2 / 4) / (1 + ratio)
    return middle - half, middle + half


def _rate(data: RateData) -> Array:
    return np.asarray(data.sums.sum(axis=1) / data.sizes.sum())


def _effective(data: RateData) -> Array:
    """Effective sample size by the plain cluster-robust variance; the number of questions where that is 0."""
    rate = _rate(data)
    variance = ((data.sums - rate[:, None] * data.sizes) ** 2).sum(axis=1) / data.sizes.sum() ** 2
    seen = variance > 1e-15
    return np.where(seen, rate * (1 - rate) / np.where(seen, variance, 1), len(data.sizes))


def _verdicts(data: RateData) -> float:
    return float(data.sizes.sum() * data.repeats)


def _items(data: RateData) -> float:
    return float(data.sizes.sum())


def _questions(data: RateData) -> float:
    return float(len(data.sizes))


def _between(data: RateData) -> float:
    return float(np.sqrt(_questions(data) * _verdicts(data)))


def _quarter(cell: RateCell) -> float:
    return 0.25


def _few(cell: RateCell) -> float:
    return 0.05 if cell.n_clusters >= 1000 else 0.1
