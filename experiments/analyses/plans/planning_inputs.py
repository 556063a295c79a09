"""What planning starts from: numbers that were given, or those of a stored run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.analyses.graded_samples import GradedSample, match_samples, positive_of
from experiments.analyses.measuring import item_values, measure
from experiments.errors import SpecError
from experiments.reports.exact_sample import ExactSample
from experiments.reports.plain import content_rng
from experiments.reports.sample import Sample
from experiments.stats.estimate import Estimate
from experiments.stats.repeats import correctness_components, variance_components

__all__ = ["PairFigures", "Planned", "RunFigures", "read_pair_figures", "read_run_figures", "sole_items_per_question"]

Planned = Literal["false_negative_rate", "false_positive_rate", "error_rate"]
"""The rate that labels are planned for."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One rate of one grader in a run, and where its variance lies.

    ``rate`` is to be planned with: the measured one, or, where that is 0 or 1, the end of its interval towards the
    middle (``rate_is_limit``). ``items_per_question`` is ``sum m**2 / sum m``. ``correlation`` and ``repeat_share`` are
    shares of the variance of a verdict between questions and between repeats, ``None`` where the run cannot tell.
    Where repeats were ``computed`` from one call an item has one value without noise: ``repeat_variance`` is then 0,
    and ``repeats`` are the draws that it stands for.
    ``item_variance`` is what no repeat lessens, the variance of questions times their items included.
    ``class_share`` is the share of labelled items that the rate is over, ``call_cost`` dollars a verdict.
    """

    run_id: str
    grader: str
    of: Planned
    measured: Estimate
    rate: float
    rate_is_limit: bool
    items_per_question: float
    correlation: float | None
    repeat_share: float | None
    item_variance: float | None
    repeat_variance: float | None
    repeats: int
    class_share: float
    call_cost: float | None
    computed: bool = False


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The difference of two graders' wrong shares on the items of a run: its spread over items and in questions."""

    run_id: str
    graders: tuple[str, str]
    of: Planned
    n: int
    difference: float
    deviation: float
    items_per_question: float
    correlation: float


def read_run_figures(graded: GradedSample, of: Planned, *, level: float = 0.95) -> RunFigures:
    """The figures of a grader.

    Raises
    ------
    SpecError
        If the rate is not defined in the run.
    """
    sample = graded.sample.labelled
    measured = measure(graded, of, level=level).estimate
    if measured.value is None or measured.low is None or measured.high is None:
        raise SpecError(f"--run {graded.run_id}: {of} of {graded.name!r} is not defined; expected labelled items of it")
    values = item_values(sample, sample.reference, of)
    kept = sample.take(list(~np.isnan(values)))
    computed = isinstance(kept, ExactSample)
    known = values[~np.isnan(values)]
    shares = _value_components(kept, known, graded.seed) if computed else _components(kept, graded.seed)
    rate = measured.high if measured.value == 0 else measured.low if measured.value == 1 else measured.value
    many = sole_items_per_question(kept.clusters)
    question, item, repeat = shares
    total = sum(part or 0.0 for part in (question, item, repeat))
    return RunFigures(
        run_id=graded.run_id,
        grader=graded.name,
        of=of,
        measured=measured,
        rate=rate,
        rate_is_limit=rate != measured.value,
        items_per_question=many,
        correlation=0.0 if many == 1 else None if question is None or not total else question / total,
        repeat_share=None if repeat is None or not total else repeat / total,
        item_variance=None if repeat is None else (item or 0.0) + (question or 0.0) * many,
        repeat_variance=0.0 if computed else repeat,
        repeats=kept.draws if isinstance(kept, ExactSample) else sample.expected,
        class_share=kept.n_items / sample.n_items,
        call_cost=_call_cost(graded),
        computed=computed,
    )


def read_pair_figures(first: GradedSample, second: GradedSample, of: Planned) -> PairFigures:
    """The figures of two graders' difference ``first - second``.

    Raises
    ------
    SpecError
        If they have fewer than two items in common, or never differ on one.
    """
    ours, other = match_samples(first.sample.labelled, second.sample)
    gaps = item_values(ours, ours.reference, of) - item_values(other, ours.reference, of)
    kept = ~np.isnan(gaps)
    values, clusters = gaps[kept], [name for name, known in zip(ours.clusters, kept, strict=True) if known]
    if len(values) < 2 or not np.ptp(values):
        raise SpecError(
            f"--first, --second: {len(values)} common items on which they never differ by another amount; expected "
            "--deviation or --differ in place of --run"
        )
    parts = variance_components(
        values[:, None], clusters, largest_difference=2.0, rng=content_rng(first.seed, second.seed)
    )
    return PairFigures(
        run_id=first.run_id,
        graders=(first.name, second.name),
        of=of,
        n=len(values),
        difference=float(values.mean()),
        deviation=float(values.std(ddof=1)),
        items_per_question=sole_items_per_question(clusters),
        correlation=min(1.0, max(0.0, parts.question_correlation.value or 0.0)),
    )


def sole_items_per_question(clusters: list[str]) -> float:
    """``sum m**2 / sum m`` over the questions, 1 without items."""
    _, sizes = np.unique(np.array(clusters, dtype=str), return_counts=True)
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 1.0


_Shares = tuple[float | None, float | None, float | None]
"""Variance between questions, between items of a question, and between repeats of an item."""


def _components(sample: Sample, seed: str) -> _Shares:
    found = correctness_components(
        sample.labels_given,
        sample.counts,
        sample.clusters,
        labels=sample.scale.labels,
        positive=positive_of(sample),
        rng=content_rng(seed, "planning"),
    )
    return found.question.truncated, found.item.truncated, found.repeat.truncated


def _value_components(kept: Sample, values: NDArray[np.float64], seed: str) -> _Shares:
    """Of computed shares of wrong verdicts (n,): that between repeats is known and drawn by nobody."""
    parts = variance_components(values[:, None], kept.clusters, rng=content_rng(seed, "planning"))
    return parts.question.truncated, parts.item.truncated, float(np.sort(values * (1 - values)).mean())


def _call_cost(graded: GradedSample) -> float | None:
    cost, n = graded.results.cost, graded.sample.n_verdicts
    return cost.amount / n if cost is not None and cost.complete and cost.amount > 0 and n else None
