"""Running an experiment: the work that the store lacks, given out as there is room, stored as it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from experiments.errors import StoreError
from experiments.running.account import RunSummary
from experiments.running.budget import Budget, CostMeter, WorstCost, check_prices, count_paid
from experiments.running.control import RunControl
from experiments.running.convoy import Convoy
from experiments.running.grader_work import GraderWork, Turn, tell_of_holders
from experiments.running.grouping import KeptEngine, group_graders
from experiments.running.plan import build_plan
from experiments.running.progress_reports import Progress, SilentProgress
from experiments.running.question_order import question_ranks, split_waves, wave_size
from experiments.running.shared_budget import SharedBudget, open_budget
from experiments.running.sharing import Sharing, WorkerTerms
from experiments.specs.experiment import Experiment
from experiments.store.locks import BUDGET
from experiments.store.run_records import record_run
from experiments.store.run_store import RunStore
from graders.client import Draining, ModelClient
from graders.dispatch.client import Stream, complete_together
from graders.grader import Grader

__all__ = ["RunSummary", "run_experiment"]


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
    terms: WorkerTerms | None = None,
) -> RunSummary:
    """Ask for every verdict that the store lacks.

    One grader is asked after the other, in the order of the set; a comparison that may be looked at while it runs is
    asked question by question in the order of the looks, so that a look has what was paid for.
    Answers that come together are durable before the next are taken, so that an interruption
    anywhere loses no more than the requests in flight; running again continues. One process at a
    time works with a grader in a store, and one with a limit of cost; others wait and then find the work done.
    In a store on a server there may be several instead: each claims what it asks, waits for what others have claimed,
    and takes it over where they are lost; a limit of cost holds for all of them together.

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
        Whether the store is to list it as a run; the answering of questions, or a wave of them, is a part of one.
    terms
        How this process takes part where others do too; by default under the run's id, until all is there.

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
    if store.is_shared:
        shared = Sharing(
            store,
            terms or WorkerTerms(experiment.run_id),
            max_cost=max_cost,
            waits_for_limit=lambda: told.wait("a limit of cost"),
        )
        with shared as sharing, _opened(open_budget(sharing, experiment, max_cost, worst_cost)) as share:
            divided = recorded or terms is not None
            return _run_graders(experiment, store, open_client, told, control, share, divided=divided, sharing=sharing)
    if max_cost is None:
        return _run_graders(experiment, store, open_client, told, control, None, divided=recorded)
    # Counted with the lock in hand: what another run with a limit has spent by then is in the store.
    with store.hold_lock(BUDGET, lambda: told.wait("a limit of cost")):
        budget = count_paid(max_cost, experiment, store, worst_cost)
        return _run_graders(experiment, store, open_client, told, control, budget, divided=recorded)


def _run_graders(
    experiment: Experiment,
    store: RunStore,
    open_client: Callable[[Grader], ModelClient],
    progress: Progress,
    control: RunControl,
    budget: Budget | None,
    *,
    divided: bool,
    sharing: Sharing | None = None,
) -> RunSummary:
    turn = Turn(control, question_ranks(experiment) if experiment.is_looked_at else {})
    works = [
        GraderWork(grader, store, None if budget is None else CostMeter(budget, grader), turn, sharing)
        for grader in experiment.graders
    ]
    run = _Run(experiment, store, open_client, progress, turn, sharing)
    run.budget = budget
    if experiment.is_looked_at:
        run.ask_by_question(works, divided=divided)
    else:
        run.ask_by_grader(works)
    n_left_out = sum(work.n_left_out for work in works)
    if budget is not None and n_left_out:
        raise budget.error(experiment.run_id if sharing is None else sharing.terms.run_id, n_left_out)
    return RunSummary(experiment.run_id, tuple(work.summary() for work in works))


