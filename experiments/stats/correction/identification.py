"""Whether a grader's error rates identify the true class shares at all.

Two classes: sensitivity + specificity must exceed 1, and so must the lower end of its interval. More: the smallest
singular value of M must exceed 0, and so must the lower end of its interval; and each label must be given most often
where people give it. A grader that says the same whatever people say has a singular value of 0 and no correction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.stats.correction.influence import influence, student_half_width
from experiments.stats.correction.samples import Samples
from experiments.stats.estimate import Estimate
from experiments.stats.inputs import check_level

__all__ = ["Identification", "check_identification"]

_ZERO = 1e-9

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Identification:
    """Whether the error rates allow a correction, and why not in one line (empty if they do).

    ``strength`` is sensitivity + specificity - 1 with two classes, else the smallest singular value of M; its interval
    must stay above 0. ``condition_number`` is the largest singular value over the smallest: by how much an error in
    the observed shares can grow. Both are ``None`` where M is not known.
    """

    identified: bool
    reason: str
    strength: Estimate
    condition_number: float | None


def check_identification(samples: Samples, *, level: float = 0.95) -> Identification:
    """Judge the confusion matrix of the calibration items.

    Raises
    ------
    ValueError
        A ``level`` not between 0 and 1.
    """
    check_level(level)
    matrix = samples.totals().matrix
    empty = [label for label, row in zip(samples.labels, matrix, strict=True) if np.isnan(row).any()]
    if empty or len(samples.labels) < 2:
        reason = f"people called no calibration item {empty[0]!r}" if empty else "the scale has one label only"
        return Identification(False, _sentence(reason), _nothing(samples, level), None)
    singular = np.linalg.svd(matrix, compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > _ZERO else None
    strength = _strength(samples, matrix, level)
    reason = _fault(samples, matrix, strength, condition)
    return Identification(not reason, _sentence(reason) if reason else "", strength, condition)


def _strength(samples: Samples, matrix: Array, level: float) -> Estimate:
    if len(matrix) == 2:
        value, weight, method = float(matrix[0, 0] + matrix[1, 1] - 1.0), np.eye(2), "youden-delta"
    else:
        left, singular, right = np.linalg.svd(matrix)
        # d sigma = u' dM v [Stewart and Sun 1990].
        value, weight, method = float(singular[-1]), np.outer(left[:, -1], right[-1]), "singular-value-delta"
    parts = influence(samples, np.zeros(len(matrix)), weight, made_up=True)
    half = student_half_width(samples, parts, level=level)
    clusters = len(np.unique(samples.labelled_codes))
    repeats = int(samples.labelled_repeats.max(initial=0))
    return Estimate(
        value,
        max(value - half, -1.0),
        min(value + half, 1.0),
        level,
        method,
        len(samples.people),
        clusters,
        repeats,
    )


def _fault(samples: Samples, matrix: Array, strength: Estimate, condition: float | None) -> str:
    assert strength.value is not None
    assert strength.low is not None
    assert strength.high is not None
    percent = f"{100 * strength.level:g}%"
    if len(matrix) == 2:
        if strength.value <= _ZERO:
            return f"sensitivity + specificity is {1 + strength.value:.3f}, not above 1"
        if strength.low <= 0:
            return (
                f"sensitivity + specificity is {1 + strength.value:.3f}, and its {percent} interval "
                f"({1 + strength.low:.3f} to {1 + strength.high:.3f}) reaches 1"
            )
        return ""
    if condition is None or strength.low <= 0:
        number = "" if condition is None else f" (condition number {condition:.1f})"
        return (
            f"the confusion matrix is ill-conditioned: its smallest singular value is {strength.value:.3f}{number}, "
            f"and its {percent} interval reaches 0"
        )
    for place, label in enumerate(samples.labels):
        others = np.delete(matrix[:, place], place)
        if matrix[place, place] <= others.max() + _ZERO:
            return f"the grader says {label!r} no more often where people say it than where they do not"
    return ""


def _sentence(reason: str) -> str:
    return f"not identified: {reason}"


def _nothing(samples: Samples, level: float) -> Estimate:
    return Estimate(None, None, None, level, "not-defined", len(samples.people), 0, 0)
