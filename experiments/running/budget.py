"""A limit on what a run may cost, kept ahead of time.

What a request can cost at worst is reserved before it is given out, and replaced by what it did cost
when it is answered. So the limit holds with any number of requests under way. What was already paid
for the same graders in the same store counts too: the same command, given again, does not spend the
limit a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from experiments.batch.records import batch_keys
from experiments.errors import BudgetError
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.capabilities import Price
from graders.client import Answer, Request
from graders.grader import Grader
from graders.pricing import Cost, cost
from graders.token_estimate import estimate_request
from graders.verdict import CallFailure, Usage

__all__ = [
    "Budget",
    "CostMeter",
    "WorstCost",
    "check_prices",
    "count_paid",
    "estimated_worst_cost",
    "may_be_billed",
    "price_of",
]

WorstCost = Callable[[Request, Grader], float]
"""Dollars that a request can cost at most, if every repeat takes a call of its own."""

_NOT_BILLED = frozenset(
    {
        "bad_key",
        "bad_request",
        "context_overflow",
        "engine_error",
        "not_found",
        "not_recorded",
        "overloaded",
        "quota_exhausted",
        "rate_limited",
        "unreachable",
        "unsupported",
    }
)

_ROUNDING = 1e-9
"""Dollars by which sums of floating-point numbers may be off."""


@dataclass(slots=True)
class Budget:
    """Dollars: the limit, what is spent, what may be spent without anybody having said so, what is reserved.

    ``n_under_way`` counts the requests that something is reserved for.
    """

    limit: float
    worst_cost: WorstCost
    spent: float = 0.0
    uncertain: float = 0.0
    reserved: float = 0.0
    n_under_way: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is reserved, so that nothing can be given back."""
        return not self.n_under_way

    def fits(self, worst: float) -> bool:
        """Whether something that costs at most so much can be afforded, whatever becomes of the rest."""
        return self.spent + self.uncertain + self.reserved + worst <= self.limit + _ROUNDING

    def reserve(self, worst: float) -> None:
        """Set aside what a request can cost."""
        self.reserved += worst
        self.n_under_way += 1

    def release(self, worst: float) -> None:
        """Give back what was set aside for a request."""
        self.n_under_way -= 1
        # Sums of floating-point numbers drift: with nothing under way the remainder is nought.
        self.reserved = max(0.0, self.reserved - worst) if self.n_under_way else 0.0

    def error(self, run_id: str, n_missing: int) -> BudgetError:
        """What to tell when nothing more fits; ``n_missing`` verdicts were not asked for."""
        maybe = f" and up to ${self.uncertain:.4f} for calls whose cost was never told" if self.uncertain else ""
        return BudgetError(
            f"--max-cost: {run_id}: ${self.spent:.4f} spent{maybe}, {n_missing} verdicts not asked for, "
            f"as one more call could pass ${self.limit:.4f}; expected a larger --max-cost (the same command continues)"
        )


def check_prices(graders: Iterable[Grader]) -> None:
    """Check that every grader has a price: what has none cannot be held to a limit.

    Raises
    ------
    BudgetError
        If one has none; the message says how to give it.
    """
    unpriced = [grader.model for grader in graders if grader.capabilities.price is None]
    if unpriced:
        raise BudgetError(
            f"--max-cost: no price is known for {', '.join(dict.fromkeys(unpriced))}; expected one in the grader's "
            "table: capabilities = { price = { input = DOLLARS, output = DOLLARS } }, a million tokens each"
        )


def may_be_billed(failure: CallFailure) -> bool:
    """Whether a failed call without known usage may stand on the bill: the service may have done its work."""
    return failure.usage is None and failure.reason not in _NOT_BILLED


@dataclass(slots=True)
class _Reservation:
    """A request under way: which repeats are not yet answered, of how many, and what it can cost in all."""

    open_repeats: set[int]
    n_repeats: int
    worst: float


