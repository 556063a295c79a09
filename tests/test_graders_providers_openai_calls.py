"""Calls through the real SDK and its real transport to a server on the loopback."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities
from graders.client import Answer, Request
from graders.dispatch.service import CallError, Reply
from graders.endpoint import Endpoint
from graders.errors import MissingDependencyError, ServiceError
from graders.grader import Grader
from graders.prompt_library import load_prompt
from graders.providers.openai_client import check_openai
from graders.providers.openai_service import OpenAIService, forget_refusals, open_openai
from graders.sampling import Sampling
from graders.verdict import Completion

pytest.importorskip("openai")
web = pytest.importorskip("aiohttp.web")

FULL = Capabilities(
    max_choices=10, top_logprobs=20, json_schema=True, tool_call=True, choice=True, seed=True, efforts=("low",)
)
ITEM = Item("i1", "Where is Paris?", parse_reference("France"), "In France.", "q1")


@dataclass
class Loopback:
    """A server that answers as it is told, one reaction after another; the last one stays."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    peers: set[Any] = field(default_factory=set)
    reactions: list[Callable[[Any, dict[str, Any]], Awaitable[Any]]] = field(default_factory=list)

    async def answer(self, request: Any) -> Any:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.peers.add(request.transport.get_extra_info("peername"))
        reaction = self.reactions.pop(0) if len(self.reactions) > 1 else self.reactions[0]
        return await reaction(request, body)


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    forget_refusals()
    server = Loopback()
    loop = asyncio.new_event_loop()
    app = web.Application()
    app.router.add_post("/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def start() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield server
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def choice(text: str | None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **more}


def says(*texts: str | None, **more: Any) -> Callable[[Any, dict[str, Any]], Awaitable[Any]]:
    async def react(request: Any, body: dict[str, Any]) -> Any:
        spoken = texts or ("A",) * body.get("n", 1)
        usage = {"prompt_tokens": 9, "completion_tokens": len(spoken)}
        choices = [choice(text, index) for index, text in enumerate(spoken)]
        return web.json_response({"model": "m-1", "usage": usage, "choices": choices, **more})

    return react


def sends(status: int, body: object, **headers: str) -> Callable[[Any, dict[str, Any]], Awaitable[Any]]:
    async def react(request: Any, sent: dict[str, Any]) -> Any:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        return web.Response(status=status, body=payload, headers=headers)

    return react


def refuses(parameter: str, message: str = "", code: str = "unsupported_parameter") -> Any:
    """A service that answers 400 to a parameter, and well without it."""

    async def react(request: Any, body: dict[str, Any]) -> Any:
        if parameter in body:
            told = message or f"Unsupported parameter: '{parameter}' is not supported with this model."
            error = {"message": told, "type": "invalid_request_error", "param": parameter, "code": code}
            return web.json_response({"error": error}, status=400)
        return await says()(request, body)

    return react


async def drops(request: Any, body: dict[str, Any]) -> Any:
    request.transport.abort()
    return web.Response()


async def drops_half_way(request: Any, body: dict[str, Any]) -> Any:
    reply = web.StreamResponse(headers={"Content-Length": "500", "Content-Type": "application/json"})
    await reply.prepare(request)
    await reply.write(b'{"choices": [{"index": 0, "message": {"content": "A')
    await asyncio.sleep(0.05)
    request.transport.abort()
    return reply


async def hangs(request: Any, body: dict[str, Any]) -> Any:
    await asyncio.sleep(3)
    return web.Response()


def make_grader(
    loopback: Loopback,
    *,
    capabilities: Capabilities = FULL,
    endpoint: Endpoint | None = None,
    model: str = "openai-compatible/m",
    **sampling: Any,
) -> Grader:
    chosen = replace(endpoint or Endpoint(), base_urls=(loopback.url,))
    prompt = load_prompt("simpleqa@1.0.0")
    return Grader(model, Sampling(**sampling), prompt, endpoint=chosen, capabilities=capabilities)


def make_request(grader: Grader, repeats: tuple[int, ...] = (0,), item: Item = ITEM) -> Request:
    return Request(item, repeats, grader.prompt, grader.sampling, SIMPLEQA)


def ask(grader: Grader, *requests: Request) -> list[Reply]:
    async def run() -> list[Reply]:
        service = OpenAIService(grader, grader.endpoint.base_urls[0])
        await service.open()
        try:
            return [await service.ask(request) for request in requests]
        finally:
            await service.close()

    return asyncio.run(run())


def ask_error(grader: Grader) -> CallError:
    with pytest.raises(CallError) as raised:
        ask(grader, make_request(grader))
    return raised.value


def run_whole(grader: Grader, repeats: tuple[int, ...] = (0,)) -> list[Answer]:
    """What a dispatch does with a request: split, adapt, ask again for what is missing; a refusal ends it."""

    async def run() -> list[Answer]:
        service = OpenAIService(grader, grader.endpoint.base_urls[0])
        await service.open()
        answers: list[Answer] = []
        try:
            while missing := tuple(sorted(set(repeats) - {answer.repeat for answer in answers})):
                request = make_request(grader, missing)
                request = replace(request, repeats=missing[: service.choices_per_call(request)])
                try:
                    answers += (await service.ask(request)).answers
                except CallError as error:
                    if not service.adapt(error):
                        raise
        finally:
            await service.close()
        return answers

    return asyncio.run(run())


def completion(answer: Answer) -> Completion:
    assert isinstance(answer.outcome, Completion), answer.outcome
    return answer.outcome


def test_only_what_was_asked_is_sent(loopback: Loopback) -> None:
    loopback.reactions = [says()]
    grader = make_grader(loopback, capabilities=Capabilities(), temperature=0.0)
    ask(grader, make_request(grader))
    assert set(loopback.bodies[0]) == {"model", "messages", "temperature", "max_tokens"}
    assert loopback.bodies[0]["model"] == "m"


def test_ten_repeats_are_one_call_and_usage_stands_at_the_first(loopback: Loopback) -> None:
    loopback.reactions = [says()]
    grader = make_grader(loopback)
    [reply] = ask(grader, make_request(grader, tuple(range(10))))
    assert loopback.bodies[0]["n"] == 10
    assert [answer.repeat for answer in reply.answers] == list(range(10))
    tokens = [completion(answer).usage.output_tokens for answer in reply.answers]
    assert tokens == [10, *[0] * 9]


def test_connections_are_kept_alive(loopback: Loopback) -> None:
    loopback.reactions = [says()]
    grader = make_grader(loopback)
    ask(grader, *[make_request(grader)] * 5)
    assert len(loopback.bodies) == 5
    assert len(loopback.peers) == 1


def test_ignored_n_is_counted_and_the_rest_asked_singly_with_seeds_of_their_own(loopback: Loopback) -> None:
    loopback.reactions = [says("A")]
    grader = make_grader(loopback)
    answers = run_whole(grader, (0, 1, 2))
    assert sorted(answer.repeat for answer in answers) == [0, 1, 2]
    assert [body.get("n", 1) for body in loopback.bodies] == [3, 1, 1]
    first = loopback.bodies[0]["seed"]
    assert sorted(body["seed"] for body in loopback.bodies) == [first, first + 1, first + 2]


@pytest.mark.parametrize("code", ["unsupported_value", "unsupported_parameter"])
def test_refused_temperature_is_left_out_once_where_the_experiment_allows_it(loopback: Loopback, code: str) -> None:
    loopback.reactions = [refuses("temperature", code=code)]
    grader = make_grader(loopback, endpoint=Endpoint(on_unsupported="provider-default"))
    first, second = run_whole(grader), run_whole(grader, (1,))
    assert completion(first[0]).effective_sampling["temperature"] is None
    assert completion(second[0]).effective_sampling["temperature"] is None
    assert ["temperature" in body for body in loopback.bodies] == [True, False, False]


def test_refused_temperature_stops_the_run_otherwise(loopback: Loopback) -> None:
    loopback.reactions = [refuses("temperature")]
    grader = make_grader(loopback)
    with pytest.raises(Exception, match="temperature"):
        run_whole(grader)
    assert len(loopback.bodies) == 1


@pytest.mark.parametrize(
    ("refused", "wanted"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
def test_token_limit_gets_its_other_name(loopback: Loopback, refused: str, wanted: str) -> None:
    loopback.reactions = [refuses(refused, f"Unsupported parameter: '{refused}'. Use '{wanted}' instead.")]
    grader = make_grader(loopback, capabilities=replace(FULL, token_limit=refused), max_tokens=7)  # type: ignore[arg-type]
    [answer] = run_whole(grader)
    assert completion(answer).effective_sampling["token_limit"] == wanted
    assert loopback.bodies[-1][wanted] == 7
    assert len(loopback.bodies) == 2


@pytest.mark.parametrize("parameter", ["n", "seed"])
def test_refused_n_and_seed_need_no_consent(loopback: Loopback, parameter: str) -> None:
    loopback.reactions = [refuses(parameter)]
    answers = run_whole(make_grader(loopback), (0, 1, 2))
    assert sorted(answer.repeat for answer in answers) == [0, 1, 2]
    assert all(parameter not in body for body in loopback.bodies[1:])


def test_what_goes_on_being_refused_is_not_sent_twice(loopback: Loopback) -> None:
    error = {"error": {"message": "Unsupported parameter: 'seed'", "param": "seed", "code": "unsupported_parameter"}}
    loopback.reactions = [sends(400, error)]
    with pytest.raises(Exception, match="seed"):
        run_whole(make_grader(loopback))
    assert len(loopback.bodies) == 2


def test_missing_logprobs_are_an_error(loopback: Loopback) -> None:
    loopback.reactions = [says()]
    error = ask_error(make_grader(loopback, method="exact"))
    assert (error.kind, error.parameter) == ("unsupported", "logprobs")
    assert error.usage is not None
    assert error.usage.input_tokens == 9


def test_forbidden_logprobs_are_never_dropped(loopback: Loopback) -> None:
    loopback.reactions = [sends(403, {"error": {"message": "logprobs are not available", "param": "logprobs"}})]
    grader = make_grader(loopback, channel="logprobs", endpoint=Endpoint(on_unsupported="provider-default"))
    with pytest.raises(Exception, match="logprobs"):
        run_whole(grader)
    assert all(body["logprobs"] for body in loopback.bodies)


@pytest.mark.parametrize(
    ("reaction", "kind"),
    [
        (drops, "connection"),
        (drops_half_way, "connection"),
        (hangs, "timeout"),
        (sends(200, b""), "unreadable_reply"),
        (sends(200, b"   "), "unreadable_reply"),
        (sends(200, b'{"choices": [{"index": 0, "mess'), "unreadable_reply"),
        (sends(200, b"<html>sign in</html>"), "unreadable_reply"),
        (sends(200, b"\xff\xfe{}"), "unreadable_reply"),
        (sends(200, b"[" * 100_000), "unreadable_reply"),
        (sends(200, None), "unreadable_reply"),
        (sends(200, []), "unreadable_reply"),
        (sends(200, {}), "unreadable_reply"),
        (sends(200, {"choices": None}), "unreadable_reply"),
        (sends(200, {"choices": [{"index": 0}]}), "unreadable_reply"),
        (
            sends(200, b"no gzip, but long enough to be seen as none", **{"Content-Encoding": "gzip"}),
            "connection",
        ),
        (sends(200, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}), "rate_limited"),
        (sends(200, {"error": {"message": "no", "code": 502}}), "server_error"),
        (sends(200, {"error": {"message": "out of money", "code": "insufficient_quota"}}), "quota_exhausted"),
        (sends(429, {"error": {"code": "insufficient_quota"}}), "quota_exhausted"),
        (sends(429, {"error": {"message": "slow down"}}, **{"Retry-After": "7"}), "rate_limited"),
        (sends(401, {"error": {"message": "wrong key"}}), "bad_key"),
        (sends(404, {"error": {"message": "no such model"}}), "not_found"),
        (sends(529, b"busy"), "overloaded"),
        (sends(500, b""), "server_error"),
        (sends(502, b"<html>bad gateway</html>"), "server_error"),
    ],
)
def test_what_goes_wrong_gets_its_kind(loopback: Loopback, reaction: Any, kind: str) -> None:
    loopback.reactions = [reaction]
    seconds = 0.5 if reaction is hangs else 30.0
    error = ask_error(make_grader(loopback, endpoint=Endpoint(timeout_seconds=seconds)))
    assert error.kind == kind, error.message
    assert "\n" not in error.message
    assert len(loopback.bodies) == 1
    assert error.retry_after == (7.0 if "7" in error.headers.get("retry-after", "") else None)


def test_nobody_there_is_unreachable() -> None:
    grader = make_grader(Loopback("http://127.0.0.1:9/v1"))
    assert ask_error(grader).kind == "unreachable"


def test_key_goes_to_its_service_and_into_no_message(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "very-private-42\n")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    loopback.reactions = [sends(401, {"error": {"message": "Incorrect API key provided: very-private-42"}})]
    grader = make_grader(loopback, endpoint=Endpoint(key_variable="MY_KEY"))
    error = ask_error(grader)
    assert loopback.headers[0]["authorization"] == "Bearer very-private-42"
    assert "openai-organization" not in loopback.headers[0]
    assert "private" not in error.message + str(error) + repr(error)
    assert "private" not in OpenAIService(grader, loopback.url).limit_key


def test_openai_key_goes_to_no_other_service(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-only")
    loopback.reactions = [says()]
    grader = make_grader(loopback)
    ask(grader, make_request(grader))
    assert "sk-of-openai-only" not in str(loopback.headers)


def test_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    grader = Grader("openai/gpt-x", Sampling(), load_prompt("simpleqa@1.0.0"))
    with pytest.raises(ServiceError, match=r"OPENAI_API_KEY: not set; expected the key for api\.openai\.com"):
        check_openai(grader)


def test_a_client_answers_every_repeat_once(loopback: Loopback) -> None:
    loopback.reactions = [says()]
    grader = make_grader(loopback)
    with open_openai(grader) as client:
        batches = list(client.complete([make_request(grader, tuple(range(12)))]))
    assert sorted(answer.repeat for batch in batches for answer in batch) == list(range(12))


def test_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'autorater-calibration\[openai\]'"):
        check_openai(make_grader(Loopback("http://127.0.0.1:9/v1")))


def test_without_aiohttp_the_other_transport_serves(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    loopback.reactions = [says(), drops, hangs]
    grader = make_grader(loopback, endpoint=Endpoint(timeout_seconds=2.0))
    monkeypatch.setattr("graders.providers.sdk_connection._aiohttp_errors", lambda: ())
    ask(grader, make_request(grader))
    assert [ask_error(grader).kind, ask_error(grader).kind] == ["connection", "timeout"]
