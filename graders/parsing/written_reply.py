"""Replies that are written out and end in what is read: named lines such as ``score: 0.75``.

A prompt of these channels asks for its line at the very end. Where it stands there, it decides, whatever such lines
came before; where it stands elsewhere, all of them must say the same. A reply that was cut off has no end.

Graders also repeat what a response says, which may be such a line. What is quoted so, in a block quote or behind
"The response says:", is read at the very end alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graders.parsing.json_verdict import find_objects
from graders.parsing.refusals import find_refusal
from graders.parsing.reply_text import fold_characters, remove_markup, strip_thinking
from graders.verdict import Failure, Finding, ParsedVerdict

__all__ = ["CUT_OFF", "NamedLine", "Unread", "closing_line", "open_reply", "with_failure", "with_label"]

_REFUSED = frozenset({"refusal", "content_filter", "safety", "prohibited_content", "blocklist"})
CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
"""Stop reasons, of several services, of a reply that was cut off."""
_LEAD = r"[ \t{\"'(\[]*(?:(?:the|my) )?(?:(?:final|overall|total) )?"
_BLOCK_QUOTE = re.compile(r"^[^\S\n]*>[^\n]*\n?", re.MULTILINE)
_OTHERS = r"responses?|answers?|students?|respondents?|texts?|it|instructions?"
_INTRODUCES = re.compile(rf"\b(?:{_OTHERS})\b.*:$", re.IGNORECASE)
_WRAPPED = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)|<([^<>]*)>|\$([^$]*)\$")


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
    said = _without_block_quotes(reply.text)
    shown = said.strip() if keep_marks else remove_markup(_spread_object(said))
    return shown if re.search(r"\w", shown) else Unread("empty", f"no words: {shown[:40]!r}")


def closing_line(text: str, name: str, *, pattern: str | None = None, end_decides: bool = True) -> NamedLine | Unread:
    """The line ``name: value`` that decides.

    Parameters
    ----------
    text
        From :func:`open_reply`.
    name
        The line's name, in small letters.
    pattern
        A regular expression for all its names, where there are others.
    end_decides
        Whether a line at the very end outweighs others of that name.
    """
    named = re.compile(rf"{_LEAD}(?:{pattern or name})[\"']?\s*(?:[:=]|\bis\b)\s*(?P<value>\S.*)", re.IGNORECASE)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matches = [(place, named.fullmatch(line)) for place, line in enumerate(lines)]
    found = [(place, NamedLine(_plain(match["value"]), lines[place])) for place, match in matches if match]
    if not found:
        refusal = find_refusal(text)
        return Unread("refused", f"refusal: {refusal!r}") if refusal else Unread("unparsed", f"no line '{name}: ...'")
    place, last = found[-1]
    if place == len(lines) - 1 and end_decides:
        return last
    said = [one for place, one in found if place == 0 or not _INTRODUCES.search(lines[place - 1])]
    if not said:
        return Unread("ambiguous", f"{last.line[:80]!r} is quoted, and no other line is at the end")
    if len({one.value for one in said}) == 1:
        return said[-1]
    return Unread("ambiguous", f"{said[0].line[:80]!r} against {said[-1].line[:80]!r}, neither at the end")


def with_label(label: str, evidence: str, finding: Finding | None = None) -> ParsedVerdict:
    """A verdict read by the robust rule."""
    return ParsedVerdict(label, None, "robust", evidence, finding)


def with_failure(why: Unread) -> ParsedVerdict:
    """No verdict, and why."""
    return ParsedVerdict(None, why.failure, "robust", why.evidence)


def _without_block_quotes(text: str) -> str:
    """The text without what it quotes, unless it ends in a quote: then that may be its own last line."""
    last = text.rstrip().rpartition("\n")[2]
    return text if last.lstrip().startswith(">") else _BLOCK_QUOTE.sub("", text)


def _spread_object(text: str) -> str:
    """The text with the JSON object that ends it as lines ``key: value``, where it is a plain one."""
    found = find_objects(text)[-1:]
    if not found or re.search(r"\w", text[found[0].end :]):
        return text
    content = found[0].content
    is_plain = all(isinstance(value, str | int | float) for _, value in content)
    if not is_plain or len(dict(content)) < len(content):
        return text
    lines = [f"{key}: {' '.join(str(value).split())}" for key, value in content]
    return "\n".join([text[: found[0].begin], *lines, text[found[0].end :]])


def _plain(value: str) -> str:
    wrapped = _WRAPPED.fullmatch(value.strip(" \t.,;"))
    value = next(inner for inner in wrapped.groups() if inner is not None) if wrapped else value
    return value.lstrip(" \t\"'`").rstrip(" \t\"'`.,;}]").casefold()
