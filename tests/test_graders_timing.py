"""The time of a call stands with the completions that it brought, once, and without what it waited for."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from calibration_sets import SIMPLEQA, Item, parse_reference
from graders.client import Answer, Request
from graders.dispatch.client import DispatchClient
from graders.dispatch.service import CallError, Reply
from graders.endpoint import Endpoint
from graders.providers.baseline import BaselineClient
from graders.providers.vllm_offline import VllmClient
from graders.sampling import Sampling
from graders.timing import time_answers
from graders.verdict import CallFailure, CallTime, Completion

_KEYS = count()
Step = Callable[[Request], Sequence[Answer]]


def brings(*repeats: int) -> Step:
    return lambda request: [
        Answer(request.item.digest, repeat, Completion("A", "m")) for repeat in repeats or request.repeats
    ]


def fails(request: Request) -> Sequence[Answer]:
    raise CallError("server_error", "scripted")


def turned_away(request: Request) -> Sequence[Answer]:
    raise CallError("rate_limited", "scripted", retry_after=0.3)


class Service:
    """Takes so many seconds for each call, and brings what its steps say."""

    def __init__(self, *steps: tuple[float, Step], together: int = 10) -> None:
        self.name, self.limit_key, self.together = "timed", f"timed-{next(_KEYS)}", together
        self.steps = iter(steps)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def choices_per_call(self, request: Request) -> int:
        return self.together

    def adapt(self, error: CallError) -> bool:
        return False

    async def ask(self, request: Request) -> Reply:
        seconds, step = next(self.steps)
        await asyncio.sleep(seconds)
        return Reply(step(request))


def make_item(number: int = 0) -> Item:
    return Item(f"i{number}", f"Q{number}?", parse_reference("x"), f"r{number}", f"q{number}")


def make_request(repeats: int, number: int = 0) -> Request:
    return Request(make_item(number), tuple(range(repeats)), None, Sampling(), SIMPLEQA)


def times_of(service: Service, *requests: Request) -> dict[int, CallTime]:
    with DispatchClient([service], Endpoint(), rng=random.Random(1)) as client:
        answers = [answer for batch in client.complete(requests) for answer in batch]
    found = {answer.repeat: answer.outcome.call_time for answer in answers if isinstance(answer.outcome, Completion)}
    return {repeat: timed for repeat, timed in found.items() if timed is not None}


def test_choices_of_one_call_share_its_time() -> None:
    times = times_of(Service((0.1, brings())), make_request(4))
    assert sorted(times) == [0, 1, 2, 3]
    assert len(set(times.values())) == 1
    assert times[0].n_completions == 4
    assert 0.08 <= times[0].seconds < 1


def test_attempts_that_failed_and_what_was_waited_for_are_no_part_of_it() -> None:
    # Half a second fails, then a wait of 0.3 is asked for; the call that brings the reply takes 0.05.
    service = Service((0.5, fails), (0.0, turned_away), (0.05, brings()))
    began = time.perf_counter()
    times = times_of(service, make_request(1))
    assert time.perf_counter() - began > 0.75
    assert 0.04 <= times[0].seconds < 0.4


def test_what_a_call_left_out_has_the_time_of_the_call_that_brought_it() -> None:
    times = times_of(Service((0.02, brings(0, 2)), (0.2, brings(1))), make_request(3))
    assert times[0] == times[2]
    assert (times[0].n_completions, times[1].n_completions) == (2, 1)
    assert times[0].seconds < 0.19 < times[1].seconds


def test_calls_side_by_side_each_have_their_own_time() -> None:
    service = Service((0.0, brings()), (0.5, brings()), (0.5, brings()), together=1)
    times = times_of(service, make_request(3))
    # A loop's clock may be a little early; a call that took up another's time would have a second.
    assert sorted(timed.seconds > 0.4 for timed in times.values()) == [False, True, True]
    assert all(timed.seconds < 0.9 for timed in times.values())


def test_failures_take_no_share() -> None:
    failure = CallFailure("engine_error", "no reply")
    answers = [Answer("d", 0, failure), Answer("d", 1, Completion("A", "m"), (failure,))]
    timed = time_answers(answers, 0.123456789)
    assert timed == answers
    assert isinstance(timed[1].outcome, Completion)
    assert timed[1].outcome.call_time == CallTime(0.123457, 1)
    assert time_answers(answers[:1], 1.0) == answers[:1]
    assert time_answers([], 1.0) == []


def test_the_same_reply_is_the_same_however_long_it_took() -> None:
    slow, unknown = Completion("A", "m", call_time=CallTime(9.0)), Completion("A", "m")
    assert slow == unknown
    # Imported graders are known by what their replies look like.
    assert repr(slow) == repr(unknown)


def test_rules_in_process_are_timed_too() -> None:
    with BaselineClient() as client:
        (answers,) = client.complete([make_request(3)])
    outcomes = [answer.outcome for answer in answers]
    assert all(isinstance(outcome, Completion) and outcome.call_time is not None for outcome in outcomes)
    assert {outcome.call_time.n_completions for outcome in outcomes} == {3}  # type: ignore[union-attr]


class _Engine:
    """Answers what it is handed after a moment, all at once."""

    def generate(self, asked: Sequence[Any]) -> Sequence[Any]:
        time.sleep(0.1)
        return list(asked)


def test_an_engine_that_is_handed_many_items_has_one_call_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    client = VllmClient.__new__(VllmClient)
    monkeypatch.setattr(VllmClient, "engine", property(lambda _: _Engine()), raising=True)

    class Planned:
        def __init__(self, request: Request) -> None:
            self.request, self.asked = request, request

    def plan(_: VllmClient, request: Request) -> list[Planned] | CallFailure:
        return [Planned(request)] if request.item.item_id != "i1" else CallFailure("context_overflow", "too long")

    def read(_: VllmClient, call: Planned, output: Any) -> Iterator[Answer]:
        yield from brings()(call.request)

    monkeypatch.setattr(VllmClient, "_plan", plan)
    monkeypatch.setattr(VllmClient, "_read", read)
    (answers,) = client.complete([make_request(2, number) for number in range(3)])
    times = [answer.outcome.call_time for answer in answers if isinstance(answer.outcome, Completion)]
    assert len(times) == 4
    assert {timed.n_completions for timed in times if timed} == {4}
    assert all(timed is not None and 0.08 <= timed.seconds < 1 for timed in times)
