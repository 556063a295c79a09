"""A chat-completions server on loopback that does nothing but wait and answer.

    python loopback_server.py [--latency 0.05]

It prints its port and ends when its standard input is closed. It answers each POST after ``--latency`` seconds with as
many choices as ``n`` asks, in the words that the model's name chooses (``WORDS``). ``GET /calls`` tells how many calls
and choices there were and how many of them repeat a body that was answered before; ``GET /reset`` starts over.
Written on the bare protocol of asyncio, so that it is never what a client waits for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import re
import sys
from collections import Counter

with contextlib.suppress(ImportError):
    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

WORDS = {
    "letter": ["A", "B", "A", "A", "C", "A", "B", "A", "A", "A"],
    "graded": ["The answer agrees.\n\nGRADE: C"],
    "object": ['{"verdict": true, "rationale": "agrees"}'],
}
N = re.compile(rb'"n"\s*:\s*(\d+)')
MODEL = re.compile(rb'"model"\s*:\s*"(\w+)"')
LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


class Account:
    """What was answered: calls, choices, and choices by body."""

    def __init__(self) -> None:
        self.calls = self.choices = 0
        self.bodies: Counter[bytes] = Counter()
        self.asked: dict[bytes, int] = {}

    def add(self, body: bytes, n: int) -> None:
        key = hashlib.blake2b(body, digest_size=8).digest()
        self.calls += 1
        self.choices += n
        self.bodies[key] += n
        self.asked[key] = n

    def dump(self) -> bytes:
        again = self.choices - sum(self.asked.values())
        return json.dumps({"calls": self.calls, "choices": self.choices, "choices_again": again}).encode()


class Answers:
    """Ready-made replies by model and number of choices."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, int], bytes] = {}

    def reply(self, model: str, n: int) -> bytes:
        if (model, n) not in self._ready:
            self._ready[model, n] = self._build(model, n)
        return self._ready[model, n]

    @staticmethod
    def _build(model: str, n: int) -> bytes:
        words = WORDS.get(model, WORDS["letter"])
        choices = [
            {
                "index": i,
                "message": {"role": "assistant", "content": words[i % len(words)], "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
            for i in range(n)
        ]
        usage = {"prompt_tokens": 900, "completion_tokens": n, "total_tokens": 900 + n}
        reply = {"id": "chatcmpl-0", "object": "chat.completion", "created": 1, "model": model}
        return _http(json.dumps({**reply, "choices": choices, "usage": usage}).encode())


class Connection(asyncio.Protocol):
    """One kept connection; requests on it come one after another."""

    def __init__(self, latency: float, answers: Answers, account: list[Account]) -> None:
        self.latency, self.answers, self.account = latency, answers, account
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            found = LENGTH.search(self.buffer, 0, end)
            length = int(found[1]) if found else 0
            if len(self.buffer) < end + 4 + length:
                return
            head, body = self.buffer[:end], self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET"):
            if head.startswith(b"GET /reset"):
                self.account[0] = Account()
            self.transport.write(_http(self.account[0].dump()))
            return
        asked = N.search(body)
        n = int(asked[1]) if asked else 1
        model = MODEL.search(body)
        self.account[0].add(body, n)
        reply = self.answers.reply(model[1].decode() if model else "letter", n)
        if self.latency:
            asyncio.get_running_loop().call_later(self.latency, self.send, reply)
        else:
            self.send(reply)

    def send(self, reply: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(reply)


def _http(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(latency: float) -> None:
    loop, answers, account = asyncio.get_running_loop(), Answers(), [Account()]
    server = await loop.create_server(lambda: Connection(latency, answers, account), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.05)
    asyncio.run(serve(parser.parse_args().latency))
