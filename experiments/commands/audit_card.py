"""``autorater audit card``: the review card of a set, filled in by people and beside them by the program."""

from __future__ import annotations

import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from calibration_sets.audit.audit_folder import read_sample
from calibration_sets.audit.review_card import ReviewCard, read_card, set_card_values, write_card
from calibration_sets.audit.version_comparison import compare_versions
from calibration_sets.curation.question_file import load_questions
from calibration_sets.errors import SetFileError
from experiments.analyses.audits.auditing import AuditRule, judge_audit
from experiments.analyses.audits.card_page import CardFacts, audit_facts, card_document, version_facts
from experiments.commands.audit_label import count_audit
from experiments.commands.page_output import PageOutOption, put_page, text_page
from experiments.reports.render_markdown import render_markdown_document

__all__ = ["card"]


class CardFormat(StrEnum):
    """Forms of a card."""

    text = "text"
    md = "md"


def card(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A card, such as audit/card.toml.")],
    new: Annotated[bool, typer.Option("--new", help="Write an empty card to FILE first.")] = False,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as scoring.state=holds; may be given several times."),
    ] = None,
    output_format: Annotated[CardFormat, typer.Option("--format", help="How the card is shown.")] = CardFormat.text,
    out: PageOutOption = None,
) -> None:
    """Show a set's review card, with what the audit and the comparison of two versions say by themselves.

    Six criteria, each not_looked_at, holds, holds_partly or does_not_hold, with reason, by whom and on
    which day. Edit the file, or use --set, which leaves all else in it as it is.

    \b
    Examples:
      autorater audit card audit/card.toml --new
      autorater audit card audit/card.toml --set scoring.state=holds_partly --set scoring.by=Ann \\
          --set "scoring.reason=two ranges are too wide"
      autorater audit card audit/card.toml --set versions=../old.csv --set versions=../new.csv
      autorater audit card audit/card.toml --format md --out CARD.md
    """
    if new:
        _write_new(file)
    found = set_card_values(file, values, today=datetime.date.today()) if values else read_card(file)
    document = card_document(found, _gather_facts(found, file.parent))
    put_page(render_markdown_document(document) if output_format is CardFormat.md else text_page(document, out), out)


def _write_new(file: Path) -> None:
    if file.exists():
        raise SetFileError(f"{file}: a card or another file is there; expected none, or no --new")
    folder = file.resolve().parent
    audit = "." if (folder / "audit.json").exists() else ""
    write_card(ReviewCard(name=folder.name or "set", audit=audit), file)


def _gather_facts(card: ReviewCard, folder: Path) -> CardFacts:
    facts: CardFacts = {}
    if card.audit:
        place = folder / card.audit
        facts = audit_facts(judge_audit(count_audit(place), AuditRule()), read_sample(place))
    if card.versions:
        before, after = card.versions
        found = compare_versions(load_questions(folder / before), load_questions(folder / after))
        facts = {**facts, **version_facts(before, after, found)}
    return facts
