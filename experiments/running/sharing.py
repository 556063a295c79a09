"""A process as one of the workers of a run, for as long as it is at it: it joins, shows that it lives, and leaves."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from experiments.errors import BudgetError, SpecError, StoreError
from experiments.store.claims import Outcome, Share, Taken, settle, take
from experiments.store.run_store import RunStore
from experiments.store.work_sessions import Worker, WorkSession, beat, join, leave

__all__ = ["LEASE_VARIABLE", "Sharing", "WorkerTerms"]

LEASE_VARIABLE = "AUTORATER_LEASE_SECONDS"
"""The environment variable that says how long a worker's claims are good after its last sign of life."""

_LEASE_SECONDS = 60.0
_BEATS, _SURE = 4, 0.75
"""Signs of life in a lease, and the share of it after which none is relied upon."""

_POLL_SECONDS = 1.0


def _lease_seconds() -> float:
    text = os.environ.get(LEASE_VARIABLE, "")
    try:
        seconds = float(text or _LEASE_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= 86_400:
        raise SpecError(f"{LEASE_VARIABLE}: {text!r}; expected seconds from 0.5 to 86400")
    return seconds


@dataclass(frozen=True, slots=True)
class WorkerTerms:
    """How a process takes part in a shared run.

    Attributes
    ----------
    run_id
        The run that it is for.
    name
        What ``autorater runs show`` calls the worker; by default its machine and process.
    waits
        Whether it stays until nobody else has a claim that it could take over.
    resumes
        Whether the limit of cost holds that the run had when somebody was last at it.
    has_all_graders
        Whether it knows all graders of the run: only then can it count what the run has cost so far.
    """

    run_id: str
    name: str = field(default_factory=lambda: f"{socket.gethostname()}/{os.getpid()}")
    lease_seconds: float = field(default_factory=_lease_seconds)
    waits: bool = True
    resumes: bool = False
    has_all_graders: bool = True


def _seconds_now() -> float:
    """A clock that goes on while the process is frozen and, where there is one, while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Sharing:
    """This process as a worker; to be used as a context manager, in whose time it shows that it lives.

    Parameters
    ----------
    waits_for_limit
        Called once while another run with a limit of cost is at work in the store.

    Raises
    ------
    BudgetError
        If a limit is given to workers that are at the run without one.
    """

    def __init__(
        self, store: RunStore, terms: WorkerTerms, *, max_cost: float | None, waits_for_limit: Callable[[], None]
    ) -> None:
        self.store, self.terms = store, terms
        self.worker = Worker(
            uuid.uuid4().hex, terms.run_id, terms.name, socket.gethostname(), os.getpid(), terms.lease_seconds
        )
        self._max_cost, self._waits_for_limit = max_cost, waits_for_limit
        self._generation, self._sure_until = 0, 0.0
        self._guard = threading.RLock()
        self._ended = threading.Event()
        self._beats = threading.Thread(target=self._show_life, name="signs of life", daemon=True)
        self.session = WorkSession("")
        self._is_uncounted = False

    def __enter__(self) -> Self:
        self._join(resumes=self.terms.resumes)
        self._is_uncounted = self.session.max_cost is None
        self._beats.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give back what is claimed; where the server is away, the end of the lease does that."""
        self._ended.set()
        self._beats.join()
        with suppress(StoreError):
            leave(self.store, self.worker.worker_id)

    @property
    def poll_seconds(self) -> float:
        """How often to look whether what others have claimed is free."""
        return min(_POLL_SECONDS, self.terms.lease_seconds / _BEATS)

    def generation(self) -> int | None:
        """A number that changes when all claims are lost; ``None`` where the server is away and nothing is sure."""
        with self._guard:
            if _seconds_now() >= self._sure_until and not self._beat():
                return None
            return self._generation

    def take(self, grader_id: str, digests: Sequence[str], *, patient: bool) -> Taken:
        """Claim what is free of some items.

        Raises
        ------
        StoreError
            If the server is away.
        BudgetError
            If the run has got a limit of cost while this worker, which counts nothing, was taken for lost.
        """
        with self._guard:
            while True:
                sent = _seconds_now()
                args = (self.store, self.worker, self.session.session_id, grader_id, digests)
                if self._is_uncounted and self.session.max_cost is not None:
                    raise BudgetError(
                        f"--max-cost: {self.terms.run_id}: it has a limit since this worker was not heard of; expected "
                        "the same command again, which counts what it spends"
                    )
                taken = take(*args, patient=patient)
                if taken is not None:
                    self._noted(sent)
                    return taken
                self._join_again()

    def settle(self, grader_id: str, outcome: Outcome, share: Share | None = None) -> None:
        """End claims, and note what was delivered in all."""
        settle(self.store, self.worker, self.session.session_id, grader_id, outcome, share)

    def _show_life(self) -> None:
        while not self._ended.wait(self.terms.lease_seconds / _BEATS):
            with self._guard:
                self._beat()

    def _beat(self) -> bool:
        sent = _seconds_now()
        try:
            alive = self.store.write(lambda connection: beat(connection, self.worker), patient=False)
            if alive:
                self._noted(sent)
            else:
                self._join_again()
        except StoreError:
            return False
        return True

    def _noted(self, sent: float) -> None:
        self._sure_until = sent + _SURE * self.terms.lease_seconds

    def _join_again(self) -> None:
        self._generation += 1
        self._join(resumes=True)

    def _join(self, *, resumes: bool) -> None:
        told = False
        while True:
            sent, new = _seconds_now(), uuid.uuid4().hex
            session = join(self.store, self.worker, new_session=new, max_cost=self._max_cost, resumes=resumes)
            if session is not None:
                break
            if not told:
                self._waits_for_limit()
            told = True
            time.sleep(self.poll_seconds)
        self.session, self._max_cost = session, None
        self._noted(sent)
