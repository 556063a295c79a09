"""What a report says of the calibration set, and how far people agree among themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from experiments.reports.plain import content_rng, estimate_fields
from experiments.stats.raters.rater_agreement import human_agreement

__all__ = ["human_agreement_fields", "set_fields"]


def set_fields(calibration_set: CalibrationSet, *, digest: str) -> dict[str, Any]:
    """Provenance and counts of a run's items, labels under the set's own rubric."""
    consensus = calibration_set.consensus()
    given = Counter(consensus.labels.values())
    return {
        "name": calibration_set.name,
        "version": calibration_set.version,
        "digest": digest,
        "rubric": calibration_set.rubric,
        "label_source": calibration_set.label_source,
        "scale": {
            "name": calibration_set.scale.name,
            "labels": list(calibration_set.scale.labels),
            "level": calibration_set.scale.level,
            "positive": calibration_set.scale.positive,
        },
        "n_items": len(calibration_set.items),
        "n_labelled": len(consensus.labels),
        "n_tied": len(consensus.tied),
        "n_unlabelled": len(consensus.unlabelled),
        "n_disputed": len(consensus.disputed),
        "n_questions": len({item.cluster_id for item in calibration_set.items}),
        "n_same_content": len(calibration_set.items) - len({item.digest for item in calibration_set.items}),
        "label_counts": {label: given[label] for label in calibration_set.scale.labels},
    }


def human_agreement_fields(calibration_set: CalibrationSet, *, level: float) -> dict[str, Any] | None:
    """Agreement of people with people under the set's rubric; ``None`` where no item has two raters."""
    table = _ratings(calibration_set)
    shared = [item for item in calibration_set.items if len(table.get(item.item_id, {})) > 1]
    if not shared:
        return None
    shared.sort(key=lambda item: item.item_id)
    raters = sorted({rater for item in shared for rater in table[item.item_id]})
    ratings: Sequence[Sequence[str | None]] = [[table[item.item_id].get(rater) for item in shared] for rater in raters]
    result = human_agreement(
        ratings,
        [item.cluster_id for item in shared],
        labels=calibration_set.scale.labels,
        scale_level=calibration_set.scale.level,
        rng=content_rng(calibration_set.digest, "human_agreement"),
        level=level,
    )
    return {
        "alpha": estimate_fields(result.alpha),
        "pairwise_raw": estimate_fields(result.pairwise_raw),
        "n_raters": len(raters),
        "n_items": len(shared),
        "rubric": calibration_set.rubric,
    }


def _ratings(calibration_set: CalibrationSet) -> dict[str, dict[str, str]]:
    """Item id to rater to label, under the set's own rubric."""
    table: dict[str, dict[str, str]] = {}
    for given in calibration_set.human_labels:
        if given.rubric == calibration_set.rubric:
            table.setdefault(given.item_id, {})[given.rater] = given.label
    return table
