"""The statistics of a sample as report fields: error rates, repeats, agreement, confusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.reports.exact_measures import (
    exact_agreement_fields,
    exact_alpha_fields,
    exact_bound_fields,
    exact_rates,
    exact_raw_agreement,
    exact_repeat_fields,
    exact_row_rates,
)
from experiments.reports.exact_sample import ExactSample
from experiments.reports.plain import content_rng, estimate_fields, undefined_estimate
from experiments.reports.reasons import (
    agreement_reason,
    alpha_reason,
    false_negative_reason,
    false_positive_reason,
    repeats_reason,
)
from experiments.reports.tally import Tally
from experiments.stats.errors.confusion import confusion_matrix
from experiments.stats.errors.rates import error_rate_bounds, false_negative_rate, false_positive_rate
from experiments.stats.intervals.clustered_wilson import clustered_wilson
from experiments.stats.raters.rater_agreement import agreement
from experiments.stats.repeats.inconsistency import alpha_repeats, flip_rate, pairwise_disagreement

__all__ = [
    "agreement_fields",
    "alpha_fields",
    "confusion_fields",
    "count_fields",
    "error_rate_fields",
    "raw_agreement",
    "repeat_fields",
]

Fields = dict[str, Any]


def count_fields(sample: Tally) -> Fields:
    """What every rate of a sample rests on: items, verdicts asked for and got, failures with reasons."""
    return {
        "n_items": sample.n_items,
        "n_labelled": sample.labelled.n_items,
        "n_expected": sample.n_expected,
        "n_verdicts": sample.n_verdicts,
        "coverage": sample.coverage,
        "failures": sample.failure_counts,
    }


def error_rate_fields(sample: Tally, *, level: float) -> tuple[Fields, Mapping[str, str]]:
    """Error rates, their bounds where verdicts are missing, coverage of each; and why any is not defined."""
    labelled, positive = sample.labelled, sample.scale.positive
    rows = {"false_negative_rate": False, "false_positive_rate": False}
    if positive is None:
        nothing = undefined_estimate(method="wilson-clustered", level=level)
        fields: Fields = {name: dict(nothing) for name in rows} | {f"{name}_bounds": None for name in rows}
        fields["rate_coverage"] = {**dict.fromkeys(rows), "agreement": labelled.coverage}
    else:
        fields = _rates(labelled, positive, level=level) | _bounds(labelled, positive)
        fields["rate_coverage"] = _row_coverage(labelled, positive)
    reasons = {
        "false_negative_rate": false_negative_reason(sample),
        "false_positive_rate": false_positive_reason(sample),
    }
    return fields, {name: why for name, why in reasons.items() if fields[name]["value"] is None}


def _rates(labelled: Tally, positive: str, *, level: float) -> Fields:
    if isinstance(labelled, ExactSample):
        return exact_rates(labelled, positive, level=level)
    labels, reference = labelled.scale.labels, labelled.labels_given
    negative = false_negative_rate(
        reference, labelled.counts, labelled.clusters, labels=labels, positive=positive, level=level
    )
    false = false_positive_rate(
        reference, labelled.counts, labelled.clusters, labels=labels, positive=positive, level=level
    )
    return {"false_negative_rate": estimate_fields(negative), "false_positive_rate": estimate_fields(false)}


def _bounds(labelled: Tally, positive: str) -> Fields:
    """Bounds are given as soon as any verdict of a labelled item is missing, for both rates."""
    if labelled.n_verdicts == labelled.n_expected:
        return {"false_negative_rate_bounds": None, "false_positive_rate_bounds": None}
    if isinstance(labelled, ExactSample):
        return exact_bound_fields(labelled, positive)
    bounds = error_rate_bounds(
        labelled.labels_given,
        labelled.counts,
        labelled.expected,
        labels=labelled.scale.labels,
        positive=positive,
    )
    return {
        "false_negative_rate_bounds": list(bounds.false_negative) if bounds.false_negative else None,
        "false_positive_rate_bounds": list(bounds.false_positive) if bounds.false_positive else None,
    }


def _row_coverage(labelled: Tally, positive: str) -> Fields:
    right = [label == positive for label in labelled.reference]
    return {
        "false_negative_rate": labelled.take(right).coverage,
        "false_positive_rate": labelled.take([not passed for passed in right]).coverage,
        "agreement": labelled.coverage,
    }


def repeat_fields(sample: Tally, *, level: float) -> tuple[Fields, Mapping[str, str]]:
    """Flip rate and pairwise disagreement over all items, labelled or not; and why either is not defined."""
    fields = _exact_or_drawn_repeats(sample, level=level)
    return fields, {name: repeats_reason(sample) for name, field in fields.items() if field["value"] is None}


def _exact_or_drawn_repeats(sample: Tally, *, level: float) -> Fields:
    if isinstance(sample, ExactSample):
        return exact_repeat_fields(sample, level=level)
    return {
        "flip_rate": estimate_fields(flip_rate(sample.counts, sample.clusters, level=level)),
        "pairwise_disagreement": estimate_fields(pairwise_disagreement(sample.counts, sample.clusters, level=level)),
    }


def alpha_fields(sample: Tally, *, level: float, seed: str) -> tuple[Fields, Mapping[str, str]]:
    """Krippendorff's alpha with repeats as raters; and why it is not defined."""
    if isinstance(sample, ExactSample):
        return exact_alpha_fields(level)
    if sample.most_repeats < 2:
        nothing = undefined_estimate(method="cluster-bootstrap", level=level)
        return {"alpha_repeats": nothing}, {"alpha_repeats": alpha_reason(sample)}
    estimate = alpha_repeats(
        sample.counts,
        sample.clusters,
        labels=sample.scale.labels,
        scale_level=sample.scale.level,
        rng=content_rng(seed, "alpha_repeats"),
        level=level,
    )
    reasons = {} if estimate.value is not None else {"alpha_repeats": alpha_reason(sample)}
    return {"alpha_repeats": estimate_fields(estimate)}, reasons


