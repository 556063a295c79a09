"""The errors of scores, item by item: what rules, drift and comparisons are about where labels are numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.errors import SpecError
from experiments.reports.exact_sample import ExactSample
from experiments.reports.sample import Sample

__all__ = ["SCORE_MEASURES", "SCORE_SIZES", "is_scored", "score_span", "score_values", "score_worst_places"]

SCORE_MEASURES = ("under_grading", "over_grading", "bias", "mean_absolute_error")
"""Measures of a grader that gives scores, as ``score_errors`` of the report has them."""

SCORE_SIZES = ("bias", "mean_absolute_error")
"""Those in the scale's units; the others are shares."""


def is_scored(sample: Sample) -> bool:
    """Whether the labels are numbers, and verdicts are drawn, so that errors of scores are defined."""
    return sample.scale.values is not None and not isinstance(sample, ExactSample)


def score_span(sample: Sample) -> float:
    """The highest score less the lowest: how far off a verdict can be; ``SpecError`` as in :func:`score_values`."""
    return float(np.ptp(_numbers(sample, "scores")))


def score_values(sample: Sample, reference: Sequence[str | None], name: str) -> NDArray[np.float64]:
    """(n,) an item's mean over its verdicts behind one of ``SCORE_MEASURES``; NaN without a label or a verdict.

    Raises
    ------
    SpecError
        If the labels are no numbers, or the verdicts a computed distribution.
    """
    numbers = _numbers(sample, name)
    errors = numbers[None, :] - np.array([_number(label) for label in reference])[:, None]
    of_label = {
        "under_grading": errors < 0,
        "over_grading": errors > 0,
        "bias": errors,
        "mean_absolute_error": np.abs(errors),
    }[name]
    means = (sample.counts * of_label).sum(axis=1) / np.maximum(sample.valid, 1)
    known = (sample.valid > 0) & ~np.isnan(errors).all(axis=1)
    return np.asarray(np.where(known, means, np.nan), dtype=np.float64)


def score_worst_places(sample: Sample, reference: Sequence[str | None], name: str, *, worse: bool) -> NDArray[np.int64]:
    """(n,) the label, by its place, with which missing verdicts make a measure highest, or lowest if not ``worse``."""
    numbers = _numbers(sample, name)
    places = np.array([0 if label is None else sample.scale.index(label) for label in reference], dtype=np.int64)
    last = len(numbers) - 1
    if name == "bias":
        return np.full(len(places), last if worse else 0, dtype=np.int64)
    if not worse:
        return places
    if name == "under_grading":
        return np.zeros(len(places), dtype=np.int64)
    if name == "over_grading":
        return np.full(len(places), last, dtype=np.int64)
    own = numbers[places]
    return np.where(numbers[-1] - own > own - numbers[0], last, 0).astype(np.int64)


def _numbers(sample: Sample, name: str) -> NDArray[np.float64]:
    if sample.scale.values is None:
        raise SpecError(f"{name}: the labels {list(sample.scale.labels)} are no numbers; expected a scale of scores")
    if isinstance(sample, ExactSample):
        raise SpecError(f"{name}: the verdicts are computed distributions; expected drawn scores")
    return np.array(sample.scale.values)


def _number(label: str | None) -> float:
    return np.nan if label is None else float(label)
