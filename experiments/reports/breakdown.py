"""The same rates for parts of a run: by kind of item, and by whether people agreed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.reports.measures import count_fields, error_rate_fields, raw_agreement, repeat_fields
from experiments.reports.reasons import agreement_reason
from experiments.reports.score_measures import score_error_fields
from experiments.reports.tally import Tally

__all__ = ["NO_KIND", "by_dispute", "by_kind"]

NO_KIND = "(no kind)"
"""The name under which items without a kind stand when others have one."""


def by_kind(sample: Tally, kinds: Sequence[str | None], *, level: float) -> dict[str, dict[str, Any]]:
    """Kind to its rates, in the order of their names; empty where no item has a kind.

    ``kinds`` are those of the sample's items.
    """
    if all(kind is None for kind in kinds):
        return {}
    named = [NO_KIND if kind is None else kind for kind in kinds]
    return {name: _part(sample.take([kind == name for kind in named]), level=level) for name in sorted(set(named))}


def by_dispute(
    sample: Tally, *, disputed: Sequence[bool], unlabelled: Sequence[bool], level: float
) -> dict[str, dict[str, Any]]:
    """Rates where people were unanimous and where they were not; empty where no label is disputed.

    Ties count as disputed items but have no label to be held against, so only repeats speak of them.

    Parameters
    ----------
    disputed, unlabelled
        Whether the people who labelled each item of the sample were not unanimous, and whether nobody did.
    """
    if not any(disputed):
        return {}
    undisputed = [not (is_open or is_bare) for is_open, is_bare in zip(disputed, unlabelled, strict=True)]
    return {
        "disputed": _part(sample.take(disputed), level=level),
        "undisputed": _part(sample.take(undisputed), level=level),
    }


def _part(sample: Tally, *, level: float) -> dict[str, Any]:
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
