"""How many calls at a time a service is given: more while it is healthy, fewer when it says so."""

from __future__ import annotations

import asyncio
import math
from collections import deque

__all__ = ["AdaptiveLimit", "find_limit"]

_SLOWER, _WORSE, _CUT = 3.0, 0.8, 0.8
"""Latency so many times its best, while calls come back at less than this share of the best pace, cuts the limit so."""

_FORGET = 0.98
"""What is left of the best pace and latency after a window: services change."""


class AdaptiveLimit:
    """Calls at a time to one service under one key.

    The limit doubles with each round trip until the first throttling (a success adds one), then
    grows by one a round trip. Throttling halves it, once a round trip however many calls it met.
    A pace that falls while latency grows cuts it too; latency alone does not, since a server that
    batches is slower for each and faster for all. ``pause`` holds every call back until a moment.

    Parameters
    ----------
    most
        What the limit never passes.
    start
        Where it begins.
    """

    def __init__(self, most: int, start: int = 32) -> None:
        self.most = most
        self.limit = float(min(start, most))
        self.in_flight = 0
        self.paused_until = -math.inf
        self._starting = True
        self._latency = 0.0
        self._cut_at = -math.inf
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._window = _Window()

    async def acquire(self) -> None:
        """Wait until one more call may start, and count it."""
        loop = asyncio.get_running_loop()
        while self.in_flight >= int(self.limit) or self.paused_until > loop.time():
            if self.in_flight < int(self.limit):
                await asyncio.sleep(self.paused_until - loop.time())
                continue
            waiter = loop.create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()
                raise
        self.in_flight += 1

    def release(self) -> None:
        """A call has ended, or did not start after all."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self, latency: float, now: float) -> None:
        """A call came back well after so many seconds."""
        self._latency = latency if not self._latency else 0.9 * self._latency + 0.1 * latency
        if self.in_flight >= int(self.limit) - 1:
            grown = self.limit + (1.0 if self._starting else 1.0 / self.limit)
            self.limit = min(float(self.most), grown)
        if self._window.add(latency, now, size=int(self.limit)):
            self.limit = max(1.0, self.limit * _CUT)
            self._starting = False
        self._wake()

    def throttled(self, now: float) -> None:
        """The service said that it is too much, or did not answer in time."""
        self._starting = False
        if now - self._cut_at >= self._latency:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now

    def pause(self, until: float) -> None:
        """Start no call before a moment of the loop's clock; a longer pause stands."""
        self.paused_until = max(self.paused_until, until)

    def _wake(self) -> None:
        n_free = int(self.limit) - self.in_flight
        while self._waiters and n_free > 0:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                n_free -= 1


class _Window:
    """Pace and latency over as many calls as may be in flight, beside the best seen."""

    def __init__(self) -> None:
        self._count, self._latencies, self._began = 0, 0.0, math.nan
        self._best_pace, self._best_latency = 0.0, math.inf

    def add(self, latency: float, now: float, *, size: int) -> bool:
        """Count a call; at the end of a window, whether service got worse from being given more."""
        if math.isnan(self._began):
            self._began = now - latency
        self._count += 1
        self._latencies += latency
        if self._count < max(size, 8):
            return False
        pace = self._count / max(now - self._began, 1e-9)
        mean = self._latencies / self._count
        worse = mean > _SLOWER * self._best_latency and pace < _WORSE * self._best_pace
        self._best_pace = max(pace, self._best_pace * _FORGET)
        self._best_latency = min(mean, self._best_latency / _FORGET)
        self._count, self._latencies, self._began = 0, 0.0, now
        return worse


_limits: dict[str, AdaptiveLimit] = {}


def find_limit(key: str, most: int) -> AdaptiveLimit:
    """The limit of a service and key in this process: graders of one service share what it has shown."""
    limit = _limits.get(key)
    if limit is None:
        limit = _limits[key] = AdaptiveLimit(most)
    limit.most = most
    limit.limit = min(limit.limit, float(most))
    return limit
