"""The page of an audit, ending in its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from calibration_sets.audit.audit_counts import AuditLabel
from calibration_sets.audit.audit_folder import SOUND
from experiments.analyses.audits.auditing import Audit
from experiments.reports.document import Block, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.figures import percent, rate_text
from experiments.reports.plain import estimate_fields

__all__ = ["audit_document", "audit_fields", "audit_text", "audit_told"]

SCHEMA = "autorater.audit/1"


def audit_fields(audit: Audit) -> dict[str, Any]:
    """The audit as plain JSON values."""
    return {
        "schema": SCHEMA,
        "n_population": audit.counts.n_population,
        "labels": dict(audit.counts.labels),
        "n_open": audit.counts.n_open,
        "n_several": audit.counts.n_several,
        "differing": [asdict(one) for one in audit.counts.differing],
        "n_without_evidence": audit.counts.n_without_evidence,
        "n_strange": audit.counts.n_strange,
        "n_unreached": audit.counts.n_unreached,
        "faults": [asdict(one) for one in audit.counts.faults],
        "rate": estimate_fields(audit.rate),
        "low_whatever_open": audit.low,
        "high_whatever_open": audit.high,
        "threshold": audit.rule.threshold,
        "outcome": audit.outcome,
        "extend": audit.extend,
        "n_more": audit.n_more,
        "verdict": audit_text(audit),
    }


def audit_document(audit: Audit) -> Document:
    """The audit as a document: counts, faults, rate, what is missing, verdict."""
    n = sum(audit.counts.labels.values())
    rows = tuple(
        (label, str(count), percent(count / n) if n else "not defined") for label, count in audit.counts.labels.items()
    )
    blocks: list[Block] = [Table(("label", "questions", "share"), rows)]
    if audit.counts.faults:
        blocks.append(Entries(tuple(map(_entry, audit.counts.faults))))
    if audit.counts.differing:
        blocks += [Paragraph("Raters differ on:"), Entries(tuple(map(_difference, audit.counts.differing)))]
    blocks += [Paragraph(text) for text in (*audit_told(audit), audit_text(audit))]
    return Document((Section("Audit of a question set", 1, tuple(blocks)),))


def _entry(fault: AuditLabel) -> Entry:
    texts = (("question", fault.question), ("note", fault.note), ("evidence", fault.evidence))
    return Entry(f"{fault.question_id}: {fault.label}", tuple((name, text) for name, text in texts if text))


def _difference(one: AuditLabel) -> Entry:
    return Entry(f"{one.question_id}: {one.label or 'not decided'}", (("question", one.question), *one.said))


def audit_told(audit: Audit) -> Iterator[str]:
    """The error rate with its interval, and what limits it, a sentence each."""
    counts, n = audit.counts, sum(audit.counts.labels.values())
    rate = rate_text(estimate_fields(audit.rate))
    how = "all of them" if n == counts.n_population else audit.rate.method
    yield f"Error rate, any label but {SOUND}: {rate}, from {n} of {counts.n_population} questions ({how})."
    if counts.n_open:
        yield f"{counts.n_open} questions of the sample have no label yet; the rate says nothing of them."
    if counts.n_several:
        n_undecided = sum(one.label is None for one in counts.differing)
        yield (
            f"Several people labelled {counts.n_several} questions and differ on {len(counts.differing)}, "
            f"{n_undecided} of these not decided."
        )
    if counts.n_without_evidence:
        yield f"{counts.n_without_evidence} faults have no link as evidence."
    if counts.n_unreached:
        yield f"{counts.n_unreached} questions of the set are in topics of which the sample has none."
    if counts.n_strange:
        yield f"{counts.n_strange} labels are of questions that are not in this sample; they do not count."


def audit_text(audit: Audit) -> str:
    """The verdict in words."""
    limit, n_open = percent(audit.rule.threshold), audit.counts.n_open
    whatever = f", whatever the {n_open} open questions are" if n_open else ""
    if audit.outcome != "undecided":
        where = "no larger than" if audit.outcome == "pass" else "above"
        return f"{audit.outcome.upper()}: the error rate is {where} {limit}{whatever}."
    if audit.low is None or audit.high is None or audit.n_more is None:
        return "UNDECIDED: nothing is labelled yet."
    interval = f"the interval holds {limit}"
    if n_open:
        bounds = f"[{100 * audit.low:.1f}, {100 * audit.high:.1f}]"
        interval = f"with the {n_open} open questions all sound or all faulty, {bounds} holds {limit}"
    told = (
        f"UNDECIDED: {interval}. About {audit.n_more} more labels decide with a chance of {audit.rule.chance:.0%}, "
        "if the set has the rate of these."
    )
    if not audit.extend:
        return told
    return f"{told} The rule asks for a sample of {audit.rule.extended_size}: autorater audit sample with --size."
