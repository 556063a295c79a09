"""`autorater import`: other tools' files on the command line, and what the runs that they become are good for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import Ran, autorater
from tool_logs import promptfoo_result, write_jsonl

from calibration_sets.item import HumanLabel
from calibration_sets.loader import load_set
from calibration_sets.records import SetHeader
from calibration_sets.scale import BINARY
from calibration_sets.writer import write_set


def run_of(ran: Ran) -> str:
    """The only run that was printed."""
    assert ran.code == 0, ran.err
    (run,) = re.findall(r"^run (\S+)$", ran.err, re.MULTILINE)
    return str(run)


@pytest.fixture
def log(inspect_logs: Mapping[str, Path]) -> Path:
    return inspect_logs["numbered"]


def label(folder: Path) -> None:
    """A copy of the set in ``plain``, labelled by the rule that the answerer was made by."""
    plain = load_set(folder / "plain")
    header = SetHeader("caps", "1.0.0", "simpleqa@1.0.0", BINARY, "human", "CC0-1.0", "us", "Towns.")
    labels = tuple(
        HumanLabel(
            item.item_id,
            item.digest,
            "ann",
            "CORRECT" if item.reference.text in item.response else "INCORRECT",
            header.rubric,
        )
        for item in plain.items
    )
    write_set(header.with_content(plain.items, labels), folder / "caps")


def test_an_inspect_log_becomes_a_run_that_the_other_commands_take(log: Path, tmp_path: Path) -> None:
    ran = autorater(tmp_path, "import", "inspect", str(log), "--name", "caps")
    run = run_of(ran)
    assert "12 samples read, 12 taken: 12 items on 12 questions, 24 replies of graders; no label of a person" in ran.err
    assert "24 alike, 0 not" in ran.err
    assert ran.out == autorater(tmp_path, "report", run).out
    assert "No item has a label." in ran.out
    assert "given by people" not in ran.out + autorater(tmp_path, "runs", "show", run).out
    assert run_of(autorater(tmp_path, "import", "inspect", str(log), "--name", "caps")) == run
    for words in (["queue", run, "--out", "queue.csv"], ["runs", "show", run]):
        assert autorater(tmp_path, *words).code == 0


def test_a_labelled_set_of_the_same_responses_gives_the_run_its_labels(log: Path, tmp_path: Path) -> None:
    made = autorater(tmp_path, "import", "inspect", str(log), "--to", "plain")
    assert made.code == 0, made.err
    assert made.out == "wrote plain 1.0.0 to plain: 12 items, not labelled\n"
    label(tmp_path)
    ran = autorater(tmp_path, "import", "inspect", str(log), "--set", "./caps", "--name", "caps")
    run = run_of(ran)
    assert "12 labels of people, of set caps" in ran.err
    compared = autorater(tmp_path, "ab", run)
    assert compared.code == 0, compared.err
    assert "model_graded_qa@inspect" in compared.out
    assert "model_graded_fact@inspect" in compared.out
    chosen = autorater(tmp_path, "choose", run)
    assert chosen.code == 0, chosen.err


def test_several_kinds_of_assertion_are_several_runs_and_no_report_is_printed(tmp_path: Path) -> None:
    components = [
        {"type": kind, "pass": True, "reason": "so"} for kind in ("llm-rubric", "factuality", "model-graded-closedqa")
    ]
    write_jsonl(tmp_path / "r.jsonl", [promptfoo_result(at, f"Town {at}", components) for at in range(3)])
    ran = autorater(tmp_path, "import", "promptfoo", "r.jsonl", "--name", "towns")
    assert (ran.code, ran.out) == (0, "")
    assert len(re.findall(r"^run towns-", ran.err, re.MULTILINE)) == 3


def test_files_without_graders_make_a_set_alone(tmp_path: Path) -> None:
    line = {"doc_id": 0, "doc": {"question": "q"}, "target": "t", "arguments": {}, "resps": [["r"]], "filter": "none"}
    write_jsonl(tmp_path / "s.jsonl", [line])
    ran = autorater(tmp_path, "import", "lm-eval", "s.jsonl", "--to", "made", "--scale", "binary")
    assert ran.code == 0, ran.err
    assert load_set(tmp_path / "made").scale == BINARY
    again = autorater(tmp_path, "import", "lm-eval", "s.jsonl", "--to", "made")
    assert again.code == 2
    assert "not empty; expected a new or empty folder" in again.err


def test_a_batch_is_matched_to_a_set(tmp_path: Path) -> None:
    item = load_set("probes").items[0]
    call = {"custom_id": item.item_id, "body": {"model": "m", "messages": [{"role": "user", "content": item.response}]}}
    body = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
    write_jsonl(tmp_path / "in.jsonl", [call])
    write_jsonl(tmp_path / "out.jsonl", [{"custom_id": item.item_id, "response": {"status_code": 200, "body": body}}])
    words = ["import", "openai-batch", "out.jsonl", "--input", "in.jsonl", "--set", "probes"]
    ran = autorater(tmp_path, *words, "--labels", "yes=CORRECT", "--labels", "no=INCORRECT", "--format", "json")
    assert run_of(ran).startswith("probes-batch-")
    assert '"CORRECT"' in ran.out


def test_files_in_another_order_and_under_other_names_are_the_same_run(tmp_path: Path) -> None:
    for at, name in enumerate(("a", "b")):
        rows = [promptfoo_result(0, "Town", [{"type": "factuality", "pass": bool(at), "reason": name}])]
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir(exist_ok=True)
            write_jsonl(tmp_path / folder / f"{name if folder == 'one' else 'ba'[at]}.jsonl", rows)
    ran = [
        autorater(tmp_path, "import", "promptfoo", *files)
        for files in (["one/a.jsonl", "one/b.jsonl"], ["one/b.jsonl", "one/a.jsonl"], ["two/a.jsonl", "two/b.jsonl"])
    ]
    assert len({run_of(one) for one in ran}) == 1
    assert len({one.out for one in ran}) == 1


def test_what_a_file_says_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    rows = [
        promptfoo_result(0, "Town", [{"type": "factuality", "pass": True, "reason": "so"}]),
        promptfoo_result(1, None, [], error="\x1b[31mred"),
    ]
    write_jsonl(tmp_path / "r.jsonl", rows)
    ran = autorater(tmp_path, "import", "promptfoo", "r.jsonl")
    assert ran.code == 0
    assert "\x1b" not in ran.err
    assert "\\x1b[31mred" in ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["openai-batch", "o", "--input", "i", "--set", "probes", "--id", "("], "--id: '('"),
        (["openai-batch", "o", "--input", "i", "--set", "probes", "--id", "(.*)"], "a group (?P<item>...)"),
        (["openai-batch", "gone", "--input", "i", "--set", "probes"], "gone: No such file"),
        (["inspect", "gone.eval"], "gone.eval: No such file"),
        (["inspect", "x", "--labels", "nope"], "--labels: nope; expected one of binary"),
        (["promptfoo", "x", "--set", "probes", "--to", "y"], "--to and --set: both given"),
        (["promptfoo", "x", "--repeats", "0"], "--repeats: 0; expected 1 or more"),
        (["simple-evals", "x", "--to", "y", "--respondent", "m", "--scale", "nope"], "--scale: 'nope'"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(tmp_path: Path, words: list[str], told: str) -> None:
    ran = autorater(tmp_path, "import", *words)
    assert ran.code == 2
    assert told in ran.err
    assert ran.err.count("\n") == 1
