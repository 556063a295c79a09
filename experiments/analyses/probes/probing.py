"""Where a grader is weak, before people label anything: pass rates on items whose labels hold by construction.

A verdict passes where it is the label that the item was made to have. Each kind of item is held to a floor. The
intervals are Clopper and Pearson's, clustered by question, as kinds are small; kinds are held to the floor by Holm's
procedure [1979]: with m kinds left, each is looked at with an interval of level ``1 - (1 - level) / m``, those that
are decided leave, and the rest is tried again. So the chance that any kind is called weak that is not is at most
``(1 - level) / 2``, however many kinds there are; the same holds for any kind that is said to keep the floor. A kind
is decided only where that holds whatever its missing verdicts would have been.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from experiments.analyses.graded_samples import GradedSample, read_graded_samples
from experiments.analyses.probes.probe_mutations import MutationEffect, measure_effects
from experiments.analyses.probes.probe_shares import PassShares, pass_interval, pass_shares
from experiments.errors import SpecError
from experiments.reports.inputs import RunData
from experiments.reports.sample import Sample
from experiments.stats.estimate import Estimate
from graders.prompt_mutations import mutation_of

__all__ = ["FailedProbe", "KindRate", "ProbedGrader", "Probing", "probe_run"]

Outcome = Literal["weak", "keeps", "undecided"]
_Shown = Callable[[PassShares, float], bool]
"""Whether a kind is decided by an interval of this level."""


@dataclass(frozen=True, slots=True)
class KindRate:
    """One kind of items, those with a label under the grader's rubric, or all of them (``kind`` is ``None``).

    ``bounds`` are the pass rates with every missing verdict failed and passed, ``None`` where none is missing.
    ``outcome`` says whether the kind is shown to lie below the floor, or to keep it; of all items it says nothing.
    """

    kind: str | None
    estimate: Estimate
    n_items: int
    coverage: float | None
    failures: Mapping[str, int]
    bounds: tuple[float, float] | None
    outcome: Outcome = "undecided"


@dataclass(frozen=True, slots=True)
class FailedProbe:
    """An item that did not always pass, and what the grader said of it."""

    item: Item
    label: str
    pass_share: float
    verdicts: Mapping[str, int]
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProbedGrader:
    """A grader with a plain prompt, or with none.

    Attributes
    ----------
    rubric, grader_rubric
        The one that the labels hold under, and the one that the prompt states. Where they differ nothing is decided:
        a failure may be what the prompt's own rules say.
    total
        All items.
    kinds
        Worst pass rate first; before them kinds without any verdict.
    n_unlabelled
        Kind to its items without a label under the rubric.
    failed
        Items that did not always pass: most often failed first, in turn over the kinds.
    effects
        What its mutated prompts change.
    """

    name: str
    rubric: str
    grader_rubric: str
    repeats: int
    total: KindRate
    kinds: tuple[KindRate, ...]
    n_unlabelled: Mapping[str, int]
    failed: tuple[FailedProbe, ...]
    effects: tuple[MutationEffect, ...]

    @property
    def same_rubric(self) -> bool:
        """Whether the labels hold under the rubric that the grader follows."""
        return self.rubric == self.grader_rubric

    def of_outcome(self, outcome: Outcome) -> list[KindRate]:
        """Kinds of an outcome."""
        return [kind for kind in self.kinds if kind.outcome == outcome]


@dataclass(frozen=True, slots=True)
class Probing:
    """All that a page shows of a run over probes."""

    run_id: str
    set_title: str
    level: float
    floor: float
    n_items: int
    n_items_in_set: int
    graders: tuple[ProbedGrader, ...]


def probe_run(data: RunData, *, floor: float, level: float) -> Probing:
    """Measure each grader of a run on its probes, and each mutated prompt against its plain one.

    Raises
    ------
    SpecError
        If the labels of the run's set do not hold by construction.
    """
    chosen = data.calibration_set
    if chosen.label_source != "construction":
        raise SpecError(
            f"run {data.run_id}: labels of {chosen.name} are by {chosen.label_source}; expected a run over a set whose "
            "labels hold by construction, such as probes"
        )
    graded = read_graded_samples(data)
    mutated: dict[int, list[GradedSample]] = {place: [] for place in range(len(graded))}
    for place, one in enumerate(graded):
        plain = _plain_of(one, graded)
        if plain is not None:
            mutated[plain].append(one)
            del mutated[place]
    return Probing(
        run_id=data.run_id,
        set_title=f"{chosen.name} {chosen.version}",
        level=level,
        floor=floor,
        n_items=len(chosen.items),
        n_items_in_set=data.n_items_in_set,
        graders=tuple(_measure(graded[place], own, floor=floor, level=level) for place, own in mutated.items()),
    )


def _plain_of(one: GradedSample, graded: Sequence[GradedSample]) -> int | None:
    """The place of the grader whose prompt this one's is a mutation of; ``None`` for a plain one, or without any."""
    plain, mutation = mutation_of(one.results.prompt or "")
    if mutation is None:
        return None
    for place, other in enumerate(graded):
        same = (other.results.model, other.results.sampling) == (one.results.model, one.results.sampling)
        if same and mutation_of(other.results.prompt or "") == (plain, None):
            return place
    return None


