"""The statistics of computed distributions as report fields, under the names that draws have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.reports.exact_sample import ExactSample
from experiments.reports.majority_sizes import majority_sizes
from experiments.reports.plain import estimate_fields, undefined_estimate
from experiments.stats.repeats.exact import (
    exact_agreement,
    exact_bounds,
    exact_error_rates,
    exact_flip_rate,
    exact_majority_error_rates,
    exact_pairwise_disagreement,
)

__all__ = [
    "exact_agreement_fields",
    "exact_alpha_fields",
    "exact_bound_fields",
    "exact_fields",
    "exact_majority_fields",
    "exact_rates",
    "exact_raw_agreement",
    "exact_repeat_fields",
    "exact_row_rates",
]

Fields = dict[str, Any]

NO_DRAWS = "computed and never drawn"


def exact_fields(sample: ExactSample) -> Fields:
    """What marks such a grader, and the mass that free draws could put outside the labels."""
    known = sample.outside[~np.isnan(sample.outside)]
    return {
        "draws": sample.draws,
        "outside_mean": float(known.mean()) if len(known) else None,
        "outside_most": float(known.max()) if len(known) else None,
    }


def exact_rates(labelled: ExactSample, positive: str, *, level: float) -> Fields:
    """Error rates of one draw."""
    negative, false = exact_error_rates(
        labelled.labels_given,
        labelled.shares,
        labelled.clusters,
        labels=labelled.scale.labels,
        positive=positive,
        draws=labelled.draws,
        level=level,
    )
    return {"false_negative_rate": estimate_fields(negative), "false_positive_rate": estimate_fields(false)}


def exact_bound_fields(labelled: ExactSample, positive: str) -> Fields:
    """Error rates with all items that have no distribution right, and with all of them wrong."""
    bounds = exact_bounds(labelled.labels_given, labelled.shares, labels=labelled.scale.labels, positive=positive)
    return {
        "false_negative_rate_bounds": list(bounds.false_negative) if bounds.false_negative else None,
        "false_positive_rate_bounds": list(bounds.false_positive) if bounds.false_positive else None,
    }


def exact_repeat_fields(sample: ExactSample, *, level: float) -> Fields:
    """Chance of a flip in R draws, and of two draws that differ."""
    return {
        "flip_rate": estimate_fields(exact_flip_rate(sample.shares, sample.clusters, draws=sample.draws, level=level)),
        "pairwise_disagreement": estimate_fields(
            exact_pairwise_disagreement(sample.shares, sample.clusters, draws=sample.draws, level=level)
        ),
    }


def exact_alpha_fields(level: float) -> tuple[Fields, Mapping[str, str]]:
    """Alpha needs draws."""
    return {"alpha_repeats": undefined_estimate(method="cluster-bootstrap", level=level)}, {"alpha_repeats": NO_DRAWS}


def exact_raw_agreement(sample: ExactSample, *, level: float) -> Fields:
    """Chance that a draw is people's label; ``TypeError`` for a sample of draws."""
    labelled = sample.labelled
    if not isinstance(labelled, ExactSample):
        raise TypeError("labelled part: draws; expected distributions")
    return estimate_fields(
        exact_agreement(
            labelled.labels_given,
            labelled.shares,
            labelled.clusters,
            labels=labelled.scale.labels,
            draws=labelled.draws,
            level=level,
        )
    )


def exact_agreement_fields(sample: ExactSample, *, level: float) -> tuple[Fields, Mapping[str, str]]:
    """Agreement of one draw with people; chance-corrected coefficients need draws."""
    nothing = undefined_estimate(method="cluster-bootstrap", level=level)
    names = ("cohen_kappa", "gwet_ac1", "krippendorff_alpha")
    given = sample.labelled.labels_given
    prevalence = {label: given.count(label) / len(given) for label in sample.scale.labels} if given else {}
    fields = {
        "raw": exact_raw_agreement(sample, level=level),
        **{name: dict(nothing) for name in names},
        "prevalence": prevalence,
        "kappa_weights": "none",
    }
    reasons = {f"agreement.{name}": NO_DRAWS for name in names}
    if not given:
        reasons["agreement.raw"] = "no item with people's label"
    return {"agreement": fields}, reasons


def exact_majority_fields(labelled: ExactSample, positive: str, *, level: float) -> dict[str, Fields]:
    """K to the error rates of the majority of K draws."""
    found = {}
    for k in majority_sizes(labelled.draws):
        rates = exact_majority_error_rates(
            labelled.labels_given,
            labelled.shares,
            labelled.clusters,
            labels=labelled.scale.labels,
            positive=positive,
            k=k,
            draws=labelled.draws,
            level=level,
        )
        found[str(k)] = {
            "k": rates.k,
            "false_negative_rate": estimate_fields(rates.false_negative),
            "false_positive_rate": estimate_fields(rates.false_positive),
            "false_negative_ties": estimate_fields(rates.false_negative_ties),
            "false_positive_ties": estimate_fields(rates.false_positive_ties),
        }
    return found


def exact_row_rates(labelled: ExactSample) -> list[list[float | None]]:
    """Rows of the confusion matrix: the mean chances over the items of a reference label."""
    rows: list[list[float | None]] = []
    for label in labelled.scale.labels:
        chosen = labelled.shares[[given == label for given in labelled.reference]]
        known = chosen[~np.isnan(chosen).any(axis=1)]
        rows.append(
            [float(value) for value in known.mean(axis=0)] if len(known) else [None] * len(labelled.scale.labels)
        )
    return rows
