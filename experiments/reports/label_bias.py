"""What a grader would say without its liking for some labels: before and after, held out by question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from experiments.reports.exact_sample import ExactSample
from experiments.reports.inputs import GraderResults
from experiments.reports.plain import content_rng, estimate_fields, undefined_estimate
from experiments.reports.sample import Sample
from experiments.stats.errors.confusion import confusion_matrix
from experiments.stats.errors.rates import false_negative_rate, false_positive_rate
from experiments.stats.label_bias import (
    FEWEST_QUESTIONS,
    accuracy_gain,
    balanced_accuracy,
    count_questions,
    held_out_logprobs,
    label_offsets,
    likeliest_counts,
)
from experiments.stats.raters.rater_agreement import agreement
from experiments.stats.repeats.exact import exact_agreement, exact_error_rates

__all__ = ["label_bias_fields"]

Fields = dict[str, Any]
Table = NDArray[np.float64]


def label_bias_fields(results: GraderResults, sample: Sample, *, level: float, seed: str) -> Fields | None:
    """Rates of the likeliest label, and of one draw, as they come and with label bias taken away.

    Returns
    -------
    dict or None
        ``None`` for graders without label log-probabilities. ``before`` and ``after`` are ``None``
        where too few questions carry a label; ``not_defined`` says how many do.
    """
    if not results.label_logprobs:
        return None
    known = {digest: row for digest in results.label_logprobs if (row := _row(results, digest, sample)) is not None}
    used = sample.labelled.take([item.digest in known for item in sample.labelled.items])
    table = np.array([known[item.digest] for item in used.items]).reshape(-1, len(sample.scale.labels))
    questions = count_questions(used.labels_given, used.clusters, labels=used.scale.labels)
    temperature = results.sampling.get("temperature") or None
    found: Fields = {
        "n_items": used.n_items,
        "n_questions": len(set(used.clusters)),
        "n_without": sample.labelled.n_items - used.n_items,
        "label_questions": questions,
        "held_out_by": "question",
        "n_folds": len(set(used.clusters)),
        "temperature": temperature,
        "offsets": None,
        "before": None,
        "after": None,
        "gain": undefined_estimate(method="cluster-bootstrap", level=level),
        "not_defined": _reason(questions),
    }
    return found if found["not_defined"] else found | _compared(used, table, temperature, level=level, seed=seed)


def _row(results: GraderResults, digest: str, sample: Sample) -> list[float] | None:
    """An item's log-probabilities, all of them or none; what the report counts as no verdict has none."""
    given = results.label_logprobs[digest]
    row = [given.get(label, np.nan) for label in sample.scale.labels]
    distribution = (results.distributions or {}).get(digest)
    refused = distribution is not None and distribution.probabilities is None
    return None if refused or not np.all(np.isfinite(row)) else row


def _reason(questions: Mapping[str, int]) -> str | None:
    few = [f"{label} {count}" for label, count in questions.items() if count < FEWEST_QUESTIONS]
    return f"questions with a label: {', '.join(few)}; expected {FEWEST_QUESTIONS} or more of each" if few else None


def _compared(used: Sample, table: Table, temperature: float | None, *, level: float, seed: str) -> Fields:
    given, clusters, labels = used.labels_given, used.clusters, used.scale.labels
    after = held_out_logprobs(table, given, clusters, labels=labels)
    gain = accuracy_gain(
        given,
        likeliest_counts(table),
        likeliest_counts(after),
        clusters,
        labels=labels,
        rng=content_rng(seed, "label bias", "gain"),
        level=level,
    )
    return {
        "offsets": label_offsets(table, given, labels=labels),
        "before": _measured(used, table, temperature, level=level, seed=seed),
        "after": _measured(used, after, temperature, level=level, seed=seed),
        "gain": estimate_fields(gain),
    }


def _measured(used: Sample, table: Table, temperature: float | None, *, level: float, seed: str) -> Fields:
    counts, labels = likeliest_counts(table), used.scale.labels
    agreed = agreement(
        used.labels_given,
        counts,
        used.clusters,
        labels=labels,
        scale_level=used.scale.level,
        rng=content_rng(seed, "label bias", "alpha"),
        level=level,
    )
    rng = content_rng(seed, "label bias", "balanced")
    balanced = balanced_accuracy(used.labels_given, counts, used.clusters, labels=labels, rng=rng, level=level)
    return {
        "accuracy": estimate_fields(agreed.raw),
        "balanced_accuracy": estimate_fields(balanced),
        **_error_rates(used, counts, level=level),
        "krippendorff_alpha": estimate_fields(agreed.krippendorff_alpha),
        "confusion": _confusion(used, counts),
        "one_draw": None if temperature is None else _one_draw(used, table, temperature, level=level),
    }


def _error_rates(used: Sample, counts: NDArray[np.int64], *, level: float) -> Fields:
    positive = used.scale.positive
    if positive is None:
        nothing = undefined_estimate(method="wilson-clustered", level=level)
        return {"false_negative_rate": nothing, "false_positive_rate": dict(nothing)}
    given, clusters, labels = used.labels_given, used.clusters, used.scale.labels
    negative = false_negative_rate(given, counts, clusters, labels=labels, positive=positive, level=level)
    false = false_positive_rate(given, counts, clusters, labels=labels, positive=positive, level=level)
    return {"false_negative_rate": estimate_fields(negative), "false_positive_rate": estimate_fields(false)}


def _confusion(used: Sample, counts: NDArray[np.int64]) -> Fields:
    """Row shares alone: where two labels share first place there are no whole counts."""
    matrix = confusion_matrix(used.labels_given, counts, labels=used.scale.labels)
    return {
        "labels": list(matrix.labels),
        "rates": [[None if rate is None else float(rate) for rate in row] for row in matrix.rates],
        "n_items": [used.labels_given.count(label) for label in matrix.labels],
    }


def _one_draw(used: Sample, table: Table, temperature: float, *, level: float) -> Fields:
    """Rates of a draw at the grader's temperature, computed from the log-probabilities."""
    draws = used.draws if isinstance(used, ExactSample) else used.expected
    shares = np.asarray(softmax(table / temperature, axis=1), dtype=np.float64)
    given, clusters, labels = used.labels_given, used.clusters, used.scale.labels
    right = exact_agreement(given, shares, clusters, labels=labels, draws=draws, level=level)
    fields: Fields = {"accuracy": estimate_fields(right)}
    if used.scale.positive is None:
        return fields
    negative, false = exact_error_rates(
        given, shares, clusters, labels=labels, positive=used.scale.positive, draws=draws, level=level
    )
    return fields | {"false_negative_rate": estimate_fields(negative), "false_positive_rate": estimate_fields(false)}
