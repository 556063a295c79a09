"""Connections to the labelling pages: what somebody sends by halves neither lasts nor takes anybody's place."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST_WAITING", "REQUEST_SECONDS", "PatientProtocol"]

REQUEST_SECONDS = 15.0
"""So long a request, head and body, may take to arrive."""
MOST_WAITING = 64
"""Connections that have not sent a whole request: of more, the oldest is closed, as a browser's waits for moments."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which by itself would wait for the rest of a request for ever."""

    _arriving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait, and let somebody else who has waited too long make room."""
        super().connection_made(transport)
        self._watch()
        waiting = list(_waiting(self.connections))
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda one: one.deadline).give_up()

    def data_received(self, data: bytes) -> None:
        """Take what has come, and see whether it was the last of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request of the connection."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    @property
    def deadline(self) -> float:
        """When the connection is given up, by the clock of the loop; infinite where nothing is waited for."""
        return math.inf if self._arriving is None else self._arriving.when()

    def give_up(self) -> None:
        """Close the connection."""
        self._stop()
        self.transport.close()

    def _watch(self) -> None:
        """Have a timer exactly while the client has more to send."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY) or self.transport.is_closing():
            self._stop()
        elif self._arriving is None:
            self._arriving = self.loop.call_later(REQUEST_SECONDS, self.give_up)

    def _stop(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None


def _waiting(connections: Iterable[Any]) -> Iterable[PatientProtocol]:
    return (one for one in connections if isinstance(one, PatientProtocol) and one.deadline < math.inf)
