"""Files that are almost right: whatever stands in one place of a record, it is read, left out, or refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_logs import promptfoo_result

from calibration_sets.calibration_set import CalibrationSet
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ReadFiles
from experiments.importers.gathering import Gathered, gather
from experiments.importers.labelling import PASS_OR_FAIL
from experiments.importers.lm_eval import LmEvalReader
from experiments.importers.openai_batch import OpenAIBatchReader
from experiments.importers.promptfoo import PromptfooReader
from experiments.importers.simple_evals import SimpleEvalsReader

RESULT = promptfoo_result(
    0, "Town 0", [{"type": "llm-rubric", "pass": True, "reason": "so", "metadata": {"renderedAssertionValue": "x"}}]
)
SAMPLE = {
    "doc_id": 0,
    "doc": {"question": "q"},
    "target": "t",
    "arguments": {"gen_args_0": {"arg_0": ['[{"role": "user", "content": "q"}]']}},
    "resps": [["r"]],
    "filter": "none",
    "metrics": ["m"],
    "m": 1.0,
    "doc_hash": "h",
}
CALL = {
    "custom_id": "item-000",
    "body": {"model": "m", "n": 2, "messages": [{"role": "user", "content": [{"type": "text", "text": "response 0"}]}]},
}
ANSWER = {
    "custom_id": "item-000",
    "error": None,
    "response": {
        "status_code": 200,
        "body": {
            "model": "m",
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 0}},
            "choices": [{"message": {"content": "A", "tool_calls": []}, "finish_reason": "stop"}],
        },
    },
}
OUTPUT = {
    "custom_id": "item-000",
    "response": {
        "status_code": 200,
        "body": {
            "model": "m",
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "A"}]}],
        },
    },
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["\ud83d", "\x00", "x" * 100_000, "{{", "not-llm-rubric"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of plain data."""
    if at:
        yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*at, key))


def changed(record: Mapping[str, Any], at: tuple[Any, ...], value: object) -> dict[str, Any]:
    made = copy.deepcopy(dict(record))
    inner: Any = made
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return made


def read(folder: Path, record: object, reader: ReadFiles) -> ImportAccount | None:
    """The account, or nothing where the file is refused as it should be."""
    (folder / "f.jsonl").write_text(json.dumps(record) + "\n")
    account = ImportAccount()
    refusal = ""
    try:
        with Gathered() as gathered:
            gather(reader([folder / "f.jsonl"], account), gathered, account, PASS_OR_FAIL["binary"])
            for part in gathered.parts:
                assert all(reply.digest in gathered.parts[part].items for reply in gathered.replies(part))
    except ImportFileError as error:
        refusal = str(error)
    assert not refusal or "; expected " in refusal
    return None if refusal else account


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def small(runs: Any) -> CalibrationSet:
    found: CalibrationSet = runs.labelled([runs.item(0)], ["C"])
    return found


@settings(max_examples=150)
@given(at=st.sampled_from(sorted(places(RESULT), key=str)), value=VALUES)
def test_any_value_in_any_place_of_a_promptfoo_result(folder: Path, at: tuple[Any, ...], value: object) -> None:
    read(folder, changed(RESULT, at, value), PromptfooReader(PASS_OR_FAIL["binary"]))


@settings(max_examples=150)
@given(at=st.sampled_from(sorted(places(SAMPLE), key=str)), value=VALUES)
def test_any_value_in_any_place_of_an_lm_eval_line(folder: Path, at: tuple[Any, ...], value: object) -> None:
    read(folder, changed(SAMPLE, at, value), LmEvalReader(respondent="m"))


@settings(max_examples=200)
@given(
    place=st.sampled_from([(record, at) for record in (ANSWER, OUTPUT) for at in sorted(places(record), key=str)]),
    value=VALUES,
)
def test_any_value_in_any_place_of_a_batch_line(
    folder: Path, small: CalibrationSet, place: tuple[Mapping[str, Any], tuple[Any, ...]], value: object
) -> None:
    record, at = place
    (folder / "in.jsonl").write_text(json.dumps(CALL) + "\n")
    account = read(folder, changed(record, at, value), OpenAIBatchReader([folder / "in.jsonl"], small))
    # The call is accounted for, whatever its line is.
    assert account is None or account.n_answers == 1


@settings(max_examples=100)
@given(at=st.sampled_from(sorted(places(CALL), key=str)), value=VALUES)
def test_any_value_in_any_place_of_a_batch_call(
    folder: Path, small: CalibrationSet, at: tuple[Any, ...], value: object
) -> None:
    (folder / "in.jsonl").write_text(json.dumps(changed(CALL, at, value)) + "\n")
    read(folder, ANSWER, OpenAIBatchReader([folder / "in.jsonl"], small))


@settings(max_examples=100)
@given(pieces=st.lists(st.sampled_from(["<h3>", "</h3>", "Prompt conversation", "Results", "<pre>", "</pre>", "<p>",
                                        "</p>", '<div class="message user">', "Correct Answer: x", "Sampled message",
                                        "<hr>", "&#xd800;", "&", "<!--", "<h4>", "</h4>", '<div class>'])))  # fmt: skip
def test_any_page(folder: Path, pieces: list[str]) -> None:
    (folder / "r.html").write_text("<h3>Prompt conversation</h3>" + "".join(pieces))
    account = ImportAccount()
    with Gathered() as gathered:
        gather(SimpleEvalsReader("m")([folder / "r.html"], account), gathered, account, PASS_OR_FAIL["binary"])
    assert account.n_read >= 1
