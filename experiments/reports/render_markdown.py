"""A report as Markdown, as GitHub shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.reports.document import Bullets, Document, Entries, Forest, Paragraph, Section, Table
from experiments.reports.escaping import escape_markdown, quote, shorten
from experiments.reports.pages import build_document

__all__ = ["render_markdown", "render_markdown_document"]

LONGEST_TEXT = 300
"""Characters of a question, reference or response that are shown."""


def render_markdown(report: Mapping[str, Any]) -> str:
    """Markdown with the figures of :func:`render_text`; what people and models wrote cannot act as markup."""
    return render_markdown_document(build_document(report))


def render_markdown_document(document: Document) -> str:
    """Any page as Markdown; what people and models wrote cannot act as markup."""
    return "\n\n".join(_section(section) for section in document.sections) + "\n"


def _section(section: Section) -> str:
    heading = f"{'#' * section.rank} {escape_markdown(section.heading)}"
    # Drawings are for a terminal; the tables have their figures.
    return "\n\n".join([heading, *(_block(block) for block in section.blocks if not isinstance(block, Forest))])


def _block(block: Paragraph | Bullets | Table | Entries) -> str:
    if isinstance(block, Paragraph):
        return escape_markdown(block.text)
    if isinstance(block, Bullets):
        return "\n".join(f"- {escape_markdown(point)}" for point in block.points)
    return _table(block) if isinstance(block, Table) else _entries(block)


def _table(block: Table) -> str:
    rules = ["---" if position < block.n_text else "---:" for position in range(len(block.columns))]
    head = [escape_markdown(name) for name in block.columns]
    rows = [[escape_markdown(cell) for cell in row] for row in block.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rules, *rows])


def _entries(block: Entries) -> str:
    lines = []
    for number, entry in enumerate(block.entries, start=1):
        lines.append(f"{number}. {escape_markdown(entry.heading)}")
        for name, text in entry.texts:
            shown = shorten(quote(text[: 4 * LONGEST_TEXT]), LONGEST_TEXT)
            lines.append(f"    - {escape_markdown(name)}: {escape_markdown(shown)}")
    return "\n".join(lines)
