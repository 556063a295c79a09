"""One grader's work in a run: what it is given, what comes of it, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from experiments.running.account import GraderSummary, RunAccount
from experiments.running.budget import CostMeter
from experiments.running.control import RunControl
from experiments.running.plan import build_plan, pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.run_store import CompletionKey, RunStore
from experiments.store.sessions import add_session
from graders.client import Answer, Request
from graders.grader import Grader
from graders.verdict import CallFailure, Completion

__all__ = ["GraderWork", "Turn"]


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
    """

    control: RunControl
    ranks: Mapping[str, int] = field(default_factory=dict)
    end: float = math.inf
    is_held: bool = False

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
    """

    def __init__(self, grader: Grader, store: RunStore, meter: CostMeter | None, turn: Turn) -> None:
        self.grader = grader
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
        """Look for what the store lacks of a part of the run; how many verdicts that are."""
        own = replace(part, graders=(self.grader,))
        self._requests = pending_requests(own, self.grader, self._store)
        return build_plan(own, self._store).n_pending

    def give(self) -> Iterator[Request]:
        """Requests while the run is to go on and its budget allows."""
        while self._turn.goes_on and (request := self._next()) is not None:
            if self._turn.is_over_for(request):
                self.n_left_out += len(request.repeats)
            elif self._meter is None or self._meter.admit(request):
                self._account.begin(request.item.digest, request.item.item_id, len(request.repeats))
                yield request
            elif self._meter.idle:
                self.n_left_out += len(request.repeats)
                self._turn.leave_out(request)
            else:
                self._held_back, self._turn.is_held = request, True

    def _next(self) -> Request | None:
        held, self._held_back = self._held_back, None
        return held or next(self._requests, None)

    def keep(self, answers: Sequence[Answer]) -> int:
        """Make answers durable, and only then count them; how many of them are failures."""
        self._store.append_many(self.grader.grader_id, _rows(answers))
        if self._meter is not None:
            self._meter.settle(answers)
        return self._account.record(answers)

    def end_round(self) -> None:
        """What is still under way now was broken off."""
        if self._meter is not None:
            self._meter.close()

    def note_session(self) -> None:
        """Write down how long all of it took, if anything came of it that was timed."""
        if self._account.n_timed:
            add_session(self._store, self.grader.grader_id, seconds=self.seconds, n_completions=self._account.n_timed)

    def summary(self) -> GraderSummary:
        """What came of it."""
        return self._account.summary()


def _rows(answers: Sequence[Answer]) -> Iterator[tuple[CompletionKey, Completion | CallFailure]]:
    for answer in answers:
        key = CompletionKey(answer.item_digest, answer.repeat)
        for failure in answer.failed_attempts:
            yield key, failure
        yield key, answer.outcome
