"""Anthropic's Messages: what is sent for a request, and what is read in a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graders.client import Answer, Request
from graders.dispatch.http_errors import http_call_error
from graders.dispatch.service import CallError, Reply
from graders.errors import GraderError, UnsupportedError
from graders.grader import Grader
from graders.providers.token_counts import token_count
from graders.verdict import Completion, Usage
from graders.verdict_form import TOOL_NAME, spoken_labels, verdict_schema

__all__ = ["build_messages_body", "read_message", "read_usage", "sent_temperature", "stop_of"]

_STOPS = {
    "end_turn": "stop",
    "tool_use": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def build_messages_body(request: Request, grader: Grader, left_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The body of one call: the rubric as a block that the service may keep, then the item.

    Parameters
    ----------
    request
        An item; a message has one reply, so its first repeat is what is asked for.
    grader
        Whose model is asked.
    left_out
        Parameters that the model was found to refuse.

    Raises
    ------
    UnsupportedError
        For log-probabilities, which there are none of, and prompts that are continued as plain text.
    """
    _check_possible(request, grader)
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": grader.model.split("/", 1)[1],
        "max_tokens": sampling.max_tokens,
        "messages": [{"role": "user", "content": _content(request, cached="cache_control" not in left_out)}],
    }
    temperature = sent_temperature(request, grader, left_out)
    if temperature is not None:
        body["temperature"] = temperature
    output: dict[str, Any] = {}
    if sampling.reasoning_effort is not None and "reasoning_effort" not in left_out:
        output["effort"] = sampling.reasoning_effort
    schema = verdict_schema(list(spoken_labels(request).values()))
    if sampling.channel == "json" and "response_format" not in left_out:
        output["format"] = {"type": "json_schema", "schema": schema}
    if output:
        body["output_config"] = output
    if sampling.channel == "tool" and "tools" not in left_out:
        tool = {"name": TOOL_NAME, "description": "Give the verdict on the item.", "input_schema": schema}
        body["tools"] = [tool]
        body["tool_choice"] = {"type": "tool", "name": TOOL_NAME, "disable_parallel_tool_use": True}
    return body


def sent_temperature(request: Request, grader: Grader, left_out: frozenset[str]) -> float | None:
    """The temperature that goes out: none, but for models that are said to take one."""
    accepted = grader.capabilities.temperature
    asked = request.sampling.temperature
    if accepted is None or "temperature" in left_out:
        return None
    if grader.endpoint.on_unsupported == "provider-default" and not accepted[0] <= asked <= accepted[1]:
        return None
    return asked


def read_message(
    body: object,
    request: Request,
    grader: Grader,
    headers: Mapping[str, str],
    left_out: frozenset[str] = frozenset(),
) -> Reply:
    """The completion in a message: its text, or the input of its tool call; never what it thought.

    Raises
    ------
    CallError
        If the body is no message.
    """
    if not isinstance(body, Mapping):
        raise CallError("unreadable_reply", f"reply: {type(body).__name__}; expected a message", headers=headers)
    if body.get("type") == "error" or (body.get("error") and "content" not in body):
        raise http_call_error(_status_of(body), body, headers)
    usage = read_usage(body.get("usage"))
    content = body.get("content")
    if content is not None and not isinstance(content, (list, str)):
        told = f"reply: content {type(content).__name__}; expected a list of blocks"
        raise CallError("unreadable_reply", told, headers=headers, usage=usage)
    if content is None and not body.get("stop_reason"):
        raise CallError("unreadable_reply", "reply: neither content nor stop reason", headers=headers, usage=usage)
    completion = Completion(
        text=_text(content),
        served_model=str(body.get("model") or ""),
        stop_reason=stop_of(body),
        usage=usage,
        effective_sampling=_effective(request, grader, left_out),
    )
    return Reply([Answer(request.item.digest, request.repeats[0], completion)], headers)


def stop_of(body: Mapping[str, Any]) -> str | None:
    """A message's reason to stop in our words; unknown ones in lower case."""
    stop = body.get("stop_reason")
    return _STOPS.get(stop, stop.lower()) if isinstance(stop, str) else None


def _check_possible(request: Request, grader: Grader) -> None:
    if request.prompt is None:
        raise GraderError(f"{grader.model}: no prompt; expected one, a model has to be told what to judge")
    if request.sampling.wants_logprobs:
        raise UnsupportedError(f"{grader.title}: log-probabilities asked, none given by this service")
    if request.prompt.form != "chat":
        raise UnsupportedError(f"{grader.title}: {request.prompt.name} is continued as plain text, only chats accepted")


def _content(request: Request, *, cached: bool) -> list[dict[str, Any]]:
    if request.prompt is None:
        return []
    rendered, shared = request.prompt.render(request.item), request.prompt.shared_text
    if not shared.strip() or not rendered.startswith(shared) or not rendered[len(shared) :].strip():
        return [{"type": "text", "text": rendered}]
    kept: dict[str, Any] = {"type": "text", "text": shared}
    if cached:
        kept["cache_control"] = {"type": "ephemeral"}
    return [kept, {"type": "text", "text": rendered[len(shared) :]}]


def _text(content: list[Any] | str | None) -> str | None:
    """The input of the verdict's tool call if there is one, else all text blocks; ``None`` if there is neither."""
    if isinstance(content, str):
        return content
    blocks = [block for block in content or [] if isinstance(block, Mapping)]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    named = [block for block in calls if block.get("name") == TOOL_NAME] or calls
    if named:
        given = [block.get("input") for block in named]
        return "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in given)
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    return "".join(texts) if texts else None


def read_usage(counts: object) -> Usage:
    """Tokens; what was read from and written to the cache is part of the input, here as elsewhere."""
    if not isinstance(counts, Mapping):
        return Usage()
    plain, read, written = (
        token_count(counts.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    details = counts.get("output_tokens_details")
    thought = details.get("thinking_tokens", details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    return Usage(
        input_tokens=None if plain is None else plain + (read or 0) + (written or 0),
        output_tokens=token_count(counts.get("output_tokens")),
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=token_count(thought),
    )


def _effective(request: Request, grader: Grader, left_out: frozenset[str]) -> Mapping[str, Any]:
    sampling = request.sampling
    held = (sampling.channel == "json" and "response_format" not in left_out) or (
        sampling.channel == "tool" and "tools" not in left_out
    )
    effective: dict[str, Any] = {
        "temperature": sent_temperature(request, grader, left_out),
        "seed": None,
        "max_tokens": sampling.max_tokens,
        "constrained": held,
    }
    if sampling.reasoning_effort is not None:
        sent = "reasoning_effort" not in left_out
        effective["reasoning_effort"] = sampling.reasoning_effort if sent else None
    return effective


def _status_of(body: Mapping[str, Any]) -> int:
    error = body.get("error")
    kind = error.get("type") if isinstance(error, Mapping) else None
    known = {"overloaded_error": 529, "rate_limit_error": 429, "authentication_error": 401, "api_error": 500}
    return known.get(str(kind), 200)