def _measure(graded: GradedSample, mutated: Sequence[GradedSample], *, floor: float, level: float) -> ProbedGrader:
    sample, same = graded.sample.labelled, graded.labels.rubric == graded.labels.grader_rubric
    shares = pass_shares(sample)
    names = sorted({item.kind or "" for item in sample.items})
    rows = {name: np.array([(item.kind or "") == name for item in sample.items], dtype=np.bool_) for name in names}
    kinds = [_rate(name, sample, shares, rows[name], level=level) for name in names]
    if same:
        parts = {name: shares.take(rows[name]) for name in names}
        outcomes = _decide(parts, floor=floor, level=level)
        kinds = [replace(kind, outcome=outcomes[kind.kind or ""]) for kind in kinds]
    kinds.sort(key=lambda kind: (-1.0 if kind.estimate.value is None else kind.estimate.value, kind.kind or ""))
    whole = np.ones(sample.n_items, dtype=np.bool_)
    return ProbedGrader(
        name=graded.name,
        rubric=graded.labels.rubric,
        grader_rubric=graded.labels.grader_rubric,
        repeats=shares.repeats,
        total=_rate(None, sample, shares, whole, level=level),
        kinds=tuple(kinds),
        n_unlabelled=_unlabelled(graded.sample),
        failed=tuple(_failed(sample, shares, [kind.kind or "" for kind in kinds])),
        effects=measure_effects(graded, mutated, level=level),
    )


def _unlabelled(sample: Sample) -> dict[str, int]:
    pairs = zip(sample.items, sample.reference, strict=True)
    return dict(sorted(Counter(item.kind or "" for item, label in pairs if label is None).items()))


def _rate(kind: str | None, sample: Sample, shares: PassShares, rows: NDArray[np.bool_], *, level: float) -> KindRate:
    part, own = sample.take(rows.tolist()), shares.take(rows)
    ends = (float(np.sort(own.worst).mean()), float(np.sort(own.best).mean())) if part.n_items else (0.0, 1.0)
    return KindRate(
        kind=kind,
        estimate=pass_interval(own.shares, own, level=level),
        n_items=part.n_items,
        coverage=part.coverage,
        failures=part.failure_counts,
        bounds=ends if part.n_verdicts < part.n_expected else None,
    )


def _decide(parts: Mapping[str, PassShares], *, floor: float, level: float) -> dict[str, Outcome]:
    """Each kind's outcome: those weak, and those that keep the floor, each a family of its own."""
    weak = _step_down(parts, lambda own, at: _is_below(own, floor, at), level=level)
    keeps = _step_down(parts, lambda own, at: _is_kept(own, floor, at), level=level)
    return {name: "weak" if name in weak else "keeps" if name in keeps else "undecided" for name in parts}


def _step_down(parts: Mapping[str, PassShares], shown: _Shown, *, level: float) -> set[str]:
    left, decided = dict(parts), set[str]()
    while left:
        at = 1 - (1 - level) / len(left)
        found = {name for name, own in left.items() if shown(own, at)}
        if not found:
            break
        decided |= found
        left = {name: own for name, own in left.items() if name not in found}
    return decided


def _is_below(shares: PassShares, floor: float, level: float) -> bool:
    high = pass_interval(shares.best, shares, level=level).high
    return shares.any_verdict and high is not None and high < floor


def _is_kept(shares: PassShares, floor: float, level: float) -> bool:
    low = pass_interval(shares.worst, shares, level=level).low
    return shares.any_verdict and low is not None and low >= floor


def _failed(sample: Sample, shares: PassShares, kinds: Sequence[str]) -> Iterator[FailedProbe]:
    """Most often failed first; among equals the first of each kind before the second of any, worst kind first."""
    order = {kind: place for place, kind in enumerate(kinds)}
    rows = sorted(np.flatnonzero(shares.shares < 1).tolist(), key=lambda row: (shares.shares[row], row))
    turns: Counter[tuple[str, float]] = Counter()
    ranked = []
    for row in rows:
        kind, share = sample.items[row].kind or "", round(float(shares.shares[row]), 9)
        ranked.append(((share, turns[kind, share], order[kind]), row))
        turns[kind, share] += 1
    for _, row in sorted(ranked):
        yield FailedProbe(
            item=sample.items[row],
            label=sample.labels_given[row],
            pass_share=float(shares.shares[row]),
            verdicts=dict(zip(sample.scale.labels, sample.counts[row].tolist(), strict=True)),
            failures=sample.failures[row],
        )
