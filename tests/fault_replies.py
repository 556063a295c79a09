"""What a service says on the wire, well and badly: faults, and the bodies of replies in four forms. Pure functions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ChangedModel",
    "ContentFilter",
    "DropConnection",
    "EmptyContent",
    "Fault",
    "HalfJson",
    "Hang",
    "IgnoreN",
    "NotJson",
    "NullContent",
    "Ok",
    "ReasoningBesideEmpty",
    "Refusal",
    "ResetMidBody",
    "Slow",
    "Status",
    "WrongUsage",
    "asked_text",
    "build_reply",
    "n_choices",
    "said_verdict",
    "stream_of",
    "text_key",
]

LETTERS = ("A", "B", "C")


@dataclass(frozen=True, slots=True)
class Fault:
    """How one call is met."""


@dataclass(frozen=True, slots=True)
class Ok(Fault):
    """A good reply; ``text`` instead of the verdict, where given."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Status(Fault):
    """An HTTP status without a completion; ``body`` is sent as it is, by default an error object."""

    code: int
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None


@dataclass(frozen=True, slots=True)
class ResetMidBody(Fault):
    """The completion is generated, and the connection breaks off in the middle of it."""


@dataclass(frozen=True, slots=True)
class Hang(Fault):
    """Nothing is ever said."""


@dataclass(frozen=True, slots=True)
class Slow(Fault):
    """A good reply after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class HalfJson(Fault):
    """The completion is generated; a whole HTTP body holds half of it."""


@dataclass(frozen=True, slots=True)
class EmptyContent(Fault):
    """A completion whose text is empty."""


@dataclass(frozen=True, slots=True)
class NullContent(Fault):
    """A completion whose content is null."""


@dataclass(frozen=True, slots=True)
class ContentFilter(Fault):
    """A filter took the completion's place."""


@dataclass(frozen=True, slots=True)
class ReasoningBesideEmpty(Fault):
    """Thoughts that name a verdict, and no text."""


@dataclass(frozen=True, slots=True)
class IgnoreN(Fault):
    """One choice, however many were asked for."""


@dataclass(frozen=True, slots=True)
class WrongUsage(Fault):
    """A good reply whose token counts are none."""


@dataclass(frozen=True, slots=True)
class ChangedModel(Fault):
    """A good reply by another model than asked."""

    name: str = "another-model"


@dataclass(frozen=True, slots=True)
class NotJson(Fault):
    """A page for people with status 200, as proxies send it."""


@dataclass(frozen=True, slots=True)
class DropConnection(Fault):
    """The connection is closed before anything is generated."""


@dataclass(frozen=True, slots=True)
class Refusal(Fault):
    """The model declines."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What the model of a reply says, whatever the wire format."""

    text: str | None
    stop: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    labels: tuple[str, ...] = field(default=LETTERS)


def asked_text(body: Mapping[str, Any]) -> str:
    """All that the user says in a call, of any form."""
    if "prompt" in body:
        return str(body["prompt"]).strip()
    turns = body.get("messages") or body.get("input") or []
    if isinstance(turns, str):
        return turns.strip()
    return "".join(_content_text(turn.get("content")) for turn in turns).strip()


def _content_text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content)


