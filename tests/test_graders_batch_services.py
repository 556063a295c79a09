"""Batch jobs of both services, through their own SDKs, over a loopback server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from batch_server import BatchServer, ServerJob
from batch_study import make_grader, make_items

from calibration_sets.item import Item
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import SIMPLEQA
from graders.batch.anthropic_batch import open_anthropic_batch
from graders.batch.batch_service import BatchService, SoughtJob, StrangeJobError
from graders.batch.calls import JobDraft, split_calls
from graders.batch.openai_batch import open_openai_batch
from graders.client import Request
from graders.dispatch.service import CallError, Reply
from graders.verdict import Completion

STYLES = ["chat", "responses", "messages"]


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def service(server: BatchServer, style: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchService]:
    yield from opened(server, style, monkeypatch)


def opened(server: BatchServer, style: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchService]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-key")
    grader = make_grader(server.url, style, max_choices=4)
    service: BatchService = open_anthropic_batch(grader) if style == "messages" else open_openai_batch(grader)
    yield service
    service.close()


def draft(service: BatchService, items: tuple[Item, ...], label: str = "autorater-0001") -> JobDraft:
    grader = make_grader("http://localhost", "chat")
    requests = [Request(item, (0,), grader.prompt, grader.sampling, SIMPLEQA) for item in items]
    (job,) = split_calls(requests, service.build_body, service.limits, lambda: label)
    return job


def by_id(job: JobDraft) -> dict[str, Request]:
    return {call.custom_id: call.request for call in job.calls}


def texts(results: dict[str, Reply | CallError]) -> dict[str, str | None]:
    told = {}
    for custom_id, result in results.items():
        assert isinstance(result, Reply), result
        (answer,) = result.answers
        assert isinstance(answer.outcome, Completion)
        told[custom_id] = answer.outcome.text
    return told


def sought(job: JobDraft, taken: tuple[str, ...] = ()) -> SoughtJob:
    return SoughtJob(job.label, datetime.now(UTC) - timedelta(hours=1), len(job.calls), taken)


def test_each_result_comes_back_to_its_own_call(server: BatchServer, service: BatchService) -> None:
    items = make_items(30)
    server.answer_of = lambda text: "A" if "number 7?" in text else "B"
    job = draft(service, items)
    job_id = service.submit(job.calls, job.label)
    state = service.state(job_id)
    assert (state.status, state.n_calls, state.n_done, state.n_failed) == ("ended", 30, 30, 0)
    said = texts(dict(service.collect(job_id, by_id(job))))
    assert {i for i, text in said.items() if text == "A"} == {f"{job.label}-7"}
    assert len(said) == 30


def test_a_job_that_is_running_is_in_progress(server: BatchServer, service: BatchService) -> None:
    server.finishes_at_once = False
    job = draft(service, make_items(2))
    job_id = service.submit(job.calls, job.label)
    assert not service.state(job_id).is_over
    server.finish()
    assert service.state(job_id).is_over


@pytest.mark.parametrize(
    ("fate", "kind"),
    [("expired", "timeout"), ("canceled", "timeout"), ("http:400", "bad_request"), ("garbage", "unreadable_reply")],
)
def test_each_call_has_its_own_fate(server: BatchServer, service: BatchService, fate: str, kind: str) -> None:
    server.fate_of = lambda text, _: fate if "number 1?" in text else "ok"
    job = draft(service, make_items(3))
    results = dict(service.collect(service.submit(job.calls, job.label), by_id(job)))
    failed = results.pop(f"{job.label}-1")
    assert isinstance(failed, CallError)
    assert failed.kind == kind
    assert "\n" not in failed.message
    assert len(texts(results)) == 2


def test_a_call_without_a_result_is_simply_not_told(server: BatchServer, service: BatchService) -> None:
    server.fate_of = lambda text, _: "missing" if "number 1?" in text else "ok"
    job = draft(service, make_items(3))
    results = dict(service.collect(service.submit(job.calls, job.label), by_id(job)))
    assert results.keys() == {f"{job.label}-0", f"{job.label}-2"}


def test_other_line_ends_in_a_reply_end_no_line(server: BatchServer, service: BatchService) -> None:
    server.answer_of = lambda _: "A\u2028because\u0085it\u2029is"
    job = draft(service, make_items(2))
    said = texts(dict(service.collect(service.submit(job.calls, job.label), by_id(job))))
    assert set(said.values()) == {"A\u2028because\u0085it\u2029is"}


def test_items_with_odd_characters_go_out_whole(server: BatchServer, service: BatchService) -> None:
    odd = Item("odd", "\x00, 漢字, 😀, \u2028", parse_reference("yes"), "r", "q")
    job = draft(service, (odd,))
    job_id = service.submit(job.calls, job.label)
    ((_, body),) = server.jobs[job_id].calls
    assert body == job.calls[0].body
    assert len(texts(dict(service.collect(job_id, by_id(job))))) == 1


def test_a_lost_job_is_found_again(server: BatchServer, service: BatchService, style: str) -> None:
    path = "/v1/messages/batches" if style == "messages" else "/v1/batches"
    server.troubles.append((f"POST {path}", "lost"))
    job = draft(service, make_items(4))
    with pytest.raises(CallError) as caught:
        service.submit(job.calls, job.label)
    assert caught.value.kind in ("connection", "timeout")
    others = [draft(service, make_items(n), f"autorater-other{n}") for n in (4, 3, 4)]
    for other in others:
        service.submit(other.calls, other.label)
    (lost,) = [i for i, made in server.jobs.items() if made.calls[0][0].startswith(job.label)]
    assert service.find(sought(job)) == lost
    assert service.find(SoughtJob("autorater-never", datetime.now(UTC) - timedelta(hours=1), 4)) is None


def test_a_lost_job_is_found_behind_many_others(server: BatchServer, service: BatchService, style: str) -> None:
    job = draft(service, make_items(2))
    job_id = service.submit(job.calls, job.label)
    form = "anthropic" if style == "messages" else "openai"
    for n in range(250):
        server.add_job(ServerJob(f"later_{n}", form, [("other-0", {"model": "m"})], endpoint="/v1/chat/completions"))
    assert service.find(sought(job)) == job_id


def test_what_is_older_than_the_intent_is_not_looked_at(server: BatchServer, service: BatchService) -> None:
    job = draft(service, make_items(2))
    job_id = service.submit(job.calls, job.label)
    server.jobs[job_id].created -= 7_200
    assert service.find(sought(job)) is None


def test_an_unfinished_job_of_its_size_is_taken_for_it_until_its_results_tell(
    server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.finishes_at_once = False
    for service in opened(server, "messages", monkeypatch):
        other = draft(service, make_items(3), "autorater-other")
        other_id = service.submit(other.calls, other.label)
        job = draft(service, make_items(3))
        assert service.find(sought(job)) == other_id
        assert service.find(sought(job, (other_id,))) is None
        server.finish()
        with pytest.raises(StrangeJobError):
            list(service.collect(other_id, by_id(job)))
        assert service.find(sought(job)) is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("token_limit_exceeded", "rate_limited"),
        ("billing_hard_limit_reached", "quota_exhausted"),
        ("model_not_found", "bad_request"),
        ("something_new", "bad_request"),
    ],
)
def test_a_job_refused_as_a_whole_says_why(
    server: BatchServer, monkeypatch: pytest.MonkeyPatch, code: str, kind: str
) -> None:
    server.job_fates.append(f"failed:{code}")
    for service in opened(server, "chat", monkeypatch):
        job = draft(service, make_items(2))
        state = service.state(service.submit(job.calls, job.label))
        assert (state.status, state.failure and state.failure.kind) == ("failed", kind)
        assert state.failure is not None
        assert code in state.failure.message


def test_an_expired_job_gives_what_was_done(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.job_fates.append("expired")
    server.fate_of = lambda text, _: "expired" if "number 0?" in text else "ok"
    for service in opened(server, "chat", monkeypatch):
        job = draft(service, make_items(3))
        job_id = service.submit(job.calls, job.label)
        assert service.state(job_id).status == "expired"
        results = dict(service.collect(job_id, by_id(job)))
        assert [isinstance(results[f"{job.label}-{n}"], Reply) for n in range(3)] == [False, True, True]


def test_a_cancelled_job_ends_with_its_calls_unanswered(server: BatchServer, service: BatchService) -> None:
    server.finishes_at_once = False
    job = draft(service, make_items(2))
    job_id = service.submit(job.calls, job.label)
    service.cancel(job_id)
    assert service.state(job_id).is_over
    results = dict(service.collect(job_id, by_id(job)))
    assert [isinstance(result, CallError) for result in results.values()] == [True, True]


@pytest.mark.parametrize(
    ("trouble", "kinds"),
    [
        ("status:429", {"rate_limited"}),
        ("status:401", {"bad_key"}),
        ("status:404", {"not_found"}),
        ("status:500", {"server_error"}),
        ("status:529", {"overloaded"}),
        ("cut", {"connection", "unreadable_reply"}),
        ("lost", {"connection", "timeout"}),
    ],
)
def test_trouble_on_the_way_is_a_call_error_without_the_key(
    server: BatchServer, service: BatchService, trouble: str, kinds: set[str]
) -> None:
    job = draft(service, make_items(2))
    job_id = service.submit(job.calls, job.label)
    n_before = len(server.log)
    server.troubles.append(("GET", trouble))
    with pytest.raises(CallError) as caught:
        service.state(job_id)
    assert caught.value.kind in kinds
    assert "sk-secret-key" not in caught.value.message
    assert len(server.log) - n_before <= 1, "the SDK's own retries are off"


def test_results_that_break_off_are_an_error_after_what_came(
    server: BatchServer, service: BatchService, style: str
) -> None:
    job = draft(service, make_items(40))
    job_id = service.submit(job.calls, job.label)
    path = f"/v1/messages/batches/{job_id}/results" if style == "messages" else "/v1/files"
    server.troubles.append((f"GET {path}", "cut"))
    came = []
    with pytest.raises(CallError) as caught:
        came.extend(service.collect(job_id, by_id(job)))
    assert caught.value.kind in ("connection", "unreadable_reply")


def test_limits_are_those_that_services_state(server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {}
    for style in STYLES:
        for service in opened(server, style, monkeypatch):
            limits[style] = (service.limits.requests, service.limits.bytes)
    assert limits == {
        "chat": (50_000, 200 * 10**6),
        "responses": (50_000, 200 * 10**6),
        "messages": (100_000, 256 * 10**6),
    }


def test_several_choices_go_into_one_call_only_where_they_are_honoured(
    server: BatchServer, service: BatchService, style: str
) -> None:
    grader = make_grader(server.url, style)
    asked = Request(make_items(1)[0], (0, 1, 2, 3, 4, 5), grader.prompt, grader.sampling, SIMPLEQA)
    assert service.choices_per_call(asked) == (4 if style == "chat" else 1)
