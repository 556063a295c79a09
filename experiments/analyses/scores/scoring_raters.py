"""Who labelled the items of a calibration, how far they agree, and each one's labels by themselves.

The label of an item is what more than half of its raters gave. That hides how much hangs on who they are: with each
rater in turn as the reference, on the items that this one labelled, the corrected scores show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibration_sets.calibration_set import CalibrationSet
from experiments.analyses.graded_samples import GradedSample
from experiments.reports.plain import content_rng
from experiments.reports.sample import Sample
from experiments.stats.correction import LabelledItems
from experiments.stats.estimate import Estimate
from experiments.stats.raters import human_agreement

__all__ = ["MOST_RATERS", "RaterAgreement", "Raters", "agree", "labelled_by", "read_raters"]

MOST_RATERS = 20
"""Raters whose labels are the reference in turn: those with the most labels."""


@dataclass(frozen=True)
class Raters:
    """``labels`` holds each rater's label of each of the n items of ``sample``, ``None`` where there is none.

    Raters stand in the order of their names; ``questions`` (n,) are those of the items. ``n_several`` items have two
    labels or more; the raters of ``disputed`` ones differ, and of those ``tied`` have no label of more than half.
    """

    labels: Mapping[str, tuple[str | None, ...]]
    sample: Sample
    questions: tuple[str, ...]
    n_several: int
    disputed: int
    tied: int

    @property
    def in_turn(self) -> tuple[str, ...]:
        """Those who are the reference in turn: none where there is one rater only."""
        if len(self.labels) < 2:
            return ()
        most = sorted(self.labels, key=lambda rater: (self.labels[rater].count(None), rater))
        return tuple(sorted(most[:MOST_RATERS]))


@dataclass(frozen=True)
class RaterAgreement:
    """Share of pairs of raters of one item that agree, and Krippendorff's alpha, with intervals by question."""

    pairwise: Estimate
    alpha: Estimate


def read_raters(calibration_set: CalibrationSet, judge: GradedSample, questions: Sequence[str]) -> Raters:
    """The raters of a run's set whose labels are those of the items as they read now.

    Parameters
    ----------
    calibration_set
        Without labels of texts that have changed.
    judge
        The grader, with the rubric of the labels it is held against.
    questions
        (n,) of the items of its sample.
    """
    rows = {item.item_id: row for row, item in enumerate(judge.sample.items)}
    table: dict[str, list[str | None]] = {}
    for given in calibration_set.human_labels:
        if given.rubric == judge.labels.rubric and given.item_id in rows:
            table.setdefault(given.rater, [None] * len(rows))[rows[given.item_id]] = given.label
    counts = Counter(row for labels in table.values() for row, label in enumerate(labels) if label is not None)
    return Raters(
        labels={rater: tuple(table[rater]) for rater in sorted(table)},
        sample=judge.sample,
        questions=tuple(questions),
        n_several=sum(count > 1 for count in counts.values()),
        disputed=len(judge.labels.consensus.disputed),
        tied=len(judge.labels.consensus.tied),
    )


def agree(raters: Raters, *, level: float) -> RaterAgreement | None:
    """How far raters agree on the items that two or more labelled; ``None`` without such an item."""
    if not raters.n_several:
        return None
    found = human_agreement(
        list(raters.labels.values()),
        raters.questions,
        labels=raters.sample.scale.labels,
        scale_level=raters.sample.scale.level,
        rng=content_rng(*(item.digest for item in raters.sample.items), "raters"),
        level=level,
    )
    return RaterAgreement(found.pairwise_raw, found.alpha)


def labelled_by(raters: Raters, rater: str, places: Sequence[int]) -> tuple[LabelledItems, list[int]]:
    """The items that one rater labelled, and their rows; verdicts with the labels of ``places`` alone."""
    labels = raters.labels[rater]
    rows = [row for row, label in enumerate(labels) if label is not None]
    counts = raters.sample.counts[rows][:, list(places)]
    given = [str(labels[row]) for row in rows]
    return LabelledItems(given, counts, [raters.questions[row] for row in rows]), rows
