"""Faults on the wire, through the real SDKs and the dispatch: nothing lost, nothing invented, nothing told."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.capabilities import Capabilities
from graders.client import Answer, ModelClient, Request
from graders.dispatch import limiter, retry
from graders.endpoint import Endpoint
from graders.errors import GraderError, ServiceError
from graders.grader import Grader
from graders.parsing import parse_completion
from graders.prompt_library import load_prompt
from graders.providers import anthropic_service, openai_service
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("aiohttp")

from fault_replies import (
    ChangedModel,
    ContentFilter,
    DropConnection,
    EmptyContent,
    Fault,
    HalfJson,
    Hang,
    IgnoreN,
    NotJson,
    NullContent,
    Ok,
    ReasoningBesideEmpty,
    Refusal,
    ResetMidBody,
    Slow,
    Status,
    WrongUsage,
    said_verdict,
    text_key,
)
from fault_server import FaultServer, Script, at_calls, cycle, mix

KEY_VARIABLE, KEY = "FAULT_TEST_KEY", "sk-test-" + "k3y" * 12
PROMPT = load_prompt("simpleqa@1.0.0")
ITEMS = tuple(
    Item(f"i{number}", f"Which is number {number}?", parse_reference(f"n{number}"), f"It is n{number}.", f"q{number}")
    for number in range(8)
)
LABEL_OF = {letter: label for label, letter in PROMPT.scale.letters.items()}


@dataclass(frozen=True)
class Wire:
    """A wire format, and how a grader over it is opened."""

    name: str
    model: str
    capabilities: Capabilities
    stream: bool = False

    def grader(self, servers: Sequence[FaultServer], **endpoint: Any) -> Grader:
        anthropic = self.model.startswith("anthropic/")
        urls = tuple(server.anthropic_url if anthropic else server.openai_url for server in servers)
        settings = {"max_connections": 4, "timeout_seconds": 5.0, "max_wait_seconds": 5.0} | endpoint
        reached = Endpoint(urls, key_variable=KEY_VARIABLE, stream=self.stream, **settings)
        return Grader(self.model, Sampling(repeats=3), PROMPT, endpoint=reached, capabilities=self.capabilities)

    def open(self, grader: Grader) -> ModelClient:
        if self.model.startswith("anthropic/"):
            return anthropic_service.open_anthropic(grader)
        return openai_service.open_openai(grader)


WIRES = (
    Wire("chat", "openai-compatible/m", Capabilities()),
    Wire("choices", "openai-compatible/m", Capabilities(max_choices=8)),
    Wire("streamed", "openai-compatible/m", Capabilities(max_choices=8), stream=True),
    Wire("responses", "openai-compatible/m", Capabilities(api="responses", token_limit="max_output_tokens")),
    Wire("messages", "anthropic/m", Capabilities(api="messages", temperature=None)),
)
EVERY_WIRE = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Short waits, a key, and nothing learnt from the tests before."""
    for name, seconds in (("_FIRST_RETRY", 0.005), ("_FIRST_PAUSE", 0.01), ("_LONGEST_PAUSE", 0.05), ("_JITTER", 0.01)):
        monkeypatch.setattr(retry, name, seconds)
    monkeypatch.setattr(limiter, "_limits", {})
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    openai_service.forget_refusals()
    anthropic_service.forget_refusals()
    yield
    openai_service.forget_refusals()
    anthropic_service.forget_refusals()


def requests_for(grader: Grader, items: Sequence[Item] = ITEMS, repeats: int = 3) -> list[Request]:
    return [Request(item, tuple(range(repeats)), PROMPT, grader.sampling, SIMPLEQA) for item in items]


def run(
    wire: Wire, grader: Grader, items: Sequence[Item] = ITEMS, repeats: int = 3
) -> tuple[list[Answer], GraderError | None]:
    """All answers, and what stopped the run."""
    answers: list[Answer] = []
    with wire.open(grader) as client:
        try:
            for batch in client.complete(iter(requests_for(grader, items, repeats))):
                answers += batch
        except GraderError as error:
            return answers, error
    return answers, None


def read(answer: Answer) -> str:
    """The label of an answer, or why it has none."""
    if isinstance(answer.outcome, CallFailure):
        return answer.outcome.reason
    parsed = parse_completion(answer.outcome, SIMPLEQA, rule="robust", channel="letter")
    return parsed.label or str(parsed.failure)


def verdict_on(item: Item) -> str:
    return LABEL_OF[said_verdict(PROMPT.render(item))]