class CostMeter:
    """One grader's share of a budget.

    Parameters
    ----------
    budget
        Shared by all graders of a run.
    grader
        With a price; ``BudgetError`` if it has none.
    """

    def __init__(self, budget: Budget, grader: Grader) -> None:
        self._budget = budget
        self._grader = grader
        self._price = price_of(grader)
        self._under_way: dict[str, _Reservation] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing is reserved, for no grader of the run."""
        return self._budget.is_idle

    def admit(self, request: Request) -> bool:
        """Reserve what a request can cost, if that can be afforded."""
        worst = self._budget.worst_cost(request, self._grader)
        if not self._budget.fits(worst):
            return False
        self._budget.reserve(worst)
        self._under_way[request.item.digest] = _Reservation(set(request.repeats), len(request.repeats), worst)
        return True

    def settle(self, answers: Sequence[Answer]) -> None:
        """Take answers into account; a reservation ends with the last of its answers, whichever has the bill."""
        for answer in answers:
            reservation = self._under_way.get(answer.item_digest)
            self._charge_answer(answer, reservation)
            if reservation is not None:
                reservation.open_repeats.discard(answer.repeat)
                if not reservation.open_repeats:
                    self._release(answer.item_digest)

    def close(self) -> None:
        """Count as possibly spent what was under way when the run broke off."""
        for digest in list(self._under_way):
            self._budget.uncertain += self._under_way[digest].worst
            self._release(digest)

    def _charge_answer(self, answer: Answer, reservation: _Reservation | None) -> None:
        # A failed attempt was a call for as many repeats as fit into one, and is told once; a failure
        # without an answer is told at each repeat.
        worst, n_repeats = (reservation.worst, reservation.n_repeats) if reservation else (0.0, 1)
        together = min(n_repeats, max(1, self._grader.capabilities.max_choices))
        for failure in answer.failed_attempts:
            self._charge_failure(failure, worst * together / n_repeats)
        if isinstance(answer.outcome, CallFailure):
            self._charge_failure(answer.outcome, worst / n_repeats)
        else:
            self._charge(answer.outcome.usage, worst / n_repeats)

    def _charge_failure(self, failure: CallFailure, worst: float) -> None:
        if failure.usage is not None:
            self._charge(failure.usage, worst)
        elif may_be_billed(failure):
            self._budget.uncertain += worst

    def _charge(self, usage: Usage, worst: float) -> None:
        _add(self._budget, cost(usage, self._price), worst)

    def _release(self, digest: str) -> None:
        self._budget.release(self._under_way.pop(digest).worst)


def count_paid(limit: float, experiment: Experiment, store: RunStore, worst_cost: WorstCost | None = None) -> Budget:
    """A budget that knows what an experiment's graders have cost in this store so far.

    Parameters
    ----------
    limit
        Dollars.
    worst_cost
        Dollars that a request can cost at most; by default by the tokens of its prompt and its limit.
    """
    budget = Budget(limit, worst_cost or estimated_worst_cost)
    longest = max(experiment.calibration_set.items, key=lambda item: len(item.question) + len(item.response))
    for grader in experiment.graders:
        scale = grader.prompt.scale if grader.prompt else experiment.calibration_set.scale
        # Where a cost was never told, the longest item stands for whichever it was.
        stand_in = Request(longest, (0,), grader.prompt, grader.sampling, scale)
        _count_grader(budget, grader, store, budget.worst_cost(stand_in, grader))
    return budget


def _count_grader(budget: Budget, grader: Grader, store: RunStore, worst: float) -> None:
    price, batch = price_of(grader), batch_keys(store, grader.grader_id)
    for key, completion in store.iter_completions(grader.grader_id):
        _add(budget, cost(completion.usage, price, batch=key in batch), worst)
    for _, failure in store.iter_call_failures(grader.grader_id):
        if failure.usage is not None:
            _add(budget, cost(failure.usage, price), worst)
        elif may_be_billed(failure):
            budget.uncertain += worst


def _add(budget: Budget, charged: Cost, worst: float) -> None:
    budget.spent += charged.amount
    if not charged.complete:
        budget.uncertain += max(0.0, worst - charged.amount)


def estimated_worst_cost(request: Request, grader: Grader) -> float:
    """Dollars that a request can cost, if each repeat takes a call of its own and fills its limit."""
    _, worst = estimate_request(request, grader, 1)
    return cost(worst, price_of(grader)).amount


def price_of(grader: Grader) -> Price:
    """The price of a grader's model; ``BudgetError`` if it is not known."""
    check_prices([grader])
    assert grader.capabilities.price is not None
    return grader.capabilities.price
