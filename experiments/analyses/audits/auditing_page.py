"""The page of an audit, ending in its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from calibration_sets.audit.audit_folder import SOUND, AuditLabel
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
        "n_differ": audit.counts.n_differ,
        "n_without_evidence": audit.counts.n_without_evidence,
        "faults": [asdict(one) for one in audit.counts.faults],
        "rate": estimate_fields(audit.rate),
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
    blocks += [Paragraph(text) for text in (*audit_told(audit), audit_text(audit))]
    return Document((Section("Audit of a question set", 1, tuple(blocks)),))


def _entry(fault: AuditLabel) -> Entry:
    texts = (("question", fault.question), ("note", fault.note), ("evidence", fault.evidence))
    return Entry(f"{fault.question_id}: {fault.label}", tuple((name, text) for name, text in texts if text))


def audit_told(audit: Audit) -> Iterator[str]:
    """The error rate with its interval, and what limits it, a sentence each."""
    n, n_open = sum(audit.counts.labels.values()), audit.counts.n_open
    rate = rate_text(estimate_fields(audit.rate))
    yield (
        f"Error rate, any label but {SOUND}: {rate}, from {n} of {audit.counts.n_population} questions "
        f"({audit.rate.method})."
    )
    if n_open:
        yield f"{n_open} questions of the sample have no label yet; the rate says nothing of them."
    if audit.counts.n_differ:
        yield f"On {audit.counts.n_differ} of these, raters differ and nobody has decided."
    if audit.counts.n_without_evidence:
        yield f"{audit.counts.n_without_evidence} faults have no link as evidence."


def audit_text(audit: Audit) -> str:
    """The verdict in words."""
    limit = percent(audit.rule.threshold)
    if audit.outcome != "undecided":
        where = "no larger than" if audit.outcome == "pass" else "above"
        told = f"{audit.outcome.upper()}: the error rate is {where} {limit}."
    elif audit.n_more is None:
        told = "UNDECIDED: nothing is labelled yet."
    else:
        told = (
            f"UNDECIDED: the interval holds {limit}. About {audit.n_more} more labels would decide, "
            "if the rate stays as it is."
        )
    if not audit.extend:
        return told
    return f"{told} The rule asks for a sample of {audit.rule.extended_size}: autorater audit sample with --size."
