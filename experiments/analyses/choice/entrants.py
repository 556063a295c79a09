"""The graders of a run side by side on the same items: what every comparison starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.analyses.right_label import right_label
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.sample import build_sample
from experiments.specs.joint_graders import name_graders
from graders.pricing import Cost

__all__ = ["Contest", "Entrant", "read_contest"]


@dataclass(frozen=True)
class Entrant:
    """One grader, or several that judge together, on the items of a contest.

    Attributes
    ----------
    name
        Unique in the contest: prompt and model, or the name of a panel or cascade.
    counts
        (n, L) valid verdicts with each label.
    expected
        Verdicts asked for of each item.
    failures
        Reason to number of verdicts without a label.
    cost
        Of all its calls; ``None`` where no price is known.
    results
        The grader as the run has it; ``None`` for panels and cascades.
    """

    name: str
    counts: NDArray[np.int64]
    expected: int
    failures: Mapping[str, int]
    cost: Cost | None
    results: GraderResults | None = None

    @property
    def n_verdicts(self) -> int:
        """Valid verdicts."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Contest:
    """Entrants on the n labelled items of a run, in the order of their ids.

    Attributes
    ----------
    run_id
        The run.
    scale
        The L labels and the one that counts as right.
    items
        n items.
    reference
        (n,) people's label.
    entrants
        In the order of the experiment.
    """

    run_id: str
    scale: LabelScale
    items: tuple[Item, ...]
    reference: tuple[str, ...]
    entrants: tuple[Entrant, ...]

    @property
    def positive(self) -> str:
        """The label that counts as right; ``SpecError`` on a scale without one."""
        return right_label(self.scale, f"run {self.run_id}")

    @cached_property
    def clusters(self) -> list[str]:
        """(n,) the question of each item."""
        return [item.cluster_id for item in self.items]


def read_contest(data: RunData) -> Contest:
    """Line up all graders of a run on the items that people labelled."""
    calibration_set = data.calibration_set
    scale, reference = calibration_set.scale, calibration_set.consensus().labels
    samples = [
        build_sample(results, calibration_set.items, reference, scale=scale).labelled for results in data.graders
    ]
    items = samples[0].items if samples else ()
    graders = data.graders
    names = name_graders(
        [grader.prompt for grader in graders],
        [grader.model for grader in graders],
        [grader.grader_id for grader in graders],
    )
    entrants = tuple(
        Entrant(name, sample.counts, sample.expected, sample.failure_counts, results.cost, results)
        for name, sample, results in zip(names, samples, data.graders, strict=True)
    )
    return Contest(data.run_id, scale, items, tuple(reference[item.item_id] for item in items), entrants)
