"""A model client over services: the loop runs in a thread, answers come out in the caller's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from graders.client import Answer, ModelClient, Request
from graders.dispatch.exchange import Exchange, ExchangePart
from graders.dispatch.service import AsyncService
from graders.endpoint import Endpoint

__all__ = ["DispatchClient", "Stream", "complete_together"]


class DispatchClient:
    """Asks services, many calls at a time.

    An answer counts as stored when the caller comes for the next ones. While the answers of as many
    calls as there may be connections wait to be stored, no further call is started, so that a kill
    can cost no more than what is in flight and that many calls.

    Parameters
    ----------
    services
        Addresses that share the work.
    endpoint
        Connections, time-outs and ceilings.
    loop_factory
        What makes the event loop: uvloop where it is installed, else the standard one.
    rng
        For jitter.
    """

    def __init__(
        self,
        services: Sequence[AsyncService],
        endpoint: Endpoint,
        *,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._services = services
        self._endpoint = endpoint
        self._loop_factory = loop_factory or _fast_loop()
        self._rng = rng or random.Random()
        self._exchange: Exchange | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancel what is still in flight."""
        if self._exchange is not None:
            self._exchange.cancel()
            self._exchange = None

    def drain(self) -> None:
        """Make no more calls; :meth:`complete` ends with the answers to those under way. From any thread or signal."""
        if self._exchange is not None:
            self._exchange.drain()

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer every repeat of every request once; see :class:`graders.client.ModelClient`.

        Raises
        ------
        GraderError
            What stops the run, after the answers to what was in flight.
        """
        for answers in _exchange([(self, Stream(self, iter(requests)))]):
            yield answers[0]


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stream:
    """A client with its requests, and whether another may be taken now."""

    client: ModelClient
    requests: Iterator[Request]
    may_take: Callable[[], bool] = _always


def complete_together(streams: Sequence[Stream]) -> Generator[Mapping[int, Sequence[Answer]], None, None]:
    """Answer the requests of several clients; answers come by the place of their stream.

    Services are asked at the same time, in one loop, each while its stream may take a request. The others are asked
    after them, one by one.

    Raises
    ------
    GraderError
        What stops any of them, after the answers to what was in flight.
    """
    asked = [(place, stream.client, stream) for place, stream in enumerate(streams)]
    services = [(place, client, stream) for place, client, stream in asked if isinstance(client, DispatchClient)]
    if services:
        for batch in _exchange([(client, stream) for _, client, stream in services]):
            yield {services[place][0]: answers for place, answers in batch.items()}
    for place, client, stream in asked:
        if not isinstance(client, DispatchClient):
            for answers in client.complete(stream.requests):
                yield {place: answers}


def _exchange(streams: Sequence[tuple[DispatchClient, Stream]]) -> Iterator[Mapping[int, Sequence[Answer]]]:
    parts = [
        ExchangePart(client._services, client._endpoint, stream.requests, client._rng, stream.may_take)
        for client, stream in streams
    ]
    exchange = Exchange(parts, streams[0][0]._loop_factory)
    for client, _ in streams:
        client._exchange = exchange
    try:
        yield from exchange.answers()
    finally:
        exchange.cancel()


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
