"""A budget that several workers share: what a request can cost is set aside in the database before it is asked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from experiments.errors import BudgetError, StoreError
from experiments.running.budget import Budget, WorstCost, check_prices, count_paid, estimated_worst_cost
from experiments.running.sharing import Sharing
from experiments.specs.experiment import Experiment
from experiments.store.allowances import Spending, allot, sum_spending
from experiments.store.work_sessions import is_at_work, note_paid, read_session

__all__ = ["SharedBudget", "open_budget"]

_AHEAD = 8
"""Requests that are set aside at once, as long as there is plenty: each time asks the server."""


@dataclass(slots=True)
class SharedBudget(Budget):
    """One worker's part: ``limit`` is what is set aside for it, and grows while that of all is not reached."""

    sharing: Sharing = field(kw_only=True)
    may_grow: bool = False

    def fits(self, worst: float) -> bool:
        """As :meth:`Budget.fits`, asking for more where what is set aside does not do."""
        if Budget.fits(self, worst):
            return True
        try:
            self._allot(worst, _AHEAD * worst, patient=False)
        except StoreError:
            self.may_grow = True  # as nothing is known: it is asked again when what is under way is answered
            return False
        return Budget.fits(self, worst)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way, here or elsewhere, that could give back dollars."""
        return not self.n_under_way and not self.may_grow

    def give_back(self) -> None:
        """Set nothing aside but what is spent or under way; ``StoreError`` if the server stays away."""
        self._allot(0.0, 0.0, patient=True)

    def error(self, run_id: str, n_missing: int) -> BudgetError:
        """As :meth:`Budget.error`, with what all workers have spent."""
        self.give_back()
        together = sum_spending(self.sharing.store, self.sharing.session.session_id)
        counted = Budget(together.limit, self.worst_cost, together.spent, together.uncertain)
        return counted.error(run_id, n_missing)

    def _allot(self, more: float, ahead: float, *, patient: bool) -> None:
        spending = Spending(self.spent, self.uncertain, self.reserved)
        session, worker = self.sharing.session.session_id, self.sharing.worker.worker_id
        given = allot(self.sharing.store, session, worker, spending, more=more, ahead=ahead, patient=patient)
        self.limit, self.may_grow = given.allotted, given.may_grow


def open_budget(
    sharing: Sharing, experiment: Experiment, max_cost: float | None, worst_cost: WorstCost | None
) -> SharedBudget | None:
    """The budget of the session that a worker has joined; ``None`` where it has no limit.

    Parameters
    ----------
    max_cost
        The limit, from who states it; that one counts what was paid before.

    Raises
    ------
    BudgetError
        If a price is missing, or who began with the limit was gone before it had counted, or cannot count.
    """
    if sharing.session.max_cost is None and max_cost is None:
        return None
    check_prices(experiment.graders)
    if max_cost is not None and sharing.session.paid_before is None:
        if not sharing.terms.has_all_graders:
            raise BudgetError(
                f"--max-cost: {sharing.terms.run_id}: what those of its graders have cost that are left to others is "
                "not counted here; expected it of a worker that asks all, or of 'autorater run'"
            )
        before = count_paid(max_cost, experiment, sharing.store, worst_cost)
        note_paid(sharing.store, sharing.session.session_id, paid=before.spent, uncertain=before.uncertain)
    else:
        _await_count(sharing)
    return SharedBudget(0.0, worst_cost or estimated_worst_cost, sharing=sharing)


def _await_count(sharing: Sharing) -> None:
    while read_session(sharing.store, sharing.session.session_id).paid_before is None:
        if not is_at_work(sharing.store, sharing.terms.run_id, besides=sharing.worker.worker_id):
            raise BudgetError(
                f"--max-cost: {sharing.terms.run_id}: who set it is gone, and what was paid before is not counted; "
                "expected --max-cost again"
            )
        time.sleep(sharing.poll_seconds)
