"""The check of the ledger, against a small service on loopback that takes and gives what a test says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from typer.testing import CliRunner

import cli
from graders.capability_check import CheckResult, check_capabilities, render_findings
from graders.endpoint import Endpoint
from graders.errors import ServiceError
from graders.grader import Grader
from graders.ledger import find_model
from graders.providers.openai_service import forget_refusals
from graders.sampling import Sampling

KEY = "sk-check-0123456789abcdef"


class Service:
    """A service of both formats; ``refused`` are body fields that it answers with a 400."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.bodies: list[dict[str, Any]] = []
        self.status, self.one_choice, self.address = 200, False, ""

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        bad = sorted(self.refused & body.keys())
        if self.status != 200 or bad:
            name = bad[0] if bad else None
            error = {"message": f"Unsupported parameter: '{name}'", "type": "invalid_request_error", "param": name}
            error["code"] = "unsupported_parameter" if bad else "invalid_api_key"
            return web.json_response({"error": error}, status=400 if bad else self.status)
        n = 1 if self.one_choice else body.get("n", 1)
        choices = [self._choice(body, place) for place in range(n)]
        usage = {"prompt_tokens": 40, "completion_tokens": n, "total_tokens": 40 + n}
        return web.json_response({"id": "x", "model": body["model"], "choices": choices, "usage": usage})

    def _choice(self, body: dict[str, Any], place: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "A"}
        if "response_format" in body:
            message["content"] = json.dumps({"verdict": "CORRECT"})
        if "tools" in body:
            call = {"name": "give_verdict", "arguments": json.dumps({"verdict": "CORRECT"})}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": call}],
            }
        choice = {"index": place, "message": message, "finish_reason": "stop"}
        if body.get("logprobs"):
            top = [{"token": "A", "logprob": -0.1, "bytes": None}, {"token": "B", "logprob": -2.4, "bytes": None}]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return choice

    async def messages(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        bad = sorted(self.refused & body.keys())
        if bad:
            error = {"type": "invalid_request_error", "message": f"{bad[0]}: this field is not supported"}
            return web.json_response({"type": "error", "error": error}, status=400)
        content: dict[str, Any] = {"type": "text", "text": json.dumps({"verdict": "CORRECT"})}
        if "tools" in body:
            content = {"type": "tool_use", "id": "t", "name": "give_verdict", "input": {"verdict": "CORRECT"}}
        reply = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [content]}
        return web.json_response(
            {**reply, "stop_reason": "end_turn", "usage": {"input_tokens": 40, "output_tokens": 1}}
        )


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    forget_refusals()
    made, ready, loop = Service(), threading.Event(), asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", made.chat)
        app.router.add_post("/v1/messages", made.messages)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        made.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def serve() -> None:
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(10)
    yield made
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def run(service: Service, model: str = "openai/gpt-4.1-2025-04-14") -> CheckResult:
    path = "" if model.startswith("anthropic/") else "/v1"
    endpoint = Endpoint(base_urls=(service.address + path,))
    return check_capabilities(Grader(model, Sampling(), endpoint=endpoint, capabilities=find_model(model).capabilities))


def wrong(result: CheckResult) -> list[str]:
    return [finding.capability for finding in result.wrong]


def test_a_service_that_does_as_the_ledger_says_contradicts_nothing(service: Service) -> None:
    service.refused = {"reasoning_effort"}
    result = run(service)
    assert wrong(result) == []
    assert [finding.capability.split()[0] for finding in result.findings] == [
        *("limit", "effort", "temperature", "json_schema", "tool_call", "top_logprobs", "n", "seed")
    ]
    assert len(service.bodies) == 8
    # seven calls were answered: 7 times 40 tokens in, 8 out, at 2 and 8 dollars a million
    assert result.cost.amount == pytest.approx((7 * 40 * 2 + 8 * 8) / 1e6)


@pytest.mark.parametrize(
    ("field", "capability"),
    [
        ("temperature", "temperature 2"),
        ("response_format", "json_schema"),
        ("tools", "tool_call"),
        ("seed", "seed"),
        ("n", "n = 2"),
        ("logprobs", "top_logprobs 20"),
        ("max_completion_tokens", "limit by max_completion_tokens"),
    ],
)
def test_one_refusal_is_one_place_where_the_ledger_is_wrong(service: Service, field: str, capability: str) -> None:
    service.refused = {"reasoning_effort", field}
    result = run(service)
    assert wrong(result) == [capability]
    assert f"{capability} " in render_findings(result)
    assert "the ledger is wrong in 1 of 8; cost $" in render_findings(result)


def test_a_service_that_ignores_n_is_found_out(service: Service) -> None:
    service.refused, service.one_choice = {"reasoning_effort"}, True
    assert wrong(run(service)) == ["n = 2"]


def test_what_a_model_takes_beyond_the_ledger_is_wrong_as_well(service: Service) -> None:
    assert "temperature 2" in wrong(run(service, "openai/gpt-5-2025-08-07"))


def test_messages_are_asked_for_what_there_is_in_them(service: Service) -> None:
    service.refused = {"temperature"}
    result = run(service, "anthropic/claude-opus-5")
    assert [finding.capability for finding in result.findings][2:] == ["temperature 1", "json_schema", "tool_call"]
    assert "temperature 1" not in wrong(result)


def test_a_refused_key_stops_the_check_and_is_not_shown(service: Service) -> None:
    service.status = 401
    with pytest.raises(ServiceError, match=r"openai/gpt-4\.1-2025-04-14: ") as caught:
        run(service)
    assert KEY not in str(caught.value)
    assert len(service.bodies) == 1


@pytest.mark.parametrize(("field", "code"), [("seed", 1), (None, 0)])
def test_the_command_ends_with_1_where_the_ledger_is_wrong(service: Service, field: str | None, code: int) -> None:
    service.refused = {"reasoning_effort", *([field] if field else [])}
    words = ["models", "check", "openai/gpt-4.1-2025-04-14", "--base-url", f"{service.address}/v1"]
    answer = CliRunner().invoke(cli.app, words)
    assert answer.exit_code == code
    assert ("<- the ledger is wrong" in answer.output) == bool(code)
