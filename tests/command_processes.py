"""The program's commands, each in a process of its own that can be killed or frozen, forked from one that is ready."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from ready_processes import ready_processes

__all__ = ["CommandProcess"]


def _run_command(words: tuple[str, ...], variables: Mapping[str, str], told: Path) -> None:
    # A test run in the background ignores Ctrl-C, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.update(variables)
    for number, suffix in ((1, "out"), (2, "err")):
        file = os.open(told.with_suffix(f".{suffix}"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    sys.argv = ["autorater", *words]
    import cli

    cli.main()


class CommandProcess:
    """``autorater`` with some words, from now on."""

    _numbers = count()

    def __init__(self, folder: Path, *words: str, variables: Mapping[str, str] | None = None) -> None:
        self._told = folder / f"command-{next(self._numbers)}.out"
        self._process = ready_processes().Process(target=_run_command, args=(words, dict(variables or {}), self._told))
        self._process.start()

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def end(self, *, code: int = 0, seconds: float = 60) -> str:
        """Wait for its end; what it told on standard error."""
        self._process.join(seconds)
        told = self._told.with_suffix(".err").read_text()
        assert self._process.exitcode == code, f"ended with {self._process.exitcode}: {told}"
        assert "Traceback" not in told
        return told

    @property
    def printed(self) -> str:
        """What it has written to standard output."""
        return self._told.with_suffix(".out").read_text()

    def kill(self) -> None:
        """End it at once, frozen or not."""
        if self._process.is_alive():
            self._process.kill()
        self._process.join(10)
