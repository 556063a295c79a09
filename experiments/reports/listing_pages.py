"""Sections that list single items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.reports.document import Block, Entries, Entry, Paragraph, Section
from experiments.reports.escaping import shorten
from experiments.reports.figures import count_text, percent
from experiments.reports.label_words import LabelWords, label_words

__all__ = ["human_range_section", "inconsistent_section", "range_section"]

Fields = Mapping[str, Any]

MOST_ENTRIES = 20
LONGEST_NAME = 80
NOTE = Paragraph(
    "The range check compares a number in the response with the reference's acceptable range. It is never the verdict: "
    "it abstains when in doubt, and shows where to look.",
    once=True,
)


def inconsistent_section(grader: Fields, words: LabelWords) -> list[Section]:
    """The items whose verdicts differ most."""
    heading = "Most inconsistent items"
    entries = grader["most_inconsistent"]
    if entries is None:
        return []
    if not entries:
        n = grader["flip_rate"]["n"]
        text = f"None: no item got two different labels, of {n:,} with two or more valid verdicts."
        return [Section(heading, 3, (Paragraph(text),))]
    return [Section(heading, 3, (Entries(tuple(_entry(fields, _entropy(fields), words) for fields in entries)),))]


def range_section(grader: Fields, check: Fields | None, words: LabelWords) -> list[Section]:
    """Where the range check contradicts the label that the grader gave most often."""
    if check is None or not check["n_items"]:
        return []
    found = grader["range_disagreements"]
    count = f"{len(found):,} of {check['n_items']:,} items with a range contradict the grader's most frequent label."
    return [Section("Range check against the grader", 3, (Paragraph(count), NOTE, *_listed(found, words)))]


def human_range_section(report: Fields) -> list[Section]:
    """Where the range check contradicts people, or whoever gave the labels."""
    check, words = report["range_check"], label_words(report["set"])
    if check is None or not check["n_items"]:
        return []
    found = check["human_disagreements"]
    text = (
        f"{check['n_items']:,} items have a reference with a range ({count_text(check['outcomes'])}); "
        f"{len(found):,} contradict {words.givers} label."
    )
    return [Section(f"Range check against {words.giver}", 2, (Paragraph(text), NOTE, *_listed(found, words)))]


def _listed(found: Sequence[Fields], words: LabelWords) -> list[Block]:
    if not found:
        return []
    blocks: list[Block] = [Entries(tuple(_entry(fields, _outcome(fields), words) for fields in found[:MOST_ENTRIES]))]
    if len(found) > MOST_ENTRIES:
        blocks.append(Paragraph(f"{len(found) - MOST_ENTRIES:,} more are in the JSON report."))
    return blocks


def _entropy(fields: Fields) -> str:
    return f"entropy {fields['entropy']:.2f} bits"


def _said(fields: Fields) -> str:
    """What a grader drew, or the chances that were computed."""
    if "shares" in fields:
        return ", ".join(f"{label} {percent(share)}" for label, share in fields["shares"].items())
    return count_text({**fields["verdicts"], **fields["failures"]})


def _outcome(fields: Fields) -> str:
    rubric = f" under {fields['rubric']}" if "rubric" in fields else ""
    return f"range check {fields['outcome']}{rubric}"


def _entry(fields: Fields, finding: str, words: LabelWords) -> Entry:
    parts = [shorten(fields["item_id"], LONGEST_NAME)]
    if fields["kind"] is not None:
        parts.append(f"kind {shorten(fields['kind'], LONGEST_NAME)}")
    parts += [finding, f"{words.giver} {fields['human_label'] or 'without a common label'}"]
    if "verdicts" in fields:
        parts.append(f"grader {_said(fields)}")
    texts = tuple((name, fields[name]) for name in ("question", "reference", "response"))
    return Entry("; ".join(parts), texts)