def agreement_fields(sample: Tally, *, level: float, seed: str) -> tuple[Fields, Mapping[str, str]]:
    """Agreement of one draw with people, coefficients and prevalence; and why any is not defined."""
    if isinstance(sample, ExactSample):
        return exact_agreement_fields(sample, level=level)
    labelled = sample.labelled
    result = agreement(
        labelled.labels_given,
        labelled.counts,
        labelled.clusters,
        labels=sample.scale.labels,
        scale_level=sample.scale.level,
        rng=content_rng(seed, "agreement"),
        level=level,
    )
    estimates = {
        "raw": estimate_fields(result.raw),
        "cohen_kappa": estimate_fields(result.cohen_kappa),
        "gwet_ac1": estimate_fields(result.gwet_ac1),
        "krippendorff_alpha": estimate_fields(result.krippendorff_alpha),
    }
    why = agreement_reason(sample, result.raw.value)
    reasons = {f"agreement.{name}": why for name, field in estimates.items() if field["value"] is None}
    return {"agreement": {**estimates, "prevalence": result.prevalence, "kappa_weights": result.kappa_weights}}, reasons


def raw_agreement(sample: Tally, *, level: float) -> Fields:
    """Raw agreement alone, without the cost of a bootstrap."""
    if isinstance(sample, ExactSample):
        return exact_raw_agreement(sample, level=level)
    judged = sample.labelled.take([bool(valid) for valid in sample.labelled.valid])
    means = _agreeing_shares(judged)
    return estimate_fields(clustered_wilson(means, judged.clusters, repeats=judged.most_repeats, level=level))


def _agreeing_shares(judged: Tally) -> NDArray[np.float64]:
    columns = [judged.scale.index(label) for label in judged.labels_given]
    same = judged.counts[np.arange(judged.n_items), columns] if columns else np.zeros(0)
    return np.asarray(same / np.maximum(judged.valid, 1), dtype=np.float64)


def confusion_fields(sample: Tally) -> Fields:
    """People in rows: verdicts, row rates, and for each row its items and what is missing of it."""
    labelled = sample.labelled
    matrix = confusion_matrix(labelled.labels_given, labelled.counts, labels=sample.scale.labels)
    rows = [labelled.take([given == label for given in labelled.reference]) for label in sample.scale.labels]
    return {
        "labels": list(matrix.labels),
        "counts": [[int(count) for count in row] for row in matrix.counts],
        "rates": (
            exact_row_rates(labelled)
            if isinstance(labelled, ExactSample)
            else [[None if rate is None else float(rate) for rate in row] for row in matrix.rates]
        ),
        "n_items": [row.n_items for row in rows],
        "n_missing": [row.n_expected - row.n_verdicts for row in rows],
    }
