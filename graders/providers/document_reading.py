"""Documents that a model opens one at a time, by a tool, before it replies: the turns of one conversation.

A conversation is one call to those who ask for it: what is stored is its last reply, with the turns that led to it and
the usage of all. Where a turn goes wrong and is made again, the conversation goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

from graders.client import Answer, Request
from graders.dispatch.service import CallError, CallErrorKind
from graders.endpoint import Endpoint
from graders.errors import UnsupportedError
from graders.reading_turns import most_turns
from graders.verdict import Completion, Usage

__all__ = [
    "DESCRIPTION",
    "PARAMETERS",
    "TOOL",
    "TURN_LIMIT",
    "Ending",
    "Reading",
    "Readings",
    "ToolCall",
    "Turn",
    "Wire",
    "read_documents",
    "unhurried",
]

TOOL = "open_document"
"""Name of the tool that opens a document."""
DESCRIPTION = "Gives the text of one document of the list."
"""What a model is told of the tool."""
PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"number": {"type": "integer", "description": "The document's number in the list."}},
    "required": ["number"],
    "additionalProperties": False,
}
"""JSON schema of the tool's arguments."""
TURN_LIMIT = "turn_limit"
"""Reason to stop of a conversation that came to no reply within its turns."""

_LONGEST_SECONDS = 86_400.0
"""Of a conversation; each of its turns has the endpoint's time."""

_NOTHING = Usage(0, 0, 0, 0, 0)
_WITHOUT_REPLY = ("length", "refusal", "content_filter")
_MAY_BE_BILLED: frozenset[CallErrorKind] = frozenset({"server_error", "timeout", "connection", "unreadable_reply"})
_REFUSED = ("tools", "tool_choice")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as a model made it; ``arguments`` are what the service sent: a text of JSON, or an object."""

    call_id: str
    name: object
    arguments: object


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model did: what it said, which tools it called, and ``sent_back``, its part of what follows."""

    said: str | None = None
    stop: str | None = None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = _NOTHING
    sent_back: Sequence[Any] = ()


class Wire(Protocol):
    """How one service's turns are sent and read."""

    async def send(self, request: Request, follows: Sequence[Any]) -> tuple[object, Mapping[str, str]]:
        """Make one call, with what follows the first message; the reply's body and headers."""
        ...

    def read_turn(self, body: object) -> Turn:
        """What the model did; nothing of what cannot be read, or calls no tool."""
        ...

    def hand_back(self, results: Sequence[tuple[ToolCall, str]]) -> list[Any]:
        """What calls of tools brought, as messages."""
        ...


@dataclass(slots=True)
class Reading:
    """A conversation so far: ``untold`` is the usage that stands in no answer and no failure yet."""

    texts: tuple[str, ...]
    follows: list[Any] = field(default_factory=list)
    turns: list[Mapping[str, Any]] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    untold: Usage = _NOTHING

    def take(self, turn: Turn, wire: Wire) -> None:
        """Carry out a turn's first call, and tell the model so of the others."""
        n_before = len(self.opened)
        results = [
            (call, self._open(call) if place == 0 else "One document at a time: this one was not opened.")
            for place, call in enumerate(turn.calls)
        ]
        asked = [call.arguments for call in turn.calls]
        self.turns.append({"said": turn.said, "asked": asked, "opened": self.opened[n_before:]})
        self.follows += [*turn.sent_back, *wire.hand_back(results)]
        self.untold = _add(self.untold, turn.usage)

    def _open(self, call: ToolCall) -> str:
        if call.name != TOOL:
            return f"There is no tool {str(call.name)[:60]!r}; expected {TOOL}."
        number = _number_of(call.arguments)
        if number is None or not 1 <= number <= len(self.texts):
            return f"There is no such document; expected a number from 1 to {len(self.texts)}."
        if number in self.opened:
            return f"Document {number} has been opened before; its text stands above."
        self.opened.append(number)
        return self.texts[number - 1]

    def tell(self) -> Usage:
        """The usage that is not told yet, which is told now."""
        told, self.untold = self.untold, _NOTHING
        return told


