"""Requests for replicas, in batches: large enough to keep one busy, smaller again where one died with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from graders.client import Answer, Request
from graders.verdict import CallFailure

__all__ = ["Batch", "BatchQueue"]

_MOST = 1024
_SHORT, _LONG = 2.0, 10.0
"""Items of a batch are twice as many where one lasts for less than so many seconds, half as many for more."""

_MOST_DEATHS = 3
_PARTS = 8
"""A batch that a replica died with comes again in so many parts: one item that kills it takes few others with it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that are sent together, and how many replicas have died while they computed them."""

    requests: tuple[Request, ...]
    n_deaths: int = 0


class BatchQueue:
    """What is still to be sent, taken from the requests only when it is.

    Parameters
    ----------
    least
        Items of a batch at least, 1 or more: as many as an engine computes side by side.
    """

    def __init__(self, requests: Iterator[Request], *, least: int) -> None:
        self._requests = requests
        self._least = self._size = least
        self._again: deque[Batch] = deque()

    def take(self) -> Batch | None:
        """The next batch; ``None`` where there is nothing more to send for now."""
        if self._again:
            return self._again.popleft()
        fresh = tuple(islice(self._requests, self._size))
        return Batch(fresh) if fresh else None

    @property
    def has_more(self) -> bool:
        """Whether :meth:`take` would give a batch."""
        batch = self.take()
        if batch is not None:
            self.put_back(batch)
        return batch is not None

    def note(self, batch: Batch, seconds: float) -> None:
        """A batch took so long to be computed; parts of others say nothing about the size."""
        n_items = len(batch.requests)
        if n_items == self._size and seconds < _SHORT:
            self._size = min(2 * self._size, max(_MOST, self._least))
        elif n_items >= self._size and seconds > _LONG:
            self._size = max(self._size // 2, self._least)

    def put_back(self, batch: Batch) -> None:
        """A batch was not computed, through no fault of its own."""
        self._again.appendleft(batch)

    def blame(self, batch: Batch, reason: str) -> Sequence[Answer]:
        """A replica died while it computed a batch: it comes again in parts, or fails where that was too often."""
        n_deaths = batch.n_deaths + 1
        if n_deaths >= _MOST_DEATHS:
            return fail(batch.requests, f"{n_deaths} replicas in a row died while they computed it, the last: {reason}")
        size = -(-len(batch.requests) // _PARTS)
        starts = range(0, len(batch.requests), size)
        self._again.extend(Batch(batch.requests[start : start + size], n_deaths) for start in starts)
        return []

    def give_up(self, reason: str) -> Sequence[Answer]:
        """Fail what would be sent again."""
        left = [request for batch in self._again for request in batch.requests]
        self._again.clear()
        return fail(left, reason)


def fail(requests: Sequence[Request], message: str) -> Sequence[Answer]:
    """An answer for each repeat: the engine's failure, which stays to be asked."""
    failure = CallFailure("engine_error", message)
    return [Answer(request.item.digest, repeat, failure) for request in requests for repeat in request.repeats]
