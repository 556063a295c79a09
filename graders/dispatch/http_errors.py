"""What an HTTP error means, in either wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from graders.dispatch.headers import parse_reset_wait, parse_retry_after
from graders.dispatch.secrets import hide_secrets
from graders.dispatch.service import CallError, CallErrorKind

__all__ = ["http_call_error"]

LONGEST_MESSAGE = 300

_QUOTA = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance|payment required|out of credits"
    r"|insufficient (?:funds|balance|credits)",
    re.IGNORECASE,
)
_OVERLOAD = re.compile(r"overloaded|over ?capacity|at capacity|engine is currently busy", re.IGNORECASE)
_RATE = re.compile(r"rate[_ ]?limit|too many requests", re.IGNORECASE)
_FILTER = re.compile(
    r"content[_ ](?:filter|policy|management)|responsible_?ai_?policy|flagged (?:by|as|for)|usage polic"
    r"|safety (?:system|filter)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[_ ](?:length|window)|maximum context|max(?:imum)?[_ ]model[_ ]len|prompt is too long"
    r"|input (?:is )?too long|too many (?:input |prompt )?tokens"
    r"|exceeds? (?:the )?(?:available |maximum )?context|longer than the maximum"
    r"|exceed_context_size|reduce the length of (?:the|your) (?:messages|prompt|input)|request_too_large",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"unsupported|not supported|does(?:n't| not) support|unrecognized|unknown (?:parameter|field|argument)|unexpected"
    r"|not permitted|not allowed|not available|not enabled|no longer (?:supported|available)|is deprecated"
    r"|cannot be (?:specified|used|set|both)|cannot both|can(?:not| only) (?:specify|be)|extra inputs"
    r"|out of range|must be|should be|not a valid|invalid|is incompatible|exceeds?|more than|greater than|only one"
    r"|expected|instead|refused|forbidden",
    re.IGNORECASE,
)
_PARAMETERS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![\w.]){pattern}(?!\w)", re.IGNORECASE)
    for name, pattern in {
        "structured_outputs": r"(?:structured_outputs?|guided_\w+)",
        "response_format": r"(?:response_format|output_config\.format|output_format|text\.format|json_schema)",
        "reasoning_effort": r"(?:reasoning_effort|reasoning\.effort|output_config(?:\.effort)?|effort|thinking)",
        "logprob_token_ids": r"logprob_token_ids",
        "top_logprobs": r"top_logprobs",
        "logprobs": r"(?:logprobs?|log[- ]probabilit\w+|message\.output_text\.logprobs)",
        "tool_choice": r"tool_choice",
        "tools": r"(?:tools?|function calling)",
        "max_completion_tokens": r"max_completion_tokens",
        "max_output_tokens": r"max_output_tokens",
        "max_tokens": r"max_tokens",
        "temperature": r"temperature",
        "top_p": r"top_p",
        "top_k": r"top_k",
        "seed": r"seed",
        "stream_options": r"stream_options",
        "cache_control": r"cache_control",
        "n": r"(?:n|n_cmpl|best_of)",
    }.items()
}
_ROOTS = {"reasoning": "reasoning_effort", "output_config": "reasoning_effort", "text": "response_format"}
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class _Told:
    """What a body says: all its words, its codes, and the parameter that it names."""

    message: str
    codes: str
    parameter: str

    @property
    def text(self) -> str:
        return f"{self.codes} {self.message}"


def http_call_error(status: int, body: object, headers: Mapping[str, str], *, now: datetime | None = None) -> CallError:
    """The error that a status, a body of any form and headers stand for.

    Parameters
    ----------
    status
        HTTP status; 200 for an error object in a reply that calls itself a success.
    body
        Parsed JSON, or the text where it is none.
    headers
        Names in lower case.
    now
        When the answer came; the present by default.
    """
    moment = now or datetime.now(UTC)
    told = _read(body)
    kind, parameter = _classify(status, told)
    wait = parse_retry_after(headers, moment)
    if wait is None and kind == "rate_limited":
        wait = parse_reset_wait(headers, moment)
    return CallError(kind, _message(status, told), retry_after=wait, parameter=parameter, headers=headers)


def _classify(status: int, told: _Told) -> tuple[CallErrorKind, str | None]:
    if status == 402 or (status in (400, 403, 429, 200) and _QUOTA.search(told.text) and not _is_rate(told)):
        return "quota_exhausted", None
    if status == 429:
        return "rate_limited", None
    if status in (529, 503) or (status not in (401, 403, 404) and _OVERLOAD.search(told.text)):
        return "overloaded", None
    if status == 401:
        return "bad_key", None
    if status == 404:
        return "not_found", None
    if status in (408, 409, 425) or status >= 500:
        return ("timeout" if status in (408, 504) else "server_error"), None
    if status == 413 or _CONTEXT.search(told.text):
        return "context_overflow", None
    if _FILTER.search(told.text):
        return "content_filter", None
    if status == 200 and _RATE.search(told.text):
        return "rate_limited", None
    if status < 400:
        return "server_error", None
    parameter = _refused_parameter(told)
    if parameter is not None:
        return "unsupported", parameter
    return ("bad_key" if status == 403 else "bad_request"), None


def _is_rate(told: _Told) -> bool:
    """Whether a limit of rate is what is told; such messages may name the billing page, too."""
    exhausted = re.search(r"insufficient[_ ]quota|current quota", told.text, re.IGNORECASE)
    return _RATE.search(told.text) is not None and exhausted is None


def _refused_parameter(told: _Told) -> str | None:
    """Our name of the parameter that is refused, where one is."""
    if not _REFUSES.search(told.text) and not told.parameter:
        return None
    if told.parameter:
        named = _parameter_in(told.parameter) or _ROOTS.get(told.parameter.partition(".")[0])
        if named is not None:
            return named
    if told.parameter and told.parameter.partition(".")[0].partition("[")[0] in ("messages", "input", "model"):
        return None
    return _parameter_in(told.message)


def _parameter_in(text: str) -> str | None:
    """The parameter that a text names first; of the token limits the one that is not recommended instead."""
    found = {name: match.start() for name, pattern in _PARAMETERS.items() if (match := pattern.search(text))}
    if not found:
        return None
    first = min(found, key=lambda name: (found[name], list(_PARAMETERS).index(name)))
    if first in _LIMITS:
        recommended = re.search(r"use\s+['\"`]?(max_\w+)", text, re.IGNORECASE)
        others = [name for name in _LIMITS if name in found and not (recommended and recommended[1] == name)]
        return others[0] if others else None
    return first


def _read(body: object) -> _Told:
    inner = body
    if isinstance(body, Mapping):
        inner = body.get("error") or body.get("detail") or body
    if isinstance(inner, list):
        return _read_list(inner)
    if not isinstance(inner, Mapping):
        return _Told("" if inner is None else str(inner), "", "")
    codes = " ".join(str(inner[key]) for key in ("code", "type", "status") if inner.get(key))
    message = inner.get("message") or inner.get("msg") or ""
    parameter = inner.get("param")
    return _Told(str(message), codes, parameter if isinstance(parameter, str) else "")


def _read_list(problems: list[object]) -> _Told:
    """A list of problems, as web frameworks report them: the first one's place and words."""
    first = problems[0] if problems else None
    if not isinstance(first, Mapping):
        return _Told(str(first or ""), "", "")
    place = first.get("loc")
    parts = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
    return _Told(str(first.get("msg", "")), str(first.get("type", "")), ".".join(parts))


def _message(status: int, told: _Told) -> str:
    text = " ".join(re.sub(r"<[^>]*>", " ", told.message).split()) or told.codes or "no message"
    parameter = f" ({told.parameter})" if told.parameter and told.parameter not in text else ""
    shown = hide_secrets("".join(char if char.isprintable() else "?" for char in f"HTTP {status}: {text}{parameter}"))
    if len(shown) <= LONGEST_MESSAGE:
        return shown
    # Cut between words: half a key is recognised by nobody who looks for a whole one.
    return f"{shown[: LONGEST_MESSAGE - 1].rpartition(' ')[0]}…"
