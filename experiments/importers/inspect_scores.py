"""What a scorer of Inspect leaves in a sample: its model calls, or what its score tells of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.importers.answers import GraderReply, ImportedGrader
from graders.providers.openai_reply import normal_stop
from graders.verdict import CallFailure, Completion, Usage

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

__all__ = ["MODEL_GRADED", "calls_by_scorer", "read_scorer"]

MODEL_GRADED = "model_graded"
"""What the names of Inspect's own scorers begin with that ask a model."""


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
    name: str, score: Score | None, calls: Sequence[ModelEvent], grader_of: Callable[[str, str | None], ImportedGrader]
) -> list[GraderReply]:
    """What a scorer's graders replied; nothing where no reply can be told to be its verdict.

    Parameters
    ----------
    name
        The scorer's.
    calls
        The model calls of its span.
    grader_of
        The grader of a scorer's name and a model, which is ``None`` where the log's header has to tell it.
    """
    own = _own_verdict(score)
    answered = [call for call in calls if call.error is None and call.output.choices] or list(calls)
    if MODEL_GRADED not in name and len({call.model for call in answered}) < len(answered):
        # A scorer of somebody's own that asks one model several things: which of them the verdict is, nobody says.
        return []
    if answered:
        # The verdict of a panel is that of none of its graders.
        told = own if len(answered) == 1 else None
        return [GraderReply(grader_of(name, call.model), _read_call(call), told) for call in answered]
    text = _told_reply(name, score)
    if text is None:
        return []
    grader = grader_of(name, None)
    return [GraderReply(grader, Completion(text=text, served_model=grader.model, stop_reason=None), own)]


def _own_verdict(score: Score | None) -> str | None:
    """The value that the scorer gave first, as text; ``None`` where it gave none, which Inspect writes as NaN."""
    if score is None:
        return None
    value = score.history[0].value if score.history else score.value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:g}" if math.isfinite(value) else None
    return value if isinstance(value, str) else None


def _told_reply(name: str, score: Score | None) -> str | None:
    if score is None:
        return None
    grading = (score.metadata or {}).get("grading")
    if isinstance(grading, Sequence) and grading:
        text = _message_text(grading[-1])
        if text is not None:
            return text
    return score.explanation if MODEL_GRADED in name else None


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
