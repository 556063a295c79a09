"""Reports of simple-evals: hand-written ones of its shape, and those of the real package where it is installed."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import ToolServer, find_tool, run_tool

from experiments.errors import ImportFileError
from experiments.importers.account import ImportAccount
from experiments.importers.answers import ImportedAnswer
from experiments.importers.simple_evals import SimpleEvalsReader

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


def message(role: str, text: str) -> str:
    said = f'<div class="role">{role}</div><div class="content">\n<pre>{html.escape(text)}</pre></div>'
    return f'<div class="message {role}">{said}</div>'


def example(said: Sequence[tuple[str, str]], response: str, reference: str, score: str = "True") -> str:
    prompt = "\n".join(message(role, text) for role, text in said)
    results = f"<p>Correct Answer: {html.escape(reference)}</p>\n<p>Extracted Answer: x</p>\n<p>Score: {score}</p>\n"
    return (
        f"<h3>Prompt conversation</h3>\n{prompt}\n<h3>Sampled message</h3>\n{message('assistant', response)}\n"
        f"<h3>Results</h3>\n{results}<h4>Token Usage</h4><ul><li>Total Tokens: 8</li></ul>\n"
    )


def page(*examples: str) -> str:
    return f"<!DOCTYPE html><html><body><h1>Examples</h1>{'<hr>'.join(examples)}<hr></body></html>"


def read(path: Path) -> tuple[list[ImportedAnswer], ImportAccount]:
    account = ImportAccount("example")
    return list(SimpleEvalsReader("answerer")([path], account)), account


@given(question=TEXTS, response=TEXTS, reference=TEXTS)
def test_texts_come_out_of_the_page_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, question: str, response: str, reference: str
) -> None:
    path = tmp_path_factory.mktemp("page") / "r.html"
    path.write_text(page(example([("user", question)], response, f"r{reference}")), encoding="utf-8", newline="")
    ((answer,), _) = read(path)
    assert (answer.question, answer.response, answer.reference) == (question, response, f"r{reference}")


def test_scores_are_metadata_and_no_verdicts(tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text(page(*(example([("user", f"q{at}")], "a", "b", "False") for at in range(2))))
    answers, account = read(tmp_path / "r.html")
    assert [one.metadata for one in answers] == [{"simple_evals": {"score": "False"}}] * 2
    assert not any(one.replies for one in answers)
    assert any("no grader's replies" in note for note in account.notes)


def test_a_conversation_keeps_who_said_what_and_half_an_example_is_left_out(tmp_path: Path) -> None:
    whole = example([("system", "Be brief."), ("user", "Which town?")], "Ullenby", "Ullenby")
    half = "<h3>Prompt conversation</h3>" + message("user", "lost") + "<h3>Results</h3><p>Score: False</p>"
    (tmp_path / "r.html").write_text(page(whole, half))
    ((answer,), account) = read(tmp_path / "r.html")
    assert answer.question == "system: Be brief.\n\nuser: Which town?"
    assert account.n_read == 2
    assert account.left_out["an example without a sampled message or a correct answer"].first == "r.html: example 2"


def test_all_results_in_json_hold_the_same_pages(tmp_path: Path) -> None:
    pages = [example([("user", f"q{at}")], f"a{at}", "b") for at in range(3)]
    (tmp_path / "x_allresults.json").write_text(json.dumps({"score": 1, "htmls": pages, "convos": []}))
    answers, _ = read(tmp_path / "x_allresults.json")
    assert [(one.question, one.response) for one in answers] == [(f"q{at}", f"a{at}") for at in range(3)]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.html", "<html><body>Another page</body></html>", "no example of simple-evals in it"),
        ("r.html", "", "no example"),
        ("r.json", '{"score": 0.5, "task_name": "simpleqa"}', "metrics alone"),
        ("r.json", '{"htmls": [1]}', "an object with"),
        ("r.json", '{"htmls": ["', "not JSON"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ImportFileError, match=rf"{name}: .*{told}.*; expected a report of simple-evals"):
        read(tmp_path / name)


# The package takes its questions from the network; what it makes of them is its own, from asking to report.
_RUN = """
import asyncio, sys
from simple_evals import common
from simple_evals.evals.simpleqa_eval import SimpleQAEval
from simple_evals.sampler.chat_completion_sampler import ChatCompletionSampler
from simple_evals.seed_generator import SeedGenerator
asked = SimpleQAEval.__new__(SimpleQAEval)
asked.seed_generator, asked.custom_eval_config = SeedGenerator(), None
asked.examples = [
    dict(problem="Which <b>town</b> & why?", answer="Ullenby"), dict(problem="Other town?", answer="Tessen")
]
asked.n_repeats, asked.num_threads, asked.first_n, asked.cache_dir = 1, 1, None, "cache"
asked.grader_model = ChatCompletionSampler(model="judge", url=sys.argv[1], system_message=None)
result = asyncio.run(asked(ChatCompletionSampler(model="answerer", url=sys.argv[1])))
open("report.html", "w").write(common.make_report(result))
"""


def say(model: str, text: str, times: int) -> str:
    return "A" if model == "judge" else "Ullenby < Tessen"


def test_a_report_of_the_real_package(tmp_path: Path) -> None:
    command = find_tool("AUTORATER_SIMPLE_EVALS", "simple-evals-python")
    with ToolServer(say) as server:
        ran = run_tool([*command, "-c", _RUN, f"{server.openai_url}/chat/completions"], tmp_path)
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers, _ = read(tmp_path / "report.html")
    assert {(one.question, one.reference, one.response) for one in answers} == {
        ("Which <b>town</b> & why?", "Ullenby", "Ullenby < Tessen"),
        ("Other town?", "Tessen", "Ullenby < Tessen"),
    }
    assert {str(one.metadata) for one in answers} == {"{'simple_evals': {'score': 'True'}}"}
