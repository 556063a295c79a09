"""The loop that gives services their calls and takes what comes back."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from graders.client import Answer, Request
from graders.dispatch.calls import Call
from graders.dispatch.headers import parse_reset_wait
from graders.dispatch.lanes import Lane, others_up
from graders.dispatch.limiter import find_limit
from graders.dispatch.retry import BROKEN, BUSY, ITEMS_OWN, MENDED, NO_DEFAULT, STOPPING, retry_seconds
from graders.dispatch.service import AsyncService, CallError, Reply
from graders.endpoint import Endpoint
from graders.errors import GraderError, ServiceError, UnsupportedError
from graders.timing import time_answers

__all__ = ["Dispatcher"]

_HOPELESS, _HOPELESS_AT_FIRST = 20, 3
"""Calls in a row that fail for good, with no success between, before the run stops; and where there never was one."""

_KEPT = "what was answered is kept, and the same command continues"


class Dispatcher:
    """Answers requests through one or more services; to be run once.

    Parameters
    ----------
    services
        Addresses that share the work.
    endpoint
        Time-outs and ceilings.
    requests
        Taken one by one, when a call can start.
    emit
        Is given answers as they come, in the loop's thread.
    may_start
        Whether the taker of the answers keeps up; :meth:`wake` tells when it does again.
    rng
        For jitter.
    """

    def __init__(
        self,
        services: Sequence[AsyncService],
        endpoint: Endpoint,
        requests: Iterator[Request],
        *,
        emit: Callable[[list[Answer]], None],
        may_start: Callable[[], bool],
        rng: random.Random,
    ) -> None:
        self._lanes = [Lane(service, find_limit(service.limit_key, endpoint.max_connections)) for service in services]
        self._endpoint = endpoint
        self._requests = requests
        self._emit = emit
        self._may_start = may_start
        self._rng = rng
        self._ready: deque[Call] = deque()
        self._delayed: dict[int, tuple[Call, asyncio.TimerHandle]] = {}
        self._n_outstanding = 0
        self._exhausted = False
        self._proven = False
        self._n_hopeless = 0
        self._error: BaseException | None = None
        self._draining = False
        self._finished = asyncio.Event()
        self._idle: list[tuple[Lane, asyncio.Future[None]]] = []

    async def run(self) -> None:
        """Answer every request.

        Raises
        ------
        GraderError
            What stops the run, after everything in flight is answered; or whatever ``requests`` raised.
        """
        opened: list[AsyncService] = []
        try:
            for lane in self._lanes:
                opened.append(lane.service)
                await lane.service.open()
            await self._run_workers()
        finally:
            for service in opened:
                await service.close()
        if self._error is not None:
            raise self._error

    def wake(self) -> None:
        """Let those look again who found no work."""
        idle, self._idle = self._idle, []
        for _, waiter in idle:
            if not waiter.done():
                waiter.set_result(None)

    def drain(self) -> None:
        """Make no more calls, not even again; the run ends when those under way are answered."""
        if not self._is_stopping:
            self._draining = True
            self._give_up_waiting()

    async def _run_workers(self) -> None:
        workers = [
            asyncio.create_task(self._work(lane)) for lane in self._lanes for _ in range(self._endpoint.max_connections)
        ]
        ended = asyncio.create_task(self._finished.wait())
        try:
            done, _ = await asyncio.wait([ended, *workers], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # a worker ends only by a bug, which must be seen
        finally:
            for task in (ended, *workers):
                task.cancel()
            await asyncio.gather(ended, *workers, return_exceptions=True)
            for _, timer in self._delayed.values():
                timer.cancel()

    async def _work(self, lane: Lane) -> None:
        while True:
            await lane.limit.acquire()
            try:
                call = self._take(lane)
                if call is not None:
                    await self._make(lane, call)
            finally:
                lane.limit.release()
            if call is None:
                if self._is_finished():
                    self._finished.set()
                await self._wait_for_work(lane)

    async def _wait_for_work(self, lane: Lane) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._idle.append((lane, waiter))
        await waiter

    def _is_finished(self) -> bool:
        return (
            self._n_outstanding == 0
            and not self._ready
            and not self._delayed
            and (self._exhausted or self._is_stopping)
        )

    @property
    def _is_stopping(self) -> bool:
        return self._error is not None or self._draining

    @property
    def _most_delayed(self) -> int:
        """Calls that wait to be made again before no new item is tried: a dead service is not asked for all of them."""
        return max(_HOPELESS, len(self._lanes) * self._endpoint.max_connections) if self._proven else _HOPELESS_AT_FIRST

    # taking work

    def _take(self, lane: Lane) -> Call | None:
        """The next call for a lane, if one may start now."""
        if self._is_stopping or (not self._proven and self._n_outstanding) or not self._may_start():
            return None
        call = self._ready.popleft() if self._ready else self._take_request()
        if call is None:
            return None
        rest = call.take_from(max(1, lane.service.choices_per_call(call.request)))
        if rest is not None:
            self._put_first(rest)
        self._n_outstanding += 1
        return call

    def _take_request(self) -> Call | None:
        if self._exhausted or len(self._delayed) >= self._most_delayed:
            return None
        try:
            request = next(self._requests, None)
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that gave the requests
            self._error = error
            return None
        if request is None:
            self._exhausted = True
            return None
        return Call(request)

    def _put_first(self, call: Call) -> None:
        self._ready.appendleft(call)
        self._wake_one()

    def _wake_one(self) -> None:
        """Wake a worker whose service can be called soonest: one of a resting service would sit on the call."""
        now = asyncio.get_running_loop().time()
        self._idle = [(lane, waiter) for lane, waiter in self._idle if not waiter.done()]
        if self._idle:
            rests = [max(now, lane.limit.paused_until) for lane, _ in self._idle]
            _, waiter = self._idle.pop(rests.index(min(rests)))
            waiter.set_result(None)

    # making calls

    async def _make(self, lane: Lane, call: Call) -> None:
        now = asyncio.get_running_loop().time
        began = now()
        sent = time.perf_counter()  # the loop's own clock may stand still for as long as one turn of the loop takes
        try:
            try:
                async with asyncio.timeout(self._endpoint.timeout_seconds):
                    reply = await lane.service.ask(call.request)
            except TimeoutError:
                seconds = self._endpoint.timeout_seconds
                raise CallError("timeout", f"{lane.service.name}: no reply within {seconds:g} s") from None
            self._received(lane, call, reply, time.perf_counter() - sent)
            lane.limit.succeeded(now() - began, now())
        except CallError as error:
            self._failed(lane, call, error)
        except GraderError as error:
            self._stop(error)
        finally:
            self._n_outstanding -= 1
            if self._is_finished():
                self._finished.set()

    def _received(self, lane: Lane, call: Call, reply: Reply, seconds: float) -> None:
        wanted = set(call.request.repeats)
        answers = [answer for answer in reply.answers if answer.repeat in wanted]
        if not answers:
            raise CallError("unreadable_reply", f"{lane.service.name}: a reply without any choice")
        lane.answered()
        self._n_hopeless = 0
        if not self._proven:
            self._proven = True
            self.wake()
        self._heed(lane, reply)
        found, missing = call.answered(answers)
        self._emit(time_answers(found, seconds))
        if missing is not None:
            self._put_first(missing)

    def _heed(self, lane: Lane, reply: Reply) -> None:
        """Wait for a spent allowance to be renewed, rather than be turned away."""
        wait = parse_reset_wait(reply.headers, datetime.now(UTC)) if reply.headers else None
        if wait is not None and wait <= self._endpoint.max_wait_seconds:
            lane.limit.pause(asyncio.get_running_loop().time() + wait)

    def _failed(self, lane: Lane, call: Call, error: CallError) -> None:
        call.note(error)
        if error.kind in STOPPING:
            self._give_up(call)
            told = f"{MENDED[error.kind][0]} ({error.message}); expected {MENDED[error.kind][1]}"
            self._stop(ServiceError(f"{lane.service.name}: {told}; {_KEPT} then"))
        elif error.kind == "unsupported":
            self._adapt(lane, call, error)
        elif error.kind in BUSY or (error.kind == "server_error" and error.retry_after is not None):
            self._hold_back(lane, call, error)
        elif error.kind in ITEMS_OWN or error.kind == "bad_request":
            self._fail_item(lane, call, error)
        else:
            self._try_again(lane, call, error)

    def _adapt(self, lane: Lane, call: Call, error: CallError) -> None:
        if call.may_take_another_form() and lane.service.adapt(error):
            self._again(call)
            return
        self._give_up(call)
        chosen = "" if error.parameter in NO_DEFAULT else ', or on_unsupported = "provider-default"'
        told = f"{error.parameter or 'a setting'} refused ({error.message}); expected a model that takes it{chosen}"
        self._stop(UnsupportedError(f"{lane.service.name}: {told}"))

    def _hold_back(self, lane: Lane, call: Call, error: CallError) -> None:
        """Nothing goes to the service until it asked to be asked again; for longer than the ceiling, others must do."""
        now, most = asyncio.get_running_loop().time(), self._endpoint.max_wait_seconds
        seconds = lane.throttle(now, error.retry_after, self._rng)
        may_wait = call.may_wait_again()
        too_long = lane.waits_too_long(now, seconds, error.retry_after, most)
        if too_long and not others_up(self._lanes, lane, now, most):
            self._give_up(call)
            asked = f" and asks to wait {error.retry_after:,.0f} s" if error.retry_after is not None else ""
            told = f"{error.kind}{asked} ({error.message}), longer than max_wait_seconds = {most:g}"
            self._stop(ServiceError(f"{lane.service.name}: {told}; {_KEPT} later"))
            return
        lane.limit.pause(now + seconds)
        if may_wait:
            self._again(call)
        else:
            self._give_up(call)

    def _fail_item(self, lane: Lane, call: Call, error: CallError) -> None:
        self._give_up(call)
        if error.kind == "bad_request":  # one may be its item's fault, several in a row are the calls'
            self._count_hopeless(lane, error)

    def _try_again(self, lane: Lane, call: Call, error: CallError) -> None:
        """Where another server is up, a broken one's calls are its, and cost the item none of its attempts."""
        now = asyncio.get_running_loop().time()
        if error.kind == "timeout":
            lane.limit.throttled(now)
        elsewhere = error.kind in BROKEN and others_up(self._lanes, lane, now, self._endpoint.max_wait_seconds)
        if error.kind in BROKEN:
            lane.broke(now, rest=elsewhere)
        if call.may_try_again(error, elsewhere=elsewhere):
            self._again(call, after=retry_seconds(max(1, call.n_failed), error.retry_after, self._rng))
        else:
            self._give_up(call)
            self._count_hopeless(lane, error)

    def _count_hopeless(self, lane: Lane, error: CallError) -> None:
        self._n_hopeless += 1
        if self._n_hopeless >= (_HOPELESS if self._proven else _HOPELESS_AT_FIRST):
            told = f"{self._n_hopeless} calls in a row failed for good, the last: {error.kind}, {error.message}"
            self._stop(ServiceError(f"{lane.service.name}: {told}; {_KEPT}"))

    def _again(self, call: Call, after: float = 0.0) -> None:
        if self._is_stopping:
            self._give_up(call)
        elif after <= 0:
            self._put_first(call)
        else:
            loop = asyncio.get_running_loop()
            self._delayed[id(call)] = (call, loop.call_later(after, self._put_back, id(call)))

    def _put_back(self, key: int) -> None:
        call, _ = self._delayed.pop(key)
        self._put_first(call)

    def _give_up(self, call: Call) -> None:
        self._emit(call.given_up())

    def _stop(self, error: BaseException) -> None:
        """Start nothing more; calls that wait to be made again end with how they failed last."""
        if self._is_stopping:
            return
        self._error = error
        self._give_up_waiting()

    def _give_up_waiting(self) -> None:
        waiting = [call for call, _ in self._delayed.values()]
        for _, timer in self._delayed.values():
            timer.cancel()
        self._delayed.clear()
        for call in (*waiting, *self._ready):
            if call.failures:
                self._give_up(call)
        self._ready.clear()
        self.wake()
        if self._is_finished():
            self._finished.set()
