"""Files of OpenAI's batch service: what graders replied to the calls of an input file, about the items of a set.

A line of the output (or of the error file) is matched to its call by ``custom_id``, and to its item by the same: the
item's id, or what a pattern finds in it. Both forms of reply are read, Chat Completions and Responses; further
choices of a call are repeats. A call whose prompt does not hold its item's response asked about something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item, content_digest
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import GraderReply, ImportedAnswer, ImportedGrader
from experiments.importers.source_files import JsonRecord, read_records, refuse_kind
from graders.dispatch.service import CallError
from graders.providers.openai_reply import check_body, normal_stop, objects, read_parts, read_tool_calls, read_usage
from graders.verdict import CallFailure, Completion, Usage

__all__ = ["OpenAIBatchReader"]

_OUTPUT = "a line of a batch's output or error file, with custom_id and response or error"
_INPUT = "a line of a batch's input file, with custom_id and body"
_NAME = "batch"


@dataclass(frozen=True, slots=True)
class OpenAIBatchReader:
    """Reads output files.

    Parameters
    ----------
    inputs
        The input files of the calls.
    calibration_set
        Whose items they ask about.
    pattern
        A regular expression over the whole ``custom_id`` with a group ``item``, and ``grader`` where one file asks
        several; ``None`` takes the ``custom_id`` as the item's id.
    """

    inputs: Sequence[Path]
    calibration_set: CalibrationSet
    pattern: re.Pattern[str] | None = None

    def __call__(self, files: Sequence[Path], account: ImportAccount) -> Iterator[ImportedAnswer]:
        """Each item with what its calls brought, a call at a time.

        Raises
        ------
        ImportFileError
            If a file is not what it should be, or a call comes twice.
        """
        items = {item.item_id: item for item in self.calibration_set.items}
        calls = _read_calls(self, items, account)
        for path in files:
            for record in read_records(path, _OUTPUT):
                account.n_read += 1
                call = _match(record, calls, account)
                if call is not None:
                    call.is_answered = True
                    yield _answer(call, record.where, _read_line(record.data, call.n_choices))
        for custom_id, call in calls.items():
            if not call.is_answered:
                gone = CallFailure("no_line", "neither file has a line of the call")
                yield _answer(call, f"custom_id {custom_id!r}", [gone] * call.n_choices)


@dataclass
class _Call:
    """One call of an input file."""

    item: Item
    grader: ImportedGrader
    n_choices: int
    is_answered: bool = field(default=False)


def _read_calls(reader: OpenAIBatchReader, items: Mapping[str, Item], account: ImportAccount) -> dict[str, _Call]:
    """The calls by their id; what cannot be matched is left out, and its lines with it."""
    found: dict[str, tuple[Item, str, str, int]] = {}
    shared: dict[tuple[str, str], str] = {}
    for path in sorted(reader.inputs):
        for record in read_records(path, _INPUT):
            custom_id, body = record.data.get("custom_id"), record.data.get("body")
            if not isinstance(custom_id, str) or not isinstance(body, dict):
                raise refuse_kind(record.where, record.data, _INPUT)
            if custom_id in found:
                raise ImportFileError(f"{record.where}: custom_id {custom_id!r} comes twice; expected each once")
            prompt = _prompt_text(body)
            matched = _match_item(reader, custom_id, items, prompt, record.where, account)
            if matched is None:
                continue
            item, name = matched
            model = str(body.get("model") or "unstated")
            known = shared.get((name, model))
            shared[name, model] = prompt if known is None else _shared_beginning(known, prompt)
            found[custom_id] = (item, name, model, _choices(body))
    return {
        custom_id: _Call(item, ImportedGrader(name, model, content_digest(shared[name, model])), n_choices)
        for custom_id, (item, name, model, n_choices) in found.items()
    }


def _shared_beginning(one: str, other: str) -> str:
    """What prompts begin with, up to where they differ: of a template whose item comes last, its text."""
    places = (place for place, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs)
    return one[: next(places, min(len(one), len(other)))]


def _match_item(
    reader: OpenAIBatchReader,
    custom_id: str,
    items: Mapping[str, Item],
    prompt: str,
    where: str,
    account: ImportAccount,
) -> tuple[Item, str] | None:
    item_id, name = custom_id, _NAME
    if reader.pattern is not None:
        match = reader.pattern.fullmatch(custom_id)
        groups = match.groupdict() if match else {}
        item_id, name = groups.get("item") or "", groups.get("grader") or _NAME
    item = items.get(item_id)
    if item is None:
        account.leave_out(where, f"a call whose custom_id names no item of {reader.calibration_set.name}")
        return None
    if not _holds(prompt, item.response):
        account.leave_out(where, "a call whose prompt does not hold its item's response: it asked about another")
        return None
    return item, name


def _holds(prompt: str, response: str) -> bool:
    text = response.strip()
    return text in prompt or json.dumps(text)[1:-1] in prompt or json.dumps(text, ensure_ascii=False)[1:-1] in prompt


def _prompt_text(body: Mapping[str, Any]) -> str:
    """All text that was sent: of messages, of a Responses input, and its instructions."""
    asked = body.get("messages") if "messages" in body else body.get("input")
    said = [body.get("instructions"), asked if isinstance(asked, str) else None]
    said += [read_parts(_input_parts(message.get("content")))[0] for message in objects(asked)]
    return "\n".join(text for text in said if isinstance(text, str))


def _input_parts(content: object) -> object:
    """Parts of an input are called otherwise than those of an output."""
    if not isinstance(content, list):
        return content
    return [{**part, "type": "text"} if part.get("type") == "input_text" else part for part in objects(content)]


def _choices(body: Mapping[str, Any]) -> int:
    number = body.get("n", 1)
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 < number <= 1024 else 1


def _match(record: JsonRecord, calls: Mapping[str, _Call], account: ImportAccount) -> _Call | None:
    custom_id = record.data.get("custom_id")
    if not isinstance(custom_id, str) or not {"response", "error"} & record.data.keys():
        raise refuse_kind(record.where, record.data, _OUTPUT)
    call = calls.get(custom_id)
    if call is None:
        account.leave_out(record.where, "a line of no call that is matched to an item")
    elif call.is_answered:
        raise ImportFileError(f"{record.where}: a second line of custom_id {custom_id!r}; expected one for each call")
    return call


def _answer(call: _Call, where: str, said: Sequence[Completion | CallFailure]) -> ImportedAnswer:
    item = call.item
    return ImportedAnswer(
        where=where,
        item_id=item.item_id,
        question=item.question,
        reference=item.reference.text,
        aliases=item.reference.extra_aliases,
        response=item.response,
        respondent=item.respondent or "",
        replies=[GraderReply(call.grader, one, is_judged=False) for one in said],
    )


def _read_line(data: Mapping[str, Any], n_choices: int) -> list[Completion | CallFailure]:
    """What a call brought: a completion a choice, or one failure for each."""
    response, error = data.get("response"), data.get("error")
    body = response.get("body") if isinstance(response, dict) else None
    status = response.get("status_code", 200) if isinstance(response, dict) else None
    if not isinstance(response, dict) or status != 200:
        told = error if isinstance(error, dict) else _error_of(body)
        reason = str(told.get("code") or told.get("type") or (f"http_{status}" if status else "no_response"))
        return [CallFailure(reason[:60], str(told.get("message") or "no reason given")[:500])] * n_choices
    try:
        said = _read_body(check_body(body, {}))
    except CallError as refused:
        return [CallFailure(refused.kind, str(refused)[:500])] * n_choices
    return [*said, *([CallFailure("no_choice", "fewer choices than were asked for")] * (n_choices - len(said)))]


def _error_of(body: object) -> Mapping[str, Any]:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _read_body(body: Mapping[str, Any]) -> list[Completion | CallFailure]:
    model, usage = str(body.get("model") or ""), read_usage(body.get("usage"))
    choices = objects(body.get("choices"))
    if choices:
        said = [_read_choice(choice) for choice in sorted(choices, key=_place)]
    elif isinstance(body.get("output"), list):
        said = [_read_output(body)]
    else:
        return [CallFailure("unreadable_reply", "neither choices nor output in the reply")]
    # A call is billed once: its counts stand at its first choice.
    bills = [usage, *([Usage(0, 0, 0, 0, 0)] * (len(said) - 1))]
    return [Completion(text, model, stop, usage=bill) for (text, stop), bill in zip(said, bills, strict=True)]


def _place(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _read_choice(choice: Mapping[str, Any]) -> tuple[str | None, str | None]:
    message = choice.get("message")
    spoken = message if isinstance(message, dict) else {}
    text, refusal = read_parts(spoken.get("content"))
    refusal = refusal or (spoken["refusal"] if isinstance(spoken.get("refusal"), str) else None)
    if refusal:
        return refusal, "refusal"
    functions = [call.get("function") for call in objects(spoken.get("tool_calls"))]
    return read_tool_calls(objects(functions)) or text, normal_stop(choice.get("finish_reason"))


def _read_output(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    output = objects(body["output"])
    parts = [read_parts(one.get("content")) for one in output if one.get("type", "message") == "message"]
    refusal = "".join(refused for _, refused in parts if refused)
    if refusal:
        return refusal, "refusal"
    spoken = [text for text, _ in parts if text is not None]
    calls = read_tool_calls([one for one in output if one.get("type") == "function_call"])
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return calls or ("".join(spoken) if spoken else None), normal_stop(reason or body.get("status"))
