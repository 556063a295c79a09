"""The shipped experiments, from the command line to the printed decision, against a server of this machine."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("aiohttp")

from command_line import autorater, decision_of, shipped_text, told_commands
from plausible_server import PlausibleServer, truth_of

import calibration_sets.fetch
from calibration_sets.fetch import Source, SourceFile
from calibration_sets.loader import load_set
from experiments.specs.experiment import list_experiments, load_experiment
from graders.providers import openai_service

SERVICES = re.compile(r'^(model = "(openai|anthropic|vllm-server)/.*")$', re.MULTILINE)
Serve = Callable[[PlausibleServer, str], str]


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Copies a shipped experiment into the folder, every service of it at the server's address."""

    def copy(server: PlausibleServer, name: str) -> str:
        addresses = {"anthropic": server.anthropic_url}
        text = SERVICES.sub(
            lambda found: f'{found[1]}\nbase_url = "{addresses.get(found[2], server.openai_url)}"', shipped_text(name)
        )
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
        return f"{name}.toml"

    return copy


@pytest.fixture(scope="module")
def probe_server() -> Iterator[PlausibleServer]:
    """Knows the probes, and what they deserve in two prompts."""
    probes = load_set("probes")
    answers = {item.question: item.reference.text for item in probes.items}
    with PlausibleServer(answers, probes, ("simpleqa_verified", "simpleqa_short")) as server:
        yield server


def test_every_shipped_experiment_is_run_in_some_test() -> None:
    here = Path(__file__)
    files = (here, here.with_name("test_experiments_library_local.py"), here.with_name("test_vllm_experiment.py"))
    tests = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in list_experiments() if f'"{name}' not in tests] == []


def test_twelve_models_are_compared_as_graders(tmp_path: Path, probe_server: PlausibleServer, serve: Serve) -> None:
    before = len(probe_server.requests)
    ran = autorater(tmp_path, "run", serve(probe_server, "twelve_models"), "--limit", "12")
    assert ran.code == 0, ran.err
    asked = [(call.body["model"], call.path) for call in probe_server.requests[before:]]
    # OpenAI's models give three choices a call, Anthropic's one.
    assert len(asked) == 12 * (7 + 5 * 3)
    assert len({model for model, _ in asked}) == 12
    assert {path for model, path in asked if model.startswith("claude")} == {"/v1/messages"}
    decision = decision_of(autorater(tmp_path, "choose", "twelve_models"))
    assert "12 candidates were compared on 12 items" in decision
    assert "are not distinguishable from the best: simpleqa_verified@1.0.0 " in decision


@pytest.mark.slow
def test_ten_wordings_of_the_question_are_compared(tmp_path: Path, probe_server: PlausibleServer, serve: Serve) -> None:
    ran = autorater(tmp_path, "run", serve(probe_server, "ab_anti_abstention"), "--limit", "14")
    assert ran.code == 0, ran.err
    assert "12 models x 10 wordings x 14 of 85 questions" in ran.err
    decision = decision_of(autorater(tmp_path, "ab", "ab_anti_abstention"))
    assert decision.startswith("Adopt commit_to_one@1.0.0")
    assert "It rests on 14 question rows of 14 questions, 10 wordings and 12 models." in decision


def test_a_server_of_vllm_takes_the_place_of_the_model_in_this_process(
    tmp_path: Path, probe_server: PlausibleServer, serve: Serve
) -> None:
    """As the comment of ``vllm_local`` says."""
    text = shipped_text("vllm_local")
    (served,) = re.findall(r'^#   (model = "vllm-server/.*")$', text, re.MULTILINE)
    model = served.split('"')[1].removeprefix("vllm-server/")
    text = text.replace(f'model = "vllm/{model}"', f'{served}\nbase_url = "{probe_server.openai_url}"')
    (tmp_path / "served.toml").write_text(text, encoding="utf-8")
    ran = autorater(tmp_path, "run", "served.toml", "--limit", "30")
    assert ran.code == 0, ran.err
    decision = decision_of(autorater(tmp_path, "choose", "vllm_local"))
    assert "4 candidates were compared on 30 items of 27 questions" in decision
    assert "baseline/lexical, short then long" in decision


