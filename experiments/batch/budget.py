"""The limit on what a run may cost, kept for batch jobs: a job is handed in only if its worst case fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from experiments.batch.records import held_keys
from experiments.running.budget import WorstCost, check_prices, count_paid, estimated_worst_cost, price_of
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.client import Request
from graders.grader import Grader

__all__ = ["limit_cost"]


def limit_cost(
    max_cost: float, experiment: Experiment, store: RunStore, worst_cost: WorstCost = estimated_worst_cost
) -> Callable[[Grader, Sequence[Request]], None]:
    """A check of a job's requests against dollars: what is paid, what other jobs may yet cost, and the job itself.

    Raises
    ------
    BudgetError
        If a grader has no price; the check raises it where a job could pass the limit.
    """
    check_prices(experiment.graders)

    def worst_of(requests: Iterable[Request], grader: Grader) -> float:
        return price_of(grader).batch * sum(worst_cost(request, grader) for request in requests)

    def check(grader: Grader, requests: Sequence[Request]) -> None:
        budget = count_paid(max_cost, experiment, store, worst_cost)
        for other in experiment.graders:
            budget.reserved += worst_of(_held_requests(experiment, other, store), other)
        if not budget.fits(worst_of(requests, grader)):
            raise budget.error(experiment.run_id, sum(len(request.repeats) for request in requests))

    return check


def _held_requests(experiment: Experiment, grader: Grader, store: RunStore) -> Iterator[Request]:
    held = held_keys(store, grader.grader_id)
    items = {item.digest: item for item in experiment.calibration_set.items} if held else {}
    scale = grader.prompt.scale if grader.prompt else experiment.calibration_set.scale
    for key in held:
        if key.item_digest in items:
            yield Request(items[key.item_digest], (key.repeat,), grader.prompt, grader.sampling, scale)
