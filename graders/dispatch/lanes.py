"""A service with its limit, and how it has been doing lately."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from graders.dispatch.limiter import AdaptiveLimit
from graders.dispatch.retry import pause_seconds
from graders.dispatch.service import AsyncService

__all__ = ["Lane", "others_up"]

_BROKEN_IN_A_ROW, _REST = 3, 15.0
"""Failures of a server in a row before its calls go to the other servers, and seconds before it is tried again.

A server that never answered is left at its first failure."""


@dataclass(slots=True)
class Lane:
    """One service that calls can be given to."""

    service: AsyncService
    limit: AdaptiveLimit
    throttled_since: float | None = None
    n_throttled: int = 0
    n_broken: int = 0
    has_answered: bool = False

    def answered(self) -> None:
        """It is well."""
        self.has_answered = True
        self.throttled_since, self.n_throttled, self.n_broken = None, 0, 0

    def throttle(self, now: float, asked: float | None, rng: random.Random) -> float:
        """It asks for less: the seconds to give it nothing, and it is given less from then on."""
        if now >= self.limit.paused_until:  # calls that were in flight together are turned away together
            self.n_throttled += 1
        self.throttled_since = now if self.throttled_since is None else self.throttled_since
        self.limit.throttled(now)
        return pause_seconds(self.n_throttled - 1, asked, rng)

    def waits_too_long(self, now: float, seconds: float, asked: float | None, most: float) -> bool:
        """Whether a pause of so many seconds passes the ceiling, alone or with those before it."""
        since = now if self.throttled_since is None else self.throttled_since
        return (asked or 0.0) > most or now + seconds - since > most

    def broke(self, now: float, *, rest: bool) -> None:
        """It is out of order; with ``rest`` it is left alone for a while once that shows."""
        self.n_broken += 1
        if rest and self._is_broken:
            self.limit.throttled(now)
            self.limit.pause(now + _REST)

    def is_up(self, now: float, most: float) -> bool:
        """Whether calls can go here within so many seconds."""
        return not self._is_broken and self.limit.paused_until - now <= most

    @property
    def _is_broken(self) -> bool:
        return self.n_broken >= (_BROKEN_IN_A_ROW if self.has_answered else 1)


def others_up(lanes: Sequence[Lane], lane: Lane, now: float, most: float) -> bool:
    """Whether a service with a limit of its own can take a lane's calls within so many seconds."""
    return any(other.limit is not lane.limit and other.is_up(now, most) for other in lanes)
