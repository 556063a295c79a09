"""From stored completions to responses: what is asked, and what of it a grader can be given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.service_messages import is_service_message
from experiments.respondents.questions import strip_reference
from experiments.respondents.records import AnsweringRecord, QuestionRecord, RespondentRecord
from experiments.respondents.respondent import Answering, Respondent
from experiments.specs.decisions import DecisionSpecs
from experiments.specs.experiment import Experiment
from experiments.specs.grader_reading import GraderRecord, read_grader
from experiments.store.run_store import CompletionKey, RunStore
from graders.reading_turns import count_opened
from graders.verdict import Completion

__all__ = ["as_asking", "as_grading", "missing_reason"]

_NO_TEXT = {"length": "truncated", "turn_limit": "turn_limit"}
"""Why a reply has no text, by what its model stopped for; a conversation may come to none within its turns."""


def as_asking(experiment: Experiment) -> Experiment:
    """The first half of an experiment with respondents: they in the graders' place, and the bare questions."""
    questions = experiment.calibration_set
    return replace(
        experiment,
        name=f"{experiment.name}-answers",
        calibration_set=replace(questions, items=tuple(map(strip_reference, questions.items))),
        graders=tuple(respondent.grader for respondent in _answering(experiment).respondents),
        # What is looked at while it runs is asked in the order of the looks, in this half too.
        decisions=DecisionSpecs(ab=experiment.decisions.ab) if experiment.is_looked_at else DecisionSpecs(),
        answering=None,
    )


def as_grading(experiment: Experiment, store: RunStore | None) -> Experiment:
    """The second half: the responses that are in the store, in place of the questions. ``None`` is an empty store.

    The set has no labels, and no items where nobody has answered yet. What of the grid is missing,
    and why, is in ``answering.record``.
    """
    answering, questions = _answering(experiment), experiment.calibration_set.items
    bare = as_asking(experiment).calibration_set
    items: list[Item] = []
    records = []
    for respondent in answering.respondents:
        found = _read_respondent(respondent, questions, answering, bare, store)
        items += found.items
        records.append(found.record)
    asked = tuple(
        QuestionRecord(question.item_id, question.cluster_id, dict(question.metadata.get("traits", {})))
        for question in questions
    )
    responses = replace(
        experiment.calibration_set,
        name=f"{experiment.calibration_set.name}-responses",
        items=tuple(items),
        human_labels=(),
    )
    return replace(
        experiment,
        calibration_set=responses,
        n_items_in_set=len(items),
        set_digest=responses.digest,
        answering=replace(answering, record=AnsweringRecord(asked, answering.repeats, tuple(records))),
    )


def missing_reason(completion: Completion, item: Item) -> str | None:
    """Why a completion is no response that can be graded; ``None`` where it is one.

    A reply that the service or the model's guard refused is no answer of any class: it is counted
    as ``refused``, and never as declined.
    """
    if completion.stop_reason in ("refusal", "content_filter"):
        return "refused"
    if completion.text is None or not completion.text.strip():
        return _NO_TEXT.get(completion.stop_reason or "", "empty")
    return "service_message" if is_service_message(item) else None


@dataclass(frozen=True, slots=True)
class _Found:
    items: Sequence[Item]
    record: RespondentRecord


def _answering(experiment: Experiment) -> Answering:
    if experiment.answering is None:
        raise ValueError(f"{experiment.name}: no respondents; expected an experiment with [answering]")
    return experiment.answering


def _read_respondent(
    respondent: Respondent,
    questions: Sequence[Item],
    answering: Answering,
    bare: CalibrationSet,
    store: RunStore | None,
) -> _Found:
    items: list[Item] = []
    missing: Counter[str] = Counter()
    completions = {} if store is None else store.completions(respondent.grader.grader_id)
    failures = {} if store is None else store.call_failures(respondent.grader.grader_id)
    for question, asked in zip(questions, bare.items, strict=True):
        for repeat in range(answering.repeats):
            key = CompletionKey(asked.digest, repeat)
            if key not in completions:
                missing[failures[key].reason if key in failures else "not_asked"] += 1
                continue
            item = _as_item(question, completions[key], respondent, repeat, n_repeats=answering.repeats)
            reason = missing_reason(completions[key], item)
            if reason is None:
                items.append(item)
            else:
                missing[reason] += 1
    record = RespondentRecord(
        respondent_id=respondent.grader.grader_id,
        model=respondent.model,
        prompt=respondent.prompt,
        n_responses=len(items),
        n_truncated=sum(bool(item.metadata["truncated"]) for item in items),
        n_unread=sum(item.metadata.get("opened") == 0 for item in items),
        missing=dict(sorted(missing.items())),
    )
    return _Found(items, record if store is None else _with_bill(record, respondent, bare, store))


def _as_item(question: Item, completion: Completion, respondent: Respondent, repeat: int, *, n_repeats: int) -> Item:
    told = f" | {repeat}" if n_repeats > 1 else ""
    metadata: dict[str, object] = {
        "question": question.item_id,
        "model": respondent.model,
        "prompt": respondent.prompt,
        "repeat": repeat,
        "truncated": completion.stop_reason == "length",
    }
    if respondent.grader.prompt is not None and respondent.grader.prompt.reads_by_tool:
        metadata["opened"] = count_opened(completion.turns)
    return replace(
        question,
        item_id=f"{question.item_id} | {respondent.name}{told}",
        response=completion.text or "",
        respondent=respondent.name,
        metadata=metadata,
    )


def _with_bill(
    record: RespondentRecord, respondent: Respondent, bare: CalibrationSet, store: RunStore
) -> RespondentRecord:
    """The record with what answering cost, failed calls included, and who answered."""
    grader = respondent.grader
    price = grader.capabilities.price
    asked = GraderRecord(
        grader_id=grader.grader_id,
        model=grader.model,
        prompt=respondent.prompt,
        rubric=None,
        channel=grader.sampling.channel,
        scale=bare.scale,
        sampling={**grader.sampling.as_settings(), "repeats": grader.sampling.repeats},
        price=None if price is None else asdict(price),
    )
    reading = read_grader(store, asked, bare, ())
    return replace(
        record,
        cost=None if price is None else reading.cost,
        served_models=dict(sorted(reading.served.items())),
    )
