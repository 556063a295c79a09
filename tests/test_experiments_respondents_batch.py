"""`autorater run --batch` with [answering]: answers are collected first, and only then graded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("openai")

from batch_server import BatchServer

import cli
from experiments.respondents.grid import read_grid
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

WORDINGS, N_QUESTIONS = ("question_only@1.0.0", "short_answer@1.0.0"), 2


def run(path: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    arguments = ["autorater", "run", str(path), "--store", "s.sqlite", "--batch", *options]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


def test_answers_are_collected_before_they_are_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path = tmp_path / "grid.toml"
    with BatchServer() as server:
        model = f'model = "openai/gpt-4.1-2025-04-14"\nbase_url = "{server.url}/v1"\n'
        path.write_text(
            f'name = "grid"\nset = "probes"\nitems = {{ sample = {N_QUESTIONS} }}\n'
            f"[answering]\nprompts = {list(WORDINGS)}\n[[answering.models]]\n{model}"
            f'[[graders]]\nprompt = "simpleqa@1.0.0"\n{model}sampling = {{ repeats = 1 }}\n',
            encoding="utf-8",
        )
        server.finishes_at_once = False
        assert run(path, monkeypatch) == 0
        shown = capsys.readouterr()
        assert "answers are out" in shown.err
        assert shown.out == ""
        assert len(server.jobs) == len(WORDINGS)
        # Not paid a second time while the jobs are out: neither by batch nor without.
        assert run(path, monkeypatch) == 0
        assert len(server.jobs) == len(WORDINGS)
        server.finish()
        server.finishes_at_once = True
        assert run(path, monkeypatch) == 0
        assert run(path, monkeypatch) == 0
        assert set(server.answered.values()) == {1}
    assert "autorater ab grid-" in capsys.readouterr().out
    with RunStore(tmp_path / "s.sqlite", must_exist=True) as store:
        grid = read_grid(load_run_data(store, "grid")[0])
    assert [cell.n_no_response for cell in grid.cells.values()] == [0, 0]
    costs = [cell.cost for cell in grid.cells.values()]
    assert all(cost is not None and cost.complete for cost in costs)