class _Run:
    """Who is asked when: grader by grader, or question by question."""

    def __init__(
        self,
        experiment: Experiment,
        store: RunStore,
        open_client: Callable[[Grader], ModelClient],
        progress: Progress,
        turn: Turn,
        sharing: Sharing | None,
    ) -> None:
        self._experiment = experiment
        self._sharing = sharing
        self.budget: Budget | None = None
        self._store = store
        self._open_client = open_client
        self._progress = progress
        self._turn = turn
        self._together: Sequence[GraderWork] = ()

    def ask_by_grader(self, works: Sequence[GraderWork]) -> None:
        """All questions to one grader, then to the next; graders of one model, in a row, load it once."""
        with KeptEngine(self._open_client) as engine:
            if self._sharing is not None:
                with _sessions(works):
                    for work in works:
                        self._ask_one(work, work.find(self._experiment), engine)
                    self._take_over(works, self._sharing, engine)
                return
            for work in works:
                with self._locked([work]), _sessions([work]):
                    self._ask_one(work, work.find(self._experiment), engine)

    def _ask_one(self, work: GraderWork, n_pending: int, engine: KeptEngine) -> None:
        if n_pending:
            with ExitStack() as stack:
                client = engine.client(work.grader) or stack.enter_context(self._open_client(work.grader))
                self._progress.start(work.grader.title, n_pending)
                self._pass_over([work])
                self._ask([work], [client])

    def ask_by_question(self, works: Sequence[GraderWork], *, divided: bool) -> None:
        """The first questions of the order to all graders, then the next, so that a look has them all.

        Services are asked side by side and kept together by a convoy. An engine computes alone, and has its questions
        in waves, as have services that are too many to be asked at once; ``divided`` is false where this is one wave.
        """
        groups, self._together = group_graders(works), works
        parts = split_waves(self._experiment) if divided and len(groups) > 1 else iter([self._experiment])
        title = f"{len(works)} graders, question by question"
        self._progress.start(title, build_plan(self._experiment, self._store).n_pending)
        with _sessions(works), KeptEngine(self._open_client) as engine:
            for number, part in enumerate(parts):
                # Forth and back: the engine that ends a wave begins the next, with its prompt still at hand.
                for group in groups[:: -1 if number % 2 else 1]:
                    self._ask_group(group, part, engine)
            if self._sharing is not None:
                self._take_over(works, self._sharing, engine)

    def _take_over(self, works: Sequence[GraderWork], sharing: Sharing, engine: KeptEngine) -> None:
        """Wait for what other workers have claimed, and ask what they give back or lose, until all is there."""
        told = False
        while waiting := [work for work in works if work.waits_for_others]:
            found = [n_verdicts for work in waiting if (n_verdicts := self._ask_rest(work, engine))]
            if not found and not sharing.terms.waits:
                return
            if not found:
                told = told or tell_of_holders(waiting, self._store, sharing, self._progress)
                with self._turn.control:
                    self._pause(sharing)

    def _ask_rest(self, work: GraderWork, engine: KeptEngine) -> int:
        n_verdicts = work.take_over()
        self._ask_one(work, n_verdicts, engine)
        return n_verdicts

    def _pause(self, sharing: Sharing) -> None:
        """Give the others time, and what is set aside for nothing."""
        if isinstance(self.budget, SharedBudget):
            self.budget.give_back()
        end = time.monotonic() + sharing.poll_seconds
        while time.monotonic() < end:
            if self._turn.control.stopping:
                raise KeyboardInterrupt
            time.sleep(0.05)

    def _ask_group(self, group: Sequence[GraderWork], part: Experiment, engine: KeptEngine) -> None:
        with self._locked(group), ExitStack() as stack:
            pending = {id(work): work.find(part) for work in group}
            due = [work for work in group if pending[id(work)]]
            if self._turn.is_over(part):
                for work in due:
                    work.n_left_out += pending[id(work)]
                return
            clients = [
                engine.client(work.grader) or stack.enter_context(self._open_client(work.grader)) for work in due
            ]
            if due:
                self._ask(due, clients)
            self._pass_over(group)

    def _pass_over(self, works: Sequence[GraderWork]) -> None:
        """Tell of what other workers have."""
        n_verdicts = sum(work.pop_elsewhere() for work in works)
        if n_verdicts:
            self._progress.pass_over(n_verdicts)

    @contextmanager
    def _locked(self, works: Sequence[GraderWork]) -> Iterator[None]:
        """Nobody else asks these graders meanwhile. Locks are taken in one order: no two runs wait for each other."""
        with ExitStack() as stack:
            # Where several workers share the work, its items are claimed instead.
            for work in () if self._sharing else sorted(works, key=lambda work: work.grader.grader_id):
                waits = partial(self._progress.wait, work.grader.title)
                stack.enter_context(self._store.hold_lock(work.grader.grader_id, waits))
            yield

    def _ask(self, works: Sequence[GraderWork], clients: Sequence[ModelClient]) -> None:
        """Ask in rounds: where a budget holds a request back, what is under way is waited for first."""
        draining = [client for client in clients if isinstance(client, Draining)]
        control, began = self._turn.control, time.perf_counter()
        with control:
            control.on_stop = partial(_drain_all, draining)
            try:
                self._turn.is_held = True
                while self._turn.is_held:
                    self._turn.is_held = False
                    self._ask_round(works, clients)
                    if control.stopping:
                        raise KeyboardInterrupt
                    if self._turn.is_held and self._sharing is not None:
                        self._pause(self._sharing)
            finally:
                for work in works:
                    work.seconds += time.perf_counter() - began

    def _ask_round(self, works: Sequence[GraderWork], clients: Sequence[ModelClient]) -> None:
        for work in works:
            work.begin_round()
        answers = complete_together(self._streams(works, clients))
        try:
            for batch in answers:
                for place, together in batch.items():
                    n_failures = works[place].keep(together)
                    self._progress.advance(len(together), failures=n_failures, cost=_amount(self._together or works))
                self._pass_over(works)
            if self._turn.failure is not None:
                raise self._turn.failure
        except StoreError as error:
            # Of a server that stays away the message that names the file is told.
            raise (self._turn.failure or error) from error.__cause__
        finally:
            # What a client's generator holds is given back now, not when the error has been dealt with.
            answers.close()
            for work in works:
                work.end_round()

    def _streams(self, works: Sequence[GraderWork], clients: Sequence[ModelClient]) -> list[Stream]:
        if not self._turn.ranks:
            return [
                Stream(client, work.give(), partial(_may_ask, work, client))
                for work, client in zip(works, clients, strict=True)
            ]
        convoy = Convoy(self._turn.ranks, len(works), ahead=wave_size(len(self._turn.ranks)))
        return [
            Stream(client, convoy.follow(place, work.give()), partial(_may_ask, work, client, convoy, place))
            for place, (work, client) in enumerate(zip(works, clients, strict=True))
        ]


@contextmanager
def _opened(budget: SharedBudget | None) -> Iterator[SharedBudget | None]:
    """A shared budget; what is set aside in the end is what was spent, or may have been."""
    try:
        yield budget
    finally:
        if budget is not None:
            with suppress(StoreError):  # unspent dollars then stay set aside until the session ends
                budget.give_back()


@contextmanager
def _sessions(works: Sequence[GraderWork]) -> Iterator[None]:
    """Note how long graders were at work, also where it is cut short."""
    try:
        yield
    finally:
        for work in works:
            work.note_session()


def _may_ask(work: GraderWork, client: ModelClient, convoy: Convoy | None = None, place: int = 0) -> bool:
    """Whether another call may be made; where claims are lost, those under way are the last of the round."""
    if not work.has_lost_claims:
        return convoy is None or convoy.may_take(place)
    if isinstance(client, Draining):
        client.drain()
    return False


def _drain_all(clients: Sequence[Draining]) -> None:
    for client in clients:
        client.drain()


def _amount(works: Sequence[GraderWork]) -> float | None:
    """Dollars of several graders, at least; ``None`` where none of them has a price."""
    known = [work.amount for work in works if work.amount is not None]
    return sum(known) if known else None
