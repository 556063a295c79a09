"""`autorater curate sources` against a loopback server: each source is read once, and no answer is made up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from command_line import Ran, autorater
from curation_samples import make_question
from fault_replies import ContentFilter, EmptyContent, Ok, Status, asked_text
from fault_server import FaultServer, at_calls

from calibration_sets.curation.question_file import question_data
from calibration_sets.curation.source_answers import read_source_answers
from calibration_sets.curation.source_reading import load_source_prompts
from calibration_sets.writer import write_lines
from graders.providers import openai_service

URLS = [f"https://example.org/{place}" for place in range(4)]
QUESTIONS = [
    make_question("q0", "Who built it?", "Brelin", answer_type="Person", urls=(URLS[0], URLS[1])),
    make_question("q1", "How high is it?", "100 m", answer_type="Number", urls=(URLS[2], URLS[3])),
    make_question("q2", "When?", "1871"),
]
WORDS = ("--key-variable", "SOURCES_TEST_KEY", "--model", "openai-compatible/m", "--to", "answers.jsonl")
GOOD = Ok("answer: Marie Brelin")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SOURCES_TEST_KEY", "sk-test")
    openai_service.forget_refusals()
    yield
    openai_service.forget_refusals()


def _write(folder: Path) -> None:
    write_lines(folder / "questions.jsonl", map(question_data, QUESTIONS))
    texts = [*URLS[:3], "https://example.org/another"]
    write_lines(folder / "texts.jsonl", ({"url": url, "text": f"This is {url}. " * 20} for url in texts))


def _sources(folder: Path, url: str, *more: str, texts: bool = True) -> Ran:
    _write(folder)
    given = ("--texts", "texts.jsonl") if texts else ()
    return autorater(folder, "curate", "sources", "questions.jsonl", *WORDS, "--base-url", url, *given, *more)


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]


def test_each_source_with_text_is_read_once_and_the_rest_is_counted(tmp_path: Path) -> None:
    script = at_calls({1: Ok("answer: not stated"), 2: Status(400)}, otherwise=GOOD)
    with FaultServer(script) as server:
        ran = _sources(tmp_path, server.openai_url)
        assert ran.code == 0, ran.err
        assert len(server.requests) == 3
        again = _sources(tmp_path, server.openai_url)
        assert len(server.requests) == 4, "only the call that went wrong is made again"
        asked = "".join(asked_text(call.body) for call in server.requests)
    assert not any(word in asked for word in ("Brelin", "100 m", URLS[3]))
    assert ran.out.splitlines() == [
        f"{load_source_prompts()['text'].title} openai-compatible/m: 1 of 4 sources answered",
        "not stated: 1",
        "no text, not asked for: 1",
        "no answer: 1, no reply, bad_request",
    ]
    assert ran.err.splitlines()[:3] == [
        "4 sources of 3 questions: 3 with text, 1 not asked for",
        "1 questions name no source",
        "1 texts are of no source of these questions",
    ]
    assert sorted(row["outcome"] for row in _rows(tmp_path)) == ["answered", "answered", "no text", "not stated"]
    assert "2 of 4 sources answered" in again.out
    assert len(read_source_answers(tmp_path / "answers.jsonl").answers) == 2
    for stage, review in (("source_conflicts", "sources.csv"), ("numeric_conflicts", "numeric_sources.csv")):
        words = ("curate", "stage", stage, "--from", "questions.jsonl", "--to", "curated")
        curated = autorater(tmp_path, *words, "--source-answers", "answers.jsonl")
        assert curated.code == 0, curated.err
        assert (tmp_path / "curated/reviews" / review).read_text().count("Marie Brelin") == 1


def test_a_source_without_text_is_asked_for_only_if_that_is_said_and_it_is_recorded(tmp_path: Path) -> None:
    with FaultServer(at_calls({}, otherwise=GOOD)) as server:
        none = _sources(tmp_path, server.openai_url, texts=False)
        assert (none.code, none.err) == (2, "error: --texts: missing; expected the sources' texts, or --without-text\n")
        ran = _sources(tmp_path, server.openai_url, "--without-text")
        assert len(server.requests) == 4
    assert "from memory, no text read: 1 of these" in ran.out
    assert "4 sources of 3 questions: 3 with text, 1 by their address alone, 0 not asked for" in ran.err
    assert [row["basis"] for row in _rows(tmp_path)] == ["text", "text", "text", "address"]
    assert _rows(tmp_path)[3]["prompt"] == load_source_prompts()["address"].title
    assert len(read_source_answers(tmp_path / "answers.jsonl").remembered) == 1


def test_a_dry_run_asks_nothing_and_a_limit_is_kept(tmp_path: Path) -> None:
    with FaultServer(at_calls({}, otherwise=GOOD)) as server:
        dry = _sources(tmp_path, server.openai_url, "--dry-run", "--price", "1", "2", "--max-characters", "100")
        assert "3 texts are longer than 100 characters, and cut in the middle" in dry.err
        assert "openai-compatible/m: 3 of 3 texts to ask, at most" in dry.err
        assert "tokens in and 3072 out, at most $0.0" in dry.err
        assert (dry.code, dry.out, (tmp_path / "answers.jsonl").exists()) == (0, "", False)
        low = _sources(tmp_path, server.openai_url, "--price", "1", "2", "--max-cost", "0.00001")
        assert (low.code, len(server.requests)) == (2, 0)
        assert "expected a larger --max-cost" in low.err
        cut = _sources(tmp_path, server.openai_url, "--price", "1", "2", "--max-characters", "100")
        assert cut.code == 0, cut.err
        asked = [asked_text(call.body) for call in server.requests]
    assert len(asked) == 3
    assert all("characters are left out here" in text for text in asked)


def test_a_reply_without_text_is_no_answer_and_is_paid_for_once(tmp_path: Path) -> None:
    with FaultServer(at_calls({0: EmptyContent(), 1: ContentFilter()}, otherwise=GOOD)) as server:
        first = _sources(tmp_path, server.openai_url)
        assert _sources(tmp_path, server.openai_url).out == first.out
        assert len(server.requests) == 3
    assert "no answer: 1, no reply, empty" in first.out
    assert "no answer: 1, no reply, filtered" in first.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "answers.csv"), "error: --to: 'answers.csv'; expected a file of JSON lines, with the ending .jsonl"),
        (("--model", "baseline/lexical"), "error: --model: 'baseline/lexical' reads no text"),
        (("--price", "nan", "1"), "error: --price: nan 1; expected dollars, 0 or more"),
        (("--price", "1", "-2"), "error: --price: 1 -2; expected dollars, 0 or more"),
        (("--max-cost", "nan"), "error: --max-cost: nan; expected dollars, 0 or more"),
        (
            ("--max-cost", "1"),
            "error: --max-cost: no price is known for openai-compatible/m; expected one with --price",
        ),
        (("--texts", "none.jsonl"), "error: none.jsonl: no such file"),
        (("--texts", "questions.jsonl"), "error: questions.jsonl: no column 'url'"),
    ],
)
def test_what_a_person_must_mend_is_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    ran = _sources(tmp_path, "http://127.0.0.1:9/v1", *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran.err
    assert ran.err.startswith(told)


def test_questions_without_an_address_are_told(tmp_path: Path) -> None:
    _write(tmp_path)
    write_lines(tmp_path / "bare.jsonl", [question_data(QUESTIONS[2])])
    words = ("curate", "sources", "bare.jsonl", *WORDS, "--base-url", "http://127.0.0.1:9/v1", "--without-text")
    ran = autorater(tmp_path, *words)
    assert ran.err == "error: bare.jsonl: no question names a source; expected addresses in urls\n"


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    questions = [make_question(f"q{place}", urls=(f"https://example.org/{place}",)) for place in range(60)]
    write_lines(tmp_path / "questions.jsonl", map(question_data, questions))
    write_lines(tmp_path / "texts.jsonl", ({"url": one.urls[0], "text": one.question_id} for one in questions))
    replies = tmp_path / "answers.replies.jsonl"
    with FaultServer(at_calls({}, otherwise=GOOD), latency=0.4) as server:
        words = ("curate", "sources", "questions.jsonl", *WORDS, "--base-url", server.openai_url)
        words = (*words, "--texts", "texts.jsonl")
        run = subprocess.Popen(
            [sys.executable, "-m", "cli", *words], cwd=tmp_path, stderr=subprocess.PIPE, env=dict(os.environ), text=True
        )
        end = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < end and not (replies.exists() and replies.stat().st_size):
            time.sleep(0.02)
        run.send_signal(sign)
        _, err = run.communicate(timeout=30)
        assert run.returncode == code, err
        assert "Traceback" not in err
        n_kept, n_asked = replies.read_bytes().count(b"\n"), len(server.requests)
        assert 0 < n_kept < 60
        ran = autorater(tmp_path, *words)
        assert ran.code == 0, ran.err
        assert len(server.requests) - n_asked == 60 - n_kept
    assert "60 of 60 sources answered" in ran.out
    assert replies.read_bytes().count(b"\n") == 60
