"""Progress: bars on a terminal, lines elsewhere, and names of files never taken for markup."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from experiments.running import progress as run_progress
from experiments.running.progress import open_progress

TITLE = "replay/[/bold] \x1b[31m.jsonl"


def show(*, terminal: bool) -> str:
    out = io.StringIO()
    with open_progress(Console(file=out, force_terminal=terminal, width=200, color_system=None)) as progress:
        progress.start(TITLE, 3)
        for _ in range(3):
            progress.advance(1, failures=0, cost=None)
        progress.wait(TITLE)
    return out.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_titles_are_shown_as_they_are_without_acting_on_the_terminal(terminal: bool) -> None:
    shown = show(terminal=terminal)
    assert r"replay/[/bold] \x1b[31m.jsonl" in shown
    assert "\x1b[31m" not in shown
    assert "another process is grading with" in shown


@pytest.mark.parametrize("terminal", [True, False])
def test_what_others_have_is_counted_apart_and_leaves_less_to_wait_for(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: now)
    out = io.StringIO()
    with open_progress(Console(file=out, force_terminal=terminal, width=200, color_system=None)) as progress:
        progress.start("t", 100)
        now = 20.0
        progress.pass_over(30)
        progress.advance(10, failures=0, cost=None)
        progress.wait("t", ["rack-2", "rack-\x1b3 (of run other-1)"])
    shown = out.getvalue()
    assert "0.5/s, 30 with others" in shown
    assert r"waiting for rack-2, rack-\x1b3 (of run other-1): what is left of t is claimed there" in shown
    # Sixty are left of a hundred, and forty went in twenty seconds.
    assert ("40/100" if terminal else "t: 10 of 100, 0.5/s, 30 with others, 0:00:30 left") in shown


def test_a_terminal_sees_how_many_are_done() -> None:
    assert "3/3" in show(terminal=True)


def test_a_pipe_gets_a_line_at_the_start_and_none_for_what_is_quick() -> None:
    lines = show(terminal=False).splitlines()
    assert lines[0].startswith("asking replay/")
    assert lines[0].endswith(" for 3 verdicts")
    assert len(lines) == 2


def test_a_pipe_gets_a_line_now_and_then_for_what_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 1000, 6))
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: float(next(now)))
    lines = show(terminal=False).splitlines()
    assert any(": 2 of 3, " in line and line.endswith(" left") for line in lines)


def test_failures_and_cost_are_shown_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 1000, 6))
    monkeypatch.setattr(run_progress.time, "monotonic", lambda: float(next(now)))
    out = io.StringIO()
    with open_progress(Console(file=out, force_terminal=False, width=200)) as progress:
        progress.start("t", 4)
        for cost in (0.5, 1.25, 2.0):
            progress.advance(1, failures=1, cost=cost)
    assert "failed, $" in out.getvalue()
    assert "/s" in out.getvalue()
