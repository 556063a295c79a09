"""Batch jobs whose results are partly broken, or tell the key back: the run goes on, and keeps no key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_server import BatchServer
from batch_study import Clock, make_experiment, make_grader

from experiments.batch.records import BatchRecords, held_keys
from experiments.batch.runner import describe_jobs, run_batch
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore
from graders.batch.opening import open_batch_service
from graders.errors import ServiceError

KEY = "plain.words.that.look.like.no.key"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with BatchServer() as running:
        yield running


@pytest.fixture(params=["chat", "messages"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(experiment: Experiment, path: Path, *, wait: bool = True) -> list[str]:
    """All that a person is told."""
    told: list[str] = []
    clock = Clock()
    with RunStore(path) as store:
        try:
            summary = run_batch(
                experiment, store, open_batch_service, wait=wait, tell=told.append, clock=clock, sleep=clock.sleep
            )
        except ServiceError as error:
            told.append(str(error))
        else:
            told += [*describe_jobs(summary), repr(summary)]
    return told


def spoil_once(server: BatchServer, spoilt: bytes) -> None:
    """Put something in place of the first line of the first results; a second file is as it should be."""
    left = [spoilt]

    def garble(results: bytes) -> bytes:
        return results if not left else left.pop() + b"\n" + results.partition(b"\n")[2]

    server.garble = garble


@pytest.mark.parametrize("bad", [b"null", b'{"custom_id": "au', b"7", b'{"custom_id": "unknown-0"}'])
def test_a_bad_line_costs_one_call_which_is_asked_for_again(
    server: BatchServer, tmp_path: Path, style: str, bad: bytes
) -> None:
    spoil_once(server, bad)
    experiment, path = make_experiment(make_grader(server.url, style, repeats=1)), tmp_path / "s.sqlite"
    told = run(experiment, path)
    assert "ended, 4 verdicts stored, 1 without an answer, 1 lines of results not usable" in told[1]
    assert [len(job.calls) for job in server.jobs.values()] == [5, 1]
    (grader,) = experiment.graders
    with RunStore(path) as store:
        assert len(store.stored_keys(grader.grader_id)) == 5
        assert held_keys(store, grader.grader_id) == set()
        assert [failure.reason for _, failure in store.iter_call_failures(grader.grader_id)] == ["unreadable_reply"]


def test_of_two_results_of_a_call_one_counts_and_the_other_is_told(
    server: BatchServer, tmp_path: Path, style: str
) -> None:
    server.garble = lambda results: results + results
    experiment, path = make_experiment(make_grader(server.url, style, repeats=1)), tmp_path / "s.sqlite"
    assert "5 verdicts stored, 0 without an answer, 5 lines of results not usable" in run(experiment, path)[1]
    assert len(server.jobs) == 1


def test_results_of_nothing_but_bad_lines_hold_no_call_for_ever(
    server: BatchServer, tmp_path: Path, style: str
) -> None:
    left = [b"null\n" * 5]
    server.garble = lambda results: left.pop() if left else results
    experiment, path = make_experiment(make_grader(server.url, style, repeats=1)), tmp_path / "s.sqlite"
    run(experiment, path)
    with RunStore(path) as store:
        assert len(store.stored_keys(experiment.graders[0].grader_id)) == 5


def assert_no_key(path: Path, told: list[str]) -> None:
    assert KEY not in "\n".join(told)
    assert all(KEY.encode() not in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def test_a_key_in_answers_and_failures_is_nowhere(server: BatchServer, tmp_path: Path, style: str) -> None:
    server.answer_of = lambda _: f"A {KEY}"
    server.fate_of = lambda text, _: "http:400" if "number 1?" in text else "ok"
    server.garble = lambda results: results.replace(b"refused with", KEY.encode())
    experiment, path = make_experiment(make_grader(server.url, style, repeats=1)), tmp_path / "s.sqlite"
    told = run(experiment, path)
    assert "4 verdicts stored, 1 without an answer" in told[1]
    assert_no_key(path, told)


def test_a_key_in_the_failure_of_a_job_is_nowhere(server: BatchServer, tmp_path: Path) -> None:
    server.job_fates.append(f"failed:{KEY}")
    path = tmp_path / "s.sqlite"
    told = run(make_experiment(make_grader(server.url, "chat")), path)
    assert "[key hidden]" in told[1]
    assert_no_key(path, told)


@pytest.mark.parametrize("moment", ["POST", "GET"])
def test_a_key_in_a_refusal_is_nowhere(server: BatchServer, tmp_path: Path, style: str, moment: str) -> None:
    server.refusal = f"wrong key {KEY}"
    server.troubles.append((moment, "status:401"))
    server.finishes_at_once = False
    experiment, path = make_experiment(make_grader(server.url, style)), tmp_path / "s.sqlite"
    told = run(experiment, path, wait=False) + run(experiment, path, wait=False)
    assert "bad_key" in "".join(told)
    assert_no_key(path, told)


def test_a_job_that_never_left_is_handed_in_again_and_not_looked_for(tmp_path: Path, server: BatchServer) -> None:
    url = "http://127.0.0.1:9"
    experiment, path = make_experiment(make_grader(url, "chat")), tmp_path / "s.sqlite"
    assert "unreachable" in run(experiment, path, wait=False)[-1]
    (grader,) = experiment.graders
    with RunStore(path) as store:
        assert [job.state for job in BatchRecords(store).jobs(grader.grader_id)] == ["refused"] * 3
        assert held_keys(store, grader.grader_id) == set()
