"""What a report says of one grader."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from experiments.reports.breakdown import by_dispute, by_kind
from experiments.reports.costly_items import costly_items
from experiments.reports.counted_fields import counted_fields
from experiments.reports.exact_measures import exact_fields
from experiments.reports.exact_sample import ExactSample
from experiments.reports.inputs import GraderResults
from experiments.reports.item_listings import most_inconsistent, range_disagreements
from experiments.reports.label_bias import label_bias_fields
from experiments.reports.plain import plain_value
from experiments.reports.reference_labels import ReferenceLabels
from experiments.reports.rubric_measures import rubric_fields
from experiments.reports.sample import Sample

__all__ = ["build_grader_section", "identity_fields", "label_fields"]


def build_grader_section(
    results: GraderResults,
    sample: Sample,
    labels: ReferenceLabels,
    outcomes: Mapping[str, str],
    *,
    number: int,
    seed: str,
    level: float,
) -> dict[str, Any]:
    """All fields of one grader but its comparison of parsers.

    Parameters
    ----------
    results
        The grader as it was asked.
    sample
        Its verdicts, counted, with the reference labels that it is held against.
    labels
        Where these labels come from.
    outcomes
        Item id to what the deterministic range check says.
    number
        Its place in the report, from 1.
    seed
        Text that stands for the content; fixes the bootstrap.
    """
    bare = set(labels.consensus.unlabelled)
    disputed = set(labels.consensus.disputed)
    ids = [item.item_id for item in sample.items]
    return {
        **identity_fields(results, labels, number=number),
        "costly_items": costly_items(results.item_tokens, sample.items),
        **counted_fields(sample, level=level, seed=seed),
        "exact": exact_fields(sample) if isinstance(sample, ExactSample) else None,
        "labels": label_fields(labels),
        "not_answered": _call_failures(results, sample),
        **rubric_fields(results, sample, level=level, seed=seed),
        "label_bias": label_bias_fields(results, sample, level=level, seed=seed),
        "by_kind": by_kind(sample, [item.kind for item in sample.items], level=level),
        "by_dispute": by_dispute(
            sample,
            disputed=[item_id in disputed for item_id in ids],
            unlabelled=[item_id in bare for item_id in ids],
            level=level,
        ),
        "most_inconsistent": most_inconsistent(sample),
        "range_disagreements": range_disagreements(sample, outcomes),
    }


def identity_fields(results: GraderResults, labels: ReferenceLabels, *, number: int) -> dict[str, Any]:
    """Who a grader is, what was asked of it, and what that cost."""
    usage = results.usage
    effective = {json.dumps(plain_value(settings), sort_keys=True) for settings in results.effective_sampling}
    return {
        "number": number,
        "grader_id": results.grader_id,
        "prompt": results.prompt,
        "rubric": labels.grader_rubric,
        "model": results.model,
        "sampling": plain_value(results.sampling),
        "effective_sampling": [json.loads(settings) for settings in sorted(effective)],
        "served_models": sorted(set(results.served_models)),
        "served": dict(sorted(results.served_counts.items())),
        "fingerprints": dict(sorted(results.fingerprints.items())),
        "usage": {
            "input_tokens": usage.input_tokens if usage else None,
            "output_tokens": usage.output_tokens if usage else None,
            "cached_tokens": usage.cached_tokens if usage else None,
            "cache_write_tokens": usage.cache_write_tokens if usage else None,
            "reasoning_tokens": usage.reasoning_tokens if usage else None,
        },
        "cost": None if results.cost is None else {"dollars": results.cost.amount, "complete": results.cost.complete},
        "failed_calls": dict(sorted(results.failed_calls.items())),
        "notes": list(results.notes),
    }


def label_fields(labels: ReferenceLabels) -> dict[str, Any]:
    """How many items carry the labels that a grader is held against."""
    consensus = labels.consensus
    return {
        "rubric": labels.rubric,
        "n_labelled": len(consensus.labels),
        "n_tied": len(consensus.tied),
        "n_unlabelled": len(consensus.unlabelled),
        "n_disputed": len(consensus.disputed),
    }


def _call_failures(results: GraderResults, sample: Sample) -> dict[str, int]:
    """Why calls brought no reply, reason to number of verdicts; adds up to the failure ``not_answered``."""
    items = Counter(item.digest for item in sample.items)
    reasons: Counter[str] = Counter()
    for verdict in results.verdicts:
        if verdict.failure == "not_answered":
            reasons[verdict.detail or "unknown"] += items[verdict.item_digest]
    absent = sample.failure_counts.get("not_answered", 0) - sum(reasons.values())
    return dict(sorted((reasons + Counter({"not_asked": absent})).items()))
