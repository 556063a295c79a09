"""A model client over services: the loop runs in a thread, answers come out in the caller's."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from graders.client import Answer, Request
from graders.dispatch.dispatcher import Dispatcher
from graders.dispatch.service import AsyncService
from graders.endpoint import Endpoint

__all__ = ["DispatchClient"]

_GATHER_SECONDS = 0.02
"""Answers are handed over so often at most: each hand-over ends in a write to the disk, which may hold many."""


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
        self._exchange: _Exchange | None = None

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
        exchange = _Exchange(self._services, self._endpoint, iter(requests), self._loop_factory, self._rng)
        self._exchange = exchange
        try:
            yield from exchange.answers()
        finally:
            exchange.cancel()


class _Exchange:
    """One run of a dispatcher in a thread of its own."""

    def __init__(
        self,
        services: Sequence[AsyncService],
        endpoint: Endpoint,
        requests: Iterator[Request],
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None,
        rng: random.Random,
    ) -> None:
        self._queue: SimpleQueue[list[Answer] | None] = SimpleQueue()
        self._most_waiting = len(services) * endpoint.max_connections
        self._n_emitted = self._n_stored = 0
        self._held_back = False
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._loop_factory = loop_factory
        self._dispatcher = Dispatcher(services, endpoint, requests, emit=self._put, may_start=self._may_start, rng=rng)
        self._thread = threading.Thread(target=self._run, name="dispatch", daemon=True)
        self._thread.start()

    def answers(self) -> Iterator[Sequence[Answer]]:
        """Batches of answers, until all are there."""
        taken_at = 0.0
        while (first := self._queue.get()) is not None:
            time.sleep(max(0.0, taken_at + _GATHER_SECONDS - time.monotonic()))
            batch, n_calls, ended = list(first), 1, False
            with contextlib.suppress(Empty):
                while not ended:
                    more = self._queue.get_nowait()
                    ended = more is None
                    batch += more or ()
                    n_calls += 1
            taken_at = time.monotonic()
            yield batch
            self._stored(n_calls)
            if ended:
                break
        self._thread.join()
        if self._error is not None:
            raise self._error

    def cancel(self) -> None:
        """End the loop now; what is in flight is lost."""
        self._cancelled = True
        if self._loop is not None and self._task is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop may have ended meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def drain(self) -> None:
        """Let the dispatcher finish what is under way."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._dispatcher.drain)

    def _stored(self, n_calls: int) -> None:
        self._n_stored += n_calls
        if self._held_back and self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._go_on)

    # in the loop's thread

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._loop_factory) as runner:
                runner.run(self._main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._error = error
        finally:
            self._queue.put(None)

    async def _main(self) -> None:
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        if not self._cancelled:
            await self._dispatcher.run()

    def _put(self, answers: list[Answer]) -> None:
        self._n_emitted += 1
        self._queue.put(answers)

    def _may_start(self) -> bool:
        if self._n_emitted - self._n_stored < self._most_waiting:
            return True
        self._held_back = True
        # Told once more, in case the caller came back between the two lines above.
        return self._n_emitted - self._n_stored < self._most_waiting

    def _go_on(self) -> None:
        self._held_back = False
        self._dispatcher.wake()


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
