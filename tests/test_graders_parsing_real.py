"""Two graders' own words, against the verdicts that people read in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration_sets.scale import BINARY
from graders.parsing import parse_verdict
from graders.verdict import ParsedVerdict


def read_replies(folder: Path, grader: str) -> list[tuple[str, str, ParsedVerdict]]:
    """Reply, the verdict published for it, and ours."""
    rows = [json.loads(line) for line in (folder / "nq301" / "nq301.jsonl").read_text("utf-8").splitlines()]
    asked = [row for row in rows if grader in row["graders"] and (row.get("grader_raw") or {}).get(grader)]
    return [
        (row["grader_raw"][grader], row["graders"][grader], parse_verdict(row["grader_raw"][grader], BINARY))
        for row in asked
    ]


@pytest.mark.parametrize(
    ("grader", "n_replies", "n_agreeing", "n_failures"),
    [("gpt-4", 1487, 1476, 10), ("text-davinci-003", 1490, 1490, 0)],
)
def test_replies_of_real_graders(
    calibration_data: Path, grader: str, n_replies: int, n_agreeing: int, n_failures: int
) -> None:
    replies = read_replies(calibration_data, grader)
    failures = [reply for reply, _, verdict in replies if verdict.failure]
    others = [reply for reply, published, verdict in replies if verdict.label not in (None, published)]
    assert len(replies) == n_replies
    assert len(replies) - len(failures) - len(others) >= n_agreeing, (failures, others)
    assert len(failures) <= n_failures, failures
    # the one reply read otherwise begins with "No, the candidate is not entirely correct" and was published as right
    assert all(reply.startswith("No, the candidate is not entirely correct") for reply in others), others


def test_the_official_habit_would_misread_these_replies(calibration_data: Path) -> None:
    """The measure can fail: reading the first capital letter A or B agrees far less."""
    replies = read_replies(calibration_data, "gpt-4")
    first_letter = {"A": "CORRECT", "B": "INCORRECT"}
    agreeing = sum(
        first_letter.get(next((sign for sign in reply if sign in "AB"), "")) == published
        for reply, published, _ in replies
    )
    assert agreeing / len(replies) < 0.5
