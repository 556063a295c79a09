"""Chat Completions, and plain completions: the body of a call, and the reading of its reply. Pure functions.

What vLLM's log-probabilities mean (measured on 0.32, ``logprobs_mode`` at its default): they come before
temperature. Under ``structured_outputs`` they are renormalised over what the grammar allows, everything
else stands at -9999; without it they cover the whole vocabulary. ``logprob_token_ids`` lists these tokens
and the drawn one, and nothing else, whatever ``top_logprobs`` says. With ``n`` choices the seed of choice
``i`` is the call's seed plus ``i``, and its draw is the one of a call of its own with that seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graders.client import Answer, Request
from graders.dispatch.service import CallError
from graders.errors import GraderError
from graders.prompt import GraderPrompt
from graders.providers.local_prompt import reply_lead
from graders.providers.openai_form import LABEL_CHANNELS, CallForm, wire_model
from graders.providers.openai_reply import (
    NO_USAGE,
    Alternatives,
    check_body,
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
from graders.providers.seeds import draw_seed
from graders.verdict import Completion, Usage
from graders.verdict_form import TOOL_NAME, spoken_labels, verdict_schema

__all__ = [
    "build_chat_body",
    "chat_path",
    "continues_text",
    "effective_sampling",
    "prompt_text",
    "read_chat",
    "sampling_fields",
]


def continues_text(request: Request, form: CallForm) -> bool:
    """Whether the prompt is continued as plain text, by the completions endpoint."""
    prompt = _prompt_of(request)
    able = form.grader.capabilities.completions and request.sampling.channel in LABEL_CHANNELS
    return able and prompt.form == "completion"


def chat_path(request: Request, form: CallForm) -> str:
    """Where the call goes, under the service's address."""
    return "/completions" if continues_text(request, form) else "/chat/completions"


def prompt_text(request: Request) -> str:
    """The rendered prompt: rubric first, item last."""
    return _prompt_of(request).render(request.item)


def build_chat_body(
    request: Request, form: CallForm, repeats: Sequence[int], label_ids: Sequence[int] | None = None
) -> dict[str, Any]:
    """The body of a call for some of a request's repeats.

    Parameters
    ----------
    request
        What is asked.
    form
        What the model takes.
    repeats
        Which repeats, consecutive where seeds are sent; one choice each.
    label_ids
        Tokens to score by name, where the server can and they are known.
    """
    text = prompt_text(request)
    body: dict[str, Any] = {"model": wire_model(form.grader)}
    if continues_text(request, form):
        body["prompt"] = text.rstrip(" ") if reply_lead(_prompt_of(request)) else text
    else:
        body["messages"] = [{"role": "user", "content": text}]
    body |= sampling_fields(request, form)
    if len(repeats) > 1:
        body["n"] = len(repeats)
    if form.sends_seed:
        body["seed"] = draw_seed(request.sampling.seed, request.item.digest, repeats[0])
    body |= _form_fields(request, form)
    if request.sampling.wants_logprobs:
        body |= _logprob_fields(request, form, label_ids)
    return body


def sampling_fields(request: Request, form: CallForm) -> dict[str, Any]:
    """Temperature, token limit and effort, as far as they are sent."""
    sampling = request.sampling
    limit = "max_tokens" if continues_text(request, form) else form.token_limit
    fields: dict[str, Any] = {limit: sampling.max_tokens}
    temperature, effort = form.temperature(sampling), form.effort(sampling)
    if temperature is not None:
        fields["temperature"] = temperature
    if effort is not None:
        fields["reasoning_effort"] = effort
    return fields


def _form_fields(request: Request, form: CallForm) -> dict[str, Any]:
    sampling, spoken = request.sampling, tuple(spoken_labels(request).values())
    if form.holds_to_choice(sampling):
        lead = reply_lead(_prompt_of(request)) if continues_text(request, form) else ""
        return {"structured_outputs": {"choice": [lead + said for said in spoken]}}
    if form.holds_to_schema(sampling):
        schema = {"name": "verdict", "strict": True, "schema": verdict_schema(spoken)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if form.forces_tool(sampling):
        function = {"name": TOOL_NAME, "strict": True, "parameters": verdict_schema(spoken)}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL_NAME}},
        }
    return {}


def _logprob_fields(request: Request, form: CallForm, label_ids: Sequence[int] | None) -> dict[str, Any]:
    named = {"logprob_token_ids": list(label_ids)} if label_ids else {}
    if continues_text(request, form):
        return {"logprobs": max(1, form.top_logprobs), **named}
    listed = {"top_logprobs": form.top_logprobs} if form.top_logprobs and not named else {}
    return {"logprobs": True, **listed, **named}


def effective_sampling(request: Request, form: CallForm, repeat: int, *, labels_scored: bool = False) -> dict[str, Any]:
    """The settings that are in force for one repeat, as far as they were sent."""
    sampling = request.sampling
    held = form.holds_to_choice(sampling) or form.holds_to_schema(sampling) or form.forces_tool(sampling)
    settings: dict[str, Any] = {
        "temperature": form.temperature(sampling),
        "seed": draw_seed(sampling.seed, request.item.digest, repeat) if form.sends_seed else None,
        "max_tokens": sampling.max_tokens,
        "constrained": held,
    }
    if sampling.reasoning_effort is not None:
        settings["reasoning_effort"] = form.effort(sampling)
    if form.token_limit != form.grader.capabilities.token_limit:
        settings["token_limit"] = form.token_limit
    if sampling.channel in ("json", "tool") and not held:
        settings["channel"] = "text"
    if sampling.wants_logprobs:
        settings["listed"] = "labels" if labels_scored else "most probable"
    return settings


