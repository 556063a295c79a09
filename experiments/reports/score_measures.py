"""A grader's errors on a scale of numbers as report fields; in place of false negatives and positives."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.reports.exact_sample import ExactSample
from experiments.reports.plain import content_rng, estimate_fields
from experiments.reports.tally import Tally
from experiments.stats.errors.score_errors import score_error_bounds, score_errors
from experiments.stats.inputs import ScaleLevel
from experiments.stats.raters.rater_agreement import agreement

__all__ = ["score_error_fields", "score_fields"]

Fields = dict[str, Any]

ERRORS = ("under_grading", "over_grading", "bias", "mean_absolute_error")
LEVELS: tuple[tuple[ScaleLevel, str, str], ...] = (
    ("ordinal", "kappa_linear", "alpha_ordinal"),
    ("interval", "kappa_quadratic", "alpha_interval"),
)
"""Kappa with linear weights goes with the order of labels, with quadratic ones with their distances."""


def score_error_fields(sample: Tally, *, level: float) -> Fields | None:
    """Under- and over-grading, bias and mean absolute error, with bounds where verdicts are missing.

    ``None`` where the labels are no numbers, and of a computed distribution, whose labels are no draws.
    """
    values = sample.scale.values
    if values is None or isinstance(sample, ExactSample):
        return None
    labelled, labels = sample.labelled, sample.scale.labels
    found = score_errors(
        labelled.labels_given, labelled.counts, labelled.clusters, labels=labels, values=values, level=level
    )
    fields: Fields = {name: estimate_fields(getattr(found, name)) for name in ERRORS}
    fields["coverage"] = labelled.coverage
    if labelled.n_verdicts == labelled.n_expected:
        return fields | {"bounds": dict.fromkeys(ERRORS)}
    bounds = score_error_bounds(labelled.labels_given, labelled.counts, labelled.expected, labels=labels, values=values)
    return fields | {"bounds": {name: list(getattr(bounds, name)) for name in ERRORS}}


def score_fields(sample: Tally, *, level: float, seed: str) -> Fields | None:
    """The errors, and weighted kappa and alpha by the order of the labels and, where they lie evenly, by distances."""
    fields = score_error_fields(sample, level=level)
    if fields is None:
        return None
    return fields | _coefficients(sample, level=level, seed=seed)


def _coefficients(sample: Tally, *, level: float, seed: str) -> Fields:
    labelled = sample.labelled
    fields: Fields = {}
    steps = np.diff(sample.scale.values or ())
    is_even = bool(np.allclose(steps, steps[0]))
    for scale_level, kappa, alpha in LEVELS:
        if scale_level == "interval" and not is_even:
            fields |= dict.fromkeys((kappa, alpha))  # they take labels for one apart
            continue
        found = agreement(
            labelled.labels_given,
            labelled.counts,
            labelled.clusters,
            labels=sample.scale.labels,
            scale_level=scale_level,
            rng=content_rng(seed, "agreement"),
            level=level,
        )
        fields |= {kappa: estimate_fields(found.cohen_kappa), alpha: estimate_fields(found.krippendorff_alpha)}
    return fields