def check_kept(server: FaultServer, answers: Sequence[Answer], items: Sequence[Item] = ITEMS, repeats: int = 3) -> None:
    """Each repeat is answered once, with its own item's verdict; what is paid for comes out, and only once."""
    wanted = {(item.digest, repeat) for item in items for repeat in range(repeats)}
    times = Counter((answer.item_digest, answer.repeat) for answer in answers)
    assert times == Counter(wanted)
    check_owned(answers, items)
    for item in items:
        key = text_key(PROMPT.render(item))
        got = sum(isinstance(one.outcome, Completion) for one in answers if one.item_digest == item.digest)
        assert server.paid[key] - server.wasted[key] == got, item.item_id


def check_owned(answers: Sequence[Answer], items: Sequence[Item] = ITEMS) -> None:
    """A label is the one that was given on this item; no key stands anywhere."""
    own = {item.digest: verdict_on(item) for item in items}
    for answer in answers:
        assert read(answer) == own[answer.item_digest] or read(answer) not in SIMPLEQA.labels
    assert KEY not in repr(answers)


def test_the_items_have_different_verdicts() -> None:
    assert {verdict_on(item) for item in ITEMS} == set(SIMPLEQA.labels)


@EVERY_WIRE
def test_without_faults_every_repeat_has_its_items_verdict(wire: Wire) -> None:
    with FaultServer() as server:
        answers, error = run(wire, wire.grader([server]))
    assert error is None
    check_kept(server, answers)
    assert Counter(map(read, answers)) == Counter(verdict_on(item) for item in ITEMS for _ in range(3))
    sent = {name: value for received in server.requests for name, value in received.headers.items()}
    assert KEY in sent.get("authorization", "") + sent.get("x-api-key", "")


HEALING: tuple[tuple[str, Fault], ...] = (
    ("500", Status(500)),
    ("502 with a page", Status(502, body="<html>bad gateway</html>")),
    ("503", Status(503)),
    ("529", Status(529)),
    ("408", Status(408)),
    ("409", Status(409)),
    ("429", Status(429)),
    ("429, asks to wait", Status(429, headers=(("retry-after", "0.05"),))),
    ("429, asks in milliseconds", Status(429, headers=(("retry-after-ms", "20"),))),
    ("429, asks in riddles", Status(429, headers=(("retry-after", "soon"),))),
    ("500 without a body", Status(500, body="")),
    ("a number for a body", Status(500, body="7")),
    ("error in a success", Status(200, body='{"error": {"type": "overloaded_error", "message": "Overloaded"}}')),
    ("empty success", Status(200, body="")),
    ("null success", Status(200, body="null")),
    ("a list for a success", Status(200, body="[]")),
    ("an object without a reply", Status(200, body="{}")),
    ("reset in the body", ResetMidBody()),
    ("half a body", HalfJson()),
    ("no JSON", NotJson()),
    ("dropped", DropConnection()),
    ("slow", Slow(0.1)),
    ("counts that are none", WrongUsage()),
    ("another model", ChangedModel()),
    ("one choice of many", IgnoreN()),
)


@EVERY_WIRE
@pytest.mark.parametrize("fault", [fault for _, fault in HEALING], ids=[name for name, _ in HEALING])
def test_what_passes_leaves_no_trace_in_the_verdicts(wire: Wire, fault: Fault) -> None:
    with FaultServer(at_calls({1: fault, 4: fault})) as server:
        answers, error = run(wire, wire.grader([server]))
    assert error is None
    assert server.met[type(fault).__name__] == 2
    check_kept(server, answers)
    assert Counter(map(read, answers)) == Counter(verdict_on(item) for item in ITEMS for _ in range(3))


@EVERY_WIRE
def test_a_call_that_hangs_is_made_again(wire: Wire) -> None:
    with FaultServer(at_calls({1: Hang(), 4: Hang()})) as server:
        answers, error = run(wire, wire.grader([server], timeout_seconds=0.5))
    assert error is None
    check_kept(server, answers)
    assert all(read(answer) in SIMPLEQA.labels for answer in answers)
    history = [failure.reason for answer in answers for failure in answer.failed_attempts]
    assert history == ["timeout", "timeout"]


WITHOUT_VERDICT: tuple[tuple[Fault, set[str]], ...] = (
    (EmptyContent(), {"empty"}),
    (NullContent(), {"empty"}),
    (ReasoningBesideEmpty(), {"empty"}),
    (Refusal(), {"refused"}),
    (ContentFilter(), {"refused", "content_filter"}),
    (Ok("I would rather not say."), {"unparsed", "refused"}),
    (Status(400), {"bad_request"}),
    (Status(413), {"context_overflow"}),
    (Status(422), {"bad_request"}),
)


