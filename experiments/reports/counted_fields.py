"""What a report says of one grader that rests on counts of its verdicts alone."""

from __future__ import annotations

from typing import Any

from experiments.reports.exact_sample import ExactSample
from experiments.reports.majority import majority_fields
from experiments.reports.measures import (
    agreement_fields,
    alpha_fields,
    confusion_fields,
    count_fields,
    error_rate_fields,
    repeat_fields,
)
from experiments.reports.rubric_measures import label_set_fields
from experiments.reports.score_measures import score_fields
from experiments.reports.tally import Tally

__all__ = ["counted_fields"]


def counted_fields(sample: Tally, *, level: float, seed: str) -> dict[str, Any]:
    """Counts, error rates, repeats, agreement, confusion, majority; ``not_defined`` says why any has no value.

    ``seed`` is a text that stands for the content; it fixes the bootstrap.
    """
    errors, error_reasons = error_rate_fields(sample, level=level)
    repeats, repeat_reasons = repeat_fields(sample, level=level)
    alpha, alpha_reasons = alpha_fields(sample, level=level, seed=seed)
    agreement, agreement_reasons = agreement_fields(sample, level=level, seed=seed)
    return {
        **count_fields(sample),
        "n_repeats": sample.draws if isinstance(sample, ExactSample) else sample.expected,
        "verdicts": _verdict_counts(sample),
        **errors,
        "confusion": confusion_fields(sample),
        **repeats,
        **alpha,
        **agreement,
        "score_errors": score_fields(sample, level=level, seed=seed),
        "label_sets": label_set_fields(sample, level=level, seed=seed),
        "majority": majority_fields(sample, level=level),
        "not_defined": {**error_reasons, **repeat_reasons, **alpha_reasons, **agreement_reasons},
    }


def _verdict_counts(sample: Tally) -> dict[str, int]:
    totals = sample.counts.sum(axis=0)
    return {label: int(count) for label, count in zip(sample.scale.labels, totals, strict=True)}
