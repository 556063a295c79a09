"""The shipped experiments that need no key, from the command line to the printed decision, on the local engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import autorater, decision_of

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.mark.parametrize(
    ("name", "limit", "command", "compared"),
    [
        ("quickstart", "4", "choose", "2 candidates were compared on 4 items of 4 questions"),
        ("choose_grader", "4", "choose", "4 candidates were compared on "),
        ("ab_grader_wording", "2", "ab", "3 wordings and 1 model"),
    ],
)
def test_run_and_decided(name: str, limit: str, command: str, compared: str, tmp_path: Path, weights: Path) -> None:
    ran = autorater(tmp_path, "run", name, "--limit", limit)
    assert ran.code == 0, ran.err
    assert "Summary" in ran.out
    assert compared in decision_of(autorater(tmp_path, command, name))