def test_vllm_local_can_be_read_and_planned_without_vllm(tmp_path: Path) -> None:
    experiment = load_experiment("vllm_local")
    assert [grader.model for grader in experiment.graders] == [
        *["vllm/Qwen/Qwen2.5-7B-Instruct"] * 2,
        "baseline/lexical",
    ]
    planned = autorater(tmp_path, "run", "vllm_local", "--dry-run")
    assert planned.code == 0, planned.err
    lines = planned.out.splitlines()
    assert lines[0] == f"run {experiment.run_id}"
    asked = [(line.split()[2], line.split()[-1]) for line in lines[-3:]]
    assert asked == [("1000", "vllm/Qwen/Qwen2.5-7B-Instruct")] * 2 + [("100", "baseline/lexical")]
    assert list(tmp_path.iterdir()) == []


def test_vllm_local_says_what_to_install(tmp_path: Path) -> None:
    if importlib.util.find_spec("vllm") is not None:
        pytest.skip("SKIPPED, NOT PASSED: vLLM is installed")
    ran = autorater(tmp_path, "run", "vllm_local", "--limit", "1")
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("error: vllm: not installed; expected it, by pip install")


def test_a_benchmark_is_fetched_answered_graded_labelled_and_scored_by_the_commands_told(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = write_benchmark(tmp_path / "mine.csv")
    publish(tmp_path / "mine.csv", monkeypatch)
    monkeypatch.setenv("AUTORATER_CACHE", str(tmp_path / "cache"))
    pages = []
    with PlausibleServer(answers) as server:
        for words in told_commands(shipped_text("score_simpleqa_verified")):
            if words[:2] == ["sets", "fetch"]:
                words += ["--from-file", "mine.csv"]
            if words[0] == "run":
                words[1] = serve(server, words[1])
            paid = len(server.requests)
            ran = autorater(tmp_path, *words)
            assert ran.code == 0, (words, ran.err)
            if words[0] == "queue":
                label(tmp_path / "labels.csv")
            if words[:2] == ["run", "labels_simpleqa_verified.toml"]:
                assert len(server.requests) == paid, "what was judged before is not paid again"
            if words[0] == "score":
                pages.append(decision_of(ran))
    graded, corrected = pages
    assert "400 responses to 200 questions of simpleqa_verified-responses 1.0.0, graded by" in graded
    assert "Not corrected, and to be called so wherever it is shown" in graded
    assert "held against people's labels of 300 items" in corrected
    assert "Report the corrected F1: " in corrected


def test_the_labelled_answers_are_judged_as_the_benchmark_is() -> None:
    benchmark, labelled = (
        tomllib.loads(shipped_text(name)) for name in ("score_simpleqa_verified", "labels_simpleqa_verified")
    )
    assert {key: benchmark[key] for key in ("sampling", "graders")} == {
        key: labelled[key] for key in ("sampling", "graders")
    }


def test_a_benchmark_that_is_not_fetched_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTORATER_CACHE", str(tmp_path / "cache"))
    ran = autorater(tmp_path, "run", "score_simpleqa_verified", "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: score_simpleqa_verified.toml: set: 'simpleqa_verified' is not here yet; "
        "expected 'autorater sets fetch simpleqa_verified' before\n"
    )


def write_benchmark(path: Path, n_questions: int = 200) -> dict[str, str]:
    """Made-up questions in the columns of SimpleQA Verified; question to answer."""
    answers = {f"How many rooms has house {n} of Sirvo?": f"{n + 20} rooms" for n in range(n_questions)}
    columns = (
        "original_index",
        "problem",
        "answer",
        "topic",
        "answer_type",
        "multi_step",
        "requires_reasoning",
        "urls",
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for number, (question, answer) in enumerate(answers.items()):
            writer.writerow((number, question, answer, "Art", "Number", "False", "False", "https://sirvo.example"))
    return answers


def publish(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the file be what the source publishes."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    file = SourceFile(name="simpleqa_verified.csv", url="http://127.0.0.1:9/simpleqa_verified.csv", sha256=digest)
    source = Source(title="made up", licence="CC0-1.0", homepage="http://127.0.0.1:9", files=[file])
    monkeypatch.setattr(calibration_sets.fetch, "list_sources", lambda: {"simpleqa_verified": source})


def label(path: Path) -> None:
    """What people do: fill in the column of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = truth_of(row["response"], row["reference"])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
