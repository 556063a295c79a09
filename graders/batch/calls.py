"""Calls of batch jobs, and how many of them one job may hold."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graders.client import Request

__all__ = ["BatchCall", "BatchLimits", "JobDraft", "measure_body", "new_label", "split_calls", "split_repeats"]

ENVELOPE_BYTES = 256
"""More than a service's form adds to a call's body: id, address, brackets."""

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Most calls, and most bytes of them, in one job."""

    requests: int
    bytes: int

    def __post_init__(self) -> None:
        if self.requests < 1 or self.bytes < 1:
            raise ValueError(f"batch limits: {self.requests} calls, {self.bytes} bytes; expected 1 or more of each")


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One call of a job.

    ``custom_id`` is what its result comes back under; ``n_bytes`` bounds what it adds to the job's size.
    """

    custom_id: str
    request: Request
    body: Mapping[str, Any]
    n_bytes: int

    def __post_init__(self) -> None:
        if not _CUSTOM_ID.fullmatch(self.custom_id):
            raise ValueError(f"custom_id: {self.custom_id!r}; expected 1 to 64 of a-z, A-Z, 0-9, '_' and '-'")


@dataclass(frozen=True, slots=True)
class JobDraft:
    """A job that is to be submitted: its label and its calls, whose ids begin with the label."""

    label: str
    calls: Sequence[BatchCall]


def new_label() -> str:
    """A name for a job that no other job has, 26 characters."""
    return f"autorater-{secrets.token_hex(8)}"


def measure_body(body: Mapping[str, Any]) -> int:
    """Upper bound of the bytes that a call takes in a job, whether or not other letters than ASCII are escaped."""
    return len(json.dumps(body, ensure_ascii=True)) + ENVELOPE_BYTES


def split_repeats(requests: Iterable[Request], choices_per_call: Callable[[Request], int]) -> Iterator[Request]:
    """Requests whose repeats fit into one call each.

    ``choices_per_call`` tells how many of a request's repeats, from its first, go into one call.
    """
    for request in requests:
        rest = request
        while rest.repeats:
            size = max(1, choices_per_call(rest))
            yield replace(rest, repeats=rest.repeats[:size])
            rest = replace(rest, repeats=rest.repeats[size:])


def split_calls(
    requests: Iterable[Request],
    build_body: Callable[[Request], Mapping[str, Any]],
    limits: BatchLimits,
    label: Callable[[], str] = new_label,
) -> Iterator[JobDraft]:
    """Distribute calls over jobs, in their order, each job as full as the limits let it be.

    Bodies are built when a job takes them, so that no more than one job's are in memory.

    Raises
    ------
    ValueError
        If one call alone is larger than a job may be.
    """
    name, calls, size = label(), list[BatchCall](), 0
    for request in requests:
        body = build_body(request)
        n_bytes = measure_body(body)
        if n_bytes > limits.bytes:
            raise ValueError(f"batch call: {n_bytes} bytes; expected at most {limits.bytes}, the most of a whole job")
        if len(calls) == limits.requests or size + n_bytes > limits.bytes:
            yield JobDraft(name, calls)
            name, calls, size = label(), [], 0
        calls.append(BatchCall(f"{name}-{len(calls)}", request, body, n_bytes))
        size += n_bytes
    if calls:
        yield JobDraft(name, calls)
