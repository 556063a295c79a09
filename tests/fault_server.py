"""A loopback server that speaks the forms of two services, and goes wrong as it is told.

Also a process of its own, which ends when its standard input is closed::

    python tests/fault_server.py --port 0 --latency 0.05 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from fault_replies import (
    ContentFilter,
    DropConnection,
    Fault,
    HalfJson,
    Hang,
    NotJson,
    Ok,
    ResetMidBody,
    Slow,
    Status,
    asked_text,
    build_reply,
    n_choices,
    stream_of,
    text_key,
)

__all__ = ["FaultServer", "Received", "Script", "at_calls", "cycle", "mix"]

Script = Callable[[int], Fault]
"""The fault that the call of a number, from 0, meets."""

_ALL_WELL = (Ok(),)
_PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages")
_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def cycle(*faults: Fault) -> Script:
    """These, over and over."""
    return lambda number: faults[number % len(faults)]


def at_calls(faults: Mapping[int, Fault], otherwise: Fault | None = None) -> Script:
    """These at the calls of these numbers, and good replies else."""
    return lambda number: faults.get(number, otherwise or Ok())


def mix(rates: Mapping[Fault, float], seed: int) -> Script:
    """Each with its probability, and good replies for the rest; the same for the same seed and number."""
    faults = [*rates, Ok()]
    weights = [*rates.values(), 1.0 - sum(rates.values())]
    return lambda number: random.Random(f"{seed}/{number}").choices(faults, weights)[0]


@dataclass(frozen=True, slots=True)
class Received:
    """A call as it came in; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class FaultServer:
    """A server for as long as it is a context.

    Calls are numbered from 0 as they come in. ``paid`` counts completions that were generated in full,
    by :func:`fault_replies.text_key` of the prompt, ``wasted`` those of them that a fault kept from
    their caller, ``met`` the faults by their class's name.

    Parameters
    ----------
    script
        What each call meets; several faults are taken in turn, over and over.
    latency
        Seconds that every call takes.
    port
        0 for any free one.
    """

    def __init__(self, script: Script | Sequence[Fault] = _ALL_WELL, *, latency: float = 0.0, port: int = 0) -> None:
        self.script: Script = script if callable(script) else cycle(*script)
        self.requests: list[Received] = []
        self.paid: Counter[str] = Counter()
        self.wasted: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.port = port
        self.latency = latency
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault server", daemon=True)

    @property
    def openai_url(self) -> str:
        """Address for OpenAI-shaped clients."""
        return f"{self.anthropic_url}/v1"

    @property
    def anthropic_url(self) -> str:
        """Address for clients of Anthropic's."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024).start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        await self._runner.cleanup()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    # in the server's thread

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path not in _PATHS:
            return _error(request.path, Status(404))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            body = json.loads(await request.read())
            number = len(self.requests)
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.requests.append(Received(request.path, headers, body))
            fault = self.script(number)
            self.met[type(fault).__name__] += 1
            await asyncio.sleep(self.latency)
            return await self._meet(request, body, fault)
        finally:
            self.in_flight -= 1

    async def _meet(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        if isinstance(fault, Slow):
            await asyncio.sleep(fault.seconds)
        elif isinstance(fault, Hang):
            await asyncio.sleep(3600)
        elif isinstance(fault, DropConnection):
            _abort(request)
            return web.Response()
        elif isinstance(fault, Status):
            return _error(request.path, fault)
        elif isinstance(fault, NotJson):
            return web.Response(text="<html><body>A busy proxy says: A, B or C</body></html>", content_type="text/html")
        elif isinstance(fault, ContentFilter) and request.path.endswith("/messages"):
            return _error(request.path, Status(400, body=_FILTERED))
        return await self._generate(request, body, fault)

    async def _generate(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        key, n = text_key(asked_text(body)), n_choices(request.path, body, fault)
        self.paid[key] += n
        gone = request.transport is None or request.transport.is_closing()
        if gone or isinstance(fault, ResetMidBody | HalfJson):
            self.wasted[key] += n
        reply = build_reply(request.path, body, fault)
        streams = bool(body.get("stream"))
        content = stream_of(request.path, reply) if streams else json.dumps(reply).encode()
        kind = "text/event-stream" if streams else "application/json"
        if isinstance(fault, ResetMidBody):
            return await _break_off(request, content, kind)
        if isinstance(fault, HalfJson):
            content = content[: len(content) // 2]
        return web.Response(body=content, content_type=kind)


_FILTERED = json.dumps(
    {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
    }
)


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


async def _break_off(request: web.Request, content: bytes, kind: str) -> web.StreamResponse:
    reply = web.StreamResponse(headers={"Content-Length": str(len(content)), "Content-Type": kind})
    await reply.prepare(request)
    await reply.write(content[: len(content) // 2])
    await asyncio.sleep(0.01)
    _abort(request)
    return reply


def _error(path: str, fault: Status) -> web.Response:
    kind = _ERROR_TYPES.get(fault.code, "api_error" if fault.code >= 500 else "invalid_request_error")
    error = {"type": kind, "message": f"refused with {fault.code} for a test"}
    whole = {"type": "error", "error": error} if path.endswith("/messages") else {"error": error}
    text = json.dumps(whole) if fault.body is None else fault.body
    return web.Response(status=fault.code, text=text, headers=dict(fault.headers), content_type="application/json")


def main() -> int:
    """Serve until standard input is closed, or the seconds are over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every call takes")
    parser.add_argument("--seconds", type=float, default=600.0, help="longest time that it serves")
    given = parser.parse_args()
    with FaultServer(latency=given.latency, port=given.port) as server:
        print(server.port, flush=True)
        closed = threading.Thread(target=sys.stdin.read, daemon=True)
        closed.start()
        closed.join(given.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