@EVERY_WIRE
@pytest.mark.parametrize(("fault", "reasons"), WITHOUT_VERDICT, ids=[str(fault) for fault, _ in WITHOUT_VERDICT])
def test_what_says_nothing_is_a_failure_and_no_label(wire: Wire, fault: Fault, reasons: set[str]) -> None:
    with FaultServer(at_calls({1: fault, 4: fault})) as server:
        answers, error = run(wire, wire.grader([server]))
    assert error is None
    check_kept(server, answers)
    failed = [read(answer) for answer in answers if read(answer) not in SIMPLEQA.labels]
    assert len(failed) == 2 * (3 if wire.capabilities.max_choices > 1 else 1)
    assert set(failed) <= reasons


def told_key(code: int, message: str = "Incorrect API key provided") -> Status:
    return Status(code, body=json.dumps({"error": {"message": f"{message}: {KEY}.", "type": "authentication_error"}}))


STOPPING: tuple[tuple[str, Fault, str], ...] = (
    ("a key that is told back", told_key(401), "401"),
    ("a key that may not", told_key(403, "No access"), "403"),
    ("no such model", Status(404), "404"),
    ("no credit", Status(402), "402"),
    ("no quota", Status(429, body='{"error": {"code": "insufficient_quota", "message": "quota"}}'), "quota"),
    ("a wait beyond the limit", Status(429, headers=(("retry-after", "9999"),)), "max_wait_seconds"),
)


@EVERY_WIRE
@pytest.mark.parametrize("number", [0, 3])
@pytest.mark.parametrize(("fault", "told"), [row[1:] for row in STOPPING], ids=[row[0] for row in STOPPING])
def test_what_a_person_must_mend_stops_the_run_and_keeps_the_answers(
    wire: Wire, fault: Fault, told: str, number: int
) -> None:
    with FaultServer(at_calls(dict.fromkeys(range(number, 500), fault)), latency=0.005) as server:
        answers, error = run(wire, wire.grader([server]))
    assert isinstance(error, ServiceError)
    assert told in str(error)
    assert "\n" not in str(error)
    assert KEY not in f"{error} {error!r} {error.__cause__!r}"
    assert len(server.requests) < number + 8  # what was in flight, not every item
    times = Counter((answer.item_digest, answer.repeat) for answer in answers)
    assert set(times.values()) <= {1}
    check_owned(answers)
    n_labels = sum(read(answer) in SIMPLEQA.labels for answer in answers)
    assert n_labels == sum(server.paid.values()) > 0 or (number == 0 and n_labels == 0)


@EVERY_WIRE
def test_a_key_in_a_passing_error_is_not_stored(wire: Wire) -> None:
    with FaultServer(at_calls({1: told_key(500), 3: told_key(400, "Bad")})) as server:
        answers, error = run(wire, wire.grader([server]))
    assert error is None
    assert any(answer.failed_attempts for answer in answers)
    check_kept(server, answers)


@EVERY_WIRE
def test_a_key_in_a_reply_is_not_stored(wire: Wire) -> None:
    with FaultServer(at_calls({1: Ok(f"A. Your key is {KEY}")})) as server:
        answers, error = run(wire, wire.grader([server]))
    assert error is None
    assert any("Your key is" in repr(answer) for answer in answers)
    assert KEY not in repr(answers)


RATES: dict[Fault, float] = {
    Status(500): 0.06,
    Status(429, headers=(("retry-after-ms", "10"),)): 0.04,
    Status(529): 0.03,
    Status(400): 0.02,
    ResetMidBody(): 0.05,
    HalfJson(): 0.05,
    NotJson(): 0.03,
    DropConnection(): 0.05,
    Slow(0.02): 0.1,
    EmptyContent(): 0.04,
    NullContent(): 0.03,
    Refusal(): 0.02,
    ReasoningBesideEmpty(): 0.03,
    ContentFilter(): 0.02,
    IgnoreN(): 0.04,
    WrongUsage(): 0.04,
    ChangedModel(): 0.04,
    Hang(): 0.01,
}


def after_the_first(script: Script) -> Script:
    """The first call is met well, so that the run is not stopped as hopeless."""
    return lambda number: script(number) if number else Ok()


