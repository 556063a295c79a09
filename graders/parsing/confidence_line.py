"""A verdict with the grader's confidence in it, from the lines ``verdict: yes`` and ``confidence: 80`` at the end."""

from __future__ import annotations

import re

from calibration_sets.scale import LabelScale
from graders.parsing.label_words import build_vocabulary
from graders.parsing.written_reply import NamedLine, Unread, closing_line, open_reply, with_failure, with_label
from graders.verdict import ParsedVerdict

__all__ = ["read_confidence"]

_PERCENT = re.compile(r"(?P<number>\d{1,3}(?:[.,]\d+)?)(?P<unit> ?(?:%|percent|/ ?100))?")


def read_confidence(text: str | None, scale: LabelScale, stop_reason: str | None) -> ParsedVerdict:
    """Read a verdict and its confidence; see :func:`graders.parsing.parse_completion`.

    Confidence is a percentage, 0 to 100; in the verdict it is a share. A bare number above 0 and up to 1 may be
    either: ``ambiguous``. A reply with one of the two lines alone gives no verdict.
    """
    opened = open_reply(text, stop_reason)
    if isinstance(opened, Unread):
        return with_failure(opened)
    verdict, sure = _closing_pair(opened)
    if isinstance(verdict, Unread):
        return with_failure(verdict)
    if isinstance(sure, Unread):
        return with_failure(sure)
    label = _label(verdict.value, scale)
    if label is None:
        return with_failure(Unread("off_scale", f"verdict line: {verdict.line[:80]!r}"))
    share = _share(sure)
    if isinstance(share, Unread):
        return with_failure(share)
    return with_label(label, f"lines: {verdict.line[:60]!r}, {sure.line[:60]!r}", share)


def _closing_pair(text: str) -> tuple[NamedLine | Unread, NamedLine | Unread]:
    """Verdict and confidence: the last two lines if they are these, else what all lines of either name agree on.

    So no confidence is taken for that in another verdict of the same reply.
    """
    last_two = "\n".join([line for line in text.splitlines() if line.strip()][-2:])
    closing = _pair(last_two)
    return closing if all(isinstance(line, NamedLine) for line in closing) else _pair(text)


def _pair(text: str) -> tuple[NamedLine | Unread, NamedLine | Unread]:
    verdict = closing_line(text, "verdict", pattern="verdict|answer|grade", end_decides=False)
    return verdict, closing_line(text, "confidence", end_decides=False)


def _label(value: str, scale: LabelScale) -> str | None:
    vocabulary = build_vocabulary(scale)
    return vocabulary.label_of_word(value) or vocabulary.label_of_spelling(value)


def _share(line: NamedLine) -> float | Unread:
    found = _PERCENT.fullmatch(line.value)
    percent = float(found["number"].replace(",", ".")) if found else None
    if found is None or percent is None or percent > 100:
        return Unread("unparsed", f"confidence line: {line.line[:80]!r}; expected 0 to 100")
    if 0 < percent <= 1 and not found["unit"]:
        return Unread("ambiguous", f"confidence line: {line.line[:80]!r}, a percentage or a share")
    return percent / 100
