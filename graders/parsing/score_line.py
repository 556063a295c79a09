"""A score on the steps of a scale of numbers, from the line ``score: x`` that ends a reply."""

from __future__ import annotations

import re
from decimal import Decimal

from calibration_sets.scale import LabelScale
from graders.parsing.written_reply import NamedLine, Unread, closing_line, open_reply, with_failure, with_label
from graders.verdict import ParsedVerdict

__all__ = ["read_score"]

_NUMBER = r"[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)"
_NAMES = "(?:correctness )?score"
_ON_NEXT_LINE = re.compile(rf"(?P<name>{_NAMES}:)\n+(?:final answer: )?(?={_NUMBER}\.?$)", re.IGNORECASE | re.MULTILINE)
_SCORE = re.compile(
    rf"(?P<number>{_NUMBER})(?P<percent> ?%)?(?: ?(?:/|out of) ?(?P<most>{_NUMBER}))?(?P<rest>(?: ?[(,;]| [-–—]).*)?"
)


def read_score(text: str | None, scale: LabelScale, stop_reason: str | None) -> ParsedVerdict:
    """Read a score; see :func:`graders.parsing.parse_completion`.

    Numbers are compared as numbers: ``1.0``, ``0.50`` and ``1 / 1`` are steps of a scale from 0 to 1. One between
    two steps is ``off_scale`` and never rounded; two different numbers on the line are ``ambiguous``.
    """
    opened = open_reply(text, stop_reason)
    if isinstance(opened, Unread):
        return with_failure(opened)
    opened = _ON_NEXT_LINE.sub(r"\g<name> ", opened)
    whole = re.fullmatch(rf"{_NUMBER}\.?", opened)
    line = NamedLine(opened.rstrip("."), opened) if whole else closing_line(opened, "score", pattern=_NAMES)
    if isinstance(line, Unread):
        return with_failure(line)
    found = _read_number(line, scale)
    return with_failure(found) if isinstance(found, Unread) else with_label(found, f"score line: {line.line[:80]!r}")


def _read_number(line: NamedLine, scale: LabelScale) -> str | Unread:
    found = _SCORE.fullmatch(line.value)
    if found is None:
        several = len(set(re.findall(_NUMBER, line.value))) > 1
        return Unread("ambiguous" if several else "unparsed", f"score line: {line.line[:80]!r}")
    steps = {Decimal(label): label for label in scale.labels}
    if re.search(_NUMBER, found["rest"] or ""):
        return Unread("ambiguous", f"score line: {line.line[:80]!r}")
    is_of_other = found["most"] is not None and _decimal(found["most"]) != max(steps)
    label = None if found["percent"] or is_of_other else steps.get(_decimal(found["number"]))
    return label or Unread("off_scale", f"score line: {line.line[:80]!r}; steps are {', '.join(scale.labels)}")


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "."))
