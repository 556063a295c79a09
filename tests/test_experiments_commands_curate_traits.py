"""`autorater curate traits` against a loopback server: each reply is paid for once, and a bad one gives no flag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from command_line import Ran, autorater
from curation_samples import make_question
from fault_replies import Ok, Status, asked_text
from fault_server import FaultServer, at_calls

from calibration_sets.curation.question_file import question_data, read_question_lines
from calibration_sets.curation.question_traits import load_traits_prompt
from calibration_sets.writer import write_lines
from graders.providers import openai_service

QUESTIONS = [make_question(f"q{place}", f"Which is number {place}?", f"Brelin{place}") for place in range(3)]
GOOD = Ok("reasoning: yes\nmulti_step: no")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRAITS_TEST_KEY", "sk-test")
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


def _traits(folder: Path, url: str, model: str = "openai-compatible/m", *more: str) -> Ran:
    write_lines(folder / "questions.jsonl", map(question_data, QUESTIONS))
    words = ("curate", "traits", "questions.jsonl", "--model", model, "--to", "flagged.jsonl")
    return autorater(folder, *words, "--base-url", url, "--key-variable", "TRAITS_TEST_KEY", *more)


def test_each_question_is_asked_once_and_failures_are_counted(tmp_path: Path) -> None:
    script = at_calls({1: Ok("I would say that it depends."), 2: Status(400)}, otherwise=GOOD)
    with FaultServer(script) as server:
        ran = _traits(tmp_path, server.openai_url)
        assert ran.code == 0, ran.err
        assert len(server.requests) == 3
        asked = {asked_text(call.body) for call in server.requests}
        again = _traits(tmp_path, server.openai_url)
        assert len(server.requests) == 4, "only the call that went wrong is made again"
        other = _traits(tmp_path, server.openai_url, "openai-compatible/other")
        assert len(server.requests) == 7, "another model has replies of its own"
    assert asked == {load_traits_prompt().render(question) for question in QUESTIONS}
    assert not any("Brelin" in text for text in asked)
    lines = ran.out.splitlines()
    assert lines[0] == f"{load_traits_prompt().title} openai-compatible/m: 1 of 3 questions flagged"
    assert lines[1:] == [
        "requires_reasoning 1, multi_step 0",
        "no flag: 1, no reply, bad_request",
        "no flag: 1, not both lines",
    ]
    assert "2 of 3 questions flagged" in again.out
    assert "3 of 3 questions flagged" in other.out
    flagged = read_question_lines(tmp_path / "flagged.jsonl")
    assert [one.metadata["requires_reasoning"] for one in flagged] == [True, True, True]
    assert len((tmp_path / "flagged.replies.jsonl").read_text().splitlines()) == 6


def test_a_question_without_a_usable_reply_keeps_its_metadata(tmp_path: Path) -> None:
    with FaultServer(at_calls({}, otherwise=Ok("reasoning: yes"))) as server:
        assert _traits(tmp_path, server.openai_url).out.startswith(load_traits_prompt().title)
    rows = [json.loads(line) for line in (tmp_path / "flagged.jsonl").read_text().splitlines()]
    assert all("metadata" not in row for row in rows)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "baseline/lexical"), "--model: 'baseline/lexical' reads no text"),
        (("--model", "openai-compatible/m"), "--base-url: missing"),
        (("--model", "openai-compatible/m", "--base-url", "sk-secret"), "--base-url: refused and not repeated here"),
    ],
)
def test_what_a_person_must_mend_is_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    write_lines(tmp_path / "questions.jsonl", map(question_data, QUESTIONS))
    ran = autorater(tmp_path, "curate", "traits", "questions.jsonl", "--to", "flagged.jsonl", *words)
    assert (ran.code, ran.err.startswith(f"error: {told}"), len(ran.err.splitlines())) == (2, True, 1)
    assert "sk-secret" not in ran.err


def test_a_spoilt_file_of_replies_is_told(tmp_path: Path) -> None:
    (tmp_path / "flagged.replies.jsonl").write_text('{"key": 3, "reply": "x"}\n')
    ran = _traits(tmp_path, "http://127.0.0.1:9/v1")
    assert ran.err == "error: flagged.replies.jsonl:1: key 3; expected text\n"


def test_a_limit_stops_before_it_could_be_passed_and_counts_what_was_paid(tmp_path: Path) -> None:
    model, replies = "openai-compatible/m", tmp_path / "flagged.replies.jsonl"
    with FaultServer(at_calls({}, otherwise=GOOD)) as server:
        refused = _traits(tmp_path, server.openai_url, model, "--max-cost", "1")
        assert "no price is known for openai-compatible/m; expected one with --price IN OUT" in refused.err
        price = ("--price", "1", "1", "--max-tokens", "100")
        none = _traits(tmp_path, server.openai_url, model, *price, "--max-cost", "0.000001")
        assert (none.code, len(server.requests)) == (2, 0)
        assert "3 verdicts not asked for" in none.err
        assert _traits(tmp_path, server.openai_url, model, *price, "--max-cost", "1").code == 0
        assert len(server.requests) == 3
        paid = sum(json.loads(line)["cost"] for line in replies.read_text().splitlines())
        assert paid > 0
        replies.write_text("".join(replies.read_text().splitlines(keepends=True)[:2]))
        again = _traits(tmp_path, server.openai_url, model, *price, "--max-cost", str(paid * 2 / 3))
        assert (again.code, len(server.requests)) == (2, 3), "two replies are paid for, and a third does not fit"


def test_a_reply_that_a_killed_run_never_finished_is_asked_anew(tmp_path: Path) -> None:
    replies = tmp_path / "flagged.replies.jsonl"
    with FaultServer(at_calls({}, otherwise=GOOD)) as server:
        assert _traits(tmp_path, server.openai_url).code == 0
        replies.write_bytes(replies.read_bytes()[:-9])
        ran = _traits(tmp_path, server.openai_url)
        assert (ran.code, len(server.requests)) == (0, 4), ran.err
    assert len(replies.read_text().splitlines()) == 3
