"""What a run is, how far it has come, and what can be done with it now."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibration_sets.service_messages import is_service_message
from experiments.reports.call_times import GraderTimes
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.reference_labels import drop_stale_labels
from experiments.specs.decisions import DecisionSpecs
from experiments.specs.joint_graders import name_graders
from graders.pricing import Cost
from graders.verdict import Usage

__all__ = ["GraderState", "NextStep", "RunState", "read_run_state"]

NOT_ASKED = "not_asked"


@dataclass(frozen=True, slots=True)
class GraderState:
    """A grader of a run, and how far it is.

    Of its ``n_expected`` verdicts ``n_valid`` have a label, ``failures`` have none, by reason, and ``n_not_asked``
    nobody has asked for yet. ``n_to_ask`` are those that the run, given again, asks a model for: the same, and the
    calls that went wrong.
    """

    number: int
    name: str
    grader_id: str
    model: str
    prompt: str | None
    rubric: str | None
    sampling: Mapping[str, Any]
    n_expected: int
    n_valid: int
    n_not_asked: int
    n_to_ask: int
    failures: Mapping[str, int]
    usage: Usage | None
    cost: Cost | None
    times: GraderTimes


@dataclass(frozen=True, slots=True)
class NextStep:
    """A command that applies to the run, and what it would tell."""

    command: str
    why: str


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its store has it; ``respondents`` counts models, wordings and questions where it asks for responses."""

    run_id: str
    experiment: str
    recorded_at: str
    level: float
    parser_rule: str
    set_name: str
    set_version: str
    set_digest: str
    rubric: str
    label_source: str
    n_items: int
    n_items_in_set: int
    n_questions: int
    n_labelled: int
    n_tied: int
    n_stale: int
    rules: Mapping[str, Any]
    respondents: Mapping[str, int] | None
    graders: tuple[GraderState, ...]
    steps: tuple[NextStep, ...]


def read_run_state(
    data: RunData, specs: DecisionSpecs, *, recorded_at: str, level: float, shared_store: str | None = None
) -> RunState:
    """Sum up a run.

    Parameters
    ----------
    data
        The run.
    specs
        The rules that its experiment states.
    recorded_at
        When it was first recorded, ISO 8601 in UTC.
    level
        Confidence level of its intervals.
    shared_store
        Address of the store, without a password, where any machine may help with the run.
    """
    chosen, n_stale = drop_stale_labels(data.calibration_set)
    consensus = chosen.consensus()
    n_labelled = len(consensus.labels)
    graders = tuple(_read_graders(data))
    return RunState(
        run_id=data.run_id,
        experiment=data.experiment,
        recorded_at=recorded_at,
        level=level,
        parser_rule=data.parser_rule,
        set_name=chosen.name,
        set_version=chosen.version,
        set_digest=data.set_digest or data.calibration_set.digest,
        rubric=chosen.rubric,
        label_source=chosen.label_source,
        n_items=len(chosen.items),
        n_items_in_set=data.n_items_in_set,
        n_questions=len({item.cluster_id for item in chosen.items}),
        n_labelled=n_labelled,
        n_tied=len(consensus.tied),
        n_stale=n_stale,
        rules=specs.model_dump(mode="json", by_alias=True, exclude_none=True),
        respondents=_count_respondents(data),
        graders=graders,
        steps=(
            *_asking_steps(data, graders, shared_store),
            *_next_steps(data, graders, is_labelled=n_labelled > 0 and chosen.scale.positive is not None),
        ),
    )


def _read_graders(data: RunData) -> Iterator[GraderState]:
    messages = {item.digest for item in data.calibration_set.items if is_service_message(item)}
    names = name_graders(
        [one.prompt for one in data.graders],
        [one.model for one in data.graders],
        [one.grader_id for one in data.graders],
    )
    for number, (name, results) in enumerate(zip(names, data.graders, strict=True), start=1):
        yield _read_grader(number, name, results, messages)


