"""Items with people's label and a grader's verdicts, counted: what every statistic starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.reports.inputs import GraderResults
from experiments.reports.tally import Tally
from graders.verdict import Verdict

__all__ = ["Sample", "build_sample", "expected_repeats", "group_verdicts"]


@dataclass(frozen=True)
class Sample(Tally):
    """Some items of a run, in the order of their ids.

    Attributes
    ----------
    scale
        The L labels.
    items
        n items.
    reference
        (n,) people's label, ``None`` where they have none in common.
    counts
        (n, L) valid verdicts with each label.
    failures
        (n,) reason to number of verdicts without a label.
    expected
        Verdicts asked for of each item.
    """

    scale: LabelScale
    items: tuple[Item, ...]
    reference: tuple[str | None, ...]
    counts: NDArray[np.int64]
    failures: tuple[Mapping[str, int], ...]
    expected: int

    @cached_property
    def failure_counts(self) -> dict[str, int]:
        """Reason to number of verdicts, only reasons that occur."""
        total: Counter[str] = Counter()
        for reasons in self.failures:
            total.update(reasons)
        return dict(sorted(total.items()))

    @cached_property
    def clusters(self) -> list[str]:
        """(n,) the question of each item."""
        return [item.cluster_id for item in self.items]

    def take(self, keep: Sequence[bool]) -> Sample:
        """The items whose flag is set."""
        rows = [row for row, kept in enumerate(keep) if kept]
        return Sample(
            scale=self.scale,
            items=tuple(self.items[row] for row in rows),
            reference=tuple(self.reference[row] for row in rows),
            counts=self.counts[rows],
            failures=tuple(self.failures[row] for row in rows),
            expected=self.expected,
        )


def build_sample(
    results: GraderResults, items: Sequence[Item], reference: Mapping[str, str], *, scale: LabelScale
) -> Sample:
    """Count a grader's verdicts item by item.

    Parameters
    ----------
    results
        The grader with its verdicts.
    items
        The run's items, in any order; those with equal content share their verdicts.
    reference
        Item id to people's label.
    scale
        The labels that verdicts and people use.

    Raises
    ------
    ValueError
        If a verdict is another grader's, of an item outside the run, off the scale, given twice,
        or one more than was asked for.
    """
    ordered = tuple(sorted(items, key=lambda item: (item.item_id, item.digest)))
    groups = group_verdicts(results.verdicts, grader_id=results.grader_id, items=items)
    expected = expected_repeats(results, groups)
    tallies = {item.digest: _tally(groups.get(item.digest, {}), scale, expected) for item in items}
    return Sample(
        scale=scale,
        items=ordered,
        reference=tuple(reference.get(item.item_id) for item in ordered),
        counts=np.array([tallies[item.digest][0] for item in ordered], dtype=np.int64).reshape(-1, len(scale.labels)),
        failures=tuple(tallies[item.digest][1] for item in ordered),
        expected=expected,
    )


def group_verdicts(
    verdicts: Sequence[Verdict], *, grader_id: str, items: Sequence[Item]
) -> dict[str, dict[int, Verdict]]:
    """Verdicts by item digest and repeat; ``ValueError`` as :func:`build_sample` says."""
    known = {item.digest for item in items}
    groups: dict[str, dict[int, Verdict]] = {}
    for verdict in verdicts:
        if verdict.grader_id != grader_id:
            raise ValueError(f"{_name(verdict)}: grader {verdict.grader_id!r}; expected {grader_id!r}")
        if verdict.item_digest not in known:
            raise ValueError(f"{_name(verdict)}: an item outside the run; expected one of its {len(items)} items")
        repeats = groups.setdefault(verdict.item_digest, {})
        if verdict.repeat in repeats:
            raise ValueError(f"{_name(verdict)}: given twice by grader {grader_id!r}; expected once")
        repeats[verdict.repeat] = verdict
    return groups


def _name(verdict: Verdict) -> str:
    return f"verdict of item {verdict.item_digest[:12]}, repeat {verdict.repeat}"


def expected_repeats(results: GraderResults, groups: Mapping[str, Mapping[int, Verdict]]) -> int:
    """Verdicts asked for of each item; where the settings do not say, the most that any item got.

    Raises
    ------
    ValueError
        If an item has more.
    """
    most = max((len(repeats) for repeats in groups.values()), default=1)
    exact = results.sampling.get("method") == "exact"
    asked = 1 if exact else int(results.sampling.get("repeats") or most)
    if most > asked:
        raise ValueError(f"grader {results.grader_id!r}: {most} verdicts of one item; expected {asked} or fewer")
    return asked


def _tally(repeats: Mapping[int, Verdict], scale: LabelScale, expected: int) -> tuple[list[int], dict[str, int]]:
    """Valid verdicts by label and the others by reason; what is absent was not answered."""
    labels = dict.fromkeys(scale.labels, 0)
    reasons: dict[str, int] = {}
    for verdict in repeats.values():
        if verdict.label is None:
            reasons[str(verdict.failure)] = reasons.get(str(verdict.failure), 0) + 1
        elif verdict.label in labels:
            labels[verdict.label] += 1
        else:
            raise ValueError(f"verdict: label {verdict.label!r}; expected one of {list(scale.labels)}")
    absent = expected - len(repeats)
    if absent:
        reasons["not_answered"] = reasons.get("not_answered", 0) + absent
    return list(labels.values()), reasons
