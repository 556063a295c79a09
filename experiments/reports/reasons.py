"""Why a statistic is not defined, in words, with the counts that it would have rested on."""

from __future__ import annotations

from experiments.reports.tally import Tally

__all__ = ["agreement_reason", "alpha_reason", "false_negative_reason", "false_positive_reason", "repeats_reason"]


def false_negative_reason(sample: Tally) -> str:
    """Why no share of refused right responses can be given."""
    return _row_reason(sample, passed=True, row=f"people called {sample.scale.positive}")


def false_positive_reason(sample: Tally) -> str:
    """Why no share of passed wrong responses can be given."""
    return _row_reason(sample, passed=False, row=f"people called anything but {sample.scale.positive}")


def repeats_reason(sample: Tally) -> str:
    """Why nothing can be said about repeats."""
    if sample.n_verdicts == 0:
        return _no_verdict(sample)
    if sample.expected == 1:
        return f"one verdict an item, n = {sample.n_items}"
    return f"no item with two or more valid verdicts, n = {sample.n_items}"


def alpha_reason(sample: Tally) -> str:
    """Why repeats have no alpha."""
    if sample.most_repeats < 2:
        return repeats_reason(sample)
    pairable = sample.take([bool(valid > 1) for valid in sample.valid])
    used = _labels_used(pairable)
    if len(used) == 1:
        return f"no variation: every verdict is {used[0]}, n = {pairable.n_items}"
    return f"too little variation, n = {pairable.n_items}"


def agreement_reason(sample: Tally, raw: float | None) -> str:
    """Why a chance-corrected coefficient is not defined, with the raw agreement beside it."""
    if raw is None:
        return "no item with people's label" if not sample.labelled.n_items else _no_verdict(sample.labelled)
    judged = sample.labelled.take([bool(valid) for valid in sample.labelled.valid])
    classes = {*judged.labels_given, *_labels_used(judged)}
    why = "one class" if len(classes) == 1 else "chance alone would agree always"
    return f"{why}, agreement {_percent(raw)}, n = {judged.n_items}"


def _row_reason(sample: Tally, *, passed: bool, row: str) -> str:
    if sample.scale.positive is None:
        return f"scale {sample.scale.name} names no label as right"
    in_row = sample.labelled.take([(label == sample.scale.positive) is passed for label in sample.labelled.reference])
    if not in_row.n_items:
        return f"no item that {row}, n = 0 of {sample.labelled.n_items} labelled"
    return _no_verdict(in_row)


def _no_verdict(sample: Tally) -> str:
    return f"no valid verdict of {sample.n_expected}, n = {sample.n_items}"


def _labels_used(sample: Tally) -> list[str]:
    return [label for label, used in zip(sample.scale.labels, sample.counts.sum(axis=0), strict=True) if used]


def _percent(share: float) -> str:
    return "100%" if share == 1.0 else f"{100 * share:.1f}%"
