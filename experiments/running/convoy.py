"""Keeping together graders that are asked at the same time: the fast wait for the slow, but not for a call to end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from graders.client import Request

__all__ = ["Convoy"]


class Convoy:
    """Where each of several streams of requests is, in the same order of questions.

    A stream that is ``ahead`` questions before the last one takes no request until the last has come up by half of
    that. The last one never waits.

    Parameters
    ----------
    ranks
        Question (``cluster_id``) to its place in the order.
    n_streams
        How many there are; they are told apart by their number from 0.
    ahead
        Questions, 1 or more.
    """

    def __init__(self, ranks: Mapping[str, int], n_streams: int, *, ahead: int) -> None:
        self._ranks = ranks
        self._at: list[float] = [-1.0] * n_streams
        self._waits = [False] * n_streams
        self._ahead = ahead

    def follow(self, stream: int, requests: Iterator[Request]) -> Iterator[Request]:
        """The requests, each noted as it is taken; a stream that has ended holds nobody up."""
        for request in requests:
            self._at[stream] = self._ranks[request.item.cluster_id]
            yield request
        self._at[stream] = math.inf

    def may_take(self, stream: int) -> bool:
        """Whether a stream may take its next request now."""
        last = min(self._at)
        lead = self._at[stream] - last if last < math.inf else 0.0
        self._waits[stream] = lead > (self._ahead / 2 if self._waits[stream] else self._ahead)
        return not self._waits[stream]
