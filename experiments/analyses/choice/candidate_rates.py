"""What is measured of each candidate: error rates, self-consistency, and both for parts of the items."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.choice.candidates import Candidate, ErrorName
from experiments.analyses.choice.entrants import Contest
from experiments.stats.estimate import Estimate
from experiments.stats.intervals import clustered_wilson, few_clusters
from experiments.stats.repeats import (
    exact_flip_rate,
    exact_pairwise_disagreement,
    flip_rate,
    pairwise_disagreement,
)

__all__ = [
    "ERROR_NAMES",
    "LEAST_ITEMS",
    "CandidateRates",
    "Stratum",
    "StratumRates",
    "completed_wrong",
    "error_estimate",
    "is_about",
    "measure_candidate",
    "measure_strata",
    "open_ends",
]

ERROR_NAMES: tuple[ErrorName, ...] = ("false_negative_rate", "false_positive_rate", "error_rate")
"""The rates of :data:`ErrorName`, in the order of tables."""
LEAST_ITEMS = 10
"""Items that a part of a set needs before rates of it are worth printing."""

Dimension = Literal["kind", "topic", "answer_type"]
DIMENSIONS: tuple[Dimension, ...] = ("kind", "topic", "answer_type")


@dataclass(frozen=True, slots=True)
class CandidateRates:
    """A candidate's error rates by name, single-draw, with what missing verdicts leave open.

    ``bounds`` are the lowest and the highest value of each rate that the missing verdicts allow, ``None`` where none
    is missing. ``flip_rate`` and ``pairwise_disagreement`` are ``None`` where a candidate has no repeats.
    """

    name: str
    rates: dict[ErrorName, Estimate]
    bounds: dict[ErrorName, tuple[float, float] | None]
    flip_rate: Estimate | None
    pairwise_disagreement: Estimate | None


@dataclass(frozen=True, slots=True)
class StratumRates:
    """A candidate's error rates in a part of the items."""

    name: str
    rates: dict[ErrorName, Estimate]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the items; ``few_clusters`` marks one of so few questions that its intervals deserve a warning.

    ``candidates`` is empty where the part has fewer items than are worth a rate.
    """

    dimension: Dimension
    value: str
    n_items: int
    n_clusters: int
    few_clusters: bool
    candidates: tuple[StratumRates, ...]


def measure_candidate(candidate: Candidate, contest: Contest, *, level: float) -> CandidateRates:
    """Rates of one candidate on all items of a contest."""
    flips, disagreement = _repeat_estimates(candidate, contest.clusters, level=level)
    return CandidateRates(
        candidate.name,
        {rate: error_estimate(candidate, contest, rate, level=level) for rate in ERROR_NAMES},
        {rate: _bounds(candidate, contest, rate) for rate in ERROR_NAMES},
        flips,
        disagreement,
    )


def error_estimate(
    candidate: Candidate,
    contest: Contest,
    rate: ErrorName,
    *,
    level: float,
    rows: NDArray[np.bool_] | None = None,
) -> Estimate:
    """One error rate, the mean of item means, with its interval clustered by question; ``rows`` are a part of items."""
    return _estimate(candidate, contest, candidate.wrong(contest, rate), level=level, rows=rows)


def _estimate(
    candidate: Candidate,
    contest: Contest,
    wrong: NDArray[np.float64],
    *,
    level: float,
    rows: NDArray[np.bool_] | None = None,
) -> Estimate:
    used = ~np.isnan(wrong) if rows is None else ~np.isnan(wrong) & rows
    most = int(candidate.counts[used].sum(axis=1).max(initial=0))
    repeats = most if candidate.draws is None or not used.any() else candidate.draws
    return clustered_wilson(wrong[used], _taken(contest.clusters, used), repeats=repeats, level=level)


def is_about(contest: Contest, rate: ErrorName) -> NDArray[np.bool_]:
    """(n,) whether an error rate is about an item."""
    right = np.array([label == contest.positive for label in contest.reference], dtype=np.bool_)
    return right if rate == "false_negative_rate" else ~right if rate == "false_positive_rate" else right | ~right


def completed_wrong(candidate: Candidate, contest: Contest, rate: ErrorName, *, all_wrong: bool) -> NDArray[np.float64]:
    """(n,) chance that a verdict is wrong with every missing one wrong, or right; NaN for items not in the rate."""
    valid = candidate.counts.sum(axis=1)
    wrong = np.nan_to_num(candidate.wrong(contest, rate)) * valid
    if all_wrong:
        wrong = wrong + candidate.expected - valid
    return np.where(is_about(contest, rate), wrong / candidate.expected, np.nan)


def open_ends(
    candidate: Candidate, contest: Contest, rate: ErrorName, *, level: float
) -> tuple[float | None, float | None]:
    """The ends of an interval that holds a rate whatever the missing verdicts would have been.

    They are the lower end with all of them right and the upper end with all wrong; where none is missing, those of
    :func:`error_estimate`.
    """
    if _none_missing(candidate):
        estimate = error_estimate(candidate, contest, rate, level=level)
        return estimate.low, estimate.high
    best, worst = (
        _estimate(candidate, contest, completed_wrong(candidate, contest, rate, all_wrong=wrong), level=level)
        for wrong in (False, True)
    )
    return best.low, worst.high


def _none_missing(candidate: Candidate) -> bool:
    return int(candidate.counts.sum()) == candidate.expected * len(candidate.counts)


def measure_strata(candidates: Sequence[Candidate], contest: Contest, *, level: float) -> tuple[Stratum, ...]:
    """Error rates of all candidates by kind, topic and answer type, where items of a contest have more than one."""
    return tuple(
        _stratum(candidates, contest, dimension, value, rows, level=level)
        for dimension in DIMENSIONS
        for value, rows in _parts(contest, dimension)
    )


def _parts(contest: Contest, dimension: Dimension) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    values = [getattr(item, dimension) for item in contest.items]
    named = sorted({value for value in values if value is not None})
    if len(set(values)) < 2:
        return
    for value in named:
        yield value, np.array([one == value for one in values], dtype=np.bool_)


def _stratum(
    candidates: Sequence[Candidate],
    contest: Contest,
    dimension: Dimension,
    value: str,
    rows: NDArray[np.bool_],
    *,
    level: float,
) -> Stratum:
    n_clusters = len(set(_taken(contest.clusters, rows)))
    n_items = int(rows.sum())
    found: tuple[StratumRates, ...] = ()
    if n_items >= LEAST_ITEMS:
        found = tuple(
            StratumRates(
                candidate.name,
                {rate: error_estimate(candidate, contest, rate, level=level, rows=rows) for rate in ERROR_NAMES},
            )
            for candidate in candidates
        )
    few = any(few_clusters(rates.rates["error_rate"]) for rates in found)
    return Stratum(dimension, value, n_items, n_clusters, few, found)


def _bounds(candidate: Candidate, contest: Contest, rate: ErrorName) -> tuple[float, float] | None:
    """With every missing verdict right, and with every one wrong, over all items that the rate is about."""
    about = is_about(contest, rate)
    if _none_missing(candidate) or not about.any():
        return None
    best, worst = (completed_wrong(candidate, contest, rate, all_wrong=wrong)[about] for wrong in (False, True))
    return float(np.sort(best).mean()), float(np.sort(worst).mean())


def _repeat_estimates(
    candidate: Candidate, clusters: Sequence[Hashable], *, level: float
) -> tuple[Estimate | None, Estimate | None]:
    if not candidate.repeats or candidate.expected * (candidate.draws or 1) < 2:
        return None, None
    if candidate.draws is not None:
        return (
            exact_flip_rate(candidate.shares, clusters, draws=candidate.draws, level=level),
            exact_pairwise_disagreement(candidate.shares, clusters, draws=candidate.draws, level=level),
        )
    return (
        flip_rate(candidate.counts, clusters, level=level),
        pairwise_disagreement(candidate.counts, clusters, level=level),
    )


def _taken(clusters: Sequence[str], rows: NDArray[np.bool_]) -> list[str]:
    return [cluster for cluster, used in zip(clusters, rows, strict=True) if used]
