"""The plan of a grid of models and wordings: answering call by call, grading by the length of answers to come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calibration_sets.item import Item
from calibration_sets.scale import LabelScale
from experiments.reports.escaping import visible
from experiments.respondents.respondent import Answering
from experiments.respondents.responses import as_asking, as_grading
from experiments.running.plan import GraderPlan, Plan, build_plan, pending_requests
from experiments.running.plan_listing import CostEstimate, cost_notes, estimate_cost, money, plan_notes
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.client import Request
from graders.grader import Grader
from graders.pricing import NO_COST, Cost, cost
from graders.providers import is_service
from graders.reading_turns import most_turns
from graders.token_estimate import estimate_request
from graders.verdict import Usage

__all__ = ["describe_grid_plan"]

_RESPONSE_TOKENS = 60
"""Of an answer as expected: a sentence or two. Wordings that ask for a short answer get less, some models say more."""

_WORKED_TOKENS = 400
"""Of an answer under a regime as expected, which shows its steps."""

_CHARACTERS_A_TOKEN = 4
_NOTHING = CostEstimate(NO_COST, NO_COST)


@dataclass(frozen=True, slots=True)
class _ToCome:
    """Responses to a question that are not there yet: how many, and their tokens as expected and at most."""

    question: Item
    usual: int
    limit: int
    n: int


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a plan: how many there are, are paid, are to be asked for, in how many calls, and what these cost."""

    n: int
    repeats: int
    n_expected: int
    n_paid: int
    n_calls: int
    costs: CostEstimate
    title: str


def describe_grid_plan(experiment: Experiment, store: RunStore | None, *, batch: bool = False) -> str:
    """Calls and costs of the whole grid before anything is asked: a row a model, a row a grader, and the sum.

    Parameters
    ----------
    experiment
        With respondents.
    store
        What is there counts as paid; ``None`` is an empty store.
    batch
        Whether the calls go into batch jobs.
    """
    asking, grading = as_asking(experiment), as_grading(experiment, store)
    answering_plan, grading_plan = build_plan(asking, store), build_plan(grading, store)
    answers, to_come = _plan_answers(experiment, asking, answering_plan, store, batch=batch)
    verdicts = [_plan_verdicts(share, grading, to_come, store, batch=batch) for share in grading_plan.graders]
    both = Plan((*_without_own_temperature(experiment, answering_plan), *grading_plan.graders))
    priced = any(is_service(share.grader.model) for share in both.graders)
    lines = [
        _title(experiment),
        "answering",
        _heads("questions", "answers", "model", priced=priced),
        *(_line(row, priced=priced) for row in answers),
        f"grading; answers to come are taken to have {_usual_tokens(experiment)} tokens, "
        "at most the limit of their model",
        _heads("answers", "verdicts", "grader", priced=priced),
        *(_line(row, priced=priced) for row in verdicts),
    ]
    if priced:
        lines.append(f"answering {_sum_of(answers)}; grading {_sum_of(verdicts)}")
        lines += cost_notes(_sum_up([*answers, *verdicts]), both, batch=batch)
    if any(respondent.own_temperature for respondent in _answering(experiment).respondents):
        lines.append("note: the temperature of the answers is left to the services")
    lines += _reading_notes(_answering(experiment))
    return "\n".join(map(visible, [*lines, *plan_notes(both)]))


def _answering(experiment: Experiment) -> Answering:
    assert experiment.answering is not None  # as_asking has seen to that
    return experiment.answering


def _reading_notes(answering: Answering) -> list[str]:
    prompts = [one.grader.prompt for one in answering.respondents]
    if not any(prompt is not None and prompt.reads_by_tool for prompt in prompts):
        return []
    return [
        "note: documents are opened by a tool: such a call is a conversation with a turn a document and "
        f"{most_turns(0)} more at most, each billed with all before it"
    ]


def _usual_tokens(experiment: Experiment) -> int:
    return _RESPONSE_TOKENS if experiment.decisions.regimes is None else _WORKED_TOKENS


def _title(experiment: Experiment) -> str:
    respondents, repeats = _answering(experiment).respondents, _answering(experiment).repeats
    n_models, n_prompts = (len({getattr(one, name) for one in respondents}) for name in ("model", "prompt"))
    questions = experiment.calibration_set
    n_answers = len(questions.items) * len(respondents) * repeats
    times = "" if repeats == 1 else f" x {repeats} repeats"
    noun = "wordings" if experiment.decisions.regimes is None else "regimes"
    return (
        f"experiment {experiment.name}: {n_models} models x {n_prompts} {noun} x {len(questions.items)} of "
        f"{experiment.n_items_in_set} questions of {questions.name} {questions.version}{times}: {n_answers} answers"
    )


def _without_own_temperature(experiment: Experiment, plan: Plan) -> Iterator[GraderPlan]:
    """Shares as the notes are to see them: nobody asked for the temperature that is left to a service."""
    for respondent, share in zip(_answering(experiment).respondents, plan.graders, strict=True):
        able = share.grader.capabilities
        if respondent.own_temperature:
            able = replace(able, temperature=(0.0, 2.0), zero_temperature=True, sampling_efforts=None)
        yield replace(share, grader=replace(share.grader, capabilities=able))


