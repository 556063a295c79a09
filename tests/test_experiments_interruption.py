"""A run killed at any moment loses nothing, pays nothing twice, and ends in the same report."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.item import HumanLabel, Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from calibration_sets.writer import write_set
from experiments.reports import build_report, render_json
from experiments.store.run_records import load_run_data
from experiments.store.run_store import RunStore

N_ITEMS, N_REPEATS = 60, 10
N_VERDICTS = N_ITEMS * N_REPEATS
N_KILLS = 30

# Runs an experiment as the command does, and notes each answer in a ledger the moment it is paid for.
DRIVER = """
import os, sys
from pathlib import Path
from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

experiment, store, ledger = sys.argv[1:]
ledger = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

class Noting:
    def __init__(self, client):
        self.client = client
    def __enter__(self):
        self.client.__enter__()
        return self
    def __exit__(self, *error):
        self.client.__exit__(*error)
    def complete(self, requests):
        for answers in self.client.complete(requests):
            for answer in answers:
                os.write(ledger, f"{answer.item_digest} {answer.repeat}\\n".encode())
            yield answers

with RunStore(Path(store)) as opened:
    run_experiment(load_experiment(experiment), opened, lambda grader: Noting(open_client(grader)))
"""


@dataclass(frozen=True)
class Place:
    """Where one run happens."""

    experiment: Path
    store: Path
    ledger: Path

    def start(self) -> subprocess.Popen[bytes]:
        arguments = [sys.executable, "-c", DRIVER, str(self.experiment), str(self.store), str(self.ledger)]
        return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self) -> None:
        process = self.start()
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()

    def start_and_kill(self, after: float, *, n_paid: int = 0) -> bool:
        """Kill the run once so much was paid for, and that long after; whether it was still at work."""
        process = self.start()
        while self.paid().total() < n_paid and process.poll() is None:
            time.sleep(0.002)
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        return process.returncode == -signal.SIGKILL

    def paid(self) -> Counter[str]:
        return Counter(self.ledger.read_text().splitlines()) if self.ledger.exists() else Counter()

    def check_sound(self) -> int:
        """The store opens and passes SQLite's own check; the number of completions in it."""
        if not self.store.exists():
            return 0
        with RunStore(self.store) as store:
            n_completions = store.count_completions()
        with sqlite3.connect(self.store) as connection:
            assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        connection.close()
        return n_completions

    def report(self) -> str:
        with RunStore(self.store, must_exist=True) as store:
            data, analyses = load_run_data(store, "killed")
        return render_json(build_report(data, level=analyses.level))


def build_items() -> tuple[Item, ...]:
    return tuple(
        Item(f"i{n}", f"Question {n}?", parse_reference(f"answer {n}"), f"answer {n + n % 2}", f"q{n}")
        for n in range(N_ITEMS)
    )


def write_small_set(folder: Path) -> tuple[Item, ...]:
    items = build_items()
    labels = tuple(
        HumanLabel(item.item_id, item.digest, "rater", "INCORRECT" if n % 2 else "CORRECT", "simpleqa@1.0.0")
        for n, item in enumerate(items)
    )
    write_set(
        CalibrationSet(
            "small", "1.0.0", "simpleqa@1.0.0", SIMPLEQA, "construction", "CC0-1.0", "made here", "x", items, labels
        ),
        folder,
    )
    return items


def write_recording(path: Path, items: tuple[Item, ...]) -> None:
    """Six hundred replies, some of them unusable, each taking a moment."""
    choose = random.Random(5)
    replies = ["A", "B", "C", "CORRECT", "INCORRECT", "I cannot grade this.", ""]
    with path.open("w") as file:
        for item in items:
            for repeat in range(N_REPEATS):
                row = {"item": item.digest, "repeat": repeat, "text": choose.choice(replies), "seconds": 0.001}
                file.write(json.dumps(row) + "\n")


def write_experiment(folder: Path, grader: str) -> Path:
    path = folder / "killed.toml"
    path.write_text(
        f'name = "killed"\nset = "set"\nsampling = {{ temperature = 2.0, repeats = {N_REPEATS}, seed = 3 }}\n'
        f"[[graders]]\n{grader}\n"
    )
    return path


def place_in(folder: Path, experiment: Path) -> Place:
    folder.mkdir()
    return Place(experiment, folder / "s.sqlite", folder / "ledger")


