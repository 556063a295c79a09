"""Reading what OpenAI-shaped services send, whatever its shape: raw JSON in, typed parts out, never a crash."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graders.dispatch.http_errors import http_call_error
from graders.dispatch.service import CallError
from graders.providers.token_counts import token_count
from graders.sampling import Sampling
from graders.verdict import Usage
from graders.verdict_form import TOOL_NAME, ListedLogprobs, read_listed_logprobs

__all__ = [
    "NO_USAGE",
    "Alternatives",
    "check_body",
    "embedded_error",
    "normal_stop",
    "objects",
    "read_alternatives",
    "read_label_logprobs",
    "read_parts",
    "read_tool_calls",
    "read_usage",
    "text_or_none",
    "without_logprobs",
]

Alternatives = Sequence[tuple[str, Sequence[tuple[str, float]]]]
"""Of each token of a reply: its text, and what was listed at its place, with natural-log probabilities."""

NO_USAGE = Usage(0, 0, 0, 0, 0)
"""Of the other repeats of a call whose counts stand at its first."""

_MASKED = -9000.0
"""Below this, a drawn token's log-probability is a service's way to say that it does not know."""

_STOPS = {
    "stop": ("stop", "eos", "end_turn", "stop_sequence", "tool_calls", "tool_use", "function_call", "completed"),
    "length": ("length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length"),
    "content_filter": ("content_filter", "content-filter", "contentfilter", "safety"),
    "refusal": ("refusal",),
}
_NORMAL = {spelling: normal for normal, spellings in _STOPS.items() for spelling in spellings}
_VERDICT_VALUE = re.compile(r'"verdict"\s*:\s*"')
_STATUS_WORDS = (
    (429, ("rate_limit", "rate limit", "quota", "too many")),
    (401, ("auth", "api_key", "api key")),
    (404, ("not_found", "notfound")),
    (503, ("overload", "unavailable", "capacity")),
    (400, ("invalid", "bad request", "badrequest", "bad_request", "unsupported", "context_length")),
)


def check_body(body: object, headers: Mapping[str, str]) -> Mapping[str, Any]:
    """A reply's body as an object.

    Raises
    ------
    CallError
        If it is none, or an error that came as a success.
    """
    if not isinstance(body, dict):
        raise CallError("unreadable_reply", f"reply: {_kind(body)}; expected an object", headers=headers)
    error = body.get("error")
    if error and not body.get("choices") and not body.get("output"):
        raise embedded_error(body, headers)
    return body


def embedded_error(body: Mapping[str, Any], headers: Mapping[str, str]) -> CallError:
    """The error that an ``error`` object in a reply tells of, as if it had come with its own status."""
    return http_call_error(_status_inside(body.get("error")), body, headers)


def _status_inside(error: object) -> int:
    """The status that an error would have had, had it come as one."""
    if isinstance(error, dict):
        for name in ("code", "status", "status_code"):
            status = error.get(name)
            number = int(status) if isinstance(status, str) and re.fullmatch("[0-9]{3}", status) else status
            if isinstance(number, int) and 400 <= number <= 599:
                return number
    words = json.dumps(error, default=str).lower()
    return next((status for status, signs in _STATUS_WORDS if any(sign in words for sign in signs)), 500)


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text_or_none(value: object) -> str | None:
    """A text as it is, anything else as nothing."""
    return value if isinstance(value, str) else None


def normal_stop(value: object) -> str | None:
    """A reason to stop in our words; unknown ones in lower case."""
    if not isinstance(value, str) or not value:
        return None
    return _NORMAL.get(value.lower(), value.lower())


def read_parts(content: object) -> tuple[str | None, str | None]:
    """Text and refusal of a message's content: a text, a list of parts, or nothing.

    Parts that are thoughts are neither.
    """
    if isinstance(content, str):
        return content, None
    if isinstance(content, dict):
        return json.dumps(content), None
    if not isinstance(content, list):
        return None, None
    texts = [part if isinstance(part, str) else _part_text(part) for part in content]
    refusals = [part["refusal"] for part in objects(content) if isinstance(part.get("refusal"), str)]
    spoken = [text for text in texts if text is not None]
    return "".join(spoken) if spoken else None, "".join(refusals) or None


def _part_text(part: object) -> str | None:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "output_text"):
        return None
    text = part.get("text")
    return text_or_none(text.get("value") if isinstance(text, dict) else text)


def read_tool_calls(calls: Sequence[Mapping[str, Any]]) -> str | None:
    """Arguments of the calls, as text, one a line; of calls of the verdict's tool, if there are any.

    Parameters
    ----------
    calls
        Objects with a ``name`` and ``arguments``.
    """
    named = [call for call in calls if call.get("name") == TOOL_NAME] or list(calls)
    written = [call["arguments"] for call in named if call.get("arguments") is not None]
    return "\n".join(text if isinstance(text, str) else json.dumps(text) for text in written) if written else None


def read_usage(value: object) -> Usage:
    """Token counts in the words of either wire format; what is no count is ``None``."""
    if not isinstance(value, dict):
        return Usage()
    taken = _details(value, "prompt_tokens_details", "input_tokens_details")
    given = _details(value, "completion_tokens_details", "output_tokens_details")
    return Usage(
        input_tokens=token_count(value.get("prompt_tokens", value.get("input_tokens"))),
        output_tokens=token_count(value.get("completion_tokens", value.get("output_tokens"))),
        cached_tokens=token_count(taken.get("cached_tokens")),
        cache_write_tokens=token_count(taken.get("cache_write_tokens")),
        reasoning_tokens=token_count(given.get("reasoning_tokens")),
    )


def _details(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((value[name] for name in names if isinstance(value.get(name), dict)), {})


def read_alternatives(tokens: object) -> Alternatives:
    """What was listed at each token of a reply, the drawn token among it; what is malformed is left out."""
    return [(token["token"], _listed(token)) for token in objects(tokens) if isinstance(token.get("token"), str)]


def _listed(token: Mapping[str, Any]) -> list[tuple[str, float]]:
    listed = [(entry.get("token"), _number(entry.get("logprob"))) for entry in objects(token.get("top_logprobs"))]
    kept = [(text, value) for text, value in listed if isinstance(text, str) and value is not None]
    drawn, value = token["token"], _number(token.get("logprob"))
    if value is not None and value > _MASKED and all(text != drawn for text, _ in kept):
        kept.append((drawn, value))
    return kept


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None


def read_label_logprobs(
    alternatives: Alternatives, spoken: Mapping[str, str], sampling: Sampling
) -> ListedLogprobs | None:
    """Log-probabilities of the labels where the verdict begins: at the first token that is not blank, or in a JSON
    reply at its value.

    ``None`` if there is no such place.
    """
    if sampling.channel not in ("json", "tool"):
        said = next(
            (listed for text, listed in alternatives if text.strip()), alternatives[0][1] if alternatives else None
        )
        return None if said is None else read_listed_logprobs(said, spoken)
    begun = _VERDICT_VALUE.search("".join(text for text, _ in alternatives))
    place = 0
    for text, listed in alternatives:
        if begun and place <= begun.end() < place + len(text):
            lead = text[: begun.end() - place]
            inside = [(token[len(lead) :], value) for token, value in listed if token.startswith(lead)]
            return read_listed_logprobs([(token.rstrip('"} \n'), value) for token, value in inside], spoken)
        place += len(text)
    return None


def without_logprobs(usage: Usage, headers: Mapping[str, str]) -> CallError:
    """The error for a reply that lacks the log-probabilities it was asked for; never a silent fallback."""
    message = "log-probabilities: none in the reply; expected those of its tokens, the verdict is read from them"
    return CallError("unsupported", message, parameter="logprobs", usage=usage, headers=headers)


def _kind(body: object) -> str:
    return "null" if body is None else "empty" if body == "" else type(body).__name__
