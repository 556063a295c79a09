"""Answers that may be looked at while they come: asked and graded wave by wave, in the order of the looks."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from fault_replies import Fault, Ok, asked_text
from fault_server import FaultServer

import cli
from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.writer import write_set
from experiments.analyses.wordings.answer_wordings import AnswerWordings, read_answer_wordings
from experiments.analyses.wordings.wording_comparison import WordingResult, compare_wordings
from experiments.stats.comparisons.anytime import random_order
from experiments.store.run_records import load_decisions, load_run_data
from experiments.store.run_store import RunStore
from graders.providers import openai_service

N = 50
WORDINGS = ("question_only", "guess_is_free")
QUESTIONS = tuple(
    Item(f"q{place}", f"Which is number {place}?", parse_reference(f"n{place}"), "", f"c{place}") for place in range(N)
)
ORDER = random_order([question.cluster_id for question in QUESTIONS])
Run = Callable[..., tuple[int, str]]


def write_experiment(folder: Path, url: str, stopping: str) -> Path:
    write_set(
        CalibrationSet(
            "small", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "human", "CC0-1.0", "made up", "Made up.", QUESTIONS, ()
        ),
        folder / "small",
    )
    served = f'base_url = "{url}"\nkey_variable = "WAVES_TEST_KEY"\n'
    path = folder / "waves.toml"
    path.write_text(
        'name = "waves"\nset = "small"\nmax_connections = 2\n'
        f'[ab]\ncontrol = "question_only"\nraise = "accuracy"\nstopping = "{stopping}"\n'
        f"[answering]\nprompts = {json.dumps(list(WORDINGS))}\nmax_tokens = 50\n"
        f'[[answering.models]]\nmodel = "openai-compatible/m1"\n{served}'
        f'[[graders]]\nprompt = "simpleqa@1.0.0"\nmodel = "openai-compatible/judge"\n{served}'
        "sampling = { repeats = 1 }\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def autorater(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Run]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAVES_TEST_KEY", "sk-test")
    monkeypatch.delenv("AUTORATER_STORE", raising=False)
    openai_service.forget_refusals()

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["autorater", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return int(stop.value.code or 0), capsys.readouterr().err

    yield run
    openai_service.forget_refusals()


def looks(file: Path) -> list[tuple[AnswerWordings, WordingResult]]:
    """A look at each run of a store, the oldest first."""
    with RunStore(file, must_exist=True) as store:
        found = []
        for record, _ in sorted(store.list_runs(), key=lambda listed: listed[1]):
            data, analyses = load_run_data(store, record.run_id)
            grid = read_answer_wordings(data)
            found.append((grid, compare_wordings(grid, load_decisions(store, record.run_id).ab, level=analyses.level)))
        return found


def n_asked(server: FaultServer, *, judge: bool) -> int:
    return sum((call.body["model"] == "judge") == judge for call in server.requests)


def test_a_run_that_was_cut_short_can_be_looked_at(tmp_path: Path, autorater: Run) -> None:
    def press_ctrl_c(number: int) -> Fault:
        if number == 66:
            os.kill(os.getpid(), signal.SIGINT)
        return Ok()

    with FaultServer(press_ctrl_c) as server:
        path = write_experiment(tmp_path, server.openai_url, "anytime")
        code, err = autorater("run", path, "--store", "s.sqlite")
        assert code == 130
        assert "looks at what is there" in err
        n_before = len(server.requests)
        ((_, early),) = looks(tmp_path / "s.sqlite")
        assert early.looks is not None
        assert early.rule is not None
        code, err = autorater("run", path, "--store", "s.sqlite")
        assert code == 0, err
        assert set(server.paid.values()) == {1}
        assert n_asked(server, judge=False) == 2 * N
        share = n_before / len(server.requests)
    n_seen = early.looks.n_seen
    # The wave of eight questions that was cut short is answered in part, and not graded.
    assert 0.35 < share < 0.5
    assert share - 8 / N <= n_seen / N <= share
    full = max(looks(tmp_path / "s.sqlite"), key=lambda one: one[1].looks.n_seen if one[1].looks else -1)
    assert full[0].pending == frozenset()
    kept = compare_wordings(full[0].take(frozenset(ORDER[:n_seen])), early.rule, level=early.level)
    assert kept.looks is not None
    assert kept.looks.wordings == early.looks.wordings


def test_a_fixed_size_is_answered_before_it_is_graded(tmp_path: Path, autorater: Run) -> None:
    with FaultServer() as server:
        path = write_experiment(tmp_path, server.openai_url, "fixed-size")
        code, err = autorater("run", path, "--store", "s.sqlite")
        assert code == 0, err
        assert "questions 1 to" not in err
        judged = [call.body["model"] == "judge" for call in server.requests]
    assert judged == sorted(judged)
    assert judged.count(False) == 2 * N


def test_waves_follow_the_order_of_the_looks(tmp_path: Path, autorater: Run) -> None:
    with FaultServer() as server:
        code, err = autorater("run", write_experiment(tmp_path, server.openai_url, "anytime"), "--store", "s.sqlite")
        assert code == 0, err
        assert "questions 1 to 8 of 50" in err
        told = [asked_text(call.body) for call in server.requests if call.body["model"] != "judge"]
    places = [next(place for place in range(N) if f"number {place}?" in text) for text in told]
    ranks = [ORDER.index(f"c{place}") // 8 for place in places]
    assert ranks == sorted(ranks)