def _read_grader(number: int, name: str, results: GraderResults, messages: set[str]) -> GraderState:
    n_valid = n_not_asked = n_to_ask = 0
    is_imported = results.sampling.get("channel") is None  # such verdicts came in a file: no model to ask
    failures: Counter[str] = Counter()
    for verdict in results.verdicts:
        if verdict.label is not None:
            n_valid += 1
            continue
        n_to_ask += verdict.failure == "not_answered" and not is_imported and verdict.item_digest not in messages
        if verdict.failure == "not_answered" and verdict.detail == NOT_ASKED:
            n_not_asked += 1
        else:
            failures[str(verdict.detail if verdict.failure == "not_answered" else verdict.failure)] += 1
    return GraderState(
        number=number,
        name=name,
        grader_id=results.grader_id,
        model=results.model,
        prompt=results.prompt,
        rubric=results.rubric,
        sampling=dict(results.sampling),
        n_expected=len(results.verdicts),
        n_valid=n_valid,
        n_not_asked=n_not_asked,
        n_to_ask=n_to_ask,
        failures=dict(sorted(failures.items())),
        usage=results.usage,
        cost=results.cost,
        times=results.times,
    )


def _count_respondents(data: RunData) -> Mapping[str, int] | None:
    if data.answering is None:
        return None
    return {
        "models": len(data.answering.models),
        "wordings": len(data.answering.prompts),
        "questions": len(data.answering.questions),
        "responses": len(data.calibration_set.items),
    }


def _asking_steps(data: RunData, graders: tuple[GraderState, ...], shared_store: str | None) -> Iterator[NextStep]:
    n_to_ask = sum(grader.n_to_ask for grader in graders)
    if not n_to_ask:
        return
    why = f"the command that made the run, given again, asks for the {n_to_ask:,} verdicts that are missing"
    yield NextStep("autorater run", why)
    if shared_store is not None and data.answering is None:
        command = f"autorater worker {shlex.quote(data.run_id)} --store {shlex.quote(shared_store)}"
        yield NextStep(command, "helps with that from any machine")


def _next_steps(data: RunData, graders: tuple[GraderState, ...], *, is_labelled: bool) -> Iterator[NextStep]:
    run = shlex.quote(data.run_id)
    if not any(grader.n_valid for grader in graders):
        return
    if data.answering is not None:
        yield from _answering_steps(data, run)
        return
    yield NextStep(f"autorater report {run}", "every figure of each grader")
    if is_labelled:
        yield from _labelled_steps(data, run)
    yield NextStep(f"autorater queue {run} --out queue.csv", "what people should label next")
    yield NextStep(f"autorater review {run}", "label these items on a page in the browser")


def _answering_steps(data: RunData, run: str) -> Iterator[NextStep]:
    yield NextStep(f"autorater report {run}", "responses and verdicts counted")
    if data.answering is not None and data.answering.has_regimes:
        yield NextStep(f"autorater regimes {run}", "compares the regimes")
        return
    if data.answering is not None and len(data.answering.prompts) > 1:
        yield NextStep(f"autorater ab {run}", "compares the wordings of the questions")
    yield NextStep(f"autorater score {run} --calibration RUN", "scores, corrected for the grader's errors")


def _labelled_steps(data: RunData, run: str) -> Iterator[NextStep]:
    if len(data.graders) > 1:
        yield NextStep(f"autorater choose {run}", "which grader to trust")
    wordings: dict[str, set[str]] = {}
    for results in data.graders:
        if results.prompt is not None:
            wordings.setdefault(results.model, set()).add(results.prompt)
    if any(len(prompts) > 1 for prompts in wordings.values()):
        yield NextStep(f"autorater ab {run}", "compares the wordings of the grader's prompt")
    yield NextStep(f"autorater gate {run} --rule 'upper(false_negative_rate) <= 3%'", "holds a grader against limits")
    yield NextStep(f"autorater score BENCHMARK_RUN --calibration {run}", "corrects its scores by these errors")
