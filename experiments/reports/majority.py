"""What asking a grader K times and taking the most frequent label would do to its error rates."""

from __future__ import annotations

from typing import Any

from experiments.reports.exact_measures import exact_majority_fields
from experiments.reports.exact_sample import ExactSample
from experiments.reports.majority_sizes import majority_sizes
from experiments.reports.plain import estimate_fields
from experiments.reports.tally import Tally
from experiments.stats.errors.majority import majority_error_rates

__all__ = ["majority_fields"]


def majority_fields(sample: Tally, *, level: float) -> dict[str, dict[str, Any]]:
    """K to the error rates of the majority of K draws; empty where the scale names no label as right."""
    if sample.scale.positive is None:
        return {}
    labelled = sample.labelled
    if isinstance(labelled, ExactSample):
        return exact_majority_fields(labelled, sample.scale.positive, level=level)
    return {str(k): _rates(labelled, sample.scale.positive, k=k, level=level) for k in majority_sizes(sample.expected)}


def _rates(labelled: Tally, positive: str, *, k: int, level: float) -> dict[str, Any]:
    rates = majority_error_rates(
        labelled.labels_given,
        labelled.counts,
        labelled.clusters,
        labels=labelled.scale.labels,
        positive=positive,
        k=k,
        level=level,
    )
    return {
        "k": rates.k,
        "false_negative_rate": estimate_fields(rates.false_negative),
        "false_positive_rate": estimate_fields(rates.false_positive),
        "false_negative_ties": estimate_fields(rates.false_negative_ties),
        "false_positive_ties": estimate_fields(rates.false_positive_ties),
    }
