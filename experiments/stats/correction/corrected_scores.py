"""A benchmark's scores, corrected for the errors of its grader, or uncorrected with the reason why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from experiments.stats.correction.confusion_inversion import CorrectedShares, NotIdentifiedError, correct_shares
from experiments.stats.correction.identification import Identification, check_identification
from experiments.stats.correction.samples import GradedItems, LabelledItems, RatedItems, Samples, build_samples
from experiments.stats.correction.score_choice import ScoreChoice
from experiments.stats.correction.uncertainty import bootstrap_estimate, bootstrap_shares, delta_estimate
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_counts, check_level
from experiments.stats.scores.benchmark_scores import benchmark_scores
from experiments.stats.scores.score_functions import item_shares

__all__ = ["ScoreCorrection", "check_source", "correct_scores", "solve_samples"]


@dataclass(frozen=True, slots=True)
class ScoreCorrection:
    """Scores by their name, as the grader gives them and corrected for its errors.

    ``status`` is ``uncorrected`` where no correction is possible: then ``corrected`` is ``None`` and ``reason`` says
    why in one line. ``undefined_resamples`` counts the resamples that could not be solved (bootstrap alone).
    """

    status: Literal["corrected", "uncorrected"]
    reason: str
    uncorrected: Mapping[str, Estimate]
    corrected: Mapping[str, Estimate] | None
    shares: CorrectedShares | None
    identification: Identification | None
    undefined_resamples: int = 0

    def require_corrected(self) -> Mapping[str, Estimate]:
        """The corrected scores.

        Raises
        ------
        NotIdentifiedError
            There are none; the message is ``reason``.
        """
        if self.corrected is None:
            raise NotIdentifiedError(self.reason)
        return self.corrected


def correct_scores(
    benchmark: GradedItems,
    calibration: LabelledItems | RatedItems | None,
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
) -> ScoreCorrection:
    """Correct every score of a benchmark for the errors that its grader makes on labelled items.

    Parameters
    ----------
    benchmark
        Items with the grader's verdicts.
    calibration
        Items that people labelled, with the same grader's verdicts, or ``None`` where there are none. Its error rates
        are assumed to carry over to the benchmark.
    labels
        (L,) the scale. Each label must have a labelled item: leave off one that cannot occur.
    correct, not_attempted, penalty
        As in :func:`experiments.stats.scores.score_functions.score_value`.
    level
        Confidence level, of the intervals and of the check that the error rates identify the shares.
    method
        ``delta``, or ``bootstrap`` (percentile, by question).
    rng, resamples
        Source and number of the resamples; for ``bootstrap`` alone.
    shared_clusters
        Whether a question of the same name in both samples is the same question, so that both move together. The
        default takes the samples to be independent.

    Returns
    -------
    ScoreCorrection
        Uncorrected, with the reason, where there is no calibration item, no benchmark item, or the error rates do not
        identify the true shares. Nothing is ever corrected by a grader that is merely assumed to be perfect.

    Raises
    ------
    ValueError
        A label off the scale, a negative count, lengths that differ, ``bootstrap`` without ``rng``.
    """
    check_level(level)
    source = check_source(method, rng)
    choice = ScoreChoice(tuple(labels), correct, not_attempted, penalty)
    uncorrected = MappingProxyType(_uncorrected(benchmark, choice, level))
    known = calibration or LabelledItems([], [], [])
    samples = build_samples(benchmark, known, labels=labels, shared_clusters=shared_clusters)
    missing = _missing(samples)
    if missing:
        return ScoreCorrection("uncorrected", missing, uncorrected, None, None, None)
    identification = check_identification(samples, level=level)
    if not identification.identified:
        return ScoreCorrection("uncorrected", identification.reason, uncorrected, None, None, identification)
    shares = solve_samples(samples, correct=correct)
    scores, undefined = _corrected(samples, shares, choice, level=level, rng=source, resamples=resamples)
    return ScoreCorrection("corrected", "", uncorrected, MappingProxyType(scores), shares, identification, undefined)


def solve_samples(samples: Samples, *, correct: str) -> CorrectedShares:
    """Corrected shares of two samples whose error rates identify them."""
    totals, labels = samples.totals(), samples.labels
    # Two classes: the message is about the apparent rate of the right answers.
    order = np.array([0, 1] if correct == labels[-1] else [1, 0]) if len(labels) == 2 else np.arange(len(labels))
    solved = correct_shares(
        totals.observed[order], totals.matrix[np.ix_(order, order)], labels=tuple(labels[place] for place in order)
    )
    back = np.argsort(order)
    return CorrectedShares(
        labels=labels,
        observed=tuple(solved.observed[place] for place in back),
        matrix=tuple(tuple(row) for row in totals.matrix.tolist()),
        raw=tuple(solved.raw[place] for place in back),
        shares=tuple(solved.shares[place] for place in back),
        projected=solved.projected,
        message=solved.message,
    )


def _missing(samples: Samples) -> str:
    if not len(samples.people):
        return "uncorrected: no calibration data"
    return "" if len(samples.shares) else "uncorrected: no benchmark item has a valid verdict"


def check_source(method: str, rng: np.random.Generator | None) -> np.random.Generator | None:
    """The source of the resamples, ``None`` for the delta method; ``ValueError`` for another, or without a source."""
    if method not in ("delta", "bootstrap"):
        raise ValueError(f"method: unknown, got {method!r}; expected 'delta' or 'bootstrap'")
    if method == "bootstrap" and rng is None:
        raise ValueError("rng: none for the bootstrap, got None; expected a numpy.random.Generator")
    return rng if method == "bootstrap" else None


def _uncorrected(benchmark: GradedItems, choice: ScoreChoice, level: float) -> dict[str, Estimate]:
    counts = check_counts(benchmark.counts, n_labels=len(choice.labels))
    return benchmark_scores(
        item_shares(counts),
        benchmark.clusters,
        labels=choice.labels,
        correct=choice.correct,
        not_attempted=choice.not_attempted,
        penalty=choice.penalty,
        repeats=int(counts.sum(axis=1).max(initial=0)),
        level=level,
    )


def _corrected(
    samples: Samples,
    shares: CorrectedShares,
    choice: ScoreChoice,
    *,
    level: float,
    rng: np.random.Generator | None,
    resamples: int,
) -> tuple[dict[str, Estimate], int]:
    pi = np.array(shares.shares)
    if rng is None:
        return {name: delta_estimate(name, pi, samples, choice, level=level) for name in choice.names}, 0
    draws = bootstrap_shares(samples, pi, rng=rng, resamples=resamples)
    scores = {name: bootstrap_estimate(name, pi, samples, choice, draws, level=level, rng=rng) for name in choice.names}
    return scores, draws.undefined
