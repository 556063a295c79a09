"""The page of a gate, ending in its decision."""

from __future__ import annotations

from typing import Any

from experiments.analyses.gates.gate_rules import COEFFICIENTS
from experiments.analyses.gates.gating import BaselineCheck, Gate, RuleCheck
from experiments.analyses.p_values import p_text
from experiments.analyses.score_values import SCORE_SIZES
from experiments.reports.document import Block, Document, Paragraph, Section, Table
from experiments.reports.figures import coefficient_text, count_text, percent, rate_text, signed_text
from experiments.reports.plain import estimate_fields
from experiments.stats.intervals import few_clusters

__all__ = ["SCHEMA", "gate_document", "gate_fields"]

SCHEMA = "autorater.gate/1"
"""Name and version of the JSON form."""

_WORDS = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}


def gate_fields(gate: Gate) -> dict[str, Any]:
    """The gate as plain JSON values."""
    return {
        "schema": SCHEMA,
        "run_id": gate.run_id,
        "grader": gate.grader,
        "level": gate.level,
        "n_items": gate.n_items,
        "n_labelled": gate.n_labelled,
        "n_expected": gate.n_expected,
        "n_verdicts": gate.n_verdicts,
        "failures": dict(gate.failures),
        "outcome": gate.outcome,
        "rules": [_rule_fields(check) for check in gate.rules],
        "baseline": None if gate.baseline is None else {"run_id": gate.baseline[0], "grader": gate.baseline[1]},
        "comparisons": [_baseline_fields(check) for check in gate.comparisons],
        "decision": decision_text(gate),
    }


def _rule_fields(check: RuleCheck) -> dict[str, Any]:
    measured = check.measured
    return {
        "rule": check.rule.text,
        "outcome": check.outcome,
        "why": check.why,
        "measure": estimate_fields(measured.estimate),
        "coverage": measured.coverage,
        "bounds": None if measured.bounds is None else list(measured.bounds),
        "completed": None if measured.within is None else [estimate_fields(one) for one in measured.within],
    }


def _baseline_fields(check: BaselineCheck) -> dict[str, Any]:
    return {
        "rule": check.rule.text,
        "outcome": check.outcome,
        "why": check.why,
        "difference": estimate_fields(check.test.estimate),
        "p_value": check.test.p_value,
        "completed": None if check.worst is None else estimate_fields(check.worst.estimate),
        "n_items": check.n_items,
        "n_common": check.n_common,
        "n_about": check.n_about,
        "n_compared": check.test.estimate.n,
        "n_without": check.n_without,
        "n_without_baseline": check.n_without_baseline,
        "n_relabelled": check.n_relabelled,
    }


def gate_document(gate: Gate) -> Document:
    """The gate as a page."""
    blocks: list[Block] = [Paragraph(_about(gate))]
    if gate.rules:
        blocks.append(_rule_table(gate))
    if gate.comparisons:
        blocks += [Paragraph(_about_baseline(gate)), _baseline_table(gate)]
    return Document(
        (
            Section(f"Gate: {gate.grader}", 1, tuple(blocks)),
            Section("Decision", 2, (Paragraph(decision_text(gate)),)),
        )
    )


def _about(gate: Gate) -> str:
    return (
        f"Run {gate.run_id}: {gate.n_items:,} items, {gate.n_labelled:,} with people's label; "
        f"{gate.n_verdicts:,} of {gate.n_expected:,} verdicts; without a label: {count_text(gate.failures)}. "
        f"Intervals are two-sided at {percent(gate.level)}."
    )


def _about_baseline(gate: Gate) -> str:
    run, grader = gate.baseline or ("", "")
    return (
        f"Against {grader} in run {run}, on the items whose content both judged. Differences are this grader less the "
        f"baseline, in one-sided tests at {percent(gate.level)}, whose interval is that of "
        f"{percent(2 * gate.level - 1)}."
    )


def _rule_table(gate: Gate) -> Table:
    rows = tuple(
        (
            check.rule.text,
            _WORDS[check.outcome],
            _measured_text(check),
            str(check.measured.estimate.n),
            str(check.measured.estimate.clusters),
            percent(check.measured.coverage),
        )
        for check in gate.rules
    )
    return Table(("rule", "outcome", "measured", "items", "questions", "coverage"), rows, n_text=2)


