"""One grader's work in a run: what it is given, what comes of it, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from experiments.errors import StoreError, UnsavedError
from experiments.running.account import GraderSummary, RunAccount
from experiments.running.budget import CostMeter
from experiments.running.claimed_requests import MOST_CLAIMED, ClaimedRequests, ClaimLedger
from experiments.running.control import RunControl
from experiments.running.plan import build_plan, pending_requests
from experiments.running.progress_reports import Progress
from experiments.running.question_order import wave_size
from experiments.running.sharing import Sharing
from experiments.specs.experiment import Experiment
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.sessions import add_session
from experiments.store.worker_listing import list_holders
from graders.client import Answer, Request
from graders.grader import Grader
from graders.verdict import CallFailure, Completion

__all__ = ["GraderWork", "Turn", "tell_of_holders"]

_MOST_NAMED = 3
"""Graders that are named one by one where a run waits for them."""


@dataclass(slots=True)
class Turn:
    """What holds for all graders that are at work.

    Attributes
    ----------
    control
        How the run is stopped from outside.
    ranks
        Question to its place in the order of the looks; empty for a run that asks in the set's order.
    end
        Place from which nothing more is asked, as an earlier question could not be paid for.
    is_held
        Whether a request waits for what the budget has reserved for those under way.
    failure
        What is to be told in the end, once the store could not be written.
    """

    control: RunControl
    ranks: Mapping[str, int] = field(default_factory=dict)
    end: float = math.inf
    is_held: bool = False
    failure: StoreError | None = None

    @property
    def goes_on(self) -> bool:
        """Whether anybody may be given another request."""
        return not self.control.stopping and not self.is_held

    def is_over_for(self, request: Request) -> bool:
        """Whether a question is of no use any more: no look would come to it."""
        return self.end < math.inf and self.ranks[request.item.cluster_id] >= self.end

    def is_over(self, part: Experiment) -> bool:
        """Whether all questions of a part are of no use any more."""
        return self.end < math.inf and all(
            self.ranks[item.cluster_id] >= self.end for item in part.calibration_set.items
        )

    def stop_for(self, error: StoreError) -> None:
        """Ask for nothing more, as the store's server stays away; the error that names a file is the one to tell."""
        if self.failure is None or (isinstance(error, UnsavedError) and not isinstance(self.failure, UnsavedError)):
            self.failure = error
        if not self.control.stopping:
            self.control.stop()

    def leave_out(self, request: Request) -> None:
        """A request cannot be paid for: no look goes beyond its question."""
        if self.ranks:
            self.end = min(self.end, self.ranks[request.item.cluster_id])