def text_key(text: str) -> str:
    """Key of the item that a prompt is about: a digest of the rendered prompt."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def said_verdict(text: str, labels: Sequence[str] = LETTERS) -> str:
    """The verdict that the server gives on a rendered prompt, in whatever order the labels are named."""
    return sorted(labels)[int(text_key(text), 16) % len(labels)]


def n_choices(path: str, body: Mapping[str, Any], fault: Fault) -> int:
    """How many completions a call generates."""
    alone = isinstance(fault, IgnoreN) or not path.endswith("completions")
    return 1 if alone else int(body.get("n") or 1)


def _labels_in(value: object) -> tuple[str, ...] | None:
    """The strings that a body holds the reply to: of a JSON schema, or of a list of choices."""
    if isinstance(value, dict):
        for name in ("enum", "choice"):
            if isinstance(value.get(name), list):
                return tuple(value[name])
        value = list(value.values())
    if isinstance(value, list):
        return next((found for entry in value if (found := _labels_in(entry))), None)
    return None


def _is_json(body: Mapping[str, Any]) -> bool:
    described = ("response_format", "text", "output_config", "tools")
    return any(_labels_in(body.get(name)) for name in described)


def _speak(body: Mapping[str, Any], fault: Fault) -> _Said:
    labels = _labels_in({name: value for name, value in body.items() if name not in ("messages", "input")}) or LETTERS
    verdict = said_verdict(asked_text(body), labels)
    text = json.dumps({"verdict": verdict}) if _is_json(body) else verdict
    match fault:
        case Ok(text=str(instead)):
            return _Said(instead, labels=labels)
        case EmptyContent():
            return _Said("", labels=labels)
        case NullContent():
            return _Said(None, labels=labels)
        case ContentFilter():
            return _Said(None, "content_filter", labels=labels)
        case ReasoningBesideEmpty():
            return _Said("", reasoning=f"It is {verdict}. So the verdict: {verdict}", labels=labels)
        case Refusal():
            return _Said(None, "refusal", refusal="I cannot help with that.", labels=labels)
    return _Said(text, labels=labels)


def build_reply(path: str, body: Mapping[str, Any], fault: Fault) -> dict[str, Any]:
    """The body of a reply with status 200, in the form of its path."""
    said, n = _speak(body, fault), n_choices(path, body, fault)
    if path.endswith("/messages"):
        reply = _message(body, said)
    elif path.endswith("/responses"):
        reply = _response(body, said)
    else:
        make = _chat_choice if path.endswith("/chat/completions") else _plain_choice
        reply = {
            "id": "c-1",
            "object": "chat.completion",
            "system_fingerprint": "fp-1",
            "choices": [make(body, said, index) for index in range(n)],
            "usage": {"prompt_tokens": 20, "completion_tokens": n, "total_tokens": 20 + n},
        }
    reply["model"] = fault.name if isinstance(fault, ChangedModel) else body["model"]
    if isinstance(fault, WrongUsage):
        reply["usage"] = {"prompt_tokens": "many", "input_tokens": -3, "completion_tokens": None, "output_tokens": []}
    return reply


def _chat_choice(body: Mapping[str, Any], said: _Said, index: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    stop = "stop" if said.stop == "refusal" else said.stop
    if body.get("tools") and said.text:
        function = {"name": body["tools"][0]["function"]["name"], "arguments": said.text}
        message |= {"content": None, "tool_calls": [{"id": "t-1", "type": "function", "function": function}]}
        stop = "tool_calls"
    choice = {"index": index, "message": message, "finish_reason": stop}
    if body.get("logprobs") and said.text:
        choice["logprobs"] = {"content": _tokens(said)}
    return choice


def _tokens(said: _Said) -> list[dict[str, Any]]:
    """Tokens of a text: the verdict is one of its own, with the other labels listed beside it."""
    text = said.text or ""
    verdict = next((label for label in said.labels if label in text), text)
    before, _, after = text.partition(verdict)
    listed = [{"token": label, "logprob": -0.2 if label == verdict else -2.4} for label in said.labels]
    drawn = {"token": verdict, "logprob": -0.2, "top_logprobs": listed}
    beside = [{"token": part, "logprob": 0.0, "top_logprobs": []} for part in (before, after)]
    return [token for token in (beside[0], drawn, beside[1]) if token["token"]]


def _plain_choice(body: Mapping[str, Any], said: _Said, index: int) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": index, "text": said.text or "", "finish_reason": said.stop}
    if body.get("logprobs") and said.text:
        tokens = _tokens(said)
        choice["logprobs"] = {
            "tokens": [token["token"] for token in tokens],
            "token_logprobs": [token["logprob"] for token in tokens],
            "top_logprobs": [{one["token"]: one["logprob"] for one in token["top_logprobs"]} for token in tokens],
        }
    return choice


def _response(body: Mapping[str, Any], said: _Said) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if said.reasoning is not None:
        output.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": said.reasoning}]})
    if body.get("tools") and said.text:
        output.append({"type": "function_call", "name": body["tools"][0]["name"], "arguments": said.text})
    elif said.refusal is not None:
        output.append({"type": "message", "content": [{"type": "refusal", "refusal": said.refusal}]})
    elif said.stop != "content_filter":
        part: dict[str, Any] = {"type": "output_text", "text": said.text}
        if "message.output_text.logprobs" in body.get("include", []) and said.text:
            part["logprobs"] = _tokens(said)
        output.append({"type": "message", "role": "assistant", "content": None if said.text is None else [part]})
    usage = {"input_tokens": 20, "output_tokens": 1, "total_tokens": 21}
    reply: dict[str, Any] = {"id": "r-1", "object": "response", "status": "completed", "output": output, "usage": usage}
    if said.stop == "content_filter":
        reply |= {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    return reply


def _message(body: Mapping[str, Any], said: _Said) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if said.reasoning is not None:
        content.append({"type": "thinking", "thinking": said.reasoning, "signature": "s"})
    stop = "refusal" if said.stop in ("refusal", "content_filter") else "end_turn"
    if body.get("tools") and said.text:
        name, stop = body["tools"][0]["name"], "tool_use"
        content.append({"type": "tool_use", "id": "t-1", "name": name, "input": _parsed(said.text)})
    elif said.text:
        content.append({"type": "text", "text": said.text})
    usage = {"input_tokens": 4, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 6, "output_tokens": 1}
    whole = None if said.text is None and stop == "end_turn" else content
    return {"id": "m-1", "type": "message", "role": "assistant", "content": whole, "stop_reason": stop, "usage": usage}


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def stream_of(path: str, reply: Mapping[str, Any]) -> bytes:
    """The same reply as an event stream, as the OpenAI-shaped services send it."""
    if path.endswith("/responses"):
        events: list[Mapping[str, Any]] = [
            {"type": "response.created", "response": {**reply, "status": "in_progress", "output": []}},
            {"type": f"response.{reply['status']}", "response": reply},
        ]
        return b"".join(f"event: {event['type']}\n".encode() + _event(event) for event in events)
    parts = [part for choice in reply["choices"] for part in _deltas(choice)]
    shared = {name: reply[name] for name in ("id", "model", "system_fingerprint")}
    chunks = [{**shared, "object": "chat.completion.chunk", "choices": [part]} for part in parts]
    last = {**shared, "object": "chat.completion.chunk", "choices": [], "usage": reply["usage"]}
    return b"".join(map(_event, [*chunks, last])) + b"data: [DONE]\n\n"


def _deltas(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    index, stop = choice["index"], choice["finish_reason"]
    beside = {"logprobs": choice["logprobs"]} if "logprobs" in choice else {}
    if "text" in choice:
        return [{"index": index, "text": choice["text"], **beside}, {"index": index, "text": "", "finish_reason": stop}]
    message = dict(choice["message"])
    if "tool_calls" in message:
        message["tool_calls"] = [{**call, "index": place} for place, call in enumerate(message["tool_calls"])]
    return [
        {"index": index, "delta": {"role": message.pop("role")}, "finish_reason": None},
        {"index": index, "delta": message, "finish_reason": None, **beside},
        {"index": index, "delta": {}, "finish_reason": stop},
    ]


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
