"""What services of batch jobs send back: lines that are broken, keys that are told back, servers out of reach."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Iterator

import openai
import pytest
from batch_server import BatchServer
from batch_study import make_grader, make_items

from calibration_sets.scale import SIMPLEQA
from graders.batch.anthropic_batch import open_anthropic_batch
from graders.batch.batch_service import BatchService
from graders.batch.calls import JobDraft, split_calls
from graders.batch.job_replies import NO_CALL, JobReplies, told_reason
from graders.batch.openai_batch import open_openai_batch
from graders.client import Request
from graders.dispatch.service import CallError, Reply

KEY = "plain.words.that.look.like.no.key"


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture(params=["chat", "messages"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def service(server: BatchServer, style: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchService]:
    yield from opened(server.url, style, monkeypatch, KEY)


def opened(url: str, style: str, monkeypatch: pytest.MonkeyPatch, key: str) -> Iterator[BatchService]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, key)
    open_service: Callable[..., BatchService] = open_anthropic_batch if style == "messages" else open_openai_batch
    service = open_service(make_grader(url, style))
    yield service
    service.close()


def draft(service: BatchService, n_items: int) -> JobDraft:
    grader = make_grader("http://localhost", "chat")
    requests = [Request(item, (0,), grader.prompt, grader.sampling, SIMPLEQA) for item in make_items(n_items)]
    (job,) = split_calls(requests, service.build_body, service.limits, lambda: "autorater-0001")
    return job


def collect(service: BatchService, n_items: int = 4) -> list[tuple[str, Reply | CallError]]:
    job = draft(service, n_items)
    job_id = service.submit(job.calls, job.label)
    return list(service.collect(job_id, {call.custom_id: call.request for call in job.calls}))


BAD_LINES = [
    b"null",
    b"[1]",
    b'{"custom_id": "autorater-0001-1", "resp',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"custom_id": "another"}',
    b'{"custom_id": ["autorater-0001-1"]}',
    b"{}",
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=lambda line: repr(line[:24]))
def test_a_line_that_is_no_result_costs_only_itself(server: BatchServer, service: BatchService, bad: bytes) -> None:
    server.garble = lambda results: bad + b"\n" + results
    came = collect(service)
    assert [custom_id for custom_id, _ in came].count(NO_CALL) == 1
    assert sorted(custom_id for custom_id, said in came if isinstance(said, Reply)) == [
        f"autorater-0001-{n}" for n in range(4)
    ]


def test_a_file_that_really_ends_in_half_a_line_is_taken_as_it_is(server: BatchServer, service: BatchService) -> None:
    server.garble = lambda results: results[:-9]
    came = collect(service)
    assert [isinstance(said, Reply) for _, said in came] == [True, True, True, False]
    assert came[-1][0] == NO_CALL


def test_a_file_that_breaks_off_on_its_way_is_no_result() -> None:
    lengths = iter([12, 17])

    def fetch() -> Generator[bytes]:
        yield b'{"a": 1}\n{"b": 2}'[: next(lengths)]

    lines = JobReplies(openai, "").parse_lines(fetch)
    assert next(lines) == {"a": 1}
    with pytest.raises(CallError, match="broke off after 12 bytes") as caught:
        next(lines)
    assert caught.value.kind == "connection"


def test_a_key_that_is_told_back_is_in_no_reply(server: BatchServer, service: BatchService) -> None:
    server.answer_of = lambda _: f"A, {KEY}"
    for _, said in collect(service):
        assert isinstance(said, Reply)
        assert "A, [key hidden]" in repr(said)
        assert KEY not in repr(said)


@pytest.mark.parametrize("fate", ["http:400", "expired"])
def test_a_key_that_is_told_back_is_in_no_failed_call(server: BatchServer, service: BatchService, fate: str) -> None:
    server.fate_of = lambda _text, _before: fate
    told = {"http:400": b"refused with", "expired": b"it was expired"}[fate]
    server.garble = lambda results: results.replace(told, b"x" * 180 + KEY.encode())
    for _, said in collect(service):
        assert isinstance(said, CallError)
        assert KEY[:12] not in said.message


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_is_told_back_is_in_no_refusal(server: BatchServer, service: BatchService, status: int) -> None:
    server.refusal = f"no such key: {KEY}"
    server.troubles.append(("POST", f"status:{status}"))
    with pytest.raises(CallError) as caught:
        collect(service)
    assert KEY not in caught.value.message
    assert "[key hidden]" in caught.value.message


def test_a_key_that_is_told_back_is_in_no_failed_job(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.job_fates.append(f"failed:{KEY}")
    for service in opened(server.url, "chat", monkeypatch, KEY):
        job = draft(service, 1)
        failure = service.state(service.submit(job.calls, job.label)).failure
        assert failure is not None
        assert failure.message == "[key hidden]: [key hidden] happened"


def test_a_short_key_is_a_word_and_stays(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer_of = lambda _: "none"
    for service in opened(server.url, "chat", monkeypatch, "none"):
        assert all("text='none'" in repr(said) for _, said in collect(service))


def test_a_reason_is_one_line_and_cut_between_words() -> None:
    assert told_reason({"code": "c", "message": "a\nb\x1b"}, "") == "c: a b"
    assert told_reason({}, "no reason given") == "None: no reason given"
    told = told_reason({"code": "c", "message": "word " * 20 + "x" * 500}, "")
    assert told.endswith("word…")
    assert "sk-" not in told_reason({"code": "c", "message": "bad key sk-abcdefghijkl"}, "")


def test_a_server_of_this_machine_needs_no_key(
    server: BatchServer, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for service in opened(server.url, style, monkeypatch, ""):
        assert len(collect(service)) == 4
    assert server.keys <= {"none", "Bearer none"}


def test_a_server_that_is_not_there_is_unreachable(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        for service in opened(url, style, monkeypatch, KEY):
            with pytest.raises(CallError) as caught:
                collect(service)
    assert (caught.value.kind, "no connection was made" in caught.value.message) == ("unreachable", True)


def test_counts_that_are_none_are_not_taken_for_any(server: BatchServer, service: BatchService) -> None:
    job = draft(service, 2)
    job_id = service.submit(job.calls, job.label)
    respond = server.respond

    def strange(*asked: object) -> tuple[int, bytes]:
        status, sent = respond(*asked)  # type: ignore[arg-type]
        counts = dict.fromkeys(("total", "completed", "succeeded", "errored"), "two")
        return status, json.dumps({**json.loads(sent), "request_counts": counts}).encode()

    server.respond = strange  # type: ignore[method-assign, assignment]
    state = service.state(job_id)
    assert (state.n_calls or 0, state.n_done, state.n_failed) == (0, 0, 0)
