"""Replies that are written out and end in what is read: named lines such as ``score: 0.75``.

A prompt of these channels asks for its line at the very end. Where it stands there, it decides, whatever such lines
came before; where it stands elsewhere, all of them must say the same. A reply that was cut off has no end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graders.parsing.refusals import find_refusal
from graders.parsing.reply_text import fold_characters, remove_markup, strip_thinking
from graders.verdict import Failure, Finding, ParsedVerdict

__all__ = ["CUT_OFF", "NamedLine", "Unread", "closing_line", "open_reply", "with_failure", "with_label"]

_REFUSED = frozenset({"refusal", "content_filter", "safety", "prohibited_content", "blocklist"})
CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_LEAD = r"[ \t{\"'(\[]*(?:(?:the|my) )?(?:(?:final|overall|total) )?"


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a reply, or a part of it, gives no verdict."""

    failure: Failure
    evidence: str


@dataclass(frozen=True, slots=True)
class NamedLine:
    """What stands behind the name on a line, and the line itself."""

    value: str
    line: str


def open_reply(text: str | None, stop_reason: str | None, *, keep_marks: bool = False) -> str | Unread:
    """The text of a reply without thinking and, unless ``keep_marks``, without Markdown; or why it cannot be read."""
    ended = (stop_reason or "").casefold()
    if ended in _REFUSED:
        return Unread("refused", f"stop reason {stop_reason}")
    if ended in CUT_OFF:
        return Unread("truncated", "cut off at its token limit, before its end")
    reply = strip_thinking(fold_characters(text or ""))
    if reply.unfinished:
        return Unread("unparsed", "thinking was never closed")
    shown = reply.text.strip() if keep_marks else remove_markup(reply.text)
    return shown if re.search(r"\w", shown) else Unread("empty", f"no words: {shown[:40]!r}")


def closing_line(text: str, name: str) -> NamedLine | Unread:
    """The line ``name: value`` that decides.

    Parameters
    ----------
    text
        From :func:`open_reply`.
    name
        A regular expression for the line's name.
    """
    pattern = re.compile(rf"{_LEAD}(?:{name})[\"']?\s*(?:[:=]|\bis\b)\s*(?P<value>\S.*)", re.IGNORECASE)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [(place, match["value"], line) for place, line in enumerate(lines) if (match := pattern.fullmatch(line))]
    if not found:
        refusal = find_refusal(text)
        return Unread("refused", f"refusal: {refusal!r}") if refusal else Unread("unparsed", f"no line '{name}: ...'")
    place, value, line = found[-1]
    if place == len(lines) - 1 or len({_plain(value) for _, value, _ in found}) == 1:
        return NamedLine(_plain(value), line)
    return Unread("ambiguous", f"{found[0][2][:80]!r} against {line[:80]!r}, neither at the end")


def with_label(label: str, evidence: str, finding: Finding | None = None) -> ParsedVerdict:
    """A verdict read by the robust rule."""
    return ParsedVerdict(label, None, "robust", evidence, finding)


def with_failure(why: Unread) -> ParsedVerdict:
    """No verdict, and why."""
    return ParsedVerdict(None, why.failure, "robust", why.evidence)


def _plain(value: str) -> str:
    return value.lstrip(" \t\"'`").rstrip(" \t\"'`.,;}]").casefold()
