"""`autorater curate embed` against a loopback service: each vector is kept as it comes and paid for once."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openai")

from command_line import Ran, autorater
from curation_samples import make_question

from calibration_sets.curation.question_file import question_data
from calibration_sets.writer import write_lines
from graders.errors import WeightsError
from graders.providers import openai_embeddings
from graders.providers.local_embeddings import embed_locally
from graders.providers.weights import find_weights

KEY = "sk-test-0123456789"


class _Service(http.server.ThreadingHTTPServer):
    """Embeds a text as its length; ``spoil`` changes the reply, or the status that comes instead."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.spoil: Callable[[int, Any], Any] = lambda _number, reply: reply


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (self.path, self.headers["Authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
        vectors = [{"index": at, "embedding": [len(text), 1]} for at, text in enumerate(body["input"])]
        reply = self.server.spoil(len(self.server.bodies), {"data": list(reversed(vectors))})
        self.server.bodies.append(body)
        status, text = (reply, b"{}") if isinstance(reply, int) else (200, json.dumps(reply).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words: object) -> None:
        """Nothing to stderr."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Service]:
    monkeypatch.setenv("EMBED_TEST_KEY", KEY)
    monkeypatch.setattr(openai_embeddings, "BATCH", 2)
    server = _Service()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _embed(folder: Path, service: _Service, model: str = "openai-compatible/m", *more: str) -> Ran:
    questions = [make_question(f"q{place}", "Who is it" + "?" * place) for place in (1, 2, 3)]
    write_lines(folder / "questions.jsonl", map(question_data, [*questions, make_question("again", "Who is it?")]))
    url = f"http://127.0.0.1:{service.server_port}/v1"
    words = ("curate", "embed", "questions.jsonl", "--model", model, "--to", "vectors.jsonl")
    return autorater(folder, *words, "--base-url", url, "--key-variable", "EMBED_TEST_KEY", *more)


def test_each_text_is_embedded_once_and_the_stage_reads_the_file(tmp_path: Path, service: _Service) -> None:
    ran = _embed(tmp_path, service)
    assert (ran.code, ran.out) == (0, "3 texts, 3 embedded now: vectors.jsonl\n"), ran.err
    assert [body["input"] for body in service.bodies] == [["Who is it?", "Who is it??"], ["Who is it???"]]
    assert {body["model"] for body in service.bodies} == {"m"}
    rows = [json.loads(line) for line in (tmp_path / "vectors.jsonl").read_text().splitlines()]
    assert all(row["vector"] == [len(row["text"]), 1.0] for row in rows)
    assert _embed(tmp_path, service).out == "3 texts, 0 embedded now: vectors.jsonl\n"
    assert len(service.bodies) == 2
    other = _embed(tmp_path, service, "openai-compatible/other")
    assert other.err.startswith("error: vectors.jsonl: vectors of openai-compatible/m; expected those of")
    words = ("curate", "run", "questions.jsonl", "--to", "curated", "--until", "semantic_duplicates")
    stage = autorater(tmp_path, *words, "--embeddings", "vectors.jsonl")
    assert stage.code == 0, stage.err
    assert "2 semantic_duplicates: dropped 3: near-duplicate by meaning" in stage.out


@pytest.mark.parametrize("status", [429, 500, 401])
def test_what_came_before_a_failed_call_is_kept(tmp_path: Path, service: _Service, status: int) -> None:
    service.spoil = lambda number, reply: status if number == 1 else reply
    ran = _embed(tmp_path, service)
    assert ran.code == 2
    assert "\nerror: openai-compatible/m: " in ran.err
    assert KEY not in ran.err
    assert len((tmp_path / "vectors.jsonl").read_text().splitlines()) == 2
    assert _embed(tmp_path, service).out == "3 texts, 1 embedded now: vectors.jsonl\n"


@pytest.mark.parametrize(
    "reply",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": ["1"]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [float("nan")]}]},
        {"data": [{"index": at, "embedding": [1]} for at in range(3)]},
    ],
)
def test_a_reply_that_is_not_one_vector_a_text_is_refused(tmp_path: Path, service: _Service, reply: Any) -> None:
    service.spoil = lambda _number, _reply: reply
    ran = _embed(tmp_path, service)
    assert "a reply without a vector for each of 2 texts" in ran.err
    assert (tmp_path / "vectors.jsonl").read_text() == ""


def test_a_model_that_is_no_services_is_refused(tmp_path: Path, service: _Service) -> None:
    assert _embed(tmp_path, service, "local/other").err.startswith("error: --model: 'local/other'; expected local/smo")


def test_a_record_that_a_killed_run_never_finished_is_embedded_anew(tmp_path: Path, service: _Service) -> None:
    assert _embed(tmp_path, service).code == 0
    vectors = tmp_path / "vectors.jsonl"
    whole = vectors.read_bytes()
    for cut in (5, 1):
        vectors.write_bytes(whole[:-cut])
        ran = _embed(tmp_path, service)
        # A record that lacks its line end alone is whole.
        assert ran.out == f"3 texts, {int(cut > 1)} embedded now: vectors.jsonl\n", ran.err
        assert vectors.read_bytes() == whole
    vectors.write_bytes(b"id,question\n1,torn")
    assert _embed(tmp_path, service).err.startswith("error: vectors.jsonl:1: not JSON")
    assert vectors.read_bytes() == b"id,question\n1,torn"


def test_what_could_pass_the_limit_is_refused_before_anything_is_asked(tmp_path: Path, service: _Service) -> None:
    model = "openai-compatible/m"
    for price in ("nan", "inf", "-1"):
        wrong = _embed(tmp_path, service, model, "--price", price, "--max-cost", "1")
        assert (wrong.code, wrong.err) == (2, f"error: --price: {price}; expected dollars, 0 or more\n")
    refused = _embed(tmp_path, service, model, "--max-cost", "1")
    assert "--max-cost: no price is known for openai-compatible/m; expected one with --price" in refused.err
    # 5 + 6 + 6 tokens at most, for texts of 10, 11 and 12 bytes.
    dear = _embed(tmp_path, service, model, "--price", "1000000", "--max-cost", "16.9")
    assert "all 3 texts can cost $17.0000" in dear.err
    planned = _embed(tmp_path, service, model, "--price", "1000000", "--dry-run")
    assert planned.err == "openai-compatible/m: 3 of 3 texts to embed, at most 17 tokens, at most $17.0000\n"
    assert not service.bodies
    assert not (tmp_path / "vectors.jsonl").exists()
    assert _embed(tmp_path, service, model, "--price", "1000000", "--max-cost", "17").code == 0
    assert len(service.bodies) == 2


def test_the_local_model_embeds_each_text_by_itself(tmp_path: Path, service: _Service) -> None:
    pytest.importorskip("xllamacpp")
    path = find_weights("smollm2")
    if path is None:
        pytest.skip("weights are not fetched")
    texts = ["Who wrote the song?", "Who wrote that song?", "In what year did the volcano erupt?"]
    found = dict(one for batch in embed_locally(path, texts, threads=1) for one in batch)
    assert list(found) == texts
    vectors = np.array([found[text] for text in texts])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    [[(_, alone)]] = embed_locally(path, texts[:1], threads=1)
    assert alone == pytest.approx(found[texts[0]], abs=1e-4)
    with pytest.raises(WeightsError, match="none over 2048 tokens"):
        list(embed_locally(path, ["word " * 5000], threads=1))
