"""A model as a plain callable from texts to replies, each paid for once and kept in a file as it comes in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from calibration_sets.item import Item, content_digest
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.strict import JsonLine, read_json_lines
from calibration_sets.writer import json_line
from experiments.errors import SpecError
from experiments.respondents.answer_prompts import AnswerPrompt
from experiments.running.budget import Budget, CostMeter
from graders.client import Answer, ModelClient, Request
from graders.endpoint import Endpoint
from graders.grader import Grader
from graders.ledger import find_model
from graders.providers import check_model, model_digest, takes_prompt
from graders.sampling import Sampling
from graders.verdict import Completion

__all__ = ["build_text_judge", "judge_texts"]

_AS_IT_STANDS = AnswerPrompt(
    name="as_it_stands",
    version="1.0.0",
    rubric="none@0.0.0",
    scale=SIMPLEQA,
    channel="letter",
    form="chat",
    text="$question",
)
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


def judge_texts(
    grader: Grader,
    texts: Sequence[str],
    replies: Path,
    *,
    open_client: Callable[[Grader], ModelClient],
    budget: Budget | None = None,
) -> list[str | None]:
    """The model's reply to each text, in their order; ``None`` where a call went wrong, which is asked again next time.

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

    Raises
    ------
    SpecError
        If the file of replies is malformed.
    BudgetError
        If something is left to ask that does not fit into the budget; the replies that came are in the file.
    """
    known = _read_replies(replies)
    keys = {text: content_digest([grader.grader_id, text]) for text in texts}
    items = [_as_item(text) for text, key in keys.items() if key not in known]
    if budget is not None:
        budget.spent += _paid(replies, grader.model)
    if items:
        with open_client(grader) as client, replies.open("a", encoding="utf-8", newline="\n") as file:
            for found in _ask(client, items, grader, budget):
                rows = [{"key": keys[text], "model": grader.model, **told} for text, told in found]
                file.writelines(f"{json_line(row, replies.name)}\n" for row in rows)
                file.flush()
                os.fsync(file.fileno())
                known |= {keys[text]: str(told["reply"]) for text, told in found if told["reply"] is not None}
    return [known.get(keys[text]) for text in texts]


def _ask(
    client: ModelClient, items: Sequence[Item], grader: Grader, budget: Budget | None
) -> Iterator[list[tuple[str, dict[str, object]]]]:
    """Text, reply and, under a limit, its cost, as they come in; a call that went wrong is told if it may have cost."""
    texts = {item.digest: item.question for item in items}
    requests = [Request(item, (0,), grader.prompt, grader.sampling, SIMPLEQA) for item in items]
    meter = None if budget is None else CostMeter(budget, grader)
    while requests:
        admitted = list(requests if meter is None else takewhile(meter.admit, requests))
        if budget is not None and not admitted:
            raise budget.error(grader.model, len(requests))
        for answers in client.complete(iter(admitted)):
            found = [(texts[answer.item_digest], _told(answer, meter, budget)) for answer in answers]
            yield [(text, told) for text, told in found if told["reply"] is not None or told.get("cost")]
        requests = requests[len(admitted) :]


def _told(answer: Answer, meter: CostMeter | None, budget: Budget | None) -> dict[str, object]:
    reply = _reply_of(answer)
    if meter is None or budget is None:
        return {"reply": reply}
    before = budget.spent + budget.uncertain
    meter.settle([answer])
    return {"reply": reply, "cost": budget.spent + budget.uncertain - before}


def _as_item(text: str) -> Item:
    key = content_digest(text)
    return Item(key, text, _NOTHING, "", key)


def _reply_of(answer: Answer) -> str | None:
    return answer.outcome.text if isinstance(answer.outcome, Completion) else None


def _read_replies(path: Path) -> dict[str, str]:
    return {
        _text(line.data, "key", path, line.line): _text(line.data, "reply", path, line.line)
        for line in _lines(path)
        if line.data.get("reply", "") is not None
    }


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
