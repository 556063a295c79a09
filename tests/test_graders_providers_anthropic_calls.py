"""Calls through Anthropic's SDK and its transport to a server on the loopback."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities
from graders.client import Answer, Request
from graders.dispatch.service import CallError
from graders.endpoint import Endpoint
from graders.errors import MissingDependencyError, ServiceError, UnsupportedError
from graders.grader import Grader
from graders.parsing import parse_completion
from graders.prompt_library import load_prompt
from graders.providers.anthropic_client import check_anthropic, find_key
from graders.providers.anthropic_service import AnthropicService, forget_refusals, open_anthropic
from graders.sampling import Sampling
from graders.verdict import Completion

pytest.importorskip("anthropic")
pytest.importorskip("aiohttp")

from fault_replies import Hang, Ok, ResetMidBody, Status, said_verdict
from fault_server import FaultServer, at_calls, cycle

PROMPT = load_prompt("simpleqa@1.0.0")
ITEM = Item("i1", "Where is Paris?", parse_reference("France"), "In France.", "q1")
ABLE = Capabilities(api="messages", temperature=(0.0, 1.0), json_schema=True, tool_call=True, efforts=("low",))
KEY = "sk-ant-" + "k3y" * 12


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    forget_refusals()
    yield
    forget_refusals()


def make_grader(url: str, *, endpoint: Endpoint | None = None, **sampling: Any) -> Grader:
    chosen = replace(endpoint or Endpoint(timeout_seconds=5.0), base_urls=(url,))
    settings = {"temperature": 0.5} | sampling
    return Grader("anthropic/m", Sampling(**settings), PROMPT, endpoint=chosen, capabilities=ABLE)


def make_request(grader: Grader, repeats: tuple[int, ...] = (0,)) -> Request:
    return Request(ITEM, repeats, PROMPT, grader.sampling, SIMPLEQA)


def ask(grader: Grader) -> Completion:
    async def once() -> Completion:
        service = AnthropicService(grader, grader.endpoint.base_urls[0])
        await service.open()
        try:
            (answer,) = (await service.ask(make_request(grader))).answers
        finally:
            await service.close()
        assert isinstance(answer.outcome, Completion)
        return answer.outcome

    return asyncio.run(once())


def ask_error(grader: Grader) -> CallError:
    with pytest.raises(CallError) as raised:
        ask(grader)
    return raised.value


def run(grader: Grader, repeats: tuple[int, ...] = (0, 1, 2)) -> list[Answer]:
    with open_anthropic(grader) as client:
        return [answer for batch in client.complete([make_request(grader, repeats)]) for answer in batch]


def refusal(message: str) -> Status:
    return Status(
        400, body=json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
    )


@pytest.mark.parametrize("channel", ["letter", "json", "tool"])
def test_a_verdict_comes_through_every_channel(channel: Any) -> None:
    with FaultServer() as server:
        completion = ask(make_grader(server.anthropic_url, channel=channel))
    parsed = parse_completion(completion, PROMPT.scale, channel)
    assert PROMPT.scale.letters[parsed.label or ""] == said_verdict(PROMPT.render(ITEM))
    assert completion.served_model == "m"
    assert (completion.usage.input_tokens, completion.usage.cached_tokens) == (20, 10)
    assert server.requests[0].path == "/v1/messages"


def test_no_key_is_needed_on_this_machine() -> None:
    with FaultServer() as server:
        check_anthropic(make_grader(server.anthropic_url))
        assert ask(make_grader(server.anthropic_url)).text


def test_the_key_goes_into_the_header_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FaultServer(cycle(Ok(), refusal(f"bad key {KEY}"))) as server:
        grader = make_grader(server.anthropic_url)
        completion, error = ask(grader), ask_error(grader)
    headers = server.requests[0].headers
    assert KEY in headers.get("x-api-key", "") + headers.get("authorization", "")  # as the SDK's version has it
    assert KEY not in json.dumps(server.requests[0].body)
    assert KEY not in f"{completion!r} {error} {error.args} {AnthropicService(grader, server.anthropic_url).limit_key}"


def test_a_key_is_needed_elsewhere_and_its_variable_is_named() -> None:
    with pytest.raises(ServiceError, match="ANTHROPIC_API_KEY"):
        find_key(make_grader("https://models.example"))
    with pytest.raises(ServiceError, match="MINE"):
        find_key(make_grader("http://127.0.0.1:1", endpoint=Endpoint(key_variable="MINE")))


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'autorater-calibration\[anthropic\]'"):
        check_anthropic(make_grader("http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status(401), "bad_key"),
        (Status(404), "not_found"),
        (Status(413), "context_overflow"),
        (Status(429), "rate_limited"),
        (Status(500), "server_error"),
        (Status(529), "overloaded"),
        (refusal("Your credit balance is too low to access the API."), "quota_exhausted"),
        (refusal("prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow"),
        (ResetMidBody(), "connection"),
    ],
    ids=str,
)
def test_errors_are_named_and_sent_once(status: Any, kind: str) -> None:
    with FaultServer(cycle(status)) as server:
        error = ask_error(make_grader(server.anthropic_url))
    assert error.kind == kind
    assert len(server.requests) == 1


def test_a_wait_that_is_asked_for_is_told() -> None:
    with FaultServer(cycle(Status(429, headers=(("retry-after", "7"),)))) as server:
        assert ask_error(make_grader(server.anthropic_url)).retry_after == 7.0


def test_a_call_that_hangs_times_out() -> None:
    with FaultServer(cycle(Hang())) as server:
        endpoint = Endpoint(timeout_seconds=0.2)
        assert ask_error(make_grader(server.anthropic_url, endpoint=endpoint)).kind == "timeout"


def test_each_repeat_is_a_call_of_its_own() -> None:
    with FaultServer() as server:
        answers = run(make_grader(server.anthropic_url))
    assert sorted(answer.repeat for answer in answers) == [0, 1, 2]
    assert len(server.requests) == 3


NO_TEMPERATURE = refusal("`temperature` is deprecated for this model.")


def test_a_refused_setting_stops_the_run_without_consent() -> None:
    with FaultServer(cycle(NO_TEMPERATURE)) as server:
        grader = make_grader(server.anthropic_url)
        with pytest.raises(UnsupportedError, match="temperature"):
            run(grader)
    assert len(server.requests) == 1


def test_a_refused_setting_is_left_out_with_consent_and_learnt_once() -> None:
    with FaultServer(at_calls({0: NO_TEMPERATURE})) as server:
        grader = make_grader(server.anthropic_url, endpoint=Endpoint(on_unsupported="provider-default"))
        answers = run(grader) + run(grader)
    assert ["temperature" in received.body for received in server.requests] == [True] + [False] * 6
    for answer in answers:
        assert isinstance(answer.outcome, Completion)
        assert answer.outcome.effective_sampling["temperature"] is None


def test_a_setting_that_is_refused_even_when_left_out_ends_the_run() -> None:
    with FaultServer(cycle(NO_TEMPERATURE)) as server:
        grader = make_grader(server.anthropic_url, endpoint=Endpoint(on_unsupported="provider-default"))
        with pytest.raises(UnsupportedError):
            run(grader)
    assert len(server.requests) == 2


def test_a_refused_cache_mark_needs_no_consent() -> None:
    with FaultServer(at_calls({0: refusal("cache_control: Extra inputs are not permitted")})) as server:
        answers = run(make_grader(server.anthropic_url), (0,))
    assert isinstance(answers[0].outcome, Completion)
    assert ["cache_control" in json.dumps(received.body) for received in server.requests] == [True, False]
