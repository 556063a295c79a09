"""Two runs side by side: what differs in what they asked, and what that comes to on the items that both judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration_sets.calibration_set import CalibrationSet
from experiments.analyses.gates.drift import Change, find_changes
from experiments.analyses.graded_samples import GradedSample, find_graded, match_samples, read_graded_samples
from experiments.analyses.measuring import error_names, item_values, measure
from experiments.errors import SpecError
from experiments.reports.exact_sample import ExactSample
from experiments.reports.inputs import RunData
from experiments.reports.plain import content_rng
from experiments.reports.reference_labels import drop_stale_labels
from experiments.reports.sample import Sample
from experiments.stats.comparisons import PairedComparison, adjust_p_values, paired_comparison
from experiments.stats.estimate import Estimate

__all__ = [
    "GraderPair",
    "MeasureComparison",
    "RunComparison",
    "SetDifference",
    "compare_runs",
    "item_flips",
]

_CONSISTENCY = ("flip_rate", "pairwise_disagreement", "coverage")

Matched = Literal["id", "prompt and model", "--pair"]


@dataclass(frozen=True, slots=True)
class SetDifference:
    """How the items of two runs differ; items are told apart by their content, names by their id.

    ``changed`` are the ids that stand for other content in the second run, ``relabelled`` those of common items with
    another label there, under each run's own rubric.
    """

    names: tuple[str, str]
    digests: tuple[str, str]
    rubrics: tuple[str, str]
    scales: tuple[tuple[str, ...], tuple[str, ...]]
    n_items: tuple[int, int]
    n_common: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changed: tuple[str, ...]
    relabelled: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """A measure in both runs on their common items, and the second less the first where both have a number.

    ``comparison`` is ``None`` where there is nothing to test, for the reason ``untested``; ``adjusted`` is its
    p-value by Holm's method over all tests of the comparison.
    """

    name: str
    first: Estimate
    second: Estimate
    comparison: PairedComparison | None
    untested: str | None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class GraderPair:
    """A grader of the first run and one of the second, matched by ``matched``.

    Labels are those of the second run. ``shares_store`` says that both read the same completions, which no
    test can tell apart.
    """

    names: tuple[str, str]
    matched: Matched
    shares_store: bool
    changes: tuple[Change, ...]
    n_common: int
    n_questions: int
    measures: tuple[MeasureComparison, ...]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs: their sets, the graders that both have, and by name those that only one has."""

    runs: tuple[str, str]
    level: float
    items: SetDifference
    pairs: tuple[GraderPair, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def compare_runs(
    first: RunData,
    second: RunData,
    *,
    level: float,
    same_store: bool,
    named: Sequence[tuple[str, str]] = (),
) -> RunComparison:
    """Compare two runs, grader by grader.

    Parameters
    ----------
    first, second
        The runs.
    level
        Of the intervals, and of all tests together.
    same_store
        Whether both runs read one store, where graders of one id share their completions.
    named
        Pairs of names of graders that are to be compared, whatever their ids.

    Raises
    ------
    SpecError
        If the runs' scales differ, or a named grader is not there or is named twice.
    """
    scales = first.calibration_set.scale.labels, second.calibration_set.scale.labels
    if scales[0] != scales[1]:
        raise SpecError(f"run {second.run_id}: scale {list(scales[1])}; expected {list(scales[0])}")
    ours, theirs = read_graded_samples(first), read_graded_samples(second)
    matched = list(_match(ours, theirs, named))
    pairs = [_compare(one, other, how, level=level, same_store=same_store) for one, other, how in matched]
    used = {id(graded) for one, other, _ in matched for graded in (one, other)}
    return RunComparison(
        runs=(first.run_id, second.run_id),
        level=level,
        items=_compare_sets(first, second),
        pairs=tuple(_adjusted(pairs, level)),
        only_first=tuple(one.name for one in ours if id(one) not in used),
        only_second=tuple(one.name for one in theirs if id(one) not in used),
    )


def _compare_sets(first: RunData, second: RunData) -> SetDifference:
    sets = drop_stale_labels(first.calibration_set)[0], drop_stale_labels(second.calibration_set)[0]
    ids = [{item.item_id: item.digest for item in chosen.items} for chosen in sets]
    contents = [set(by_id.values()) for by_id in ids]
    labels = [_labels_by_content(chosen) for chosen in sets]
    changed = {name for name in ids[0].keys() & ids[1].keys() if ids[0][name] != ids[1][name]}
    return SetDifference(
        names=(f"{sets[0].name} {sets[0].version}", f"{sets[1].name} {sets[1].version}"),
        digests=(
            first.set_digest or first.calibration_set.digest,
            second.set_digest or second.calibration_set.digest,
        ),
        rubrics=(sets[0].rubric, sets[1].rubric),
        scales=(sets[0].scale.labels, sets[1].scale.labels),
        n_items=(len(sets[0].items), len(sets[1].items)),
        n_common=len(contents[0] & contents[1]),
        only_first=tuple(_only(ids[0], contents[1], changed)),
        only_second=tuple(_only(ids[1], contents[0], changed)),
        changed=tuple(sorted(changed)),
        relabelled=tuple(
            sorted(
                name
                for name, digest in ids[1].items()
                if digest in contents[0] and labels[0].get(digest) != labels[1].get(digest)
            )
        ),
    )


def _labels_by_content(chosen: CalibrationSet) -> dict[str, str]:
    given = chosen.consensus().labels
    return {item.digest: given[item.item_id] for item in chosen.items if item.item_id in given}


def _only(ids: Mapping[str, str], others: set[str], changed: set[str]) -> Iterator[str]:
    """Ids whose content the other run lacks, without those whose content has changed."""
    yield from sorted(name for name, digest in ids.items() if digest not in others and name not in changed)


def _match(
    ours: Sequence[GradedSample], theirs: Sequence[GradedSample], named: Sequence[tuple[str, str]]
) -> Iterator[tuple[GradedSample, GradedSample, Matched]]:
    """Pairs as they are named, then by id, then those whose prompt and model only one of each run has."""
    left, right = {one.name: one for one in ours}, {one.name: one for one in theirs}
    for name, other_name in named:
        option = f"--pair {name}={other_name}"
        one, other = find_graded(ours, name, option=option), find_graded(theirs, other_name, option=option)
        if left.pop(one.name, None) is None or right.pop(other.name, None) is None:
            raise SpecError(f"{option}: a grader that is in another pair; expected each once")
        yield one, other, "--pair"
    for one in list(left.values()):
        for other in [other for other in right.values() if other.results.grader_id == one.results.grader_id]:
            yield left.pop(one.name), right.pop(other.name), "id"
    for one in left.values():
        same = [other for other in right.values() if _said(other) == _said(one)]
        if len(same) == 1 and [_said(rest) for rest in left.values()].count(_said(one)) == 1:
            yield one, same[0], "prompt and model"


def _said(graded: GradedSample) -> tuple[str | None, str]:
    prompt = graded.results.prompt
    return (None if prompt is None else prompt.partition("#")[0]), graded.results.model


def _compare(one: GradedSample, other: GradedSample, how: Matched, *, level: float, same_store: bool) -> GraderPair:
    after, before = match_samples(other.sample, one.sample)
    before = replace(before, reference=after.reference, scale=after.scale)
    both = replace(one, sample=before), replace(other, sample=after)
    shares_store = same_store and one.results.grader_id == other.results.grader_id
    names = (*error_names(after, before), *_CONSISTENCY)
    return GraderPair(
        names=(one.name, other.name),
        matched=how,
        shares_store=shares_store,
        changes=find_changes(one, other),
        n_common=after.n_items,
        n_questions=len(set(after.clusters)),
        measures=tuple(_compare_measure(name, *both, level=level, shares_store=shares_store) for name in names),
    )


def _compare_measure(
    name: str, one: GradedSample, other: GradedSample, *, level: float, shares_store: bool
) -> MeasureComparison:
    first, second = (measure(graded, name, level=level).estimate for graded in (one, other))
    untested = _untested(name, one.sample, other.sample, shares_store=shares_store)
    if untested is not None:
        return MeasureComparison(name, first, second, None, untested)
    comparison = paired_comparison(
        _values(other.sample, name),
        _values(one.sample, name),
        other.sample.clusters,
        rng=content_rng(one.seed, other.seed, one.run_id, other.run_id, name),
        names=("second", "first"),
        level=level,
        repeats=max(one.sample.most_repeats, other.sample.most_repeats),
    )
    missing = None if comparison.difference.p_value is not None else "no item for which both have a number"
    return MeasureComparison(name, first, second, comparison, missing)


def _untested(name: str, one: Sample, other: Sample, *, shares_store: bool) -> str | None:
    if shares_store:
        return "the same completions of one store"
    if name == "flip_rate" and _draws(one) != _draws(other):
        return f"it grows with the repeats, of which there are {_draws(one)} and {_draws(other)}"
    return None


def _draws(sample: Sample) -> int:
    return sample.draws if isinstance(sample, ExactSample) else sample.expected


def _values(sample: Sample, name: str) -> NDArray[np.float64]:
    if name == "flip_rate":
        return item_flips(sample)
    if name == "coverage":
        return 1 - item_values(sample, sample.reference, "failure_rate")
    return item_values(sample, sample.reference, name)


def item_flips(sample: Sample) -> NDArray[np.float64]:
    """(n,) whether an item's verdicts differ, or the chance that its draws do; NaN where it has fewer than two."""
    if isinstance(sample, ExactSample):
        return np.asarray(1 - (sample.shares**sample.draws).sum(axis=1), dtype=np.float64)
    differ = (sample.counts > 0).sum(axis=1) > 1
    return np.asarray(np.where(sample.valid >= 2, differ, np.nan), dtype=np.float64)


def _adjusted(pairs: Sequence[GraderPair], level: float) -> Iterator[GraderPair]:
    """The pairs with p-values adjusted over the tests of all of them."""
    tests = [one.comparison for pair in pairs for one in pair.measures]
    family = adjust_p_values([None if test is None else test.difference.p_value for test in tests], level=level)
    rows = iter(family.rows)
    for pair in pairs:
        measures = tuple(replace(one, adjusted=next(rows).adjusted) for one in pair.measures)
        yield replace(pair, measures=measures)
