"""Files of OpenAI's batch service: both forms of reply, errors, choices, and calls that fit no item."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tool_logs import write_jsonl

from calibration_sets.calibration_set import CalibrationSet
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.labelling import Labelling
from experiments.importers.openai_batch import OpenAIBatchReader
from experiments.importers.tool_import import ToolImport, import_runs
from experiments.reports import RunData
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore


@pytest.fixture
def small(runs: Any) -> CalibrationSet:
    items = [runs.item(number) for number in range(3)]
    found: CalibrationSet = runs.labelled(items, ["C", "I", "C"])
    return found


def call(custom_id: str, response: str, *, n: int = 1, model: str = "judge", form: str = "chat") -> dict[str, Any]:
    text = f"Is this right?\n\nresponse: {response}"
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}], "n": n}
    if form == "responses":
        body = {"model": model, "input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}]}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/x", "body": body}


def chat_line(custom_id: str, *texts: str | None, **message: Any) -> dict[str, Any]:
    choices = [
        {"index": at, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
        for at, text in enumerate(texts)
    ]
    body = {"model": "judge-2026", "choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def run(
    tmp_path: Path,
    small: CalibrationSet,
    calls: list[dict[str, Any]],
    lines: list[dict[str, Any]],
    pattern: str | None = None,
) -> tuple[RunData, ImportAccount]:
    inputs, output = write_jsonl(tmp_path / "in.jsonl", calls), write_jsonl(tmp_path / "out.jsonl", lines)
    reader = OpenAIBatchReader([inputs], small, re.compile(pattern) if pattern else None)
    wanted = ToolImport("openai-batch", [output], reader, Labelling(small.scale, {}), "batch", calibration_set=small)
    account = ImportAccount("line")
    with RunStore(tmp_path / "s.sqlite") as store:
        (run_id,) = import_runs(wanted, store, account)
        return load_run_data(store, run_id)[0], account


def labels(data: RunData, place: int = 0) -> list[str | None]:
    """What one grader says, item by item and repeat by repeat: a label or a failure's detail."""
    order = {item.digest: at for at, item in enumerate(data.calibration_set.items)}
    verdicts = sorted(data.graders[place].verdicts, key=lambda one: (order[one.item_digest], one.repeat))
    return [one.label or (one.detail if one.failure == "not_answered" else one.failure) for one in verdicts]


