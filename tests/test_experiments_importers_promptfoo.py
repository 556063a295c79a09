"""Results of promptfoo: hand-written ones of its shape, and those of the real tool where it is installed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fault_replies import Fault, Status
from tool_logs import ToolServer, find_tool, promptfoo_result, run_tool, write_jsonl

from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.labelling import PASS_OR_FAIL
from experiments.importers.promptfoo import PromptfooReader
from experiments.importers.tool_import import ToolImport, import_runs
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.verdict import CallFailure, Completion

RUBRIC, FACT = "llm-rubric", "factuality"


def judged(kind: str, *, passes: object = True, reason: str = "It names the town.", **fields: object) -> dict[str, Any]:
    return {"type": kind, "pass": passes, "reason": reason, **fields}


def read(path: Path, *, question: str | None = None, reference: str | None = None) -> tuple[list[ImportedAnswer], Any]:
    account = ImportAccount("result")
    reader = PromptfooReader(PASS_OR_FAIL["binary"], question, reference)
    return list(reader([path], account)), account


def only(tmp_path: Path, component: dict[str, Any]) -> Completion | CallFailure:
    """What one assertion's result becomes."""
    path = write_jsonl(tmp_path / "r.jsonl", [promptfoo_result(0, "Town 0", [component])])
    ((answer,), _) = read(path)
    return answer.replies[0].answer


def test_a_passed_and_a_failed_assertion_are_verdicts_with_their_reason(tmp_path: Path) -> None:
    passed = only(tmp_path, judged(RUBRIC))
    assert passed == Completion(
        "It names the town.",
        "openai:chat:judge",
        None,
        usage=passed.usage,
        stated_label="CORRECT",  # type: ignore[union-attr,arg-type]
    )
    failed = only(tmp_path, judged(RUBRIC, passes=False, reason="Another town."))
    assert isinstance(failed, Completion)
    assert (failed.stated_label, failed.text) == ("INCORRECT", "Another town.")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("Model grader produced a malformed response:\nperhaps", "perhaps"),
        ("Could not extract JSON from llm-rubric response", None),
    ],
)
def test_a_reply_that_promptfoo_could_not_read_is_a_failure_and_not_a_failed_assertion(
    tmp_path: Path, reason: str, text: str | None
) -> None:
    said = only(tmp_path, judged(RUBRIC, passes=False, reason=reason, metadata={"graderError": True}))
    assert isinstance(said, Completion)
    assert (said.stated_label, said.stated_failure, said.text) == (None, "unparsed", text)


@pytest.mark.parametrize(
    "component",
    [
        judged(RUBRIC, passes=False, reason="No output"),
        judged(RUBRIC, passes=False, reason="API error: 400 Bad Request"),
        judged(RUBRIC, passes=False, reason="anything", metadata={"graderError": True}),
    ],
)
def test_a_call_that_went_wrong_is_no_verdict(tmp_path: Path, component: dict[str, Any]) -> None:
    assert isinstance(only(tmp_path, component), CallFailure)


@pytest.mark.parametrize("passes", [None, "yes", 1, float("nan")])
def test_what_is_neither_passed_nor_failed_is_no_verdict(tmp_path: Path, passes: object) -> None:
    said = only(tmp_path, judged(RUBRIC, passes=passes))
    assert isinstance(said, CallFailure)
    assert said.reason == "no_verdict"


def test_a_negated_assertion_passes_where_its_grader_says_no(tmp_path: Path) -> None:
    passed, failed = (only(tmp_path, judged("not-llm-rubric", passes=one)) for one in (True, False))
    assert isinstance(passed, Completion)
    assert isinstance(failed, Completion)
    assert (passed.stated_label, failed.stated_label) == ("INCORRECT", "CORRECT")


@pytest.mark.parametrize("kind", ["not-factuality", "not-model-graded-closedqa"])
def test_a_negation_that_promptfoo_ignores_is_not_turned_round(tmp_path: Path, kind: str) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [promptfoo_result(0, "Town 0", [judged(kind), judged(RUBRIC)])])
    answers, account = read(path)
    assert [one.part for one in answers] == [RUBRIC]
    assert account.notes[f"assertion {kind} is decided without its 'not-': not taken"].count == 1