def _measured_text(check: RuleCheck) -> str:
    fields = estimate_fields(check.measured.estimate)
    if check.rule.name == "bias":
        return signed_text(fields)
    return coefficient_text(fields) if check.rule.name in (*COEFFICIENTS, *SCORE_SIZES) else rate_text(fields)


def _baseline_table(gate: Gate) -> Table:
    rows = tuple(
        (
            check.rule.text,
            _WORDS[check.outcome],
            _points(check),
            str(check.test.estimate.n),
            str(check.test.estimate.clusters),
            p_text(check.test.p_value),
        )
        for check in gate.comparisons
    )
    worse = "worse, in points or the scale's units" if any(map(_is_size, gate.comparisons)) else "points worse"
    return Table(("rule", "outcome", worse, "items", "questions", "p"), rows, n_text=2)


def _points(check: BaselineCheck) -> str:
    estimate = check.test.estimate
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "not defined"
    if _is_size(check):
        return signed_text(estimate_fields(estimate))
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _is_size(check: BaselineCheck) -> bool:
    return check.rule.name in SCORE_SIZES


def decision_text(gate: Gate) -> str:
    """What a careful person would sign."""
    reasons = [f"{check.rule.text}: {check.outcome}, {check.why}" for check in gate.checks]
    limits = [
        _missing_note(gate),
        *dict.fromkeys(map(_bound_note, gate.rules)),
        *map(_common_note, gate.comparisons),
        *_few_notes(gate),
        *map(_label_note, gate.comparisons),
    ]
    return " ".join(
        [
            f"{_WORDS[gate.outcome]}. {gate.grader} in run {gate.run_id}: {'; '.join(reasons)}.",
            _basis(gate),
            *(limit for limit in limits if limit),
        ]
    )


def _basis(gate: Gate) -> str:
    return (
        f"All rules have to pass, so no level is adjusted for their number; the intervals are of {percent(gate.level)} "
        "and hold for questions and responses such as these."
    )


def _missing_note(gate: Gate) -> str:
    missing = gate.n_expected - gate.n_verdicts
    if not missing:
        return ""
    ruled = any(check.rule.name in ("coverage", "failure_rate") for check in gate.rules)
    advice = "" if ruled else ", and no rule here is about coverage"
    return f"Rates are over valid verdicts alone: {missing:,} of {gate.n_expected:,} are missing{advice}."


def _bound_note(check: RuleCheck) -> str:
    bounds, name = check.measured.bounds, check.rule.name
    if bounds is None:
        return ""
    low, high = (f"{end:.3f}" if name in (*COEFFICIENTS, *SCORE_SIZES) else percent(end) for end in bounds)
    return f"The missing verdicts leave {name} open from {low} to {high}."


def _common_note(check: BaselineCheck) -> str:
    """How many items a comparison stands on, and through whom it lost the others."""
    compared = check.test.estimate.n
    if compared == check.n_about == check.n_items and check.worst is None:
        return ""
    note = (
        f"{check.rule.text}: of this run's {check.n_items:,} items {check.n_common:,} are in the baseline's run too, "
        f"{check.n_about:,} of them of the kind that it is about, and {compared:,} are compared."
    )
    if compared < check.n_about:
        note += (
            f" Left out for want of verdicts of this grader: {check.n_without:,}, of the baseline:"
            f" {check.n_without_baseline:,}."
        )
    if check.worst is not None and check.worst.estimate.value is not None:
        value = check.worst.estimate.value
        worst = f"{value:+.3f}" if _is_size(check) else f"{100 * value:+.1f} points"
        note += f" With this grader's missing verdicts at their worst and the baseline's at their best it is {worst}."
    return note


def _few_notes(gate: Gate) -> list[str]:
    few = sorted({check.rule.name for check in gate.rules if few_clusters(check.measured.estimate)})
    return [f"Fewer than 10 questions stand behind {', '.join(few)}: its interval is a rough one."] if few else []


def _label_note(check: BaselineCheck) -> str:
    if not check.n_relabelled:
        return ""
    return (
        f"{check.n_relabelled:,} of the {check.n_common:,} common items have another label in the baseline's run; "
        "this run's labels count for both."
    )