def read_chat(
    body: object,
    request: Request,
    form: CallForm,
    repeats: Sequence[int],
    headers: Mapping[str, str],
    *,
    labels_scored: bool = False,
) -> list[Answer]:
    """The answers in a reply: at most one for each repeat, by the index of its choice.

    Raises
    ------
    CallError
        If there is no usable choice, or log-probabilities are missing where the verdict is read from them.
    """
    reply = check_body(body, headers)
    usage = read_usage(reply.get("usage"))
    spoken = spoken_labels(request) if request.sampling.wants_logprobs else {}
    answers: list[Answer] = []
    for position, choice in _by_position(reply.get("choices"), len(repeats)).items():
        told = _read_choice(choice) if position < len(repeats) else None
        if told is None:
            continue
        text, stop, alternatives = told
        labels = read_label_logprobs(alternatives, spoken, request.sampling) if spoken and alternatives else None
        if spoken and not alternatives and text and stop not in ("refusal", "content_filter"):
            raise without_logprobs(usage, headers)
        completion = Completion(
            text=text,
            served_model=text_or_none(reply.get("model")) or "",
            stop_reason=stop,
            label_logprobs=labels.labels if labels else None,
            other_logprobs=labels.others if labels else (),
            usage=NO_USAGE if answers else usage,
            effective_sampling=effective_sampling(request, form, repeats[position], labels_scored=labels_scored),
            fingerprint=text_or_none(reply.get("system_fingerprint")),
        )
        answers.append(Answer(request.item.digest, repeats[position], completion))
    if not answers:
        raise _no_choice(reply, usage, headers)
    return answers


def _by_position(choices: object, n_asked: int) -> dict[int, Mapping[str, Any]]:
    """Choices by their index; by their order where the indices are none, not told apart, or not from 0."""
    found = objects(choices)
    indices = [choice.get("index") for choice in found]
    real = [index for index in indices if isinstance(index, int) and not isinstance(index, bool) and index >= 0]
    if len(set(real)) < len(found):
        return dict(enumerate(found))
    ordered = sorted(zip(real, found, strict=True), key=lambda pair: pair[0])
    if real and max(real) >= max(n_asked, len(found)):
        return dict(enumerate(choice for _, choice in ordered))
    return dict(ordered)


def _read_choice(choice: Mapping[str, Any]) -> tuple[str | None, str | None, Alternatives | None] | None:
    """Text, reason to stop and alternatives of a choice; ``None`` where it holds no message."""
    stop = normal_stop(choice.get("finish_reason"))
    logprobs = choice.get("logprobs")
    if isinstance(choice.get("text"), str):
        return choice["text"], stop, _plain_alternatives(logprobs) if isinstance(logprobs, dict) else None
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    alternatives = read_alternatives(listed) if isinstance(listed, list) else None
    message = choice.get("message")
    if not isinstance(message, dict):
        return (None, stop, alternatives) if stop == "content_filter" else None
    text, refused = _read_message(message)
    return text, "refusal" if refused and stop != "content_filter" else stop, alternatives


def _read_message(message: Mapping[str, Any]) -> tuple[str | None, bool]:
    """What a message says, and whether it is a refusal; thoughts beside the content are never read."""
    text, refusal = read_parts(message.get("content"))
    refusal = text_or_none(message.get("refusal")) or refusal
    if refusal:
        return text or refusal, True
    calls = [call["function"] for call in objects(message.get("tool_calls")) if isinstance(call.get("function"), dict)]
    if isinstance(message.get("function_call"), dict):
        calls.append(message["function_call"])
    return read_tool_calls(calls) or text, False


def _plain_alternatives(logprobs: Mapping[str, Any]) -> Alternatives | None:
    """The lists of the completions endpoint, in the form of a chat's."""
    tokens, drawn, listed = (logprobs.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(tokens, list):
        return None
    drawn = drawn if isinstance(drawn, list) else []
    listed = listed if isinstance(listed, list) else []
    shaped = []
    for position, token in enumerate(tokens):
        beside = listed[position] if position < len(listed) and isinstance(listed[position], dict) else {}
        shaped.append(
            {
                "token": token,
                "logprob": drawn[position] if position < len(drawn) else None,
                "top_logprobs": [{"token": text, "logprob": value} for text, value in beside.items()],
            }
        )
    return read_alternatives(shaped)


def _no_choice(reply: Mapping[str, Any], usage: Usage, headers: Mapping[str, str]) -> CallError:
    choices = reply.get("choices")
    told = f"{len(choices)} choices, none with a message" if isinstance(choices, list) and choices else "no choices"
    keys = json.dumps(sorted(map(str, reply))[:8])
    message = f"reply: {told} in an object with {keys}; expected a choice for each repeat"
    return CallError("unreadable_reply", message, usage=usage, headers=headers)


def _prompt_of(request: Request) -> GraderPrompt:
    if request.prompt is None:
        raise GraderError("grader prompt: none; expected one, a model has to be told what to judge")
    return request.prompt
