"""What a label is worth in means of regimes."""

from __future__ import annotations

from calibration_sets.scale import LabelScale

__all__ = ["score_labels"]


def score_labels(scale: LabelScale) -> tuple[float, ...] | None:
    """The score of each label, from 0 to 1, in the order of the scale.

    Labels that are numbers of an ordered scale are taken as they are, moved to 0 to 1 where they go from another number
    to another; else the label that counts as right is 1 and the others 0. ``None`` where there is neither.
    """
    values = scale.values
    if values is not None:
        return tuple((value - values[0]) / (values[-1] - values[0]) for value in values)
    return None if scale.positive is None else tuple(float(label == scale.positive) for label in scale.labels)
