"""Models on a Ray cluster: the requests of one grader, answered by replicas of its model.

Why replicas of our own clients, and not the language model processor of Ray Data: it keeps the first of several
draws and its log-probabilities only, and takes rows, not requests that may end at any time (``docs/scale.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from graders.client import Answer, Request
from graders.endpoint import RayReplicas
from graders.errors import GraderError, ServiceError
from graders.grader import Grader
from graders.providers.ray_batches import Batch, BatchQueue
from graders.providers.ray_cluster import check_room, connected
from graders.providers.ray_pool import Death, Finished, ReplicaPool

__all__ = ["RayClient", "open_ray"]

_LEAST = {"vllm/": 32}
"""Items that an engine computes side by side, at least, by what its models' names begin with."""

_LEAST_ELSE = 8


def open_ray(grader: Grader, asked: RayReplicas) -> RayClient:
    """A client for a grader whose model is on a cluster, to be used in a ``with`` statement."""
    return RayClient(grader, asked)


class RayClient:
    """Hands requests to replicas as these have room; to be used as a context manager.

    A batch waits at each replica while it computes another, so that none stands idle: what a killed run loses at most.
    A batch whose replica dies is asked again, in parts; its requests fail, and stay to be asked, where three have died.
    """

    def __init__(self, grader: Grader, asked: RayReplicas) -> None:
        self._grader, self._asked = grader, asked
        self._least = next((n for start, n in _LEAST.items() if grader.model.startswith(start)), _LEAST_ELSE)
        self._stack = ExitStack()
        self._pool: ReplicaPool | None = None
        self._is_draining = False

    def __enter__(self) -> Self:
        """Connect to the cluster, see whether it has room, and have the model loaded on it.

        Raises
        ------
        GraderError
            If that cannot be.
        """
        with ExitStack() as stack:
            ray = stack.enter_context(connected(self._asked.address))
            check_room(ray.nodes(), self._asked)
            self._pool = stack.enter_context(ReplicaPool(ray, self._grader, self._asked))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the replicas, and the cluster if it was started for them."""
        self._pool = None
        self._stack.__exit__(kind, error, traceback)

    def drain(self) -> None:
        """Have nothing computed again; answers to what is under way still come. From any thread or signal."""
        self._is_draining = True

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer every repeat of every request once; see :class:`graders.client.ModelClient`.

        Raises
        ------
        GraderError
            If a grader cannot be asked so, or no replica is left; after the answers to what was under way.
        """
        if self._pool is None:
            raise GraderError(f"{self._grader.model}: not open; expected to be used in a with statement")
        self._is_draining = False
        exchange = _Exchange(self._pool, BatchQueue(iter(requests), least=self._least))
        try:
            while exchange.goes_on(draining=self._is_draining):
                answers = exchange.wait()
                if answers:
                    yield answers
            if exchange.error is None and (left := exchange.give_up()):
                yield left
        finally:
            self._pool.abandon()
        if exchange.error is not None:
            raise exchange.error


class _Exchange:
    """Between the requests of one call and the replicas."""

    def __init__(self, pool: ReplicaPool, queue: BatchQueue) -> None:
        self._pool, self._queue = pool, queue
        self.error: GraderError | None = None

    def goes_on(self, *, draining: bool) -> bool:
        """Send what there is room for; whether anything is still to come."""
        self.error = self.error or self._pool.error
        if self._pool.error is not None:
            return False
        stops = draining or self.error is not None
        while not stops and self._pool.has_room and (batch := self._queue.take()) is not None:
            self._pool.give(batch)
        return self._pool.n_given > 0 or (not stops and self._queue.has_more)

    def wait(self) -> Sequence[Answer]:
        """The answers that have come."""
        answers: list[Answer] = []
        for event in self._pool.wait():
            answers += self._finish(event) if isinstance(event, Finished) else self._bury(event)
        return answers

    def give_up(self) -> Sequence[Answer]:
        """Failures for what is not computed again because the run is stopped."""
        return self._queue.give_up("its replica died, and the run was stopped before it was computed again")

    def _finish(self, event: Finished) -> Sequence[Answer]:
        batch, delivery = event.batch, event.delivery
        if delivery.error is None:
            self._queue.note(batch, delivery.seconds)
            return delivery.answers
        if not isinstance(delivery.error, ServiceError):
            self.error = self.error or delivery.error
            return delivery.answers
        # The engine died, and its replica with it.
        left = Batch(_unanswered(batch.requests, delivery.answers), batch.n_deaths)
        return [*delivery.answers, *self._queue.blame(left, str(delivery.error))]

    def _bury(self, event: Death) -> Sequence[Answer]:
        for batch in reversed(event.waiting):
            self._queue.put_back(batch)
        return [] if event.computed is None else self._queue.blame(event.computed, event.reason)


def _unanswered(requests: Sequence[Request], answers: Sequence[Answer]) -> tuple[Request, ...]:
    answered = {(answer.item_digest, answer.repeat) for answer in answers}
    missing = (
        replace(request, repeats=tuple(n for n in request.repeats if (request.item.digest, n) not in answered))
        for request in requests
    )
    return tuple(request for request in missing if request.repeats)
