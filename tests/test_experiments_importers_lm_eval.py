"""Sample logs of lm-eval: hand-written ones of its shape, and those of the real tool where it is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tool_logs import ToolServer, find_tool, run_tool, write_jsonl

from calibration_sets.loader import load_set
from calibration_sets.scale import SIMPLEQA
from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.labelling import Labelling
from experiments.importers.lm_eval import LmEvalReader
from experiments.importers.tool_import import ToolImport, import_set


def line(number: int, responses: list[Any], **fields: Any) -> dict[str, Any]:
    chat = json.dumps([{"role": "user", "content": f"Question: capital {number}?\nAnswer:"}])
    return {
        "doc_id": number,
        "doc": {"question": f"capital {number}?", "answer": f"Town {number}"},
        "target": f"Town {number}",
        "arguments": {"gen_args_0": {"arg_0": [chat], "arg_1": {}}},
        "resps": [responses],
        "filtered_resps": responses[:1],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": f"hash {number}",
        "exact_match": 1.0,
        **fields,
    }


def read(path: Path, **options: Any) -> tuple[list[ImportedAnswer], ImportAccount]:
    account = ImportAccount("line")
    return list(LmEvalReader(**options)([path], account)), account


def test_each_response_of_a_document_is_an_item_of_its_question(tmp_path: Path) -> None:
    folder = tmp_path / "org__model"
    folder.mkdir()
    path = write_jsonl(folder / "samples_caps_2026-11-30T10-00-00.123456.jsonl", [line(7, ["Town 7", "Town 8"])])
    answers, _ = read(path)
    assert [(one.item_id, one.response) for one in answers] == [
        ("org__model/caps/7/0", "Town 7"),
        ("org__model/caps/7/1", "Town 8"),
    ]
    assert {(one.question, one.reference, one.respondent) for one in answers} == {
        ("capital 7?", "Town 7", "org__model")
    }
    assert answers[0].metadata == {"lm_eval": {"filter": "none", "exact_match": 1.0}}
    assert not any(one.replies for one in answers)


def test_lines_of_further_filters_add_no_item(tmp_path: Path) -> None:
    rows = [line(0, ["a"], filter="first"), line(1, ["b"], filter="first"), line(0, ["a"], filter="last")]
    answers, account = read(write_jsonl(tmp_path / "s.jsonl", rows))
    assert len(answers) == 2
    assert account.left_out["a line of a further filter over the same responses"].count == 1


def test_log_likelihoods_are_no_responses(tmp_path: Path) -> None:
    answers, account = read(write_jsonl(tmp_path / "s.jsonl", [line(0, [[-1.5, True]]), line(1, [])]))
    assert not answers
    assert account.left_out["a line without a text that answers (log-likelihoods, or nothing)"].count == 2


def test_the_question_is_the_prompt_where_the_document_has_none(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "s.jsonl", [line(0, ["a"], doc={"passage": "p"}, target=["one", "two"])])
    ((answer,), _) = read(path)
    assert (answer.question, answer.reference, list(answer.aliases)) == (
        "Question: capital 0?\nAnswer:",
        "one",
        ["two"],
    )
    ((named,), _) = read(path, question="passage", reference="passage", respondent="me")
    assert (named.question, named.reference, named.respondent) == ("p", "p", "me")
    with pytest.raises(ImportFileError, match=r"s\.jsonl:1: no field 'gone' in the document; expected one of passage"):
        read(path, question="gone")


def test_a_metric_that_is_no_number_stays_out_of_the_set(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "s.jsonl", [line(0, ["a"], exact_match=float("nan"))])
    wanted = ToolImport("lm-eval", [path], LmEvalReader(), Labelling(SIMPLEQA, {}), "lm-eval")
    import_set(wanted, tmp_path / "made", ImportAccount("line"))
    made = load_set(tmp_path / "made")
    assert made.items[0].metadata == {"lm_eval": {"filter": "none"}}
    assert (made.human_labels, made.scale) == ((), SIMPLEQA)


@pytest.mark.parametrize(
    "content",
    ['{"doc_id": 0, "doc": {"q', "{}", "[1]", "no", '{"custom_id": "a", "response": {}}', '{"a": ' * 5000, "\ud800x"],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "s.jsonl").write_bytes(content.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(ImportFileError, match=r"s\.jsonl:1: .*; expected a sample log of lm-eval"):
        read(tmp_path / "s.jsonl")


TASK = """
task: capitals
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: generate_until
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 16}
repeats: 2
metric_list: [{metric: exact_match}]
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: most, filter: [{function: majority_vote}, {function: take_first}]}
"""


def count(model: str, text: str, times: int) -> str:
    return f"Ullenby, {times}"


@pytest.mark.slow
@pytest.mark.slow
def test_logs_of_the_real_tool(tmp_path: Path) -> None:
    command = find_tool("AUTORATER_LM_EVAL", "lm_eval")
    docs = [{"question": f"Town {number}?", "answer": "Ullenby"} for number in range(2)]
    (tmp_path / "capitals.yaml").write_text(TASK.replace("DATA", str(write_jsonl(tmp_path / "docs.jsonl", docs))))
    with ToolServer(count) as server:
        model = f"base_url={server.openai_url}/chat/completions,model=answerer,max_retries=1,tokenized_requests=False"
        options = ["--tasks", "capitals", "--include_path", ".", "--apply_chat_template", "--log_samples"]
        ran = run_tool(
            [*command, "--model", "local-chat-completions", "--model_args", model, *options, "--output_path", "out"],
            tmp_path,
            OPENAI_API_KEY="none",
        )
    assert ran.returncode == 0, ran.stderr[-2000:]
    (log,) = tmp_path.glob("out/*/samples_*.jsonl")
    answers, account = read(log)
    assert account.left_out["a line of a further filter over the same responses"].count == 2
    assert sorted((one.item_id, one.question, one.reference, one.response) for one in answers) == [
        (f"answerer/capitals/{doc}/{number}", f"Town {doc}?", "Ullenby", f"Ullenby, {number}")
        for doc in range(2)
        for number in range(2)
    ]