@pytest.mark.parametrize("repeated", [True, False])
def test_the_verdicts_of_an_assertion_set_are_taken_once(tmp_path: Path, *, repeated: bool) -> None:
    """Newer versions write them in the set and once more beside it; twice they would look like repeats that agree."""
    result = promptfoo_result(0, "Town 0", [judged(RUBRIC), judged(FACT, passes=False)])
    parts = result["gradingResult"]["componentResults"]
    whole = {"pass": True, "score": 0.5, "reason": "", "assertion": None, "componentResults": parts}
    result["gradingResult"]["componentResults"] = [whole, *(parts if repeated else [])]
    answers, _ = read(write_jsonl(tmp_path / "r.jsonl", [result]))
    assert [one.part for one in answers] == [RUBRIC, FACT]


def test_question_and_reference_come_from_the_prompt_and_the_assertion_or_from_variables(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [promptfoo_result(3, "Town 3", [judged(FACT)])])
    ((plain,), _) = read(path)
    assert (plain.question, plain.reference, plain.respondent) == (
        "Answer: capital 3?",
        "Town 3",
        "openai:chat:answerer",
    )
    ((named,), _) = read(path, question="question", reference="question")
    assert (named.question, named.reference) == ("capital 3?", "capital 3?")


def test_a_variable_that_holds_a_placeholder_is_filled_in_once(tmp_path: Path) -> None:
    result = promptfoo_result(0, "x", [judged(RUBRIC, value="Names {{ answer }}")])
    result["vars"] = {"answer": "{{question}}", "question": "hidden"}
    ((answer,), _) = read(write_jsonl(tmp_path / "r.jsonl", [result]))
    assert answer.reference == "Names {{question}}"


def test_what_is_not_mapped_is_named(tmp_path: Path) -> None:
    rows = [
        promptfoo_result(0, "Town 0", [judged(RUBRIC), judged("contains")]),
        promptfoo_result(1, None, [], error="API error: 400"),
        promptfoo_result(2, "Town 2", [judged("contains")]),
    ]
    answers, account = read(write_jsonl(tmp_path / "r.jsonl", rows))
    assert len(answers) == 1
    assert account.n_read == 3
    assert set(account.left_out) == {"a result without a response: API error: 400", "a result that no grader judged"}
    assert account.notes["assertion contains is no grader's verdict"].count == 2


def test_repeats_of_one_response_are_repeats_and_kinds_of_assertion_are_runs(tmp_path: Path) -> None:
    rows = [promptfoo_result(at % 2, f"Town {at % 2}", [judged(RUBRIC), judged(FACT, passes=False)]) for at in range(6)]
    path = write_jsonl(tmp_path / "r.jsonl", rows)
    wanted = ToolImport("promptfoo", [path], PromptfooReader(PASS_OR_FAIL["binary"]), PASS_OR_FAIL["binary"], "towns")
    with RunStore(tmp_path / "s.sqlite") as store:
        ids = import_runs(wanted, store, ImportAccount("result"))
        assert [one.rpartition("-")[0] for one in ids] == ["towns-llm-rubric", "towns-factuality"]
        data, _ = load_run_data(store, ids[1])
    (grader,) = data.graders
    assert grader.sampling["repeats"] == 3
    assert Counter(verdict.label for verdict in grader.verdicts) == {"INCORRECT": 6}


