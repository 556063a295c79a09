"""One run of dispatchers in a thread of its own: requests go in there, answers come out in the caller's."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from graders.client import Answer, Request
from graders.dispatch.dispatcher import Dispatcher
from graders.dispatch.service import AsyncService
from graders.endpoint import Endpoint

__all__ = ["Exchange", "ExchangePart"]

_GATHER_SECONDS = 0.02
"""Answers are handed over so often at most: each hand-over ends in a write to the disk, which may hold many."""


@dataclass(frozen=True, slots=True)
class ExchangePart:
    """One client's part: its services, its requests, and whether it may start a call now (asked in the loop's thread).

    A part that may not start is asked again when an answer to any part has come.
    """

    services: Sequence[AsyncService]
    endpoint: Endpoint
    requests: Iterator[Request]
    rng: random.Random
    may_start: Callable[[], bool]


class Exchange:
    """Answers the requests of one or more clients at the same time; begins at once.

    Parameters
    ----------
    parts
        Each is dispatched by itself; where one must stop, all stop in good order.
    loop_factory
        What makes the event loop; ``None`` for the standard one.
    """

    def __init__(
        self, parts: Sequence[ExchangePart], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None
    ) -> None:
        self._queue: SimpleQueue[tuple[int, list[Answer]] | None] = SimpleQueue()
        self._most_waiting = sum(len(part.services) * part.endpoint.max_connections for part in parts)
        self._n_emitted = self._n_stored = 0
        self._held_back = False
        self._waiting: set[int] = set()
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._loop_factory = loop_factory
        self._parts = parts
        self._dispatchers = [self._dispatcher(place, part) for place, part in enumerate(parts)]
        self._thread = threading.Thread(target=self._run, name="dispatch", daemon=True)
        self._thread.start()

    def _dispatcher(self, place: int, part: ExchangePart) -> Dispatcher:
        return Dispatcher(
            part.services,
            part.endpoint,
            part.requests,
            emit=partial(self._put, place),
            may_start=partial(self._may_start, place),
            rng=part.rng,
        )

    def answers(self) -> Iterator[Mapping[int, Sequence[Answer]]]:
        """Batches of answers by the place of their part, until all are there."""
        taken_at = 0.0
        while (first := self._queue.get()) is not None:
            time.sleep(max(0.0, taken_at + _GATHER_SECONDS - time.monotonic()))
            batch: dict[int, list[Answer]] = {first[0]: list(first[1])}
            n_calls, ended = 1, False
            with contextlib.suppress(Empty):
                while not ended:
                    more = self._queue.get_nowait()
                    ended = more is None
                    if more is not None:
                        batch.setdefault(more[0], []).extend(more[1])
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
        """Let the dispatchers finish what is under way."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._drain_all)

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
        if self._cancelled:
            return
        ends = await asyncio.gather(*map(self._run_part, range(len(self._parts))), return_exceptions=True)
        for error in ends:
            if error is not None:
                raise error

    async def _run_part(self, place: int) -> None:
        try:
            await self._dispatchers[place].run()
        except BaseException:
            self._drain_all()
            raise
        finally:
            self._wake_waiting()

    def _drain_all(self) -> None:
        for dispatcher in self._dispatchers:
            dispatcher.drain()

    def _put(self, place: int, answers: list[Answer]) -> None:
        self._n_emitted += 1
        self._queue.put((place, answers))
        self._wake_waiting()

    def _wake_waiting(self) -> None:
        for place in [place for place in self._waiting if self._parts[place].may_start()]:
            self._waiting.discard(place)
            self._dispatchers[place].wake()

    def _may_start(self, place: int) -> bool:
        if not self._is_kept_up_with():
            return False
        if self._parts[place].may_start():
            return True
        self._waiting.add(place)
        return False

    def _is_kept_up_with(self) -> bool:
        if self._n_emitted - self._n_stored < self._most_waiting:
            return True
        self._held_back = True
        # Told once more, in case the caller came back between the two lines above.
        return self._n_emitted - self._n_stored < self._most_waiting

    def _go_on(self) -> None:
        self._held_back = False
        for dispatcher in self._dispatchers:
            dispatcher.wake()