@pytest.mark.slow
def test_thirty_kills_of_a_replayed_run_each_end_in_the_report_of_an_unbroken_one(tmp_path: Path) -> None:
    write_recording(tmp_path / "recorded.jsonl", write_small_set(tmp_path / "set"))
    experiment = write_experiment(tmp_path, 'model = "replay/recorded.jsonl"')
    unbroken = place_in(tmp_path / "unbroken", experiment)
    began = time.monotonic()
    unbroken.finish()
    duration = time.monotonic() - began
    assert unbroken.check_sound() == sum(unbroken.paid().values()) == N_VERDICTS
    expected = unbroken.report()

    choose = random.Random(20)
    # Some at any moment, others in the middle of the work, however slow the machine is.
    moments = [choose.uniform(0.1, 1.0) * duration if trial % 3 == 0 else 0.0 for trial in range(N_KILLS)]
    paid_by_then = [0 if moment else choose.randrange(1, N_VERDICTS) for moment in moments]

    def kill_and_continue(trial: int) -> tuple[bool, int]:
        place = place_in(tmp_path / f"trial{trial}", experiment)
        killed = place.start_and_kill(moments[trial], n_paid=paid_by_then[trial])
        n_before = place.check_sound()
        place.finish()
        assert place.check_sound() == N_VERDICTS
        paid = place.paid()
        assert len(paid) == N_VERDICTS
        assert sum(paid.values()) <= N_VERDICTS + 1, "more than the request in flight was paid twice"
        assert place.report() == expected
        return killed, n_before

    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(kill_and_continue, range(N_KILLS)))
    in_the_middle = [n for killed, n in outcomes if killed and 0 < n < N_VERDICTS]
    assert len(in_the_middle) >= 5, f"too few kills hit the work itself: {outcomes}"


@pytest.mark.slow
@pytest.mark.engine
def test_thirty_kills_of_a_run_on_the_local_model_lose_and_double_nothing(tmp_path: Path, weights: Path) -> None:
    write_small_set(tmp_path / "set")
    experiment = write_experiment(tmp_path, 'prompt = "simpleqa_short@1.0.0"\nmodel = "local/smollm2"')
    choose = random.Random(21)
    n_kills, round_number = 0, 0
    while n_kills < N_KILLS:
        place = place_in(tmp_path / f"round{round_number}", experiment)
        kills_here = 0
        while n_kills < N_KILLS and place.check_sound() < N_VERDICTS:
            before = place.check_sound()
            killed = place.start_and_kill(choose.uniform(0.5, 6.0))
            assert place.check_sound() >= before, "a completion was lost"
            n_kills += killed
            kills_here += killed
        place.finish()
        assert place.check_sound() == N_VERDICTS
        paid = place.paid()
        assert len(paid) == N_VERDICTS
        assert sum(paid.values()) <= N_VERDICTS + kills_here, "more than the requests in flight were paid twice"
        assert json.loads(place.report())["graders"][0]["n_verdicts"] == N_VERDICTS
        round_number += 1


def test_a_run_that_is_complete_pays_for_nothing_and_a_longer_one_only_for_the_rest(tmp_path: Path) -> None:
    write_recording(tmp_path / "recorded.jsonl", write_small_set(tmp_path / "set"))
    experiment = write_experiment(tmp_path, 'model = "replay/recorded.jsonl"')
    shorter = tmp_path / "shorter.toml"
    shorter.write_text(experiment.read_text().replace(f"repeats = {N_REPEATS}", "repeats = 4"))
    store, ledger = tmp_path / "s.sqlite", tmp_path / "ledger"
    Place(shorter, store, ledger).finish()
    assert sum(Place(shorter, store, ledger).paid().values()) == 4 * N_ITEMS
    for _ in range(2):
        place = Place(experiment, store, ledger)
        place.finish()
        assert set(place.paid().values()) == {1}
        assert sum(place.paid().values()) == N_VERDICTS


def test_two_processes_on_one_run_share_the_work_and_pay_once(tmp_path: Path) -> None:
    write_recording(tmp_path / "recorded.jsonl", write_small_set(tmp_path / "set"))
    experiment = write_experiment(tmp_path, 'model = "replay/recorded.jsonl"')
    place = Place(experiment, tmp_path / "s.sqlite", tmp_path / "ledger")
    processes = [place.start(), place.start()]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert set(place.paid().values()) == {1}
    assert place.check_sound() == N_VERDICTS


def test_an_interrupted_command_says_how_to_go_on_and_exits_with_130(tmp_path: Path) -> None:
    items = write_small_set(tmp_path / "set")
    with (tmp_path / "recorded.jsonl").open("w") as file:
        for item in items:
            file.write(json.dumps({"item": item.digest, "repeat": 0, "text": "A", "seconds": 0.5}) + "\n")
    experiment = write_experiment(tmp_path, 'model = "replay/recorded.jsonl"\nsampling = { repeats = 1 }')
    store = tmp_path / "s.sqlite"
    arguments = [sys.executable, "-m", "cli", "run", str(experiment), "--store", str(store)]
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A test run in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and Place(experiment, store, tmp_path / "l").check_sound() < 2:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"the same command continues" in errors
    assert b"Traceback" not in errors
    assert 2 <= Place(experiment, store, tmp_path / "l").check_sound() < N_ITEMS


def test_the_ledger_itself_can_see_a_double_payment(tmp_path: Path) -> None:
    """The check above is able to fail: a store that forgets makes the ledger show it."""
    write_recording(tmp_path / "recorded.jsonl", write_small_set(tmp_path / "set"))
    experiment = write_experiment(tmp_path, 'model = "replay/recorded.jsonl"')
    place = Place(experiment, tmp_path / "s.sqlite", tmp_path / "ledger")
    place.finish()
    place.store.unlink()
    place.finish()
    assert set(place.paid().values()) == {2}
