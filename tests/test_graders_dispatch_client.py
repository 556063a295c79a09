"""Calls through the dispatch, against a service that does what a script says, on a clock that jumps."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_loop import VirtualLoop

from calibration_sets import SIMPLEQA, Item, parse_reference
from graders.client import Answer, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.service import CallError, CallErrorKind, Reply
from graders.endpoint import Endpoint
from graders.errors import GraderError, ServiceError, UnsupportedError
from graders.sampling import Sampling
from graders.verdict import CallFailure, Completion

_KEYS = count()
Step = Callable[[Request], Reply]


def ok(request: Request) -> Reply:
    return Reply([Answer(request.item.digest, repeat, Completion("A", "m")) for repeat in request.repeats])


def first_only(request: Request) -> Reply:
    return Reply([Answer(request.item.digest, request.repeats[0], Completion("A", "m"))])


def nothing(request: Request) -> Reply:
    return Reply([])


def fail(kind: CallErrorKind, *, retry_after: float | None = None, parameter: str | None = None) -> Step:
    def step(request: Request) -> Reply:
        raise CallError(kind, f"scripted {kind}", retry_after=retry_after, parameter=parameter)

    return step


class Scripted:
    """A service: one step a call, then the last one for ever."""

    def __init__(self, *steps: Step, together: int = 10, adapts: bool = False, hangs: Sequence[int] = ()) -> None:
        self.name, self.limit_key = "scripted", f"scripted-{next(_KEYS)}"
        self.steps, self.together, self.adapts, self.hangs = list(steps), together, adapts, hangs
        self.calls: list[tuple[float, str, tuple[int, ...]]] = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def choices_per_call(self, request: Request) -> int:
        return self.together

    def adapt(self, error: CallError) -> bool:
        return self.adapts

    async def ask(self, request: Request) -> Reply:
        number = len(self.calls)
        self.calls.append((asyncio.get_running_loop().time(), request.item.item_id, request.repeats))
        await asyncio.sleep(10_000 if number in self.hangs else 0.05)
        return self.steps[min(number, len(self.steps) - 1)](request)


def requests(n: int, repeats: int = 1) -> Iterator[Request]:
    for number in range(n):
        item = Item(f"i{number}", f"Q{number}?", parse_reference("x"), f"r{number}", f"q{number}")
        yield Request(item, tuple(range(repeats)), None, Sampling(), SIMPLEQA)


def client(*services: Scripted, **endpoint: float) -> DispatchClient:
    return DispatchClient(services, Endpoint(**endpoint), loop_factory=VirtualLoop, rng=random.Random(1))  # type: ignore[arg-type]


def answers(opened: DispatchClient, asked: Iterator[Request]) -> tuple[list[Answer], GraderError | None]:
    found: list[Answer] = []
    try:
        with opened:
            for batch in opened.complete(asked):
                found += batch
    except GraderError as error:
        return found, error
    return found, None


def test_retry_after_is_waited_in_full_by_every_call() -> None:
    service = Scripted(fail("rate_limited", retry_after=60), ok)
    found, error = answers(client(service), requests(20))
    assert error is None
    assert len(found) == 20
    assert all(began >= 60 for began, _, _ in service.calls[1:])


def test_a_wait_beyond_the_ceiling_stops_the_run_and_says_how_to_go_on() -> None:
    service = Scripted(ok, fail("rate_limited", retry_after=3600))
    found, error = answers(client(service, max_wait_seconds=600), requests(50))
    assert isinstance(error, ServiceError)
    assert "3,600 s" in str(error)
    assert "the same command continues" in str(error)
    assert isinstance(found[0].outcome, Completion)


def test_four_rate_limits_and_then_an_answer_is_an_answer() -> None:
    service = Scripted(*[fail("rate_limited")] * 4, ok)
    found, _ = answers(client(service), requests(1))
    assert isinstance(found[0].outcome, Completion)
    assert [failure.reason for failure in found[0].failed_attempts] == ["rate_limited"] * 4


@pytest.mark.parametrize("kind", ["quota_exhausted", "bad_key", "not_found"])
def test_what_cannot_pass_stops_at_the_first_call(kind: CallErrorKind) -> None:
    service = Scripted(fail(kind))
    found, error = answers(client(service), requests(100))
    assert isinstance(error, ServiceError)
    assert len(service.calls) == 1
    assert [type(answer.outcome) for answer in found] == [CallFailure]


def test_overload_and_a_lost_connection_take_three_attempts() -> None:
    service = Scripted(fail("overloaded"), fail("connection"), ok)
    found, _ = answers(client(service), requests(1))
    assert len(service.calls) == 3
    assert [failure.reason for failure in found[0].failed_attempts] == ["overloaded", "connection"]


def test_attempts_are_bounded_and_end_as_a_failure_never_a_verdict() -> None:
    service = Scripted(ok, fail("server_error"))
    found, _ = answers(client(service), requests(3))
    assert sorted(type(answer.outcome).__name__ for answer in found) == ["CallFailure", "CallFailure", "Completion"]


def test_a_call_that_hangs_times_out_and_the_others_go_on() -> None:
    service = Scripted(ok, hangs=(3,))
    found, error = answers(client(service, timeout_seconds=5), requests(40))
    assert error is None
    assert all(isinstance(answer.outcome, Completion) for answer in found)
    assert len(found) == 40


def test_choices_that_did_not_come_are_asked_for_again() -> None:
    service = Scripted(first_only)
    found, _ = answers(client(service), requests(2, repeats=10))
    assert Counter((answer.item_digest, answer.repeat) for answer in found).most_common(1)[0][1] == 1
    assert len(found) == 20
    assert all(isinstance(answer.outcome, Completion) for answer in found)


def test_a_reply_without_any_choice_is_an_attempt() -> None:
    service = Scripted(nothing)
    found, error = answers(client(service), requests(1))
    assert isinstance(found[0].outcome, CallFailure)
    assert len(service.calls) <= 6
    assert error is None or "out of reach" in str(error) or "failed for good" in str(error)


def test_a_refused_parameter_costs_one_more_call_where_the_service_adapts() -> None:
    service = Scripted(fail("unsupported", parameter="max_tokens"), ok, adapts=True)
    found, error = answers(client(service), requests(30))
    assert error is None
    assert len(service.calls) == 31
    assert len(found) == 30


def test_a_refused_parameter_stops_the_run_where_it_does_not() -> None:
    service = Scripted(fail("unsupported", parameter="temperature"))
    _, error = answers(client(service), requests(30))
    assert isinstance(error, UnsupportedError)
    assert "temperature" in str(error)
    assert "provider-default" in str(error)
    assert len(service.calls) == 1


def test_a_dead_server_loses_its_work_to_the_other() -> None:
    dead, alive = Scripted(fail("connection")), Scripted(ok)
    found, error = answers(client(dead, alive), requests(60))
    assert error is None
    assert all(isinstance(answer.outcome, Completion) for answer in found)
    assert len(found) == 60


def test_whoever_gives_requests_can_stop_and_what_was_given_is_answered() -> None:
    given_out = 0

    def some() -> Iterator[Request]:
        nonlocal given_out
        for request in requests(1000):
            if given_out == 25:
                return
            given_out += 1
            yield request

    found, _ = answers(client(Scripted(ok)), some())
    assert len(found) == 25


def test_leaving_in_the_middle_ends_the_thread_at_once() -> None:
    before = threading.active_count()
    opened = DispatchClient([Scripted(ok, hangs=range(10, 1000))], Endpoint())
    began = time.monotonic()
    with opened:
        next(iter(opened.complete(requests(500))))
    assert time.monotonic() - began < 3
    assert threading.active_count() <= before + 1


FAULTS = st.sampled_from([ok, ok, ok, first_only, nothing, fail("server_error"), fail("connection"),
                          fail("rate_limited", retry_after=2), fail("overloaded"), fail("context_overflow"),
                          fail("content_filter"), fail("unreadable_reply"), fail("timeout")])  # fmt: skip


@settings(max_examples=40)
@given(steps=st.lists(FAULTS, max_size=30), n=st.integers(1, 12), repeats=st.integers(1, 10), width=st.integers(1, 10))
def test_each_repeat_is_answered_exactly_once_whatever_happens(
    steps: list[Step], n: int, repeats: int, width: int
) -> None:
    service = Scripted(ok, *steps, ok, together=width)
    found, error = answers(client(service), requests(n, repeats))
    counted = Counter((answer.item_digest, answer.repeat) for answer in found)
    assert set(counted.values()) == {1}
    if error is None:
        assert len(counted) == n * repeats


def test_a_bad_first_item_is_given_up_and_the_others_go_on() -> None:
    service = Scripted(fail("bad_request"), fail("bad_request"), ok)
    found, error = answers(client(service), requests(20))
    assert error is None
    assert sum(isinstance(answer.outcome, Completion) for answer in found) == 18


def test_bad_requests_alone_stop_the_run_at_the_third() -> None:
    service = Scripted(fail("bad_request"))
    _, error = answers(client(service), requests(20))
    assert isinstance(error, ServiceError)
    assert "3 calls in a row failed for good" in str(error)
    assert len(service.calls) == 3


def test_drained_while_calls_wait_it_ends_without_another_call() -> None:
    """A service that asks to wait for minutes, or fails all the time, does not hold up whoever wants to stop."""
    for step in (fail("rate_limited", retry_after=300), fail("server_error")):
        service = Scripted(ok, step)
        opened = DispatchClient([service], Endpoint())
        began = time.monotonic()
        with opened:
            batches = opened.complete(requests(500))
            next(batches)
            time.sleep(0.3)
            opened.drain()
            n_calls = len(service.calls)
            found = [answer for batch in batches for answer in batch]
        assert time.monotonic() - began < 3
        assert len(service.calls) == n_calls
        assert found
        assert all(isinstance(answer.outcome, CallFailure) for answer in found[33:])


def test_drained_it_answers_what_is_under_way() -> None:
    service = Scripted(ok)
    opened = DispatchClient([service], Endpoint())
    with opened:
        batches = opened.complete(requests(10_000))
        found = list(next(batches))
        opened.drain()
        found += [answer for batch in batches for answer in batch]
    assert len(found) == len(service.calls) < 1000
    assert all(isinstance(answer.outcome, Completion) for answer in found)


def test_a_hanging_address_leaves_its_calls_to_the_other() -> None:
    hung, alive = Scripted(ok, hangs=range(1000)), Scripted(ok)
    found, error = answers(client(hung, alive, timeout_seconds=30), requests(60))
    assert error is None
    assert len(found) == 60
    assert all(isinstance(answer.outcome, Completion) for answer in found)
