"""The Responses API: the body of a call, and the reading of its reply. Pure functions.

One reply a call, and no seed; log-probabilities come with the text where ``include`` asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graders.client import Answer, Request
from graders.dispatch.service import CallError
from graders.providers.openai_chat import effective_sampling, prompt_text, sampling_fields
from graders.providers.openai_form import CallForm, wire_model
from graders.providers.openai_reply import (
    Alternatives,
    check_body,
    embedded_error,
    normal_stop,
    objects,
    read_alternatives,
    read_label_logprobs,
    read_parts,
    read_tool_calls,
    read_usage,
    text_or_none,
    without_logprobs,
)
from graders.verdict import Completion
from graders.verdict_form import TOOL_NAME, spoken_labels, verdict_schema

__all__ = ["build_responses_body", "read_responses"]

_ENDED = ("completed", "incomplete")


def build_responses_body(request: Request, form: CallForm) -> dict[str, Any]:
    """The body of a call for one repeat."""
    sampling = request.sampling
    fields = sampling_fields(request, form)
    effort = fields.pop("reasoning_effort", None)
    limit = fields.pop(form.token_limit)
    body = {
        "model": wire_model(form.grader),
        "input": [{"role": "user", "content": prompt_text(request)}],
        "max_output_tokens": limit,
        **fields,
        **({"reasoning": {"effort": effort}} if effort is not None else {}),
        **_form_fields(request, form),
    }
    if sampling.wants_logprobs:
        body["include"] = ["message.output_text.logprobs"]
        if form.top_logprobs:
            body["top_logprobs"] = form.top_logprobs
    return body


def _form_fields(request: Request, form: CallForm) -> dict[str, Any]:
    schema = verdict_schema(tuple(spoken_labels(request).values()))
    if form.holds_to_schema(request.sampling):
        return {"text": {"format": {"type": "json_schema", "name": "verdict", "strict": True, "schema": schema}}}
    if form.forces_tool(request.sampling):
        return {
            "tools": [{"type": "function", "name": TOOL_NAME, "strict": True, "parameters": schema}],
            "tool_choice": {"type": "function", "name": TOOL_NAME},
        }
    return {}


def read_responses(
    body: object, request: Request, form: CallForm, repeats: Sequence[int], headers: Mapping[str, str]
) -> list[Answer]:
    """The answer in a reply.

    Raises
    ------
    CallError
        If the reply failed, holds no output, or lacks log-probabilities where the verdict is read from them.
    """
    reply = check_body(body, headers)
    usage = read_usage(reply.get("usage"))
    if reply.get("status") not in (None, *_ENDED):
        raise _failed(reply, headers)
    output = reply.get("output")
    if not isinstance(output, list):
        message = "reply: no list of outputs; expected one, with a message or a tool call"
        raise CallError("unreadable_reply", message, usage=usage, headers=headers)
    text, refused, alternatives = _read_output(objects(output))
    stop = "refusal" if refused else _stop(reply)
    spoken = spoken_labels(request) if request.sampling.wants_logprobs else {}
    if spoken and not alternatives and text and stop not in ("refusal", "content_filter"):
        raise without_logprobs(usage, headers)
    labels = read_label_logprobs(alternatives, spoken, request.sampling) if spoken else None
    completion = Completion(
        text=text,
        served_model=text_or_none(reply.get("model")) or "",
        stop_reason=stop,
        label_logprobs=labels.labels if labels else None,
        other_logprobs=labels.others if labels else (),
        usage=usage,
        effective_sampling=effective_sampling(request, form, repeats[0]),
        fingerprint=text_or_none(reply.get("system_fingerprint")),
    )
    return [Answer(request.item.digest, repeats[0], completion)]


def _read_output(output: Sequence[Mapping[str, Any]]) -> tuple[str | None, bool, Alternatives]:
    """Text, whether it is a refusal, and alternatives; reasoning items are passed over."""
    calls = [item for item in output if item.get("type") == "function_call"]
    messages = [item for item in output if item.get("type", "message") == "message"]
    read = [read_parts(message.get("content")) for message in messages]
    spoken = "".join(text for text, _ in read if text is not None)
    refusal = "".join(text for _, text in read if text)
    parts = [part for message in messages for part in objects(message.get("content"))]
    alternatives = [token for part in parts for token in read_alternatives(part.get("logprobs"))]
    if refusal:
        return spoken or refusal, True, alternatives
    any_text = spoken if any(text is not None for text, _ in read) else None
    return read_tool_calls(calls) or any_text, False, alternatives


def _stop(reply: Mapping[str, Any]) -> str | None:
    details = reply.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return normal_stop(reason or reply.get("status"))


def _failed(reply: Mapping[str, Any], headers: Mapping[str, str]) -> CallError:
    """The error of a reply that says of itself that it failed, was cancelled, or is not there yet."""
    told = " ".join(str(reply.get("status")).split())[:40]
    error = reply.get("error") or {"message": f"status of the reply is {told}; expected completed"}
    return embedded_error({"error": error}, headers)
