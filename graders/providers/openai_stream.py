"""From an event stream to the reply that would have come without one. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graders.dispatch.service import CallError
from graders.providers.openai_reply import check_body, objects

__all__ = ["read_stream"]

_FINAL = ("response.completed", "response.incomplete", "response.failed")


@dataclass(slots=True)
class _Choice:
    """What has come of one choice."""

    content: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    logprobs: dict[str, list[Any]] = field(default_factory=dict)
    finish_reason: object = None

    def add(self, piece: Mapping[str, Any]) -> None:
        self.finish_reason = piece.get("finish_reason") or self.finish_reason
        if isinstance(piece.get("logprobs"), dict):
            for name, values in piece["logprobs"].items():
                if isinstance(values, list):
                    self.logprobs.setdefault(name, []).extend(values)
        _collect(self.text, piece.get("text"))
        delta = piece.get("delta") or piece.get("message")
        if isinstance(delta, dict):
            self._add_delta(delta)

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        _collect(self.content, delta.get("content"))
        _collect(self.refusal, delta.get("refusal"))
        for position, call in enumerate(objects(delta.get("tool_calls"))):
            place, function = call.get("index", position), call.get("function")
            if not isinstance(place, int) or not isinstance(function, dict):
                continue
            gathered = self.calls.setdefault(place, {"name": "", "arguments": ""})
            for name in gathered:
                gathered[name] += function[name] if isinstance(function.get(name), str) else ""

    def whole(self, index: int) -> dict[str, Any]:
        whole: dict[str, Any] = {
            "index": index,
            "finish_reason": self.finish_reason,
            "logprobs": self.logprobs or None,
        }
        if self.text:
            return {**whole, "text": "".join(self.text)}
        calls = [{"function": call} for _, call in sorted(self.calls.items())]
        message = {
            "content": "".join(self.content) if self.content else None,
            "refusal": "".join(self.refusal) or None,
            "tool_calls": calls or None,
        }
        return {**whole, "message": message}


def read_stream(received: bytes, headers: Mapping[str, str]) -> object:
    """The reply that an event stream tells: deltas put together by index, usage from whichever event has it.

    A server that ignores the wish for a stream and answers at once is read all the same.

    Raises
    ------
    CallError
        If an event is an error, or the stream ends before its end.
    """
    whole = _read_plain(received)
    if whole is not None:
        return whole
    events, ended = [], False
    for data in _data(received):
        if data.strip() == b"[DONE]":
            ended = True
            break
        events.append(_read_event(data, headers))
    final = next((event["response"] for event in reversed(events) if event.get("type") in _FINAL), None)
    return final if final is not None else _put_together(events, ended, headers)


def _read_plain(received: bytes) -> object | None:
    if not received.lstrip().startswith(b"{"):
        return None
    try:
        whole: object = json.loads(received)
    except (ValueError, RecursionError):
        return None
    return whole


def _data(received: bytes) -> Iterator[bytes]:
    """The data of each event; only line feeds and carriage returns end a line, unlike in texts."""
    for event in received.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
        if lines:
            yield b"\n".join(lines)


def _read_event(data: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _cut(headers) from error
    if isinstance(event, dict) and event.get("type") == "error" and not event.get("error"):
        event = {"error": event}
    if isinstance(event, dict) and event.get("error"):
        # Choices beside an error are not whole.
        event = {"error": event["error"]}
    return check_body(event, headers)


def _put_together(events: Sequence[Mapping[str, Any]], ended: bool, headers: Mapping[str, str]) -> object:
    choices: dict[int, _Choice] = {}
    for event in events:
        for piece in objects(event.get("choices")):
            index = piece.get("index", 0)
            if isinstance(index, int):
                choices.setdefault(index, _Choice()).add(piece)
    if not ended and (not choices or any(choice.finish_reason is None for choice in choices.values())):
        raise _cut(headers)
    return {
        "model": _last(events, "model", str),
        "system_fingerprint": _last(events, "system_fingerprint", str),
        "usage": _last(events, "usage", dict),
        "choices": [choice.whole(index) for index, choice in sorted(choices.items())],
    }


def _last(events: Sequence[Mapping[str, Any]], name: str, kind: type) -> object:
    return next((event[name] for event in reversed(events) if isinstance(event.get(name), kind)), None)


def _collect(pieces: list[str], piece: object) -> None:
    if isinstance(piece, str):
        pieces.append(piece)


def _cut(headers: Mapping[str, str]) -> CallError:
    return CallError("connection", "stream: cut before its end; expected it to end by itself", headers=headers)
