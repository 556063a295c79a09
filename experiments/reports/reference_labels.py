"""People's labels of a run's items, under the rubric that a grader follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration_sets.calibration_set import CalibrationSet, Consensus

__all__ = ["ReferenceLabels", "drop_stale_labels", "join_labels"]


@dataclass(frozen=True)
class ReferenceLabels:
    """The labels that a grader is held against.

    ``rubric`` is the one that the labels were given under, ``grader_rubric`` the one that the
    grader follows. They differ where nobody labelled under the grader's.
    """

    grader_rubric: str
    rubric: str
    consensus: Consensus


def drop_stale_labels(calibration_set: CalibrationSet) -> tuple[CalibrationSet, int]:
    """The set with only those labels that were given to its items as they read now, and how many were not.

    Labels of items that are not in the set are dropped too, but they are not stale: a run may
    look at a part of a set.
    """
    digests = {item.item_id: item.digest for item in calibration_set.items}
    known = [label for label in calibration_set.human_labels if label.item_id in digests]
    fresh = tuple(label for label in known if label.item_digest == digests[label.item_id])
    return replace(calibration_set, human_labels=fresh), len(known) - len(fresh)


def join_labels(calibration_set: CalibrationSet, grader_rubrics: Sequence[str | None]) -> list[ReferenceLabels]:
    """For each grader: consensus under its rubric, or under the set's own where nobody labelled under that."""
    consensus: dict[str, Consensus] = {}
    joined = []
    for given in grader_rubrics:
        wanted = given or calibration_set.rubric
        used = wanted if wanted in calibration_set.rubrics else calibration_set.rubric
        if used not in consensus:
            consensus[used] = calibration_set.consensus(used)
        joined.append(ReferenceLabels(grader_rubric=wanted, rubric=used, consensus=consensus[used]))
    return joined