def test_choices_are_repeats_and_people_keep_their_labels(tmp_path: Path, small: CalibrationSet) -> None:
    calls = [call(f"item-{at:03}", f"response {at}", n=2) for at in range(3)]
    lines = [chat_line("item-002", "A", "hello"), chat_line("item-000", "A", "B"), chat_line("item-001", "C", "C")]
    data, account = run(tmp_path, small, calls, lines)
    assert labels(data) == ["CORRECT", "INCORRECT", "NOT_ATTEMPTED", "NOT_ATTEMPTED", "CORRECT", "unparsed"]
    assert data.calibration_set.human_labels == small.human_labels
    usage = data.graders[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (27, 12)
    assert (account.n_read, account.left_out) == (3, {})


def test_replies_of_the_responses_form_are_read_with_their_end(tmp_path: Path, small: CalibrationSet) -> None:
    def line(custom_id: str, text: str, **body: Any) -> dict[str, Any]:
        output = [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": text}]}]
        whole = {"model": "judge", "status": "completed", "output": output, **body}
        return {"custom_id": custom_id, "response": {"status_code": 200, "body": whole}}

    refusal = [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]
    lines = [
        line("item-000", "A"),
        line("item-001", "Well,", status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        line("item-002", "", output=refusal),
    ]
    calls = [call(f"item-{at:03}", f"response {at}", form="responses") for at in range(3)]
    assert labels(run(tmp_path, small, calls, lines)[0]) == ["CORRECT", "truncated", "refused"]


def test_errors_are_failures_with_their_reasons(tmp_path: Path, small: CalibrationSet) -> None:
    refused = {"status_code": 400, "body": {"error": {"code": "bad_thing", "message": "no"}}}
    lines = [
        {"custom_id": "item-000", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        {"custom_id": "item-001", "response": refused, "error": None},
    ]
    calls = [call(f"item-{at:03}", f"response {at}") for at in range(3)]
    data, account = run(tmp_path, small, calls, lines)
    assert labels(data) == ["batch_expired", "bad_thing", "no_line"]
    assert sum(tally.count for what, tally in account.notes.items() if "without a reply" in what) == 3


def test_choices_stand_in_the_order_of_their_index_and_one_that_is_missing_is_a_failure(
    tmp_path: Path, small: CalibrationSet
) -> None:
    """There is no verdict of a tool to compare with either, so none is said to differ."""
    said = [{"index": at, "message": {"content": "AB"[at]}, "finish_reason": "stop"} for at in (1, 0)]
    line = {"custom_id": "item-000", "response": {"status_code": 200, "body": {"model": "judge", "choices": said}}}
    asked = call("item-000", "response 0")
    calls = [{**asked, "body": {**asked["body"], "n": 3}}]
    data, account = run(tmp_path, small, calls, [line])
    told = [one.label or one.detail for one in data.graders[0].verdicts if one.detail != "not_asked"]
    assert told == ["CORRECT", "INCORRECT", "no_choice"]
    assert account.n_alike == 0
    assert not account.other_verdicts


def test_a_call_about_other_content_is_left_out_with_its_line(tmp_path: Path, small: CalibrationSet) -> None:
    calls = [call("item-000", "response 0"), call("item-001", "other"), call("stranger", "response 2")]
    data, account = run(tmp_path, small, calls, [chat_line(one["custom_id"], "A") for one in calls])
    assert labels(data) == ["CORRECT", "not_asked", "not_asked"]
    assert sorted(tally.count for tally in account.left_out.values()) == [1, 1, 2]


def test_a_pattern_tells_items_and_graders(tmp_path: Path, small: CalibrationSet) -> None:
    calls = [
        call(f"{grader}/item-{at:03}/{draw}", f"response {at}")
        for grader in ("strict", "mild")
        for at in range(3)
        for draw in range(2)
    ]
    lines = [chat_line(one["custom_id"], "B" if "strict" in one["custom_id"] else "A") for one in calls]
    data, _ = run(tmp_path, small, calls, lines, r"(?P<grader>\w+)/(?P<item>.+)/\d")
    said = {
        str(one.prompt).partition("@")[0]: Counter(verdict.label for verdict in one.verdicts) for one in data.graders
    }
    assert said == {"strict": {"INCORRECT": 6}, "mild": {"CORRECT": 6}}
    assert {one.sampling["repeats"] for one in data.graders} == {2}


def test_tool_calls_refusals_and_missing_choices(tmp_path: Path, small: CalibrationSet) -> None:
    tool = [{"type": "function", "function": {"name": "verdict", "arguments": '{"verdict": "INCORRECT"}'}}]
    empty = chat_line("item-002")
    lines = [
        chat_line("item-000", None, tool_calls=tool),
        chat_line("item-001", None, refusal="I cannot."),
        {**empty, "response": {"status_code": 200, "body": {"model": "judge", "choices": []}}},
    ]
    calls = [call(f"item-{at:03}", f"response {at}") for at in range(3)]
    assert labels(run(tmp_path, small, calls, lines)[0]) == ["INCORRECT", "refused", "unreadable_reply"]


@pytest.mark.parametrize(
    ("calls", "lines", "told"),
    [
        ([call("item-000", "response 0")] * 2, [], r"in\.jsonl:2: custom_id 'item-000' comes twice"),
        (
            [call("item-000", "response 0")],
            [chat_line("item-000", "A")] * 2,
            r"out\.jsonl:2: a second line of custom_id",
        ),
        ([{"doc_id": 0, "doc": {}, "target": ""}], [], r"in\.jsonl:1: a line of lm-eval's sample log"),
        ([call("item-000", "response 0")], [call("item-000", "x")], r"out\.jsonl:1: a line of a batch's input file"),
        ([call("nobody", "x")], [chat_line("nobody", "A")], r"no reply of a grader; .*names no item of small"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    tmp_path: Path, small: CalibrationSet, calls: list[dict[str, Any]], lines: list[dict[str, Any]], told: str
) -> None:
    with pytest.raises(ImportFileError, match=told):
        run(tmp_path, small, calls, lines)
