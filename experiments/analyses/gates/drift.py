"""Whether a grader still judges as it did: the same items judged in two runs, and what is known to have changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration_sets.item import Item
from experiments.analyses.gates.gating import Outcome
from experiments.analyses.graded_samples import GradedSample, match_samples
from experiments.analyses.measuring import error_names, item_values
from experiments.errors import SpecError
from experiments.reports.plain import content_rng, plain_value
from experiments.reports.sample import Sample
from experiments.stats.comparisons import AdjustedPValue, PairedComparison, adjust_p_values, paired_comparison
from experiments.stats.estimate import Estimate
from experiments.stats.repeats import Movement, movement_test

__all__ = [
    "FEWEST_QUESTIONS",
    "Change",
    "Disagreement",
    "Drift",
    "MovedItem",
    "RateShift",
    "find_changes",
    "find_disagreements",
    "find_drift",
]

FEWEST_QUESTIONS = 10
"""On fewer questions nothing shown is nothing decided."""

_MOVEMENT = "verdicts beyond repeats"


@dataclass(frozen=True, slots=True)
class Change:
    """Something about the grader or its service that differs between the runs."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RateShift:
    """A rate in the old and in the new run on the common items, new less old, with raw and adjusted p-value."""

    name: str
    old: float | None
    new: float | None
    comparison: PairedComparison
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A test whose adjusted p-value decides one way while its interval looks the other way.

    ``significant`` is what the adjusted p-value says, ``alone`` what the raw one does.
    """

    name: str
    significant: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class MovedItem:
    """An item whose majority verdict moved; ``people`` is their label, if they agree on one."""

    item: Item
    people: str | None
    old: Mapping[str, int]
    new: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Drift:
    """Two runs of a grader on their ``n_common`` items.

    The decision rests on the adjusted p-values, which are of permutation tests and hold on few questions too; intervals
    are approximate, and none is adjusted. ``disagreements`` are the tests whose interval would have it otherwise.
    ``adjusted_movement`` is the movement's p-value adjusted with those of the rates, by Holm's method. ``outcome`` is
    ``fail`` where any adjusted p-value is at most ``1 - level``, else ``pass``; it is ``undecided`` where no test is
    defined, where nothing is shown on fewer than ten questions, which could hardly have shown it, and where verdicts
    moved and no repeats tell that from noise. Changes that are known but moved nothing are named and fail nothing.
    """

    runs: tuple[str, str]
    graders: tuple[str, str]
    level: float
    n_items: tuple[int, int]
    n_common: int
    n_questions: int
    n_relabelled: int
    n_verdicts: tuple[int, int]
    n_expected: tuple[int, int]
    changes: tuple[Change, ...]
    movement: Movement
    adjusted_movement: float | None
    rates: tuple[RateShift, ...]
    disagreements: tuple[Disagreement, ...]
    moved: tuple[MovedItem, ...]
    outcome: Outcome


def find_drift(old: GradedSample, new: GradedSample, *, level: float) -> Drift:
    """Compare a grader with itself on the items whose content both runs judged.

    Labels are the new run's, under the rubric that the report holds the grader to there.

    Raises
    ------
    SpecError
        If the two are on different scales.
    """
    if old.sample.scale.labels != new.sample.scale.labels:
        raise SpecError(
            f"run {new.run_id}: scale {list(new.sample.scale.labels)}; expected {list(old.sample.scale.labels)}"
        )
    after, before = match_samples(new.sample, old.sample)
    seeds = (old.seed, new.seed, old.run_id, new.run_id)
    movement = movement_test(
        before.counts, after.counts, after.clusters, rng=content_rng(*seeds, "movement"), level=level
    )
    names = (*error_names(after, before), "failure_rate")
    compared = [_compare(name, before, after, level, content_rng(*seeds, name)) for name in names]
    p_values = [movement.p_value, *(one.difference.p_value for one in compared)]
    family = adjust_p_values(p_values, level=level)
    return Drift(
        runs=(old.run_id, new.run_id),
        graders=(old.name, new.name),
        level=level,
        n_items=(old.sample.n_items, new.sample.n_items),
        n_common=after.n_items,
        n_questions=len(set(after.clusters)),
        n_relabelled=sum(one != two for one, two in zip(before.reference, after.reference, strict=True)),
        n_verdicts=(before.n_verdicts, after.n_verdicts),
        n_expected=(before.n_expected, after.n_expected),
        changes=find_changes(old, new),
        movement=movement,
        adjusted_movement=family.rows[0].adjusted,
        rates=tuple(
            _shift(name, before, after, one, row.adjusted)
            for name, one, row in zip(names, compared, family.rows[1:], strict=True)
        ),
        disagreements=find_disagreements(
            [_MOVEMENT, *names],
            [movement.excess, *(one.difference.estimate for one in compared)],
            family.rows,
            level,
        ),
        moved=_moved_items(before, after),
        outcome=_outcome([row.significant for row in family.rows], len(set(after.clusters)), movement),
    )


def find_changes(old: GradedSample, new: GradedSample) -> tuple[Change, ...]:
    """What differs in what was asked, in what was in force, and in who answered."""
    first, second = _known(old), _known(new)
    return tuple(
        Change(what, first.get(what, "-"), second.get(what, "-"))
        for what in sorted({*first, *second})
        if first.get(what, "-") != second.get(what, "-")
    )


def _known(graded: GradedSample) -> dict[str, str]:
    results = graded.results
    known = {
        "prompt": results.prompt or "-",
        "rubric": graded.labels.grader_rubric,
        "model": results.model,
        "served models": ", ".join(sorted(set(results.served_models))) or "-",
        "fingerprints": ", ".join(sorted(results.fingerprints)) or "-",
        "effective sampling": "; ".join(sorted({_settings(one) for one in results.effective_sampling})) or "-",
        "parser": ", ".join(sorted({verdict.rule for verdict in results.verdicts})) or "-",
    }
    return known | {f"sampling: {name}": _plain(value) for name, value in results.sampling.items()}


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in sorted(settings.items()))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(plain_value(value), sort_keys=True)


def _compare(name: str, before: Sample, after: Sample, level: float, rng: np.random.Generator) -> PairedComparison:
    return paired_comparison(
        item_values(after, after.reference, name),
        item_values(before, after.reference, name),
        after.clusters,
        rng=rng,
        names=("new", "old"),
        level=level,
        repeats=max(before.most_repeats, after.most_repeats),
    )


def _shift(name: str, before: Sample, after: Sample, comparison: PairedComparison, adjusted: float | None) -> RateShift:
    columns = [item_values(sample, after.reference, name) for sample in (before, after)]
    both = ~np.isnan(columns[0]) & ~np.isnan(columns[1])
    old, new = (float(np.sort(column[both]).mean()) if both.any() else None for column in columns)
    return RateShift(name, old, new, comparison, adjusted)


def find_disagreements(
    names: Sequence[str], estimates: Sequence[Estimate], rows: Sequence[AdjustedPValue], level: float
) -> tuple[Disagreement, ...]:
    """Tests, by name, whose interval looks otherwise than their adjusted p-value decides."""
    found = []
    for name, estimate, row in zip(names, estimates, rows, strict=True):
        if row.p_value is None or row.significant is None or estimate.low is None or estimate.high is None:
            continue
        # Movement beyond that of repeats is tested upwards alone.
        leaves_out_zero = estimate.low > 0 or (estimate.high < 0 and name != _MOVEMENT)
        if leaves_out_zero != row.significant:
            found.append(Disagreement(name, row.significant, row.p_value <= 1 - level + 1e-12))
    return tuple(found)


def _outcome(significant: Sequence[bool | None], n_questions: int, movement: Movement) -> Outcome:
    if any(significant):
        return "fail"
    few = n_questions < FEWEST_QUESTIONS
    unexplained = movement.p_value is None and movement.n_moved > 0
    return "undecided" if few or unexplained or all(one is None for one in significant) else "pass"


def _moved_items(before: Sample, after: Sample) -> tuple[MovedItem, ...]:
    """Those whose verdicts moved most first."""
    found = []
    for row, item in enumerate(after.items):
        old, new = before.counts[row], after.counts[row]
        if _top(old) is None or _top(new) is None or _top(old) == _top(new):
            continue
        distance = float(np.abs(old / old.sum() - new / new.sum()).sum())
        found.append((-round(distance, 9), item.item_id, row))
    return tuple(
        MovedItem(
            after.items[row],
            after.reference[row],
            *(_counted(sample, row) for sample in (before, after)),
        )
        for _, _, row in sorted(found)
    )


def _top(counts: np.ndarray[Any, Any]) -> int | None:
    tops = np.flatnonzero(counts == counts.max(initial=0))
    return int(tops[0]) if counts.any() and len(tops) == 1 else None


def _counted(sample: Sample, row: int) -> dict[str, int]:
    return {label: int(n) for label, n in zip(sample.scale.labels, sample.counts[row], strict=True) if n}