def test_json_and_jsonl_of_the_same_results_are_read_alike(tmp_path: Path) -> None:
    rows = [promptfoo_result(at, f"Town {at}", [judged(RUBRIC)]) for at in range(3)]
    whole = tmp_path / "r.json"
    whole.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": rows}, "config": {}}))
    by_line, _ = read(write_jsonl(tmp_path / "r.jsonl", rows))
    at_once, _ = read(whole)
    assert [one.replies for one in by_line] == [one.replies for one in at_once]
    assert [one.item_id for one in by_line] == [one.item_id for one in at_once]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.json", '{"evalId": "e", "results": {"results": [{"prov'),
        ("r.json", '{"results": {"caps": {"exact_match,none": 1}}}'),
        ("r.json", '{"results": {"results": [1]}}'),
        ("r.json", "[]"),
        ("r.json", "[" * 100_000),
        ("r.jsonl", '{"doc_id": 0, "doc": {}, "target": "x", "resps": []}'),
        ("r.jsonl", "\xff\xfe"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ImportFileError, match=rf"{name}.*; expected the results that 'promptfoo eval"):
        read(tmp_path / name)


CONFIG = """
prompts: ["Answer briefly: {{question}}"]
providers:
  - {id: "openai:chat:answerer", config: {apiBaseUrl: "URL", apiKey: none, max_retries: 0}}
  - {id: "openai:chat:other", config: {apiBaseUrl: "URL", apiKey: none, max_retries: 0}}
defaultTest:
  options: {provider: {id: "openai:chat:judge", config: {apiBaseUrl: "URL", apiKey: none, max_retries: 0}}}
tests:
  - vars: {question: "Which town?", answer: Ullenby}
    assert:
      - {type: llm-rubric, value: "Names {{answer}}"}
      - {type: factuality, value: "{{answer}}"}
      - {type: model-graded-closedqa, value: "names {{answer}}"}
      - {type: contains, value: Ullen}
      - {type: not-factuality, value: "{{answer}}"}
      - {type: assert-set, assert: [{type: llm-rubric, value: "In a set names {{answer}}"}]}
  - vars: {question: "boom", answer: Tessen}
    assert: [{type: llm-rubric, value: "Names {{answer}}"}]
  - vars: {question: "Which mute town?", answer: Korvel}
    assert: [{type: llm-rubric, value: "Names {{answer}}"}]
"""


def say(model: str, text: str, times: int) -> str | Fault:
    if "boom" in text:
        return Status(400)
    if model != "judge":
        return "It is Ullenby."
    if "Korvel" in text:
        return "I would rather not say."
    if "(A)" in text:
        return '{"category": "D", "reason": "They disagree."}'
    return '{"reason": "It names the town.", "pass": true, "score": 1.0}' if "<Rubric>" in text else "So it does.\nY"


def promptfoo(folder: Path, command: Sequence[str]) -> Path:
    with ToolServer(say) as server:
        (folder / "config.yaml").write_text(CONFIG.replace("URL", server.openai_url))
        options = ["--repeat", "2", "--no-cache", "--no-table", "--no-progress-bar"]
        run_tool(
            [*command, "eval", "-c", "config.yaml", "-o", "results.json", *options],
            folder,
            PROMPTFOO_DISABLE_TELEMETRY="1",
            PROMPTFOO_DISABLE_UPDATE="1",
            PROMPTFOO_DISABLE_REMOTE_GENERATION="1",
            PROMPTFOO_DISABLE_SHARING="1",
            PROMPTFOO_CONFIG_DIR=str(folder / "config"),
        )
    return folder / "results.json"


def test_results_of_the_real_tool(tmp_path: Path) -> None:
    answers, account = read(promptfoo(tmp_path, find_tool("AUTORATER_PROMPTFOO", "promptfoo")), question="question")
    assert account.n_read == 12
    said = Counter(
        (one.part, one.replies[0].answer.stated_label or one.replies[0].answer.stated_failure)
        for one in answers
        if isinstance(one.replies[0].answer, Completion)
    )
    assert said == {
        ("llm-rubric", "CORRECT"): 8,
        ("llm-rubric", "unparsed"): 4,
        ("factuality", "INCORRECT"): 4,
        ("model-graded-closedqa", "CORRECT"): 4,
    }
    assert {one.respondent for one in answers} == {"openai:chat:answerer", "openai:chat:other"}
    assert {(one.question, one.reference) for one in answers if one.part == "factuality"} == {
        ("Which town?", "Ullenby")
    }
    (reason,) = account.left_out
    assert account.left_out[reason].count == 4
    assert "400" in reason
