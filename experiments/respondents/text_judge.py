"""A model as a plain callable from texts to replies, each paid for once and kept in a file as it comes in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TextIO

from calibration_sets.curation.judge import NoReply
from calibration_sets.item import Item, content_digest
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.strict import JsonLine, read_json_lines
from calibration_sets.writer import json_line
from experiments.errors import SpecError
from experiments.respondents.answer_prompts import AnswerPrompt
from experiments.running.budget import Budget, CostMeter, estimated_worst_cost
from experiments.running.progress_reports import Progress, SilentProgress
from graders.client import Answer, ModelClient, Request
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.ledger import find_model
from graders.providers import check_model, model_digest, takes_prompt
from graders.sampling import Sampling
from graders.token_estimate import estimate_request
from graders.verdict import CallFailure

__all__ = ["TextPlan", "build_text_judge", "judge_texts", "plan_texts"]

_AS_IT_STANDS = AnswerPrompt(
    name="as_it_stands",
    version="1.0.0",
    rubric="none@0.0.0",
    scale=SIMPLEQA,
    channel="letter",
    form="chat",
    text="$question",
)
_UNUSABLE = {"length": "cut off at --max-tokens", "refusal": "refused", "content_filter": "filtered"}
_NOTHING = Reference("", "")


def build_text_judge(model: str, endpoint: Endpoint, *, max_tokens: int) -> Grader:
    """A model that reads texts as they stand, as near to temperature 0 as it allows.

    Raises
    ------
    SpecError
        If the model takes no text.
    GraderError
        If no provider serves it, or it is not reached as the endpoint says.
    """
    if not takes_prompt(model):
        raise SpecError(f"--model: {model!r} reads no text; expected a language model")
    grader = Grader(
        model=model,
        sampling=Sampling(temperature=0.0, repeats=1, max_tokens=max_tokens, constrained=False),
        prompt=_AS_IT_STANDS,
        model_digest=model_digest(model, endpoint),
        endpoint=endpoint,
        capabilities=find_model(model).capabilities,
    )
    check_model(grader)
    return grader


@dataclass(frozen=True, slots=True)
class TextPlan:
    """How many different texts there are, how many are left to ask, and what that takes at most.

    ``cost`` is in dollars, ``None`` where no price is known; tokens are of the texts left and of their replies.
    """

    n_texts: int
    n_missing: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def plan_texts(grader: Grader, texts: Sequence[str], replies: Path) -> TextPlan:
    """What :func:`judge_texts` would ask; ``SpecError`` if the file of replies is malformed."""
    known, keys = _read_replies(replies), _keys(grader, texts)
    requests = [_as_request(text, grader) for text, key in keys.items() if key not in known]
    most = [estimate_request(request, grader, 1)[1] for request in requests]
    has_price = grader.capabilities.price is not None
    cost = sum(estimated_worst_cost(request, grader) for request in requests) if has_price else None
    n_input, n_output = (sum(getattr(one, name) for one in most) for name in ("input_tokens", "output_tokens"))
    return TextPlan(len(keys), len(requests), n_input, n_output, cost)


def judge_texts(
    grader: Grader,
    texts: Sequence[str],
    replies: Path,
    *,
    open_client: Callable[[Grader], ModelClient],
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> list[str | NoReply]:
    """The model's reply to each text, in their order, or why there is none; a call that failed is made again next time.

    Parameters
    ----------
    grader
        As :func:`build_text_judge` makes it.
    texts
        What the model reads; the same text is asked once.
    replies
        JSON lines of what was answered before, by this and other models; new replies are appended before the next
        is asked for.
    open_client
        Opens the model, if anything is left to ask.
    budget
        A limit on costs; what the file says was paid for this model before is added to it.
    progress
        Is told of each reply.

    Raises
    ------
    SpecError
        If the file of replies is malformed.
    BudgetError
        If something is left to ask that does not fit into the budget; the replies that came are in the file.
    """
    found: dict[str, str | NoReply] = {**_read_replies(replies)}
    keys = _keys(grader, texts)
    requests = [_as_request(text, grader) for text, key in keys.items() if key not in found]
    if budget is not None:
        budget.spent += _paid(replies, grader.model)
    if requests:
        replies.parent.mkdir(parents=True, exist_ok=True)
        told = progress or SilentProgress()
        told.start(grader.model, len(requests))
        with open_client(grader) as client, replies.open("a", encoding="utf-8", newline="\n") as file:
            for told_now in _ask(client, requests, grader, budget):
                _keep(
                    file,
                    [{"key": keys[one.text], "model": grader.model, **one.row()} for one in told_now if one.counts],
                )
                found |= {keys[one.text]: one.reply for one in told_now}
                n_failures = sum(isinstance(one.reply, NoReply) for one in told_now)
                told.advance(len(told_now), failures=n_failures, cost=budget.spent if budget else None)
    return [found[keys[text]] for text in texts]


@dataclass(frozen=True, slots=True)
class _Told:
    """What came for one text, and what it may have cost, where there is a limit."""

    text: str
    reply: str | NoReply
    is_final: bool
    cost: float | None

    @property
    def counts(self) -> bool:
        """Whether it is kept: a call that went wrong is, if it may be on the bill."""
        return self.is_final or bool(self.cost)

    def row(self) -> dict[str, object]:
        """Its part of a line; only what is final has a reply or a reason, and is not asked for again."""
        failure = self.reply.reason if isinstance(self.reply, NoReply) else None
        data: dict[str, object] = {"reply": None if failure else self.reply}
        if failure and self.is_final:
            data["reason"] = failure
        return data if self.cost is None else {**data, "cost": self.cost}


def _keys(grader: Grader, texts: Sequence[str]) -> dict[str, str]:
    return {text: content_digest([grader.grader_id, text]) for text in texts}


def _ask(client: ModelClient, requests: list[Request], grader: Grader, budget: Budget | None) -> Iterator[list[_Told]]:
    """Replies as they come in, and which calls went wrong."""
    texts = {request.item.digest: request.item.question for request in requests}
    meter = None if budget is None else CostMeter(budget, grader)
    while requests:
        admitted = list(requests if meter is None else takewhile(meter.admit, requests))
        if budget is not None and not admitted:
            raise budget.error(grader.model, len(requests))
        for answers in client.complete(iter(admitted)):
            yield [_told(texts[one.item_digest], one, _settle(one, meter, budget)) for one in answers]
        requests = requests[len(admitted) :]


def _settle(answer: Answer, meter: CostMeter | None, budget: Budget | None) -> float | None:
    if meter is None or budget is None:
        return None
    before = budget.spent + budget.uncertain
    meter.settle([answer])
    return budget.spent + budget.uncertain - before


def _keep(file: TextIO, rows: Sequence[Mapping[str, object]]) -> None:
    file.writelines(f"{json_line(row, file.name)}\n" for row in rows)
    file.flush()
    os.fsync(file.fileno())


def _as_request(text: str, grader: Grader) -> Request:
    return Request(_as_item(text), (0,), grader.prompt, grader.sampling, SIMPLEQA)


def _as_item(text: str) -> Item:
    key = content_digest(text)
    return Item(key, text, _NOTHING, "", key)


def _told(text: str, answer: Answer, cost: float | None) -> _Told:
    outcome = answer.outcome
    if isinstance(outcome, CallFailure):
        return _Told(text, NoReply(outcome.reason), is_final=False, cost=cost)
    # Half a reply could say something else than the whole.
    cut = outcome.stop_reason if outcome.stop_reason in _UNUSABLE else None
    reply = NoReply(_UNUSABLE[cut]) if cut else outcome.text or NoReply("empty")
    return _Told(text, reply, is_final=True, cost=cost)


def _read_replies(path: Path) -> dict[str, str | NoReply]:
    found: dict[str, str | NoReply] = {}
    for line in _lines(path):
        key = _text(line.data, "key", path, line.line)
        if line.data.get("reply", "") is not None:
            found[key] = _text(line.data, "reply", path, line.line)
        elif "reason" in line.data:
            found[key] = NoReply(_text(line.data, "reason", path, line.line))
    return found


def _lines(path: Path) -> list[JsonLine]:
    return read_json_lines(path, SpecError) if path.exists() else []


def _paid(path: Path, model: str) -> float:
    """Dollars that the file tells of for a model; a reply that came without a limit tells none."""
    costs = [line.data.get("cost") for line in _lines(path) if line.data.get("model") == model]
    return sum(float(one) for one in costs if isinstance(one, int | float))


def _text(data: Mapping[str, object], key: str, path: Path, line: int) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise SpecError(f"{path.name}:{line}: {key} {value!r}; expected text")
    return value
