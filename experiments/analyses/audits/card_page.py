"""The page of a review card: what people found, beside what the program knows by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration_sets.audit.review_card import CRITERIA, CardState, Judgement, ReviewCard
from calibration_sets.audit.version_comparison import VersionComparison
from calibration_sets.question import Question
from experiments.analyses.audits.auditing import Audit
from experiments.analyses.audits.auditing_page import audit_text, audit_told
from experiments.reports.document import Bullets, Document, Paragraph, Section, Table

__all__ = ["CardFacts", "audit_facts", "card_document", "version_facts"]

CardFacts = Mapping[str, Sequence[str]]
"""Criterion to what the program knows of it by itself; it never sets a state."""

STATE_WORDS: Mapping[CardState, str] = {
    "not_looked_at": "not looked at",
    "holds": "holds",
    "holds_partly": "holds partly",
    "does_not_hold": "does not hold",
}


def audit_facts(audit: Audit, sample: Sequence[Question]) -> CardFacts:
    """What an audit says: how many sampled questions name a source, and the error rate with its verdict."""
    n_sourced = sum(any(url.lower().startswith(("http://", "https://")) for url in one.urls) for one in sample)
    return {
        "reviewability": [f"{n_sourced} of {len(sample)} sampled questions name a source on the web."],
        "scoring": [*audit_told(audit), audit_text(audit)],
    }


def version_facts(before: str, after: str, found: VersionComparison) -> CardFacts:
    """What the comparison of two versions says."""
    n_changed = f"{len(found.reworded)} reworded, {len(found.changed_answers)} with another answer"
    return {
        "consistency": [
            f"{before} and {after}: {found.n_matched} questions in both, {len(found.added)} added, "
            f"{len(found.removed)} removed; {n_changed}, {len(found.changed_ranges)} with another range."
        ]
    }


def card_document(card: ReviewCard, facts: CardFacts) -> Document:
    """The card as a document: all states in a table, then each criterion."""
    rows = tuple((name, STATE_WORDS[one.state], one.by or "-", one.on or "-") for name, one in card.judgements.items())
    n_open = sum(one.state == "not_looked_at" for one in card.judgements.values())
    told = Paragraph(f"{len(rows) - n_open} of {len(rows)} looked at.")
    top = Section(f"Review card: {card.name}", 1, (Table(("criterion", "state", "by", "on"), rows, n_text=4), told))
    return Document((top, *(_section(name, one, facts.get(name, ())) for name, one in card.judgements.items())))


def _section(name: str, found: Judgement, facts: Sequence[str]) -> Section:
    state = STATE_WORDS[found.state]
    who = f", {found.by}, {found.on}" if found.state != "not_looked_at" else ""
    reason = f": {found.reason}" if found.reason else ""
    blocks = (Paragraph(CRITERIA[name]), Paragraph(f"State: {state}{who}{reason}"))
    known = (Paragraph("Known to the program:"), Bullets(tuple(facts))) if facts else ()
    return Section(name.capitalize(), 2, (*blocks, *known))
