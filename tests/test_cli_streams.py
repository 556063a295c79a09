"""The command as a process: closed and narrow streams, completion, interruption, the same bytes each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.running.runner import run_experiment
from experiments.specs.experiment import load_experiment
from experiments.store.run_store import RunStore
from graders.providers import open_client

CALL = [sys.executable, "-c", "import cli; cli.main()"]


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    inherited = {name: value for name, value in os.environ.items() if name != "AUTORATER_STORE"}
    return subprocess.Popen(
        [*CALL, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**inherited, **environment},
        start_new_session=True,
    )


def finish(folder: Path, *arguments: str, **environment: str) -> tuple[int, bytes, str]:
    process = start(folder, *arguments, **environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err.decode()


@pytest.fixture
def done(study: Any) -> Path:
    """A folder whose study has been run."""
    with RunStore(study.folder / "autorater.sqlite") as store:
        run_experiment(load_experiment(str(study.experiment)), store, open_client)
    return Path(study.folder)


def test_a_report_is_the_same_bytes_in_every_process_and_terminal(done: Path) -> None:
    first = finish(done, "report", "study", PYTHONHASHSEED="0", COLUMNS="300", NO_COLOR="1")
    second = finish(done, "report", "study", PYTHONHASHSEED="1", COLUMNS="20", FORCE_COLOR="1", TERM="xterm")
    assert first == second
    assert first[0] == 0
    assert b"\x1b" not in first[1]


def test_a_reader_that_goes_away_is_no_error(done: Path) -> None:
    process = start(done, "report", "study", "--format", "json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)


def test_a_terminal_without_the_characters_of_a_drawing_is_drawn_for_in_ascii(done: Path) -> None:
    code, out, err = finish(done, "report", "study", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert rb"\u25" not in out
    drawn = finish(done, "report", "study", PYTHONIOENCODING="utf-8")[1].decode()
    assert "\u2500" in drawn
    assert [len(line) for line in out.decode().splitlines()] == [len(line) for line in drawn.splitlines()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="SKIPPED, NOT PASSED: no /dev/full on this system")
def test_a_full_disk_behind_the_output_is_one_line(done: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [*CALL, "report", "study"], cwd=done, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert process.returncode == 2
    assert process.stderr.startswith(b"error: ")
    assert process.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="SKIPPED, NOT PASSED: needs a POSIX shell")
def test_closed_streams_are_no_crash(done: Path) -> None:
    for redirection in (">&-", "2>&-"):
        script = f'"$0" -c "import cli; cli.main()" report study {redirection}'
        process = subprocess.run(
            ["sh", "-c", script, sys.executable], cwd=done, capture_output=True, timeout=60, check=False
        )
        assert (process.returncode, process.stderr) == (0, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_the_command(tmp_path: Path, shell: str) -> None:
    script = "import sys, cli; sys.argv[0] = 'autorater'; cli.main()"
    process = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "_AUTORATER_COMPLETE": f"source_{shell}"},
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"autorater" in process.stdout
    assert b"_AUTORATER_COMPLETE" in process.stdout


def test_ctrl_c_keeps_what_was_answered_and_the_same_command_continues(study: Any) -> None:
    lines = study.recording.read_bytes().splitlines(keepends=True)
    slow = [line.replace(b'{"digest"', b'{"seconds": 4.0, "digest"') for line in lines[5:6]]
    study.recording.write_bytes(b"".join([*lines[:5], *slow, *lines[6:]]))
    process = start(study.folder, "run", "study.toml", "--out", "report.txt")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(b"asking "):
            break
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.5)
    os.killpg(process.pid, signal.SIGINT)
    err = process.stderr.read().decode()
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("stopping: waiting for the answers that are under way")
    assert err.endswith("stopped; what a run had answered is stored, the same command continues\n")
    assert not (study.folder / "report.txt").exists()
    _, plan, _ = finish(study.folder, "run", "study.toml", "--dry-run")
    assert plan.decode().splitlines()[3].split()[3:5] == ["6", "18"]
