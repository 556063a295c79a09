"""What batch jobs need of a service: hand in, find again, look at, fetch, cancel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from graders.batch.calls import BatchCall, BatchLimits
from graders.client import Request
from graders.dispatch.service import CallError, Reply

__all__ = ["BatchService", "BatchState", "BatchStatus", "SoughtJob", "StrangeJobError"]

BatchStatus = Literal["in_progress", "ended", "expired", "cancelled", "failed"]
"""``failed`` is a job that was refused as a whole; after the others but the first there are results to fetch."""


class StrangeJobError(Exception):
    """A job that was taken for ours turns out to hold other calls."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a job is.

    ``n_calls`` is ``None`` until the service has counted them. ``failure`` says why a job failed as a whole.
    """

    status: BatchStatus
    n_calls: int | None = None
    n_done: int = 0
    n_failed: int = 0
    failure: CallError | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status != "in_progress"


@dataclass(frozen=True, slots=True)
class SoughtJob:
    """A job that may have been submitted, whose id did not come back.

    ``since`` is a time before it can have been created; ``taken`` are ids of jobs that it is not.
    """

    label: str
    since: datetime
    n_calls: int
    taken: Collection[str] = ()


class BatchService(Protocol):
    """One address of one service, with one key, asked for one model in jobs.

    Every method raises :class:`CallError` where the service did not do what was asked.
    """

    @property
    def name(self) -> str:
        """For messages: model and address."""
        ...

    @property
    def limits(self) -> BatchLimits:
        """Most of one job."""
        ...

    def choices_per_call(self, request: Request) -> int:
        """How many repeats one call may ask for."""
        ...

    def build_body(self, request: Request) -> Mapping[str, Any]:
        """The body of a call, the same as that of a call made at once."""
        ...

    def submit(self, calls: Sequence[BatchCall], label: str) -> str:
        """Hand a job in; its id.

        After an error that is no refusal the job may exist all the same; :meth:`find` tells.
        """
        ...

    def find(self, sought: SoughtJob) -> str | None:
        """The id of a job, by its label, or ``None``.

        Where the service keeps no label, an unfinished job of the same size and time is taken for it
        until its results tell otherwise.
        """
        ...

    def state(self, job_id: str) -> BatchState:
        """How far a job is."""
        ...

    def collect(self, job_id: str, requests: Mapping[str, Request]) -> Iterator[tuple[str, Reply | CallError]]:
        """The results of a job that is over, in any order; ``requests`` are its calls by custom id.

        A line that cannot be read, or is of no call, comes as an error under an empty id;
        :class:`StrangeJobError` if all that can be read are of other jobs.
        """
        ...

    def cancel(self, job_id: str) -> None:
        """End a job early; what is done by then can be collected."""
        ...

    def close(self) -> None:
        """Give back the connections."""
        ...
