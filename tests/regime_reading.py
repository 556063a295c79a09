"""A loopback server whose model opens documents by a tool before it answers, in three wire formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from aiohttp import web
from fault_replies import Fault, Ok, asked_text
from fault_server import Script
from regime_samples import RegimeServer

__all__ = ["ReadingServer", "opens_all", "texts_handed_back", "turns_of"]

Plan = Callable[[int, int], object]
"""From the turn, from 0, and the number of documents to what to open: a number, other arguments, or None to answer."""


def opens_all(turn: int, n_documents: int) -> object:
    """Each document, one after the other."""
    return turn + 1 if turn < n_documents else None


def turns_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What follows the first message."""
    return list((body.get("messages") or body.get("input") or [])[1:])


def texts_handed_back(body: dict[str, Any]) -> list[str]:
    """What calls of the tool brought, oldest first."""
    found = []
    for message in turns_of(body):
        if message.get("role") == "tool":
            found.append(message["content"])
        elif message.get("type") == "function_call_output":
            found.append(message["output"])
        elif message.get("role") == "user":
            found += [block["content"] for block in message["content"]]
    return found


class ReadingServer(RegimeServer):
    """Where a call has tools the model does as ``plan`` says; what it answers is worth 1 where it has read the toll.

    Every call takes 100 tokens and says 7.
    """

    def __init__(self, plan: Plan = opens_all, script: Script | None = None, *, stop: str | None = None) -> None:
        super().__init__(script)
        self._plan, self._cut_off = plan, stop

    async def _generate(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        if not body.get("tools") or not isinstance(fault, Ok):
            return await super()._generate(request, body, fault)
        listed = asked_text({"messages": (body.get("messages") or body.get("input"))[:1]})
        n_documents = len(re.findall(r"^Document \d+:", listed, re.MULTILINE))
        n_turns = len(texts_handed_back(body))
        opens = self._plan(n_turns, n_documents)
        lock = re.search(r"passes (Lock \w)", listed)
        assert lock is not None
        has_read = any(f"The toll at {lock[1]} is" in text for text in texts_handed_back(body))
        said = f"I have read it; worth {1 if has_read else 0}."
        make = {"completions": self._chat, "messages": self._message, "responses": self._response}
        reply = make[request.path.rpartition("/")[2]](opens, said)
        return web.Response(
            body=json.dumps({**reply, "model": body["model"]}).encode(), content_type="application/json"
        )

    def _chat(self, opens: object, said: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": said}
        if opens is not None:
            calls = [
                {"id": f"t-{place}", "type": "function", "function": {"name": "open_document", "arguments": given}}
                for place, given in enumerate(map(_arguments, opens if isinstance(opens, list) else [opens]))
            ]
            message = {"role": "assistant", "content": "I look.", "tool_calls": calls}
        stop = "stop" if opens is None else self._cut_off or "tool_calls"
        usage = {"prompt_tokens": 100, "completion_tokens": 7}
        return {"choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage}

    def _message(self, opens: object, said: str) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": said if opens is None else "I look."}]
        if opens is not None:
            given = json.loads(_arguments(opens))
            content.append({"type": "tool_use", "id": "t-1", "name": "open_document", "input": given})
        usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 7}
        stop = "end_turn" if opens is None else self._cut_off or "tool_use"
        return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage}

    def _response(self, opens: object, said: str) -> dict[str, Any]:
        output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs-1", "summary": []}]
        if opens is None:
            output.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]})
        else:
            call = {"name": "open_document", "arguments": _arguments(opens), "call_id": "t-1"}
            output.append({"type": "function_call", **call})
        return {"status": "completed", "output": output, "usage": {"input_tokens": 100, "output_tokens": 7}}


def _arguments(opens: object) -> str:
    return opens if isinstance(opens, str) else json.dumps({"number": opens})
