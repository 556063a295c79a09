"""What a run will do before it does it: calls, repeats, and what is already paid."""

from __future__ import annotations

from dataclasses import dataclass

from calibration_sets.item import Item
from calibration_sets.service_messages import is_service_message
from experiments.spec import Experiment
from experiments.store import CompletionKey, RunStore
from graders.client import Request
from graders.grader import Grader

__all__ = ["GraderPlan", "Plan", "build_plan", "pending_requests"]


@dataclass(frozen=True, slots=True)
class GraderPlan:
    """One grader's share: ``n_expected`` verdicts of which ``n_paid`` are in the store.

    ``n_items`` counts items, ``n_contents`` different contents among them: items of the same
    content share their completions, and a service's message in place of a response is not graded.
    """

    grader: Grader
    n_items: int
    n_contents: int
    n_expected: int
    n_paid: int

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
    contents, repeats = _contents(experiment), grader.sampling.repeats
    stored = store.stored_keys(grader.grader_id) if store else set()
    return GraderPlan(
        grader=grader,
        n_items=len(experiment.calibration_set.items),
        n_contents=len(contents),
        n_expected=len(contents) * repeats,
        n_paid=sum(key.item_digest in contents and key.repeat < repeats for key in stored),
    )


def expected_keys(experiment: Experiment, grader: Grader) -> list[CompletionKey]:
    """Every content and repeat that a grader is to judge, repeats of one item side by side."""
    return [
        CompletionKey(digest, repeat) for digest in _contents(experiment) for repeat in range(grader.sampling.repeats)
    ]


def pending_requests(experiment: Experiment, grader: Grader, store: RunStore) -> list[Request]:
    """Requests for what the store lacks: expected keys less stored ones, whatever failed before."""
    contents = _contents(experiment)
    paid = store.stored_keys(grader.grader_id)
    scale = grader.prompt.scale if grader.prompt else experiment.calibration_set.scale
    return [
        Request(contents[key.item_digest], key.repeat, grader.prompt, grader.sampling, scale)
        for key in expected_keys(experiment, grader)
        if key not in paid
    ]


def _contents(experiment: Experiment) -> dict[str, Item]:
    """The first item of each content, in the set's order; what is no response at all is not asked about."""
    contents: dict[str, Item] = {}
    for item in experiment.calibration_set.items:
        if not is_service_message(item):
            contents.setdefault(item.digest, item)
    return contents
