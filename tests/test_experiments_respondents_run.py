"""`autorater run` with [answering], end to end against a loopback server: asked once, graded, stopped and continued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from fault_replies import ContentFilter, EmptyContent, Ok, Refusal, Status, asked_text, said_verdict
from fault_server import FaultServer, Script, at_calls

import cli
from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.writer import write_set
from experiments.errors import BudgetError
from experiments.respondents.grid import read_grid
from experiments.running.budget import estimated_worst_cost
from experiments.specs.experiment import load_experiment
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore
from graders.client import Request
from graders.prompt_library import load_prompt
from graders.providers import openai_service

MODELS, WORDINGS, N_QUESTIONS = ("m1", "m2", "m3"), ("question_only", "guess_is_free", "short_answer"), 6
N_ANSWERS = len(MODELS) * len(WORDINGS) * N_QUESTIONS
CONNECTIONS = 2
QUESTIONS = tuple(
    Item(f"q{place}", f"Which is number {place}?", parse_reference(f"n{place}"), "", f"c{place}")
    for place in range(N_QUESTIONS)
)
LABELS = {letter: label for label, letter in SIMPLEQA.letters.items()}
PRICE = "capabilities = { price = { input = 1.0, output = 1.0 } }"


def write_experiment(folder: Path, url: str) -> Path:
    write_set(
        CalibrationSet(
            "small", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "human", "CC0-1.0", "made up", "Made up.", QUESTIONS, ()
        ),
        folder / "small",
    )
    served = f'base_url = "{url}"\nkey_variable = "GRID_TEST_KEY"\n{PRICE}\n'
    models = "".join(f'[[answering.models]]\nmodel = "openai-compatible/{name}"\n{served}' for name in MODELS)
    path = folder / "grid.toml"
    path.write_text(
        f'name = "grid"\nset = "small"\nmax_connections = {CONNECTIONS}\n'
        f"[answering]\nprompts = {json.dumps(list(WORDINGS))}\nmax_tokens = 50\n{models}"
        f'[[graders]]\nprompt = "simpleqa@1.0.0"\nmodel = "openai-compatible/judge"\n{served}'
        "sampling = { repeats = 2 }\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRID_TEST_KEY", "sk-test")
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def autorater(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTORATER_STORE", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autorater", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return run


def server_of(script: Script | None = None, latency: float = 0.0) -> FaultServer:
    return FaultServer(script or at_calls({}), latency=latency)


def calls(server: FaultServer) -> Counter[tuple[str, str]]:
    """Calls by model and prompt text."""
    return Counter((call.body["model"], asked_text(call.body)) for call in server.requests)


def answers_asked(server: FaultServer) -> int:
    return sum(n for (model, _), n in calls(server).items() if model != "judge")


def graded_letter(question: Item, response: str) -> str:
    rendered = load_prompt("simpleqa@1.0.0").render(replace(question, response=response))
    return said_verdict(rendered.strip())


def test_a_grid_is_asked_graded_and_read(tmp_path: Path, autorater: Run) -> None:
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path, "--store", "s.sqlite")
        assert code == 0, err
        assert answers_asked(server) == N_ANSWERS == 54
        assert max(n for (model, _), n in calls(server).items() if model != "judge") == 1
        first_plan = err.index("experiment grid: 3 models x 3 wordings x 6 of 6 questions of small 1.0.0: 54 answers")
        assert first_plan < err.index("run grid-")
        n_before = len(server.requests)
        code, again, _ = autorater("run", path, "--store", "s.sqlite")
        assert (code, again) == (0, out)
        assert len(server.requests) == n_before
    assert "autorater ab grid-" in out
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        data, _ = load_run_data(store, "grid")
        assert [record.run_id for record, _ in store.list_runs()] == [data.run_id]
    grid = read_grid(data)
    assert grid.questions == tuple(f"q{place}" for place in range(6))
    for (model, wording), cell in grid.cells.items():
        assert (cell.n_no_response, cell.n_no_verdict, cell.missing) == (0, 0, {})
        for row, question in zip(cell.shares, QUESTIONS, strict=True):
            said = next(
                item.response
                for item in data.calibration_set.items
                if (item.metadata["model"], item.metadata["prompt"], item.cluster_id)
                == (model, wording, question.cluster_id)
            )
            expected = [float(label == LABELS[graded_letter(question, said)]) for label in grid.labels]
            np.testing.assert_array_equal(row, expected)


def test_models_are_told_the_wording_and_the_question_and_no_reference_or_tools(tmp_path: Path, autorater: Run) -> None:
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        autorater("run", path, "--limit", 2, "--store", "s.sqlite")
        asked = [call.body for call in server.requests if call.body["model"] != "judge"]
    assert len(asked) == 18
    for body in asked:
        assert set(body) == {"model", "messages", "max_tokens"}
        assert [turn["role"] for turn in body["messages"]] == ["user"]
        assert body["max_tokens"] == 50
        assert not any(item.reference.text in asked_text(body) for item in QUESTIONS)
    assert sum(asked_text(body) == QUESTIONS[0].question for body in asked) == 3


def test_a_dry_run_prints_the_plan_alone(tmp_path: Path, autorater: Run) -> None:
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path, "--dry-run", "--store", "s.sqlite")
        assert (code, len(server.requests)) == (0, 0)
    assert err == ""
    assert "54 answers" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["6", "1", "18", "0", "18", "18"] in [row[:6] for row in rows if row[-1] == "openai-compatible/m2"]
    assert ["54", "2", "108", "0", "108", "108"] in [row[:6] for row in rows if row[-1] == "openai-compatible/judge"]
    assert "cost: expected $" in out
    assert not (tmp_path / "s.sqlite").exists()


def test_what_brings_no_response_is_told_and_never_a_class(tmp_path: Path, autorater: Run) -> None:
    faults = {0: Refusal(), 1: EmptyContent(), 2: ContentFilter(), 3: Status(400), 4: Ok("a real answer")}
    with server_of(at_calls(faults)) as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path, "--store", "s.sqlite", "--format", "json")
        assert code == 0, err
        missing: Counter[str] = Counter()
        for respondent in json.loads(out)["respondents"]:
            missing.update(respondent["missing"])
        assert missing == {"refused": 2, "empty": 1, "bad_request": 1}
        assert "answers that cannot be graded: bad_request 1, empty 1, refused 2" in err
        with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
            cell = read_grid(load_run_data(store, "grid")[0]).cells["openai-compatible/m1", "question_only@1.0.0"]
        assert cell.n_no_response == 4
        assert int(np.isnan(cell.shares).all(axis=1).sum()) == 4
        # What failed is asked again; what was paid for, refusals too, is not.
        n_before = answers_asked(server)
        autorater("run", path, "--store", "s.sqlite")
        assert answers_asked(server) - n_before == 1


def test_nobody_answers(tmp_path: Path, autorater: Run) -> None:
    with server_of(lambda _number: Status(400)) as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, out, err = autorater("run", path, "--limit", 1, "--store", "s.sqlite")
    assert (code, out) == (1, "")
    assert "no answer that can be graded" in err


def test_reports_of_such_a_run_are_its_counts_in_every_format(tmp_path: Path, autorater: Run) -> None:
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        _, text, _ = autorater("run", path, "--limit", 1, "--store", "s.sqlite")
    assert autorater("report", "grid", "--store", "s.sqlite") == (0, text, "")
    _, markdown, _ = autorater("report", "grid", "--store", "s.sqlite", "--format", "md")
    assert markdown == f"```text\n{text}```\n"
    _, plain, _ = autorater("report", "grid", "--store", "s.sqlite", "--format", "json")
    assert json.loads(plain)["schema"] == "autorater.answering/1"
    autorater("report", "grid", "--store", "s.sqlite", "--out", "counts.txt")
    assert (tmp_path / "counts.txt").read_text(encoding="utf-8") == text


def test_the_limit_of_cost_holds_over_both_halves(tmp_path: Path, autorater: Run) -> None:
    """Twenty tokens in and one out at a dollar a million: 21 millionths a call, answers and verdicts alike."""
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        code, _, err = autorater("run", path, "--store", "s.sqlite", "--max-cost", "0.0008")
        assert code == 2
        assert "--max-cost: grid-answers" in err
        assert 0 < len(server.requests) * 21e-6 <= 0.0008
        assert answers_asked(server) == len(server.requests)
        # Enough for the answers, which cost 54 x 21 millionths, and for 10 of 12 or more requests of two verdicts:
        # the next must fit at its worst.
        limit = N_ANSWERS * 21e-6 + worst_verdicts(path) + 10 * 42e-6
        code, _, err = autorater("run", path, "--store", "s.sqlite", "--max-cost", limit)
        assert code == 2
        assert answers_asked(server) == N_ANSWERS
        assert f"answering has taken $0.0011 of ${limit:.4f} before" in err
        n_half = len(server.requests)
        assert n_half > N_ANSWERS
        assert n_half * 21e-6 <= limit
        # The same limit again spends nothing more.
        autorater("run", path, "--store", "s.sqlite", "--max-cost", limit)
        assert len(server.requests) == n_half
        code, _, err = autorater("run", path, "--store", "s.sqlite", "--max-cost", "1")
        assert code == 0, err
        assert max(n for (model, _), n in calls(server).items() if model != "judge") == 1


def worst_verdicts(path: Path) -> float:
    """Dollars that the verdicts of one response can cost at most; all responses here are one letter long."""
    grader = load_experiment(str(path)).graders[0]
    item = replace(QUESTIONS[0], response="A")
    return estimated_worst_cost(Request(item, (0, 1), grader.prompt, grader.sampling, SIMPLEQA), grader)


def test_a_limit_needs_every_price_before_anything_is_asked(tmp_path: Path, autorater: Run) -> None:
    with server_of() as server:
        path = write_experiment(tmp_path, server.openai_url)
        before, _, after = path.read_text(encoding="utf-8").rpartition(PRICE)
        path.write_text(before + after, encoding="utf-8")
        code, _, err = autorater("run", path, "--store", "s.sqlite", "--max-cost", "1")
        assert (code, len(server.requests)) == (2, 0)
        assert "no price is known for openai-compatible/judge" in err
    assert BudgetError.__name__ not in err


def stored(path: Path) -> int:
    if not path.exists():
        return 0
    with RunStore(path, must_exist=True) as store:
        return store.count_completions()


def start(path: Path, store: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "run", str(path), "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "GRID_TEST_KEY": "sk-test"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_calls(server: FaultServer, n: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.requests) < n and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(server.requests) >= n


@pytest.mark.parametrize(
    ("sign", "moments"), [(signal.SIGKILL, (20, N_ANSWERS + 8)), (signal.SIGINT, (20,))], ids=["kill", "ctrl-c"]
)
def test_a_run_stopped_in_either_half_goes_on_without_paying_twice(
    tmp_path: Path, autorater: Run, sign: signal.Signals, moments: tuple[int, ...]
) -> None:
    store = tmp_path / "s.sqlite"
    with server_of(latency=0.02) as server:
        path = write_experiment(tmp_path, server.openai_url)
        for n_calls in moments:
            process = start(path, store)
            wait_for_calls(server, n_calls)
            process.send_signal(sign)
            _, err = process.communicate(timeout=60)
            assert process.returncode == (-9 if sign == signal.SIGKILL else 130), err.decode()
            time.sleep(0.2)  # what the process had sent before its end is counted too
            n_asked, n_stored = len(server.requests), stored(store)
            assert 0 < n_stored <= n_asked
            if sign == signal.SIGINT:
                assert n_stored == n_asked, "what was under way is waited for"
        code, out, told = autorater("run", path, "--store", store)
        assert code == 0, told
        asked = calls(server)
        assert len(server.requests) - n_asked == stored(store) - n_stored, "what is stored is not asked again"
    assert "autorater ab grid-" in out
    assert len([key for key in asked if key[0] != "judge"]) == N_ANSWERS
    with RunStore(store, must_exist=True) as opened:
        grid = read_grid(load_run_data(opened, "grid")[0])
    assert not any(np.isnan(cell.shares).any() for cell in grid.cells.values())


@pytest.mark.slow
def test_two_processes_share_the_work_and_pay_once(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with server_of(latency=0.01) as server:
        path = write_experiment(tmp_path, server.openai_url)
        processes = [start(path, store), start(path, store)]
        for process in processes:
            _, err = process.communicate(timeout=120)
            assert process.returncode == 0, err.decode()
        assert answers_asked(server) == N_ANSWERS
        assert len(server.requests) == stored(store)
