"""What is tried again, how often, and after how long."""

from __future__ import annotations

import random
from collections.abc import Mapping

from graders.dispatch.service import CallErrorKind

__all__ = [
    "BROKEN",
    "BUSY",
    "ITEMS_OWN",
    "MENDED",
    "MOST_ATTEMPTS",
    "NO_DEFAULT",
    "STOPPING",
    "pause_seconds",
    "retry_seconds",
]

STOPPING: frozenset[CallErrorKind] = frozenset({"quota_exhausted", "bad_key", "not_found"})
"""No call can succeed after one of these."""

MENDED: Mapping[CallErrorKind, tuple[str, str]] = {
    "quota_exhausted": ("no quota is left", "credit at the service"),
    "bad_key": ("the key was refused", "a key that may use the model, from the environment"),
    "not_found": ("no such model or address", "a model that the service has, at its base_url"),
}
"""What stops a run and has to be mended by a person: what is amiss, and what is expected."""

NO_DEFAULT = frozenset({"logprobs", "top_logprobs", "logprob_token_ids"})
"""What no service's own choice can stand in for."""

ITEMS_OWN: frozenset[CallErrorKind] = frozenset({"context_overflow", "content_filter"})
"""The same call would fail the same way."""

BUSY: frozenset[CallErrorKind] = frozenset({"rate_limited", "overloaded"})
"""The service asks for less; the call waits and has cost nothing."""

BROKEN: frozenset[CallErrorKind] = frozenset({"server_error", "connection", "unreachable", "timeout"})
"""The server's own fault, as far as can be told: another may do better."""

MOST_ATTEMPTS: Mapping[CallErrorKind, int] = {
    "server_error": 8,
    "connection": 8,
    "unreachable": 8,
    "unreadable_reply": 4,
    "timeout": 3,
}
"""How often a call is made that fails so; a time-out is long and may have been paid for."""

_FIRST_RETRY, _LONGEST_RETRY = 0.5, 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_JITTER = 0.1


def retry_seconds(n_failed: int, asked: float | None, rng: random.Random) -> float:
    """Seconds before a failed call is made again: full jitter over a doubling span, never less than asked.

    Source: M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
    """
    span = min(_LONGEST_RETRY, _FIRST_RETRY * 2.0 ** min(n_failed, 16))
    return (asked or 0.0) + rng.uniform(0.0, span)


def pause_seconds(n_in_a_row: int, asked: float | None, rng: random.Random) -> float:
    """Seconds for which a busy service is given no call: what it asked and a little more, or a doubling guess."""
    if asked is not None:
        return asked + rng.uniform(0.0, _JITTER * max(asked, 1.0))
    span = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(n_in_a_row, 16))
    return rng.uniform(span / 2, span)
