"""Running an experiment: the work that the store lacks, given out as there is room, stored as it is answered."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from experiments.running.account import GraderSummary, RunAccount, RunSummary
from experiments.running.budget import Budget, CostMeter, WorstCost, check_prices, count_paid
from experiments.running.control import RunControl
from experiments.running.plan import build_plan, pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.locks import BUDGET, hold_lock
from experiments.store.run_records import record_run
from experiments.store.run_store import CompletionKey, RunStore
from graders.client import Answer, Draining, ModelClient, Request
from graders.grader import Grader
from graders.verdict import CallFailure, Completion

__all__ = ["Progress", "RunSummary", "SilentProgress", "run_experiment"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def start(self, title: str, n_pending: int) -> None:
        """A grader begins; so many answers are to come."""
        ...

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        """So many more answers are in the store, some of them failures.

        ``cost`` is what this grader has cost in this run so far, in dollars and at least; ``None``
        where no price is known.
        """
        ...

    def wait(self, title: str) -> None:
        """Another process is at work with this grader in this store; the run waits for it."""
        ...


class SilentProgress:
    """Tells nobody."""

    def start(self, title: str, n_pending: int) -> None:
        """Do nothing."""

    def advance(self, n: int, *, failures: int, cost: float | None) -> None:
        """Do nothing."""

    def wait(self, title: str) -> None:
        """Do nothing."""


def run_experiment(
    experiment: Experiment,
    store: RunStore,
    open_client: Callable[[Grader], ModelClient],
    progress: Progress | None = None,
    *,
    max_cost: float | None = None,
    worst_cost: WorstCost | None = None,
    control: RunControl | None = None,
    recorded: bool = True,
) -> RunSummary:
    """Ask for every verdict that the store lacks.

    Answers that come together are durable before the next are taken, so that an interruption
    anywhere loses no more than the requests in flight; running again continues. One process at a
    time works with a grader in a store, and one with a limit of cost; others wait and then find the work done.

    Parameters
    ----------
    open_client
        Grader to client; called only for graders with work to do.
    max_cost
        Dollars that the run's graders may cost in this store, earlier runs included.
    worst_cost
        Dollars that a request can cost at most; by default by the tokens of its prompt and its limit.
    control
        How the run is stopped from outside; by default by Ctrl-C and SIGTERM.
    recorded
        Whether the store is to list it as a run; the answering of questions is a part of one.

    Raises
    ------
    BudgetError
        If a price is missing under ``max_cost``, or nothing more fits into it; what fits is done.
    KeyboardInterrupt
        If the run was stopped; what was answered is stored.
    graders.errors.GraderError
        What a client raises; what was answered before is stored.
    """
    if max_cost is not None:
        check_prices(experiment.graders)
    if recorded:
        record_run(experiment, store)
    told, control = progress or SilentProgress(), control or RunControl()
    if max_cost is None:
        return _run_graders(experiment, store, open_client, told, control, None)
    # Counted with the lock in hand: what another run with a limit has spent by then is in the store.
    with hold_lock(store.path, BUDGET, lambda: told.wait("a limit of cost")):
        budget = count_paid(max_cost, experiment, store, worst_cost)
        return _run_graders(experiment, store, open_client, told, control, budget)


def _run_graders(
    experiment: Experiment,
    store: RunStore,
    open_client: Callable[[Grader], ModelClient],
    progress: Progress,
    control: RunControl,
    budget: Budget | None,
) -> RunSummary:
    summaries, n_left_out = [], 0
    for grader in experiment.graders:
        meter = None if budget is None else CostMeter(budget, grader)
        with hold_lock(store.path, grader.grader_id, partial(progress.wait, grader.title)):
            work = _GraderRun(experiment, grader, store, meter, control, progress)
            summaries.append(work.run(open_client))
        n_left_out += work.n_left_out
    if budget is not None and n_left_out:
        raise budget.error(experiment.run_id, n_left_out)
    return RunSummary(experiment.run_id, tuple(summaries))


class _GraderRun:
    """One grader's part of a run."""

    def __init__(
        self,
        experiment: Experiment,
        grader: Grader,
        store: RunStore,
        meter: CostMeter | None,
        control: RunControl,
        progress: Progress,
    ) -> None:
        self._plan = replace(experiment, graders=(grader,))
        self._grader = grader
        self._store = store
        self._meter = meter
        self._control = control
        self._progress = progress
        self._account = RunAccount(grader)
        self._requests: Iterator[Request] = iter(())
        self._held_back: Request | None = None
        self.n_left_out = 0

    def run(self, open_client: Callable[[Grader], ModelClient]) -> GraderSummary:
        """Ask for what the store lacks, and sum up."""
        n_pending = build_plan(self._plan, self._store).n_pending
        if n_pending:
            self._requests = pending_requests(self._plan, self._grader, self._store)
            with open_client(self._grader) as client, self._control:
                self._control.on_stop = client.drain if isinstance(client, Draining) else None
                self._progress.start(self._grader.title, n_pending)
                self._ask_all(client)
        return self._account.summary()

    def _ask_all(self, client: ModelClient) -> None:
        """Ask in rounds: where a budget holds a request back, what is under way is waited for first."""
        while True:
            self._ask_round(client)
            if self._control.stopping:
                raise KeyboardInterrupt
            if self._held_back is None:
                return

    def _ask_round(self, client: ModelClient) -> None:
        answers = client.complete(self._give())
        try:
            for together in answers:
                self._keep(together)
        finally:
            # What a client's generator holds is given back now, not when the error has been dealt with.
            if isinstance(answers, Generator):
                answers.close()
            if self._meter is not None:
                self._meter.close()

    def _give(self) -> Iterator[Request]:
        """Requests while the run is to go on and its budget allows."""
        while not self._control.stopping and (request := self._next()) is not None:
            if self._meter is not None and not self._meter.admit(request):
                if not self._meter.idle:
                    self._held_back = request
                    return
                self.n_left_out += len(request.repeats)
                continue
            self._account.begin(request.item.digest, request.item.item_id, len(request.repeats))
            yield request

    def _next(self) -> Request | None:
        held, self._held_back = self._held_back, None
        return held or next(self._requests, None)

    def _keep(self, answers: Sequence[Answer]) -> None:
        """Make answers durable, and only then tell of them."""
        self._store.append_many(self._grader.grader_id, _rows(answers))
        if self._meter is not None:
            self._meter.settle(answers)
        n_failures = self._account.record(answers)
        self._progress.advance(len(answers), failures=n_failures, cost=self._account.amount)


def _rows(answers: Sequence[Answer]) -> Iterator[tuple[CompletionKey, Completion | CallFailure]]:
    for answer in answers:
        key = CompletionKey(answer.item_digest, answer.repeat)
        for failure in answer.failed_attempts:
            yield key, failure
        yield key, answer.outcome
