"""What the dispatch needs of a service: one call, and how it can go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

from graders.client import Answer, Request
from graders.verdict import Usage

__all__ = ["CALL_ERROR_KINDS", "AsyncService", "CallError", "CallErrorKind", "Reply"]

CallErrorKind = Literal[
    "rate_limited",
    "overloaded",
    "server_error",
    "timeout",
    "connection",
    "unreachable",
    "unreadable_reply",
    "quota_exhausted",
    "bad_key",
    "not_found",
    "unsupported",
    "context_overflow",
    "content_filter",
    "bad_request",
]
"""How a call goes wrong.

The first seven pass and are tried again; a server that is ``unreachable`` got no call, one whose ``connection`` was
lost may have. ``quota_exhausted``, ``bad_key`` and ``not_found`` stop the
run. ``unsupported`` names a parameter that the model refuses: the service adapts, or the run stops.
``context_overflow`` and ``content_filter`` are an item's own and are not tried again;
``bad_request`` likewise, but several in a row stop the run.
"""

CALL_ERROR_KINDS: tuple[str, ...] = get_args(CallErrorKind)
"""The kinds of :data:`CallErrorKind`, for looking up."""


class CallError(Exception):
    """One call went wrong.

    ``message`` fits one line and holds no key. ``retry_after`` is in seconds from now, as the
    service asked. ``parameter`` names what was refused. ``usage`` is what the call cost all the same;
    ``paid_before`` is what stands on the bill beside it if the call is given up: turns of a conversation.
    """

    def __init__(
        self,
        kind: CallErrorKind,
        message: str,
        *,
        retry_after: float | None = None,
        parameter: str | None = None,
        usage: Usage | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: CallErrorKind = kind
        self.message = message
        self.retry_after = retry_after
        self.parameter = parameter
        self.usage = usage
        self.paid_before: Usage | None = None
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call brought: at most one answer for each repeat asked, and the headers (names in lower case)."""

    answers: Sequence[Answer]
    headers: Mapping[str, str] = field(default_factory=dict)


class AsyncService(Protocol):
    """One address of one service, with one key, asked for one model."""

    @property
    def name(self) -> str:
        """For messages: model and address."""
        ...

    @property
    def limit_key(self) -> str:
        """Calls with the same key share one limit; holds no secret."""
        ...

    async def open(self) -> None:
        """Make the connections' pool, in the loop that will use it."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...

    def choices_per_call(self, request: Request) -> int:
        """How many repeats one call may ask for, as far as is known by now."""
        ...

    async def ask(self, request: Request) -> Reply:
        """Make one call, without any retry.

        Raises
        ------
        CallError
            If no usable reply came.
        """
        ...

    def adapt(self, error: CallError) -> bool:
        """Learn from a refused parameter; whether the call is to be sent again in another form."""
        ...
