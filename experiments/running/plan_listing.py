"""A plan for people: what is to be asked, what it will cost, and what they should know before."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.reports.escaping import visible
from experiments.running.plan import GraderPlan, Plan, pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.grader import Grader
from graders.ledger import find_model, ledger_date
from graders.pricing import NO_COST, Cost, cost
from graders.providers import is_service
from graders.support import check_support, warnings_of
from graders.token_estimate import estimate_request, estimate_tokens

__all__ = ["CostEstimate", "cost_notes", "describe_plan", "estimate_cost", "money", "plan_notes"]


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a grader's pending work will cost: as expected, and at most."""

    expected: Cost
    most: Cost

    def __add__(self, other: CostEstimate) -> CostEstimate:
        return CostEstimate(self.expected + other.expected, self.most + other.most)


def estimate_cost(experiment: Experiment, grader: Grader, store: RunStore | None, *, batch: bool) -> CostEstimate:
    """The cost of all that the store lacks of a grader; prompt caches are left out of account."""
    price, choices = grader.capabilities.price, grader.capabilities.max_choices
    expected = most = NO_COST
    for request in pending_requests(experiment, grader, store):
        usages = estimate_request(request, grader, choices)
        expected += cost(usages[0], price, batch=batch)
        most += cost(usages[1], price, batch=batch)
    return CostEstimate(expected, most)


def describe_plan(experiment: Experiment, plan: Plan, store: RunStore | None, *, batch: bool = False) -> str:
    """The run's id, its set, a row a grader, and notes."""
    calibration_set = experiment.calibration_set
    lines = [
        f"run {experiment.run_id}",
        f"set {calibration_set.name} {calibration_set.version}, {len(calibration_set.items)} of "
        f"{experiment.n_items_in_set} items, {_labels(experiment)}{calibration_set.rubric}",
    ]
    prompt = _shared_prompt(plan)
    if prompt is not None:
        lines.append(f"prompt {prompt}")
    priced = any(is_service(share.grader.model) for share in plan.graders)
    costs = [estimate_cost(experiment, share.grader, store, batch=batch) if priced else None for share in plan.graders]
    lines.append(_row("items", "repeats", "verdicts", "paid", "to ask", "calls", "grader", _cost_heads(priced)))
    lines += [
        _share_row(share, estimate, share.grader.title if prompt is None else share.grader.model)
        for share, estimate in zip(plan.graders, costs, strict=True)
    ]
    known = [estimate for estimate in costs if estimate is not None]
    if known:
        lines += cost_notes(sum(known[1:], known[0]), plan, batch=batch)
    lines += plan_notes(plan)
    return "\n".join(map(visible, lines))


def _labels(experiment: Experiment) -> str:
    """Where labels come from; responses that the run itself asked for have none."""
    return "no labels, " if experiment.answering else f"labels: {experiment.calibration_set.label_source}, "


def _row(
    items: object, repeats: object, verdicts: object, paid: object, ask: object, calls: object, title: str, costs: str
) -> str:
    return f"{items:>7} {repeats:>8} {verdicts:>9} {paid:>7} {ask:>7} {calls:>7}{costs}  {title}"


def _cost_heads(priced: bool) -> str:
    return f" {'expected':>12} {'at most':>12}" if priced else ""


def _shared_prompt(plan: Plan) -> str | None:
    """The prompt that several graders have in common, which no row needs to repeat."""
    titles = {share.grader.prompt.title if share.grader.prompt else None for share in plan.graders}
    models = {share.grader.model for share in plan.graders}
    return titles.pop() if len(titles) == 1 and 1 < len(models) == len(plan.graders) else None


def _share_row(share: GraderPlan, estimate: CostEstimate | None, title: str) -> str:
    costs = "" if estimate is None else f" {money(estimate.expected):>12} {money(estimate.most):>12}"
    return _row(
        share.n_items,
        share.grader.sampling.repeats,
        share.n_expected,
        share.n_paid,
        share.n_pending,
        share.n_calls,
        title,
        costs,
    )


def money(amount: Cost) -> str:
    """Dollars in a cell of a plan."""
    if not amount.complete:
        return "unknown" if not amount.amount else f">= ${amount.amount:,.2f}"
    return f"${amount.amount:,.2f}"


def cost_notes(total: CostEstimate, plan: Plan, *, batch: bool) -> list[str]:
    """What a plan costs in all, and by what that was told; a plan with a model of a service."""
    method = estimate_tokens("", next(share.grader.model for share in plan.graders if is_service(share.grader.model)))
    where = " at batch prices" if batch else ""
    if not total.most.complete and not total.most.amount:
        return ["cost: not known, no model here has a price (docs/models.md says how to give one)"]
    return [
        f"cost{where}: expected {total.expected}, at most {total.most}; tokens by {method.method}, "
        f"prices of {_price_sources(plan)}, without what prompt caches save"
    ]


def _price_sources(plan: Plan) -> str:
    graders = [share.grader for share in plan.graders if is_service(share.grader.model)]
    listed = {
        grader.capabilities.price == find_model(grader.model).capabilities.price
        for grader in graders
        if grader.capabilities.price is not None
    }
    own = ["the experiment"] if False in listed else []
    return " and of ".join([*own, f"the ledger of {ledger_date().isoformat()}"] if listed != {False} else own)


def plan_notes(plan: Plan) -> list[str]:
    """What is left to services, and what is to be known of models: each note once, with the models it is about."""
    about: dict[str, list[str]] = {}
    for share in plan.graders:
        grader = share.grader
        left = [f"{problem.text}: left to the service" for problem in check_support(grader) if problem.leavable]
        for note in (*left, *warnings_of(grader)):
            models = about.setdefault(note, [])
            if grader.model not in models:
                models.append(grader.model)
    return [f"note: {note}: {', '.join(models)}" for note, models in about.items()]
