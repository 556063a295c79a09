"""The program's commands, run in this process as the installed program runs them, in a folder of their own."""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

import cli

__all__ = ["Ran", "autorater", "decision_of", "shipped_text", "told_commands"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def autorater(folder: Path, *words: str) -> Ran:
    """Run ``autorater`` in a folder, with a store there."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setenv("AUTORATER_STORE", str(folder / "autorater.sqlite"))
        patch.setattr(sys, "argv", ["autorater", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    return Ran(int(stop.value.code or 0), out.getvalue(), err.getvalue())


def decision_of(ran: Ran) -> str:
    """The paragraph under a page's last heading, ``Decision``, on one line."""
    assert ran.code == 0, ran.err
    _, heading, decision = ran.out.rpartition("\nDecision\n")
    assert heading, ran.out
    return " ".join(decision.strip("-\n").split())


def shipped_text(name: str) -> str:
    """The file of a shipped experiment."""
    return (resources.files("experiments") / "library" / f"{name}.toml").read_text(encoding="utf-8")


def told_commands(text: str) -> list[list[str]]:
    """The words behind ``autorater`` of each command that a file's comments tell, in order."""
    lines = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in joined if line.startswith("autorater ")]
