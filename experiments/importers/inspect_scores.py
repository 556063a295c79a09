"""What a scorer of Inspect leaves in a sample: its model calls, or what its score tells of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from calibration_sets.item import content_digest
from experiments.importers.answers import GraderReply, ImportedGrader
from experiments.importers.inspect_header import LogHeader
from experiments.importers.labelling import Labelling
from graders.providers.openai_reply import normal_stop
from graders.verdict import FAILURES, CallFailure, Completion, Failure, Usage

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

__all__ = ["calls_by_scorer", "is_being_scored", "is_own_score", "read_scorer"]

_NOT_FOUND = "Grade not found in model output: "
"""What Inspect writes before a reply that it could not read."""


def is_being_scored(sample: EvalSample) -> bool:
    """Whether its scorers had begun: all that it answers had been answered."""
    return any(event.event == "span_begin" and event.type == "scorer" for event in sample.events)


def calls_by_scorer(sample: EvalSample) -> Mapping[str, list[ModelEvent]]:
    """The model calls inside each scorer's span, by the scorer's name; spans may lie inside each other."""
    parents: dict[str, str | None] = {}
    owners: dict[str, str] = {}
    calls: dict[str, list[ModelEvent]] = {}
    for event in sample.events:
        if event.event == "span_begin":
            parents[event.id] = event.parent_id
            if event.type == "scorer":
                owners[event.id] = event.name
        elif event.event == "model":
            span = event.span_id
            while span is not None and span not in owners:
                span = parents.get(span)
            if span is not None:
                calls.setdefault(owners[span], []).append(event)
    return calls


def read_scorer(
    name: str,
    score: Score | None,
    calls: Sequence[ModelEvent],
    log: LogHeader,
    labelling: Labelling,
    *,
    stored: set[str],
) -> list[GraderReply]:
    """What a scorer's graders replied; nothing where no reply can be told to be its verdict.

    Parameters
    ----------
    name
        The scorer's, as the sample knows it.
    calls
        The model calls of its span.
    labelling
        The scale of what our own scorer's verdicts become.
    stored
        The replies of our own scorer that have been taken; added to. Its store gives one reply to every sample of
        the same content, and such a reply is no repeat.
    """
    if score is not None and is_own_score(score):
        return list(_own_repeats(score, labelling, stored))
    own, is_known = _own_verdict(score), log.is_model_graded(name)
    answered = [call for call in calls if call.error is None and call.output.choices] or list(calls)
    if not is_known and len(answered) > 1:
        # A scorer of somebody's own that asks several things: which of them the verdict is, nobody says.
        return []
    if answered:
        # The verdict of a panel is that of none of its graders.
        is_judged = len(answered) == 1 and score is not None
        told = own if is_judged else None
        return [GraderReply(log.grader(name, call.model), _read_call(call), told, is_judged) for call in answered]
    text = _told_reply(score, is_known=is_known)
    if text is None:
        return []
    grader = log.grader(name, None)
    return [GraderReply(grader, Completion(text=text, served_model=grader.model, stop_reason=None), own)]


def is_own_score(score: Score) -> bool:
    """Whether the scorer ``autorater/grader`` gave it, which keeps its repeats."""
    told = score.metadata or {}
    texts = (told.get(key) for key in ("grader", "grader_id", "model", "item_digest"))
    return isinstance(told.get("verdicts"), list) and all(isinstance(text, str) for text in texts)


def _own_repeats(score: Score, labelling: Labelling, stored: set[str]) -> Iterator[GraderReply]:
    """The repeats of our own scorer, each with the verdict that our parser read then.

    They are not read again: the letters of its prompt mean something else than those of Inspect.
    """
    told = score.metadata or {}
    prompt, at, _ = told["grader"].partition("@")
    grader = ImportedGrader(prompt if at else "grader", told["model"], told["grader_id"])
    for verdict in told["verdicts"]:
        if not isinstance(verdict, Mapping):
            continue
        said = [verdict.get(key) for key in ("repeat", "label", "failure", "detail", "reply")]
        key = content_digest([told["grader_id"], told["item_digest"], repr(said)])
        if key not in stored:
            stored.add(key)
            yield GraderReply(grader, _read_repeat(verdict, told["model"], labelling))


def _read_repeat(verdict: Mapping[str, Any], model: str, labelling: Labelling) -> Completion | CallFailure:
    label, failure, reply = verdict.get("label"), verdict.get("failure"), verdict.get("reply")
    if failure == "not_answered" or (failure not in FAILURES and not isinstance(label, str)):
        return CallFailure("not_answered", str(verdict.get("detail") or "no reply")[:500])
    text = reply if isinstance(reply, str) else None
    if failure not in FAILURES and label not in labelling.scale:
        failure = "off_scale"
    if failure in FAILURES:
        return Completion(text, model, None, stated_failure=cast(Failure, failure))
    return Completion(text, model, None, stated_label=str(label))


def _own_verdict(score: Score | None) -> str | None:
    """The value that the scorer gave first, as text; ``None`` where it gave none, which Inspect writes as NaN."""
    if score is None:
        return None
    value = score.history[0].value if score.history else score.value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:g}" if math.isfinite(value) else None
    return value if isinstance(value, str) else "a score of several values"


def _told_reply(score: Score | None, *, is_known: bool) -> str | None:
    if score is None:
        return None
    grading = (score.metadata or {}).get("grading")
    if isinstance(grading, Sequence) and grading:
        text = _message_text(grading[-1])
        if text is not None:
            return text
    told = (score.explanation or "").removeprefix(_NOT_FOUND)
    return told if is_known and told.strip() else None


def _message_text(message: object) -> str | None:
    content = message.get("content") if isinstance(message, Mapping) else getattr(message, "text", None)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else None


def _read_call(call: ModelEvent) -> Completion | CallFailure:
    if call.error is not None or not call.output.choices:
        return CallFailure("grader_error", (call.error or "a call without an answer")[:500])
    usage = call.output.usage
    return Completion(
        text=call.output.completion,
        served_model=call.output.model or call.model,
        stop_reason=normal_stop(call.output.stop_reason),
        usage=Usage() if usage is None else Usage(usage.input_tokens, usage.output_tokens),
    )
