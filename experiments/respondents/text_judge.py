"""A model as a plain callable from texts to replies, each paid for once and kept in a file as it comes in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from calibration_sets.item import Item, content_digest
from calibration_sets.references.reference import Reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.strict import read_json_lines
from calibration_sets.writer import json_line
from experiments.errors import SpecError
from experiments.respondents.answer_prompts import AnswerPrompt
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
    grader: Grader, texts: Sequence[str], replies: Path, *, open_client: Callable[[Grader], ModelClient]
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

    Raises
    ------
    SpecError
        If the file of replies is malformed.
    """
    known = _read_replies(replies)
    keys = {text: content_digest([grader.grader_id, text]) for text in texts}
    items = [_as_item(text) for text, key in keys.items() if key not in known]
    if items:
        with open_client(grader) as client, replies.open("a", encoding="utf-8", newline="\n") as file:
            for found in _ask(client, items, grader):
                rows = [{"key": keys[text], "model": grader.model, "reply": reply} for text, reply in found.items()]
                file.writelines(f"{json_line(row, replies.name)}\n" for row in rows)
                file.flush()
                os.fsync(file.fileno())
                known |= {keys[text]: reply for text, reply in found.items()}
    return [known.get(keys[text]) for text in texts]


def _ask(client: ModelClient, items: Sequence[Item], grader: Grader) -> Iterator[dict[str, str]]:
    """Replies by text, as they come in; calls that went wrong are left out."""
    texts = {item.digest: item.question for item in items}
    requests = (Request(item, (0,), grader.prompt, grader.sampling, SIMPLEQA) for item in items)
    for answers in client.complete(requests):
        replies = {texts[answer.item_digest]: _reply_of(answer) for answer in answers}
        yield {text: reply for text, reply in replies.items() if reply is not None}


def _as_item(text: str) -> Item:
    key = content_digest(text)
    return Item(key, text, _NOTHING, "", key)


def _reply_of(answer: Answer) -> str | None:
    return answer.outcome.text if isinstance(answer.outcome, Completion) else None


def _read_replies(path: Path) -> dict[str, str]:
    lines = read_json_lines(path, SpecError) if path.exists() else []
    return {_text(line.data, "key", path, line.line): _text(line.data, "reply", path, line.line) for line in lines}


def _text(data: Mapping[str, object], key: str, path: Path, line: int) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise SpecError(f"{path.name}:{line}: {key} {value!r}; expected text")
    return value
