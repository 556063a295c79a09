"""Replicas of a model on a Ray cluster: placed, loaded, given batches, and replaced where they die."""

from __future__ import annotations

import logging
import os
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from graders.endpoint import RayReplicas
from graders.errors import GraderError, ServiceError
from graders.grader import Grader
from graders.providers.ray_batches import Batch
from graders.providers.ray_replica import Delivery, Replica, own_version
from graders.providers.vllm_engine import ARGUMENTS_VARIABLE

__all__ = ["Death", "Finished", "ReplicaPool"]

_AHEAD = 2
"""Batches at a replica: one that it computes, and the next, so that it need not wait."""

_MOST_STARTS = 3
"""Times in a row that a replica may fail to start, or die without finishing a batch, before it is given up."""

_LOOK_SECONDS = 0.5
_TELL_SECONDS = 10.0
_CLOSE_SECONDS = 10.0

_PASSED_ON = (ARGUMENTS_VARIABLE,)
"""Environment variables that change how an engine is started, wherever that is."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """A batch that a replica has dealt with."""

    batch: Batch
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Death:
    """A replica has died: with the batch that it computed, if any, and before those that waited for it."""

    computed: Batch | None
    waiting: Sequence[Batch]
    reason: str


@dataclass(slots=True)
class _Slot:
    """A replica's place; ``starting`` is what it is waited for to say, by Ray's reference."""

    number: int
    actor: Any = None
    starting: Any = None
    is_placed: bool = False
    n_failed: int = 0
    given: deque[tuple[Any, Batch]] = field(default_factory=deque)

    @property
    def is_ready(self) -> bool:
        return self.actor is not None and self.starting is None


class ReplicaPool:
    """Replicas of one model; to be used as a context manager.

    Parameters
    ----------
    ray
        The package, connected.
    """

    def __init__(self, ray: Any, grader: Grader, asked: RayReplicas) -> None:
        self._ray, self._grader, self._asked = ray, grader, asked
        self._slots = [_Slot(number) for number in range(asked.replicas)]
        self._was_ready = False
        self.error: GraderError | None = None
        """What keeps all replicas from working: after it nothing more can be given."""
        self._waits_since = time.monotonic()
        self._has_told = False

    def __enter__(self) -> Self:
        """Have all of them started; wait for the first, so that what keeps them from it is told before anything else.

        Raises
        ------
        GraderError
            If none can be placed or loaded.
        """
        try:
            for slot in self._slots:
                self._start(slot)
            while not self._was_ready:
                self.wait()
                if self.error is not None:
                    raise self.error
        except BaseException:
            self._kill_all()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Unload what is loaded, and end what does not end by itself in a few seconds."""
        try:
            self.abandon()
            closing = [slot.actor.close.remote() for slot in self._slots if slot.is_ready]
            if closing:
                self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_SECONDS)
        finally:
            self._kill_all()

    @property
    def n_given(self) -> int:
        """Batches that are not finished."""
        return sum(len(slot.given) for slot in self._slots)

    @property
    def has_room(self) -> bool:
        """Whether a replica takes another batch."""
        return any(slot.is_ready and len(slot.given) < _AHEAD for slot in self._slots)

    def give(self, batch: Batch) -> None:
        """Have a batch computed by the replica that has the least to do."""
        slot = min((slot for slot in self._slots if slot.is_ready), key=lambda slot: len(slot.given))
        slot.given.append((slot.actor.answer.remote(batch.requests), batch))

    def abandon(self) -> None:
        """Forget the batches that are given; those that no replica has begun are not computed."""
        for slot in self._slots:
            for reference, _ in list(slot.given)[1:]:
                self._ray.cancel(reference)
            slot.given.clear()

    def wait(self) -> list[Finished | Death]:
        """What has happened since; returns after a short time also where nothing has. See :attr:`error` then."""
        pending = [slot.starting for slot in self._slots if slot.starting is not None]
        pending += [reference for slot in self._slots for reference, _ in slot.given]
        self._ray.wait(pending, num_returns=1, timeout=_LOOK_SECONDS)
        ready = set(self._ray.wait(pending, num_returns=len(pending), timeout=0)[0])
        events = [event for slot in self._slots for event in self._look(slot, ready)]
        self._check_waiting()
        return events

    def _look(self, slot: _Slot, ready: set[Any]) -> Iterator[Finished | Death]:
        if slot.starting in ready:
            yield from self._go_on_starting(slot)
        while slot.given and slot.given[0][0] in ready:
            reference, batch = slot.given[0]
            try:
                delivery = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayError as error:
                yield self._replace(slot, _reason(error))
                return
            slot.given.popleft()
            slot.n_failed = 0
            yield Finished(batch, delivery)
            if isinstance(delivery.error, ServiceError):
                yield self._replace(slot, str(delivery.error), computed=False)
                return

    def _go_on_starting(self, slot: _Slot) -> Iterator[Death]:
        """A replica was placed, and is to load; or it has loaded."""
        try:
            said = self._ray.get(slot.starting)
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as error:
            problem = ServiceError(
                f"ray: a replica of {self._grader.model} died while it started: {_reason(error)}; "
                "expected memory enough, and autorater-calibration with its engine on every node"
            )
            yield self._replace(slot, _reason(error), error=problem)
            return
        if isinstance(said, GraderError) and not self._was_ready:
            self.error = said
        elif isinstance(said, GraderError):
            yield self._replace(slot, str(said), error=said)
        elif slot.is_placed:
            slot.starting, self._was_ready = None, True
        else:
            slot.is_placed, slot.starting = True, slot.actor.load.remote()

    def _replace(self, slot: _Slot, reason: str, *, computed: bool = True, error: GraderError | None = None) -> Death:
        """Put another replica in the place of one that is of no use any more, or give the place up."""
        batches = [batch for _, batch in slot.given]
        slot.given.clear()
        self._kill(slot)
        slot.n_failed += 1
        if slot.n_failed < _MOST_STARTS:
            _LOG.warning("ray: replica %d is started again: %s", slot.number + 1, reason)
            self._start(slot)
        else:
            _LOG.warning("ray: replica %d is given up: %s", slot.number + 1, reason)
            if all(other.actor is None for other in self._slots):
                self.error = error or ServiceError(
                    f"ray: {len(self._slots)} replicas died {_MOST_STARTS} times each in a row, the last: {reason}; "
                    "expected them to live, answers so far are kept: give them memory if it ran out, and start again"
                )
        first = batches.pop(0) if computed and batches else None
        return Death(first, batches, reason)

    def _check_waiting(self) -> None:
        """Tell of replicas that nobody has room for; an error where that lasts, or cannot end."""
        now, asked = time.monotonic(), self._asked
        if any(slot.is_placed for slot in self._slots):
            self._waits_since, self._has_told = now, False
            return
        needed = f"{asked.gpus:g} GPUs and {asked.cpus:g} CPUs on one node"
        if now - self._waits_since > _TELL_SECONDS and not self._has_told:
            self._has_told = True
            if not any(node["Alive"] for node in self._ray.nodes()):
                # This process has been connected through one of them: none that comes is of use to it.
                self.error = ServiceError(
                    "ray: no node of the cluster is alive any more; expected them to live, "
                    "answers so far are kept: start again"
                )
                return
            _LOG.warning("ray: waiting for a place for a replica: %s", needed)
        longest = self._grader.endpoint.max_wait_seconds
        if now - self._waits_since > longest and self.error is None:
            self.error = ServiceError(
                f"ray: {needed} were not free for {longest:g} s (max_wait_seconds); expected room for a replica, "
                "answers so far are kept: start again when others have left"
            )

    def _start(self, slot: _Slot) -> None:
        asked = self._asked
        variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        options: dict[str, Any] = {"num_cpus": asked.cpus, "max_restarts": 0, "max_concurrency": 1}
        if asked.gpus:
            options["num_gpus"] = asked.gpus
        slot.actor = (
            self._ray.remote(Replica)
            .options(**options)
            .remote(self._grader, program=own_version(), variables=variables, gpus=asked.gpus)
        )
        slot.is_placed, slot.starting = False, slot.actor.find_place.remote()

    def _kill(self, slot: _Slot) -> None:
        if slot.actor is not None:
            self._ray.kill(slot.actor)
        slot.actor, slot.starting, slot.is_placed = None, None, False

    def _kill_all(self) -> None:
        for slot in self._slots:
            self._kill(slot)


def _reason(error: Exception) -> str:
    """What Ray says of a death, in a line that fits a message."""
    text = str(error).strip() or type(error).__name__
    detail = re.search(r"exit detail: (.+?)(?:\. |$)", text)
    lines = text.splitlines()
    said = detail[1] if detail else lines[-1] if "Traceback" in text else lines[0]
    return said.strip()[:200]
