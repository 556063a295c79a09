"""Half an hour of trouble on a clock that jumps: nothing lost, nothing paid twice, nobody pestered."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from virtual_loop import VirtualLoop

from calibration_sets import SIMPLEQA, Item, parse_reference
from graders.client import Answer, Request
from graders.dispatch.dispatcher import Dispatcher
from graders.dispatch.service import CallError, CallErrorKind, Reply
from graders.endpoint import Endpoint
from graders.errors import ServiceError
from graders.sampling import Sampling
from graders.verdict import Completion

_KEYS = count()
MINUTE = 60.0


@dataclass
class Spell:
    """Between two moments calls end so, with some chance."""

    begins: float
    ends: float
    kind: CallErrorKind
    chance: float = 1.0
    retry_after: float | None = None
    latency: float = 0.05


@dataclass
class Troubled:
    """A service with an allowance a minute and spells of trouble; counts what it answered, which is what is paid."""

    spells: list[Spell] = field(default_factory=list)
    per_minute: int = 200
    together: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        self.name, self.limit_key = "troubled", f"troubled-{next(_KEYS)}"
        self.paid: Counter[tuple[str, int]] = Counter()
        self.n_calls = self.n_turned_away = self.n_taken = 0
        self.minute, self.last = -1, 0.0
        self.rng = random.Random(self.seed)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def choices_per_call(self, request: Request) -> int:
        return self.together

    def adapt(self, error: CallError) -> bool:
        return False

    async def ask(self, request: Request) -> Reply:
        self.n_calls += 1
        now = asyncio.get_running_loop().time()
        for spell in self.spells:
            if spell.begins <= now < spell.ends and self.rng.random() < spell.chance:
                await asyncio.sleep(10 * MINUTE if spell.kind == "timeout" else spell.latency)
                raise CallError(spell.kind, "trouble", retry_after=spell.retry_after)
        if int(now // MINUTE) != self.minute:
            self.minute, self.n_taken = int(now // MINUTE), 0
        if self.n_taken >= self.per_minute:
            self.n_turned_away += 1
            await asyncio.sleep(0.02)
            raise CallError("rate_limited", "slow down", retry_after=(self.minute + 1) * MINUTE - now)
        self.n_taken += 1
        await asyncio.sleep(self.rng.uniform(0.2, 1.0))
        self.last = asyncio.get_running_loop().time()
        self.paid.update((request.item.digest, repeat) for repeat in request.repeats)
        return Reply([Answer(request.item.digest, repeat, Completion("A", "m")) for repeat in request.repeats])


def requests(n: int, repeats: int = 1) -> Iterator[Request]:
    for number in range(n):
        item = Item(f"i{number}", f"Q{number}?", parse_reference("x"), f"r{number}", f"q{number}")
        yield Request(item, tuple(range(repeats)), None, Sampling(), SIMPLEQA)


def run(services: list[Troubled], n: int, **endpoint: float) -> list[Answer]:
    """The dispatcher alone: a clock that jumps would not wait for another thread."""
    found: list[Answer] = []
    dispatcher = Dispatcher(
        services,
        Endpoint(**endpoint),  # type: ignore[arg-type]
        requests(n),
        emit=found.extend,
        may_start=lambda: True,
        rng=random.Random(1),
    )
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(dispatcher.run())
    return found


HALF_AN_HOUR = [
    Spell(2 * MINUTE, 2 * MINUTE + 10, "connection"),
    Spell(5 * MINUTE, 8 * MINUTE, "overloaded"),
    Spell(10 * MINUTE, 10 * MINUTE + 5, "server_error"),
    Spell(12 * MINUTE, 14 * MINUTE, "server_error", chance=0.3),
    Spell(15 * MINUTE, 17 * MINUTE, "server_error", retry_after=20.0),
    Spell(19 * MINUTE, 21 * MINUTE, "timeout", chance=0.05),
    Spell(22 * MINUTE, 25 * MINUTE, "unreadable_reply", chance=0.1),
    Spell(26 * MINUTE, 29 * MINUTE, "rate_limited", retry_after=30.0),
]


def test_half_an_hour_of_trouble_loses_nothing_and_pays_nothing_twice() -> None:
    service, n = Troubled(HALF_AN_HOUR), 5000
    found = run([service], n, timeout_seconds=60)
    assert service.last > 30 * MINUTE
    assert all(isinstance(answer.outcome, Completion) for answer in found)
    assert len({answer.item_digest for answer in found}) == len(found) == n
    assert set(service.paid.values()) == {1}
    # Turned away at most with what was in flight when a minute's allowance was spent.
    assert service.n_turned_away <= 50 * (service.last // MINUTE + 1)


def test_an_allowance_is_used_up_every_minute_and_not_crept_along() -> None:
    service = Troubled()
    run([service], 1000)
    assert service.last < 5.2 * MINUTE


def test_a_server_that_is_down_for_half_an_hour_costs_the_other_ones_items_nothing() -> None:
    down = Troubled([Spell(MINUTE, 31 * MINUTE, "server_error")])
    up = Troubled(per_minute=100)
    found = run([down, up], 4000)
    assert all(isinstance(answer.outcome, Completion) for answer in found)
    assert len(found) == 4000
    assert down.paid.total() + up.paid.total() == 4000
    assert max((down.paid + up.paid).values()) == 1
    assert down.n_calls - down.paid.total() < 1000


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded", "server_error"])
def test_a_server_that_asks_for_a_day_is_left_to_the_other(kind: CallErrorKind) -> None:
    away = Troubled([Spell(10.0, 24 * 60 * MINUTE, kind, retry_after=24 * 60 * MINUTE)])
    up = Troubled()
    found = run([away, up], 1500)
    assert all(isinstance(answer.outcome, Completion) for answer in found)
    assert up.last < 10 * MINUTE


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded", "server_error"])
def test_where_every_server_asks_for_a_day_the_run_stops(kind: CallErrorKind) -> None:
    spell = Spell(10.0, 24 * 60 * MINUTE, kind, retry_after=24 * 60 * MINUTE)
    with pytest.raises(ServiceError, match=r"asks to wait 86,400 s.*the same command continues"):
        run([Troubled([spell]), Troubled([spell])], 1500)


def test_an_item_that_breaks_every_server_is_given_up() -> None:
    class Breaks(Troubled):
        async def ask(self, request: Request) -> Reply:
            if request.item.item_id == "i7":
                self.n_calls += 1
                raise CallError("server_error", "this one breaks me")
            return await super().ask(request)

    services: list[Troubled] = [Breaks(), Breaks()]
    found = run(services, 300)
    assert [answer.repeat for answer in found if not isinstance(answer.outcome, Completion)] == [0]
    assert services[0].n_calls + services[1].n_calls - services[0].paid.total() - services[1].paid.total() < 40
