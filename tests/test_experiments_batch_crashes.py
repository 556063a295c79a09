"""Batch runs that die: whatever the moment, the same command loses nothing and pays for nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer
from batch_study import Clock, make_experiment, make_grader

from experiments.batch.desk import SETTLING
from experiments.batch.records import BatchRecords, held_keys
from experiments.batch.runner import run_batch
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.batch.anthropic_batch import AnthropicBatch, open_anthropic_batch
from graders.batch.batch_service import BatchService
from graders.batch.openai_batch import OpenAIBatch, open_openai_batch
from graders.grader import Grader


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-key")
    with BatchServer() as running:
        yield running


def open_service(grader: Grader) -> BatchService:
    return open_anthropic_batch(grader) if grader.model.startswith("anthropic/") else open_openai_batch(grader)


def run(experiment: Experiment, path: Path, clock: Clock) -> None:
    with RunStore(path) as store:
        run_batch(experiment, store, open_service, wait=True, clock=clock, sleep=clock.sleep)


def dies_once(patch: pytest.MonkeyPatch, owner: type, name: str, *, after: bool, at: int = 1) -> None:
    """The process ends before, or right after, the nth time that something is done."""
    real, times = getattr(owner, name), [0]

    def dying(*arguments: Any, **named: Any) -> Any:
        times[0] += 1
        if times[0] == at and not after:
            raise KilledError
        result = real(*arguments, **named)
        if times[0] == at:
            raise KilledError
        return result

    patch.setattr(owner, name, dying)


MOMENTS = [
    ("records", "intend", 1),
    ("service", "submit", 1),
    ("records", "change", 1),
    ("service", "state", 1),
    ("records", "claim", 1),
    ("store", "append_many", 1),
    ("store", "append_many", 2),
    ("store", "append_many", 3),
    ("records", "change", 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("style", ["chat", "messages"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("owner", "name", "at"), MOMENTS)
def test_whatever_the_moment_nothing_is_lost_or_paid_twice(
    server: BatchServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    style: str,
    after: bool,
    owner: str,
    name: str,
    at: int,
) -> None:
    monkeypatch.setattr("experiments.batch.results.RESULTS_TOGETHER", 4)
    server.fate_of = lambda text, before: "expired" if "number 1?" in text and before < 2 else "ok"
    classes = {
        "records": BatchRecords,
        "store": RunStore,
        "service": OpenAIBatch if style == "chat" else AnthropicBatch,
    }
    experiment, clock, path = make_experiment(make_grader(server.url, style, repeats=2)), Clock(), tmp_path / "s.sqlite"
    with monkeypatch.context() as patch:
        dies_once(patch, classes[owner], name, after=after, at=at)
        with pytest.raises(KilledError):
            run(experiment, path, clock)
    run(experiment, path, clock)
    (grader,) = experiment.graders
    with RunStore(path) as store:
        assert len(store.stored_keys(grader.grader_id)) == 10
        assert held_keys(store, grader.grader_id) == set()
        assert len(store.call_failures(grader.grader_id)) == 2
        n_failures = sum(1 for _ in store.iter_call_failures(grader.grader_id))
    assert set(server.answered.values()) == {2}
    assert n_failures == 2, "a failure that is collected twice is one failure"


def test_a_lost_intent_holds_its_calls_only_until_it_is_clear_that_no_job_came_of_it(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment, clock, path = make_experiment(make_grader(server.url, "chat")), Clock(), tmp_path / "s.sqlite"
    with monkeypatch.context() as patch:
        dies_once(patch, OpenAIBatch, "submit", after=False)
        with pytest.raises(KilledError):
            run(experiment, path, clock)
    with RunStore(path) as store:
        soon = run_batch(experiment, store, open_service, clock=clock, sleep=clock.sleep)
        assert [(job.status, job.job_id) for job in soon.jobs] == [("looked for", None)]
        assert server.jobs == {}
        clock.now += SETTLING
        later = run_batch(experiment, store, open_service, clock=clock, sleep=clock.sleep)
        assert [job.job_id for job in later.jobs] == ["batch_0"]


def test_a_foreign_job_that_was_taken_for_ours_does_no_harm(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anthropic's jobs have no names: another of the same size may be taken for the lost one, until it is over."""
    server.finishes_at_once = False
    clock = Clock()
    foreign = make_experiment(make_grader(server.url, "messages", repeats=2))
    with RunStore(tmp_path / "other.sqlite") as store:
        run_batch(foreign, store, open_service, clock=clock, sleep=clock.sleep)
    server.finishes_at_once = True
    experiment = make_experiment(make_grader(server.url, "messages", repeats=2), n_items=5)
    path = tmp_path / "s.sqlite"
    with monkeypatch.context() as patch:
        dies_once(patch, AnthropicBatch, "submit", after=False)
        with pytest.raises(KilledError):
            run(experiment, path, clock)
    with RunStore(path) as store:
        taken = run_batch(experiment, store, open_service, clock=clock, sleep=clock.sleep)
        assert [job.job_id for job in taken.jobs] == ["msgbatch_0"]
    server.finish()
    clock.now += 2 * SETTLING
    run(experiment, path, clock)
    assert len(server.jobs) == 2
    with RunStore(path) as store:
        assert len(store.stored_keys(experiment.graders[0].grader_id)) == 10


CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from batch_study import make_experiment, make_grader
from experiments.batch.runner import run_batch
from experiments.store.run_store import RunStore
from graders.batch.openai_batch import open_openai_batch
with RunStore(Path(sys.argv[3])) as store:
    run_batch(make_experiment(make_grader(sys.argv[2], "chat")), store, open_openai_batch, wait=True, poll_seconds=0.05)
"""


def test_a_process_that_is_killed_while_it_waits_is_continued(server: BatchServer, tmp_path: Path) -> None:
    server.finishes_at_once = False
    path, experiment = tmp_path / "s.sqlite", make_experiment(make_grader(server.url, "chat"))
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), server.url, str(path)]
    with subprocess.Popen(command, env={**os.environ, "OPENAI_API_KEY": "sk-secret-key"}) as child:
        deadline = time.monotonic() + 60
        while not any(line.startswith("GET /v1/batches/") for line in server.log) and time.monotonic() < deadline:
            assert child.poll() is None
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    server.finish()
    run(experiment, path, Clock())
    with RunStore(path) as store:
        assert len(store.stored_keys(experiment.graders[0].grader_id)) == 15
    assert len(server.jobs) == 1
    assert set(server.answered.values()) == {3}