@dataclass(frozen=True, slots=True)
class Ending:
    """The last reply of a conversation; ``stop`` says why it is no answer, where it is none."""

    reading: Reading
    body: object
    headers: Mapping[str, str]
    stop: str | None

    def complete(self, answer: Answer) -> Answer:
        """The answer in the last reply as that of the whole conversation."""
        if not isinstance(answer.outcome, Completion):
            return answer
        usage = _add(self.reading.tell(), answer.outcome.usage)
        whole = replace(answer.outcome, usage=usage, turns=tuple(self.reading.turns))
        return replace(answer, outcome=whole if self.stop is None else replace(whole, text=None, stop_reason=self.stop))


class Readings:
    """The conversations that are not at their end, of all addresses of a grader's service."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], Reading] = {}

    def find(self, request: Request) -> Reading:
        """The conversation on a request's item, in its first repeat."""
        key = (request.item.digest, request.repeats[0])
        if key not in self._open:
            self._open[key] = Reading(request.prompt.openable(request.item) if request.prompt else ())
        return self._open[key]

    def close(self, request: Request) -> None:
        """A conversation has come to its end."""
        self._open.pop((request.item.digest, request.repeats[0]), None)


def unhurried(endpoint: Endpoint) -> Endpoint:
    """The endpoint for whole conversations, whose turns are timed here."""
    return replace(endpoint, timeout_seconds=_LONGEST_SECONDS)


async def read_documents(
    request: Request,
    reading: Reading,
    wire: Wire,
    finish: Callable[[Ending], Sequence[Answer]],
    *,
    seconds: float,
    name: str,
) -> tuple[list[Answer], Mapping[str, str]]:
    """Take a conversation to its end; the answers in it, and the headers of its last reply.

    Parameters
    ----------
    finish
        Reads the last reply.
    seconds
        Longest that a turn may take.
    name
        Of the service, for messages.

    Raises
    ------
    CallError
        If a turn went wrong. ``usage`` has what was paid before, where nothing else may have been; else that is
        ``paid_before``, which comes on top if nothing more comes of the conversation.
    UnsupportedError
        If the model takes no tools.
    """
    try:
        ending = await _converse(request, reading, wire, seconds, name)
        return [ending.complete(answer) for answer in finish(ending)], ending.headers
    except CallError as error:
        if error.kind == "unsupported" and str(error.parameter).partition(".")[0] in _REFUSED:
            raise UnsupportedError(
                f"{name}: takes no tools ({error.message}); expected a model that does, or documents as text"
            ) from error
        if reading.untold != _NOTHING:
            _tell_what_was_paid(error, reading)
        raise


def _tell_what_was_paid(error: CallError, reading: Reading) -> None:
    if error.usage is None and error.kind in _MAY_BE_BILLED:
        error.paid_before = reading.untold
    else:
        error.usage = _add(reading.tell(), error.usage or _NOTHING)


async def _converse(request: Request, reading: Reading, wire: Wire, seconds: float, name: str) -> Ending:
    while True:
        try:
            async with asyncio.timeout(seconds):
                body, headers = await wire.send(request, reading.follows)
        except TimeoutError:
            raise CallError("timeout", f"{name}: no reply within {seconds:g} s") from None
        turn = wire.read_turn(body)
        if not turn.calls:
            return Ending(reading, body, headers, None)
        if turn.stop in _WITHOUT_REPLY:
            return Ending(reading, body, headers, turn.stop)
        if len(reading.turns) + 1 >= most_turns(len(reading.texts)):
            return Ending(reading, body, headers, TURN_LIMIT)
        reading.take(turn, wire)


def _number_of(arguments: object) -> int | None:
    """The number in a call's arguments, however it is written; ``None`` where there is none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    value = arguments.get("number") if isinstance(arguments, Mapping) else arguments
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(10**9):
        return None
    return int(value)


def _add(one: Usage, other: Usage) -> Usage:
    """Field by field; unknown where either is, as a sum without it would be too small."""
    sums = {}
    for name in (entry.name for entry in fields(Usage)):
        first, second = getattr(one, name), getattr(other, name)
        unknown = first is None or second is None
        sums[name] = None if unknown and name in ("input_tokens", "output_tokens") else (first or 0) + (second or 0)
    return Usage(**sums)
