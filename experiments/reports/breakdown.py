"""The same rates for parts of a run: by kind of item, and by whether people agreed."""

from __future__ import annotations

from typing import Any

from calibration_sets.calibration_set import Consensus
from experiments.reports.measures import count_fields, error_rate_fields, raw_agreement, repeat_fields
from experiments.reports.reasons import agreement_reason
from experiments.reports.sample import Sample
from experiments.reports.score_measures import score_error_fields

__all__ = ["NO_KIND", "by_dispute", "by_kind"]

NO_KIND = "(no kind)"
"""The name under which items without a kind stand when others have one."""


def by_kind(sample: Sample, *, level: float) -> dict[str, dict[str, Any]]:
    """Kind to its rates, in the order of their names; empty where no item has a kind."""
    if all(item.kind is None for item in sample.items):
        return {}
    kinds = [NO_KIND if item.kind is None else item.kind for item in sample.items]
    return {name: _part(sample.take([kind == name for kind in kinds]), level=level) for name in sorted(set(kinds))}


def by_dispute(sample: Sample, consensus: Consensus, *, level: float) -> dict[str, dict[str, Any]]:
    """Rates where people were unanimous and where they were not; empty where no label is disputed.

    Ties count as disputed items but have no label to be held against, so only repeats speak of them.
    """
    disputed, unlabelled = set(consensus.disputed), set(consensus.unlabelled)
    if not disputed:
        return {}
    ids = [item.item_id for item in sample.items]
    return {
        "disputed": _part(sample.take([item_id in disputed for item_id in ids]), level=level),
        "undisputed": _part(sample.take([item_id not in disputed | unlabelled for item_id in ids]), level=level),
    }


def _part(sample: Sample, *, level: float) -> dict[str, Any]:
    errors, error_reasons = error_rate_fields(sample, level=level)
    repeats, repeat_reasons = repeat_fields(sample, level=level)
    raw = raw_agreement(sample, level=level)
    raw_reasons = {} if raw["value"] is not None else {"agreement.raw": agreement_reason(sample, None)}
    return {
        **count_fields(sample),
        **errors,
        "score_errors": score_error_fields(sample, level=level),
        **repeats,
        "agreement": {"raw": raw},
        "not_defined": {**error_reasons, **repeat_reasons, **raw_reasons},
    }
