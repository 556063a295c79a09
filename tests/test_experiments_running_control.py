"""Stopping: the first signal drains, the second ends at once, and the handlers are given back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from experiments.running.control import RunControl
from experiments.store.run_store import RunStore

DRIVER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_experiments_running_budget import Concurrent, make_experiment, said
from experiments.running.runner import run_experiment
from experiments.store.run_store import RunStore

class Slow(Concurrent):
    def complete(self, requests):
        for request in iter(super().complete(requests).__next__, None):
            time.sleep(0.3)
            print("answered", flush=True)
            yield request

with RunStore(Path(sys.argv[1])) as store:
    try:
        run_experiment(make_experiment(500), store, lambda _: Slow(lambda *_: said(1), 6))
    except RuntimeError as error:
        raise SystemExit(f"{error}")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        raise SystemExit(130)
"""


def start(store: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(store), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "answered\n"
    return process


def stored(path: Path) -> int:
    with RunStore(path) as store:
        return store.count_completions()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_drains_what_is_under_way(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path / "s.sqlite")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out.endswith("interrupted\n")
    assert "waiting for the answers that are under way" in err
    # One was answered before the signal; at most one more was given out while it came.
    assert out.count("answered") in (5, 6)
    assert stored(tmp_path / "s.sqlite") == out.count("answered") + 1


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    process = start(tmp_path / "s.sqlite")
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out.count("answered") <= 2
    assert time.monotonic() - begin < 10  # all that was left would take longer
    assert stored(tmp_path / "s.sqlite") in (1, 2, 3)


def test_handlers_are_given_back_and_only_the_main_thread_has_them() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    told: list[str] = []
    with RunControl(told.append) as control:
        os.kill(os.getpid(), signal.SIGTERM)
        assert control.stopping
        assert len(told) == 1
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before

    def elsewhere() -> None:
        with RunControl(told.append):
            seen.append([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)])

    seen: list[list[object]] = []
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with RunControl(lambda _: None) as control:
            os.kill(os.getpid(), signal.SIGINT)
            assert not control.stopping
    finally:
        signal.signal(signal.SIGINT, before)
