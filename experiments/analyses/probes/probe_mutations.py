"""What a mutated prompt changes: its pass rate against the plain prompt's, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.analyses.graded_samples import GradedSample
from experiments.analyses.probes.probe_shares import PassShares, pass_interval, pass_shares
from experiments.stats.comparisons import PairedComparison, adjust_p_values, paired_comparison
from experiments.stats.estimate import Estimate
from graders.prompt_mutations import mutation_of

__all__ = ["MutationEffect", "measure_effects"]

SEED = 20261201


@dataclass(frozen=True, slots=True)
class MutationEffect:
    """One mutated prompt beside its plain one.

    Attributes
    ----------
    estimate
        Its own pass rate.
    comparison
        Its pass rate less the plain prompt's, over the items on which both have a verdict.
    adjusted
        The p-value adjusted by Holm's method for all mutations of the prompt; ``None`` where there is none.
    bounds
        The lowest and the highest difference over all items that missing verdicts of the two allow; ``None`` where
        none is missing.
    changed
        Whether a change is shown, whatever the missing verdicts would have been: ``None`` where that is not defined.
    hangs_on_missing
        Whether a change is shown over the items of both, and missing verdicts could undo it.
    n_worse, n_better
        Items of which a smaller, and a larger, share of verdicts passes.
    """

    mutation: str
    name: str
    estimate: Estimate
    comparison: PairedComparison
    adjusted: float | None
    bounds: tuple[float, float] | None
    changed: bool | None
    hangs_on_missing: bool
    n_worse: int
    n_better: int
    coverage: float | None
    failures: Mapping[str, int]


def measure_effects(
    plain: GradedSample, mutated: Sequence[GradedSample], *, level: float
) -> tuple[MutationEffect, ...]:
    """Compare each mutated prompt with the plain one, in the order given."""
    compared = [_compare(plain, one, level=level) for one in mutated]
    family = adjust_p_values([comparison.difference.p_value for comparison in compared], level=level)
    return tuple(
        _effect(plain, one, comparison, row.adjusted, row.significant, level=level)
        for one, comparison, row in zip(mutated, compared, family.rows, strict=True)
    )


def _compare(plain: GradedSample, mutated: GradedSample, *, level: float) -> PairedComparison:
    before, after = pass_shares(plain.sample.labelled), pass_shares(mutated.sample.labelled)
    return paired_comparison(
        after.shares,
        before.shares,
        before.clusters,
        rng=np.random.default_rng(SEED),
        names=(mutated.name, plain.name),
        level=level,
        repeats=max(before.repeats, after.repeats),
    )


def _effect(
    plain: GradedSample,
    mutated: GradedSample,
    comparison: PairedComparison,
    adjusted: float | None,
    significant: bool | None,
    *,
    level: float,
) -> MutationEffect:
    sample = mutated.sample.labelled
    before, after = pass_shares(plain.sample.labelled), pass_shares(sample)
    bounds = _difference_bounds(before, after)
    hangs = bool(significant) and bounds is not None and bounds[0] <= 0 <= bounds[1]
    # Comparisons with NaN are false: an item that either lacks has not changed.
    return MutationEffect(
        mutation=mutation_of(mutated.results.prompt or "")[1] or "",
        name=mutated.name,
        estimate=pass_interval(after.shares, after, level=level),
        comparison=comparison,
        adjusted=adjusted,
        bounds=bounds,
        changed=None if significant is None else significant and not hangs,
        hangs_on_missing=hangs,
        n_worse=int((after.shares < before.shares - 1e-12).sum()),
        n_better=int((after.shares > before.shares + 1e-12).sum()),
        coverage=sample.coverage,
        failures=sample.failure_counts,
    )


def _difference_bounds(before: PassShares, after: PassShares) -> tuple[float, float] | None:
    """With all that is missing against the mutated prompt, and all for it."""
    low, high = after.worst - before.best, after.best - before.worst
    if np.array_equal(low, high):
        return None
    return float(np.sort(low).mean()), float(np.sort(high).mean())
