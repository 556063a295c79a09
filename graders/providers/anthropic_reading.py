"""Anthropic's models that open documents by a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graders.client import Answer, ModelClient, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.service import Reply
from graders.grader import Grader
from graders.providers.anthropic_client import addresses
from graders.providers.anthropic_messages import build_messages_body, read_message, read_usage, stop_of
from graders.providers.anthropic_service import AnthropicService
from graders.providers.document_reading import (
    DESCRIPTION,
    PARAMETERS,
    TOOL,
    Ending,
    Readings,
    ToolCall,
    Turn,
    read_documents,
    unhurried,
)
from graders.providers.openai_reply import objects

__all__ = ["AnthropicReadingService", "open_anthropic_reading"]


class AnthropicReadingService(AnthropicService):
    """One address of a grader's service; a call is a whole conversation.

    Parameters
    ----------
    grader, base_url
        As of :class:`graders.providers.anthropic_service.AnthropicService`.
    readings
        Shared with the other addresses.
    """

    def __init__(self, grader: Grader, base_url: str, readings: Readings) -> None:
        super().__init__(grader, base_url)
        self._readings = readings

    async def _exchange(self, request: Request, left_out: frozenset[str]) -> Reply:
        one = replace(request, repeats=request.repeats[:1])

        def finish(ending: Ending) -> Sequence[Answer]:
            return read_message(ending.body, one, self._grader, ending.headers, left_out).answers

        answers, headers = await read_documents(
            one,
            self._readings.find(one),
            _MessagesWire(self, self._grader, left_out),
            finish,
            seconds=self._grader.endpoint.timeout_seconds,
            name=self.name,
        )
        self._readings.close(one)
        return Reply(answers, headers)

    async def send(self, body: Mapping[str, Any]) -> tuple[object, Mapping[str, str]]:
        """Make one call of a conversation."""
        return await self._post(body)


@dataclass(frozen=True, slots=True)
class _MessagesWire:
    service: AnthropicReadingService
    grader: Grader
    left_out: frozenset[str]

    async def send(self, request: Request, follows: Sequence[Any]) -> tuple[object, Mapping[str, str]]:
        body = build_messages_body(request, self.grader, self.left_out)
        body["messages"] += follows
        body["tools"] = [{"name": TOOL, "description": DESCRIPTION, "input_schema": PARAMETERS}]
        body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        return await self.service.send(body)

    def read_turn(self, body: object) -> Turn:
        content = body.get("content") if isinstance(body, Mapping) else None
        if not isinstance(body, Mapping) or not isinstance(content, list):
            return Turn()
        blocks = objects(content)
        calls = tuple(
            ToolCall(str(block.get("id") or ""), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        said = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
        sent_back = {"role": "assistant", "content": content}
        return Turn(said or None, stop_of(body), calls, read_usage(body.get("usage")), [sent_back])

    def hand_back(self, results: Sequence[tuple[ToolCall, str]]) -> list[Any]:
        blocks = [{"type": "tool_result", "tool_use_id": call.call_id, "content": text} for call, text in results]
        return [{"role": "user", "content": blocks}]


def open_anthropic_reading(grader: Grader) -> ModelClient:
    """A client for a grader whose model opens documents by a tool, over all its addresses.

    Raises
    ------
    ServiceError
        If the key is missing.
    """
    readings = Readings()
    services = [AnthropicReadingService(grader, base_url, readings) for base_url in addresses(grader)]
    return DispatchClient(services, unhurried(grader.endpoint))