@EVERY_WIRE
@pytest.mark.parametrize("seed", [1, 2])
def test_a_mix_of_all_faults_loses_and_invents_nothing(wire: Wire, seed: int) -> None:
    items = tuple(replace(ITEMS[0], item_id=f"m{number}", question=f"Which is m{number}?") for number in range(40))
    with FaultServer(after_the_first(mix(RATES, seed))) as server:
        answers, error = run(wire, wire.grader([server], max_connections=16, timeout_seconds=1.0), items, repeats=4)
    assert error is None
    assert len(server.met) > 10
    check_kept(server, answers, items, repeats=4)
    assert sum(read(answer) in SIMPLEQA.labels for answer in answers) > len(answers) / 2


@EVERY_WIRE
def test_a_kill_costs_no_more_than_what_was_in_flight(wire: Wire) -> None:
    items = tuple(replace(ITEMS[0], item_id=f"k{number}", question=f"Which is k{number}?") for number in range(40))
    with FaultServer(latency=0.01) as server:
        grader = wire.grader([server])
        stored: dict[tuple[str, int], Answer] = {}
        client = wire.open(grader)
        with client:
            for batch in client.complete(iter(requests_for(grader, items))):
                if len(stored) >= 12:
                    break  # this batch is not stored any more
                stored |= {(answer.item_digest, answer.repeat): answer for answer in batch}
        missing = [
            replace(request, repeats=left)
            for request in requests_for(grader, items)
            if (left := tuple(one for one in request.repeats if (request.item.digest, one) not in stored))
        ]
        with wire.open(grader) as client:
            for batch in client.complete(iter(missing)):
                stored |= {(answer.item_digest, answer.repeat): answer for answer in batch}
    assert len(stored) == 120
    check_owned(list(stored.values()), items)
    per_call = 3 if wire.capabilities.max_choices > 1 else 1
    assert 0 <= sum(server.paid.values()) - 120 <= 2 * grader.endpoint.max_connections * per_call


@EVERY_WIRE
def test_no_more_calls_at_a_time_than_connections(wire: Wire) -> None:
    with FaultServer(latency=0.02) as server:
        answers, error = run(wire, wire.grader([server], max_connections=3))
    assert error is None
    assert 1 < server.most_in_flight <= 3
    check_kept(server, answers)


@EVERY_WIRE
def test_a_dead_servers_calls_go_to_the_other(wire: Wire) -> None:
    began = time.monotonic()
    with FaultServer(cycle(DropConnection())) as dead, FaultServer(latency=0.005) as server:
        answers, error = run(wire, wire.grader([dead, server]))
    assert error is None
    assert time.monotonic() - began < 20  # no call sat with the dead one until it was to be tried again
    check_kept(server, answers)
    assert all(read(answer) in SIMPLEQA.labels for answer in answers)


@EVERY_WIRE
@pytest.mark.parametrize("make", [Hang, DropConnection, NotJson, HalfJson], ids=lambda make: make.__name__)
def test_a_service_that_never_answers_well_stops_the_run(wire: Wire, make: Callable[[], Fault]) -> None:
    with FaultServer(cycle(make())) as server:
        answers, error = run(wire, wire.grader([server], timeout_seconds=0.1))
    assert isinstance(error, ServiceError)
    assert "in a row failed" in str(error)
    assert not [answer for answer in answers if isinstance(answer.outcome, Completion)]


@EVERY_WIRE
def test_a_dead_service_is_not_asked_for_every_item(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that wait to be made again count: with short failures and long waits all items would be tried."""
    monkeypatch.setattr(retry, "_FIRST_RETRY", 0.03)
    items = tuple(replace(ITEMS[0], item_id=f"d{number}", question=f"Which is d{number}?") for number in range(300))
    with FaultServer(cycle(DropConnection())) as server:
        answers, error = run(wire, wire.grader([server]), items, repeats=1)
    assert isinstance(error, ServiceError)
    assert len(answers) <= 5  # three on trial, and two that were given up before
    assert len(server.requests) <= 5 * retry.MOST_ATTEMPTS["connection"]


@EVERY_WIRE
def test_while_answers_wait_to_be_stored_no_call_is_started(wire: Wire) -> None:
    """Repeats of an item that are calls of their own are held back as well."""
    with FaultServer() as server:
        grader = replace(wire.grader([server]), capabilities=replace(wire.capabilities, max_choices=1))
        with wire.open(grader) as client:
            batches = client.complete(iter(requests_for(grader, repeats=40)))
            next(batches)
            time.sleep(0.3)  # the store is slow
            n_started = len(server.requests)
            batches.close()  # type: ignore[attr-defined]
    assert n_started <= 2 * grader.endpoint.max_connections
