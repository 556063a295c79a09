"""OpenAI-shaped services whose model opens documents by a tool: Chat Completions and Responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graders.client import Answer, ModelClient, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.service import Reply
from graders.grader import Grader
from graders.providers.document_reading import (
    DESCRIPTION,
    PARAMETERS,
    TOOL,
    Ending,
    Readings,
    ToolCall,
    Turn,
    Wire,
    read_documents,
    unhurried,
)
from graders.providers.openai_chat import build_chat_body, read_chat
from graders.providers.openai_client import addresses
from graders.providers.openai_form import CallForm
from graders.providers.openai_reply import normal_stop, objects, read_parts, read_usage
from graders.providers.openai_responses import build_responses_body, read_responses
from graders.providers.openai_service import OpenAIService

__all__ = ["OpenAIReadingService", "open_openai_reading"]


class OpenAIReadingService(OpenAIService):
    """One address of a grader's service; a call is a whole conversation.

    Parameters
    ----------
    grader, base_url
        As of :class:`graders.providers.openai_service.OpenAIService`.
    readings
        Shared with the other addresses.
    """

    def __init__(self, grader: Grader, base_url: str, readings: Readings) -> None:
        super().__init__(grader, base_url)
        self._readings = readings

    def choices_per_call(self, request: Request) -> int:  # noqa: ARG002 - of the protocol
        """One: a conversation has no alternatives."""
        return 1

    async def ask(self, request: Request) -> Reply:
        """Have the documents read, and the question answered in the request's first repeat; as the class it is from."""
        return await super().ask(replace(request, repeats=request.repeats[:1]))

    async def _ask(
        self, request: Request, form: CallForm, repeats: Sequence[int]
    ) -> tuple[list[Answer], Mapping[str, str]]:
        is_responses = form.grader.capabilities.api == "responses"
        wire: Wire = _ResponsesWire(self, form) if is_responses else _ChatWire(self, form)

        def finish(ending: Ending) -> Sequence[Answer]:
            read = read_responses if is_responses else read_chat
            return read(ending.body, request, form, repeats, ending.headers)

        found = await read_documents(
            request,
            self._readings.find(request),
            wire,
            finish,
            seconds=self._grader.endpoint.timeout_seconds,
            name=self.name,
        )
        self._readings.close(request)
        return found

    async def send(self, path: str, body: dict[str, Any], form: CallForm) -> tuple[object, Mapping[str, str]]:
        """Make one call of a conversation."""
        return await self._post(path, body, form)


@dataclass(frozen=True, slots=True)
class _ChatWire:
    service: OpenAIReadingService
    form: CallForm

    async def send(self, request: Request, follows: Sequence[Any]) -> tuple[object, Mapping[str, str]]:
        body = build_chat_body(request, self.form, request.repeats[:1])
        body["messages"] += follows
        function = {"name": TOOL, "description": DESCRIPTION, "parameters": PARAMETERS}
        body["tools"] = [{"type": "function", "function": function}]
        return await self.service.send("/chat/completions", body, self.form)

    def read_turn(self, body: object) -> Turn:
        choices = objects(body.get("choices")) if isinstance(body, Mapping) else []
        message = choices[0].get("message") if choices else None
        if not isinstance(body, Mapping) or not isinstance(message, Mapping):
            return Turn()
        calls = tuple(_chat_call(call) for call in objects(message.get("tool_calls")))
        said = read_parts(message.get("content"))[0]
        sent_back = {"role": "assistant", "content": message.get("content"), "tool_calls": message.get("tool_calls")}
        stop = normal_stop(choices[0].get("finish_reason"))
        return Turn(said, stop, calls, read_usage(body.get("usage")), [sent_back])

    def hand_back(self, results: Sequence[tuple[ToolCall, str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": call.call_id, "content": text} for call, text in results]


def _chat_call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    told = function if isinstance(function, Mapping) else {}
    return ToolCall(str(call.get("id") or ""), told.get("name"), told.get("arguments"))


@dataclass(frozen=True, slots=True)
class _ResponsesWire:
    service: OpenAIReadingService
    form: CallForm

    async def send(self, request: Request, follows: Sequence[Any]) -> tuple[object, Mapping[str, str]]:
        body = build_responses_body(request, self.form)
        body["input"] += follows
        body["tools"] = [{"type": "function", "name": TOOL, "description": DESCRIPTION, "parameters": PARAMETERS}]
        return await self.service.send("/responses", body, self.form)

    def read_turn(self, body: object) -> Turn:
        if not isinstance(body, Mapping):
            return Turn()
        output = objects(body.get("output"))
        calls = tuple(
            ToolCall(str(entry.get("call_id") or ""), entry.get("name"), entry.get("arguments"))
            for entry in output
            if entry.get("type") == "function_call"
        )
        details = body.get("incomplete_details")
        stop = normal_stop(details.get("reason") if isinstance(details, Mapping) else body.get("status"))
        return Turn(None, stop, calls, read_usage(body.get("usage")), output)

    def hand_back(self, results: Sequence[tuple[ToolCall, str]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": call.call_id, "output": text} for call, text in results]


def open_openai_reading(grader: Grader) -> ModelClient:
    """A client for a grader whose model opens documents by a tool, over all its addresses.

    Raises
    ------
    ServiceError
        If the key, or the address, is missing.
    """
    readings = Readings()
    services = [OpenAIReadingService(grader, base_url, readings) for base_url in addresses(grader)]
    return DispatchClient(services, unhurried(grader.endpoint))
