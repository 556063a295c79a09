"""One reason or two, from the line ``reasons: A, B`` that ends a reply, on a scale whose labels are sets of labels."""

from __future__ import annotations

import re

from calibration_sets.scale import PART_SEPARATOR, LabelScale
from graders.parsing.label_words import canonical_phrase
from graders.parsing.written_reply import Unread, closing_line, open_reply, with_failure, with_label
from graders.verdict import ParsedVerdict

__all__ = ["read_reasons"]

_SEPARATORS = re.compile(r"\s*(?:,|;|\+|&|/|\band\b)\s*", re.IGNORECASE)
_COMMENT = re.compile(r"\s*\([^()]*\)")
_CHOICE = re.compile(r"\bor\b")


def read_reasons(text: str | None, scale: LabelScale, stop_reason: str | None) -> ParsedVerdict:
    """Read the reasons of a reply; see :func:`graders.parsing.parse_completion`.

    Their order says nothing, and a reason named twice is one. A set that is no label of the scale, such as three
    reasons where one or two are allowed, is ``off_scale``. A choice that was left open (``A or B``), and another reason
    in brackets behind one, are ``ambiguous``.
    """
    opened = open_reply(text, stop_reason)
    line = opened if isinstance(opened, Unread) else closing_line(opened, "reasons", pattern=r"reasons?(?:\(s\))?")
    if isinstance(line, Unread):
        return with_failure(line)
    parts = {canonical_phrase(label): label for label in scale.parts or scale.labels}
    said = [canonical_phrase(word) for word in _SEPARATORS.split(_COMMENT.sub("", line.value)) if word]
    strangers = sorted({word for word in said if word not in parts})
    named = {parts[word] for word in said if word in parts}
    mentioned = {parts[word] for word in re.findall(r"\w+", line.value) if word in parts}
    if mentioned - named and (_CHOICE.search(line.value) or not strangers):
        return with_failure(Unread("ambiguous", f"reasons line: {line.line[:80]!r}"))
    label = PART_SEPARATOR.join(label for label in scale.labels if label in named)
    if strangers or label not in scale:
        got = f"strangers {strangers}" if strangers else f"{len(named)} reasons"
        return with_failure(Unread("off_scale", f"reasons line: {line.line[:80]!r}, {got}"))
    return with_label(label, f"reasons line: {line.line[:80]!r}")