def _heads(n: str, wanted: str, title: str, *, priced: bool) -> str:
    costs = f" {'expected':>12} {'at most':>12}" if priced else ""
    return f"{n:>9} {'repeats':>8} {wanted:>9} {'paid':>9} {'to ask':>9} {'calls':>9}{costs}  {title}"


def _line(row: _Row, *, priced: bool) -> str:
    costs = f" {money(row.costs.expected):>12} {money(row.costs.most):>12}" if priced else ""
    counts = (row.repeats, row.n_expected, row.n_paid, row.n_expected - row.n_paid, row.n_calls)
    shown = " ".join(f"{count:>{width}}" for count, width in zip(counts, (8, 9, 9, 9, 9), strict=True))
    return f"{row.n:>9} {shown}{costs}  {row.title}"


def _sum_up(rows: list[_Row]) -> CostEstimate:
    total = _NOTHING
    for row in rows:
        total += row.costs
    return total


def _sum_of(rows: list[_Row]) -> str:
    total = _sum_up(rows)
    return f"expected {money(total.expected)}, at most {money(total.most)}"


def _plan_answers(
    experiment: Experiment, asking: Experiment, plan: Plan, store: RunStore | None, *, batch: bool
) -> tuple[list[_Row], list[_ToCome]]:
    """A row a model over all its wordings, and the responses that are to come."""
    usual = _usual_tokens(experiment)
    pending: Counter[tuple[str, int]] = Counter()
    rows: dict[str, _Row] = {}
    for respondent, share in zip(_answering(experiment).respondents, plan.graders, strict=True):
        costs = _NOTHING
        for request in pending_requests(asking, share.grader, store):
            pending[request.item.digest, share.grader.sampling.max_tokens] += len(request.repeats)
            costs += _answer_cost(request, share.grader, usual=usual, batch=batch)
        row = _Row(
            n=share.n_items,
            repeats=share.grader.sampling.repeats,
            n_expected=share.n_expected,
            n_paid=share.n_paid,
            n_calls=share.n_calls,
            costs=costs,
            title=respondent.model,
        )
        rows[respondent.model] = _joined(rows[respondent.model], row) if respondent.model in rows else row
    limits = sorted({limit for _, limit in pending})
    asked = zip(experiment.calibration_set.items, asking.calibration_set.items, strict=True)
    to_come = [
        _ToCome(question, usual, limit, pending[bare.digest, limit])
        for question, bare in asked
        for limit in limits
        if pending[bare.digest, limit]
    ]
    return list(rows.values()), to_come


def _joined(row: _Row, other: _Row) -> _Row:
    return replace(
        row,
        n_expected=row.n_expected + other.n_expected,
        n_paid=row.n_paid + other.n_paid,
        n_calls=row.n_calls + other.n_calls,
        costs=row.costs + other.costs,
    )


def _answer_cost(request: Request, grader: Grader, *, usual: int, batch: bool) -> CostEstimate:
    expected, most = estimate_request(request, grader, grader.capabilities.max_choices)
    n = len(request.repeats)
    # What is estimated is a verdict's length; an answer is longer by its sentences.
    tokens = n * min(grader.sampling.max_tokens, (expected.output_tokens or 0) // n + usual)
    return _priced(replace(expected, output_tokens=tokens), most, grader, batch=batch)


def _priced(expected: Usage, most: Usage, grader: Grader, *, batch: bool, times: int = 1) -> CostEstimate:
    price = grader.capabilities.price
    one = [cost(usage, price, batch=batch) for usage in (expected, most)]
    many = [Cost(times * amount.amount, amount.complete) for amount in one]
    return CostEstimate(*many)


def _plan_verdicts(
    share: GraderPlan, grading: Experiment, to_come: Sequence[_ToCome], store: RunStore | None, *, batch: bool
) -> _Row:
    """What a grader has to do on the responses that are there, and on those that are to come."""
    grader, repeats = share.grader, share.grader.sampling.asked_repeats
    costs = estimate_cost(grading, grader, store, batch=batch)
    scale = grader.prompt.scale if grader.prompt else grading.calibration_set.scale
    for missing in to_come:
        costs += _verdict_cost(missing, grader, scale, batch=batch)
    n_to_come = sum(missing.n for missing in to_come)
    return _Row(
        n=share.n_contents + n_to_come,
        repeats=repeats,
        n_expected=share.n_expected + n_to_come * repeats,
        n_paid=share.n_paid,
        n_calls=share.n_calls + n_to_come * -(-repeats // max(1, grader.capabilities.max_choices)),
        costs=costs,
        title=grader.title,
    )


def _verdict_cost(missing: _ToCome, grader: Grader, scale: LabelScale, *, batch: bool) -> CostEstimate:
    repeats, choices = tuple(range(grader.sampling.asked_repeats)), grader.capabilities.max_choices
    usual, longest = (
        Request(
            replace(missing.question, response="x" * (_CHARACTERS_A_TOKEN * tokens)),
            repeats,
            grader.prompt,
            grader.sampling,
            scale,
        )
        for tokens in (min(missing.usual, missing.limit), missing.limit)
    )
    expected, most = estimate_request(usual, grader, choices)[0], estimate_request(longest, grader, choices)[1]
    return _priced(expected, most, grader, batch=batch, times=missing.n)