class GraderWork:
    """One grader's part of a run.

    Parameters
    ----------
    meter
        Its share of a budget; ``None`` where there is none.
    sharing
        This process as one of several workers; ``None`` where it has the grader to itself.
    """

    def __init__(
        self,
        grader: Grader,
        store: RunStore,
        meter: CostMeter | None,
        turn: Turn,
        sharing: Sharing | None = None,
    ) -> None:
        self.grader = grader
        self._sharing = sharing
        self._ledger = None if sharing is None else ClaimLedger(grader, sharing)
        self._parts: list[ClaimedRequests] = []
        self._generation: int | None = None
        self._store = store
        self._meter = meter
        self._turn = turn
        self._account = RunAccount(grader)
        self._requests: Iterator[Request] = iter(())
        self._held_back: Request | None = None
        self.n_left_out = 0
        self.seconds = 0.0

    @property
    def amount(self) -> float | None:
        """Dollars so far, at least; ``None`` where no price is known."""
        return self._account.amount

    def find(self, part: Experiment) -> int:
        """Look for what the store lacks of a part of the run; how many verdicts that are.

        Where other workers are at it too: 0 if all of it is theirs at the moment.
        """
        own = replace(part, graders=(self.grader,))
        pending = pending_requests(own, self.grader, self._store)
        n_pending = build_plan(own, self._store).n_pending
        if self._sharing is None:
            self._requests = pending
            return n_pending
        # What may be looked at while it runs is to be asked together: half of what one grader may be before another.
        most = max(1, wave_size(len(self._turn.ranks)) // 2) if self._turn.ranks else MOST_CLAIMED
        self._requests = claimed = ClaimedRequests(pending, self.grader, self._sharing, most=most)
        self._parts.append(claimed)
        return n_pending if claimed.fill() else 0

    def begin_round(self) -> None:
        """What is claimed now is good for this round, unless :attr:`has_lost_claims`."""
        self._generation = None if self._sharing is None else self._sharing.generation()

    @property
    def has_lost_claims(self) -> bool:
        """Whether others may ask by now what this round has taken: no more calls may be made for it."""
        if self._sharing is None:
            return False
        generation = self._sharing.generation()
        return generation is None or generation != self._generation

    def take_over(self) -> int:
        """Look for what other workers have given back or lost of what they had claimed; how many verdicts that are."""
        self._parts = [part for part in self._parts if part.is_unfinished]
        for part in self._parts:
            n_verdicts = part.try_again()
            if n_verdicts:
                self._requests = part
                return n_verdicts
        return 0

    def pop_elsewhere(self) -> int:
        """How many verdicts others have, or have claimed, that were found to be so since this was asked last."""
        return sum(part.pop_elsewhere() for part in self._parts)

    @property
    def waits_for_others(self) -> bool:
        """Whether other workers have claimed some of it."""
        return any(part.is_unfinished for part in self._parts)

    def give(self) -> Iterator[Request]:
        """Requests while the run is to go on and its budget allows."""
        while self._turn.goes_on and (request := self._next()) is not None:
            if self._turn.is_over_for(request):
                self._leave_out(request)
            elif self._meter is None or self._meter.admit(request):
                self._account.begin(request.item.digest, request.item.item_id, len(request.repeats))
                if self._ledger is not None:
                    self._ledger.begin(request)
                yield request
            elif self._meter.idle:
                self._leave_out(request)
                self._turn.leave_out(request)
            else:
                self._held_back, self._turn.is_held = request, True

    def _next(self) -> Request | None:
        held, self._held_back = self._held_back, None
        if held is not None and isinstance(self._requests, ClaimedRequests):
            self._requests.put_back(held)  # the claim may be lost by now
            held = None
        return held or next(self._requests, None)

    def _leave_out(self, request: Request) -> None:
        self.n_left_out += len(request.repeats)
        if self._ledger is not None:
            self._ledger.leave_out(request)

    def keep(self, answers: Sequence[Answer]) -> int:
        """Make answers durable, and only then count them; how many of them are failures.

        Once they had to be kept elsewhere, nothing more is asked, and what is under way goes there too.
        """
        try:
            self._store.append_many(self.grader.grader_id, _rows(answers))
        except UnsavedError as error:
            self._turn.stop_for(error)
            return 0
        if self._meter is not None:
            self._meter.settle(answers)
        if self._ledger is not None:
            try:
                self._ledger.end(answers, stopping=self._turn.control.stopping)
            except StoreError as error:
                # These are stored. What is under way is waited for all the same: it is paid for.
                self._turn.stop_for(error)
        return self._account.record(answers)

    def end_round(self) -> None:
        """What is still under way now was broken off."""
        if self._meter is not None:
            self._meter.close()
        if self._ledger is not None and isinstance(self._requests, ClaimedRequests) and self._turn.failure is None:
            for request in self._ledger.end_round():
                self._requests.look_again(request)

    def note_session(self) -> None:
        """Write down how long all of it took, if anything came of it that was timed."""
        if self._account.n_timed and self._turn.failure is None:
            add_session(self._store, self.grader.grader_id, seconds=self.seconds, n_completions=self._account.n_timed)

    def summary(self) -> GraderSummary:
        """What came of it."""
        return self._account.summary()


def tell_of_holders(works: Sequence[GraderWork], store: RunStore, sharing: Sharing, progress: Progress) -> bool:
    """Say who has claimed what is waited for; false if it is free by now."""
    titles = [work.grader.title for work in works]
    holders = list_holders(store, [work.grader.grader_id for work in works], sharing.worker)
    if holders:
        progress.wait(", ".join(titles) if len(titles) <= _MOST_NAMED else f"{len(titles)} graders", holders)
    return bool(holders)


def _rows(answers: Sequence[Answer]) -> Iterator[tuple[CompletionKey, Completion | CallFailure]]:
    for answer in answers:
        key = CompletionKey(answer.item_digest, answer.repeat)
        for failure in answer.failed_attempts:
            yield key, failure
        yield key, answer.outcome
