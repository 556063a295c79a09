"""What a run will do before it does it: calls, repeats, and what is already paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from calibration_sets.item import Item
from calibration_sets.service_messages import is_service_message
from experiments.running.question_order import asked_items
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.client import Request
from graders.grader import Grader

__all__ = ["GraderPlan", "Plan", "build_plan", "pending_requests"]

_ITEMS_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class GraderPlan:
    """One grader's share: ``n_expected`` verdicts of which ``n_paid`` are in the store.

    ``n_items`` counts items, ``n_contents`` different contents among them: items of the same
    content share their completions, and a service's message in place of a response is not graded.
    ``n_requests`` of the contents lack something, and take ``n_calls`` calls if all goes well.
    """

    grader: Grader
    n_items: int
    n_contents: int
    n_expected: int
    n_paid: int
    n_requests: int
    n_calls: int

    @property
    def n_pending(self) -> int:
        """Verdicts still to be asked for."""
        return self.n_expected - self.n_paid


@dataclass(frozen=True, slots=True)
class Plan:
    """The graders' shares."""

    graders: tuple[GraderPlan, ...]

    @property
    def n_pending(self) -> int:
        """Verdicts still to be asked for, over all graders."""
        return sum(share.n_pending for share in self.graders)


def build_plan(experiment: Experiment, store: RunStore | None) -> Plan:
    """Compare what the experiment wants with what the store has; ``None`` is an empty store."""
    return Plan(tuple(_plan_grader(experiment, grader, store) for grader in experiment.graders))


def _plan_grader(experiment: Experiment, grader: Grader, store: RunStore | None) -> GraderPlan:
    repeats, choices = grader.sampling.asked_repeats, max(1, grader.capabilities.max_choices)
    n_contents = sum(1 for _ in _contents(experiment))
    n_pending = n_requests = n_calls = 0
    for request in pending_requests(experiment, grader, store):
        n_pending += len(request.repeats)
        n_requests += 1
        n_calls += -(-len(request.repeats) // choices)
    n_expected = n_contents * repeats
    return GraderPlan(
        grader=grader,
        n_items=len(experiment.calibration_set.items),
        n_contents=n_contents,
        n_expected=n_expected,
        n_paid=n_expected - n_pending,
        n_requests=n_requests,
        n_calls=n_calls,
    )


def pending_requests(experiment: Experiment, grader: Grader, store: RunStore | None) -> Iterator[Request]:
    """Requests for what the store lacks, whatever failed before: one for each content, with its missing repeats.

    They come in the order of the set, or question by question in that of the looks where the experiment is looked at
    while it runs; and the store is read as they are asked for, so that their number costs no memory. ``None`` is an
    empty store. Nothing is written.
    """
    scale = grader.prompt.scale if grader.prompt else experiment.calibration_set.scale
    contents, wanted = _contents(experiment), range(grader.sampling.asked_repeats)
    while items := list(islice(contents, _ITEMS_AT_A_TIME)):
        paid = _paid_repeats(grader, items, store)
        for item in items:
            missing = _missing(wanted, paid.get(item.digest))
            if missing:
                yield Request(item, missing, grader.prompt, grader.sampling, scale)


def _paid_repeats(grader: Grader, items: Sequence[Item], store: RunStore | None) -> Mapping[str, set[int]]:
    return store.stored_repeats(grader.grader_id, [item.digest for item in items]) if store is not None else {}


def _missing(wanted: range, paid: set[int] | None) -> tuple[int, ...]:
    return tuple(repeat for repeat in wanted if repeat not in paid) if paid else tuple(wanted)


def _contents(experiment: Experiment) -> Iterator[Item]:
    """The first item of each content, in the order of asking; what is no response at all is not asked about."""
    seen: set[str] = set()
    for item in asked_items(experiment):
        if item.digest not in seen and not is_service_message(item):
            seen.add(item.digest)
            yield item
