"""Running experiments through batch jobs: in, out, again, and with trouble on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from batch_server import BatchServer
from batch_study import Clock, make_experiment, make_grader

from experiments.batch.records import BatchRecords, batch_keys, held_keys
from experiments.batch.runner import BatchSummary, describe_jobs, run_batch
from experiments.errors import BudgetError
from experiments.running.budget import estimated_worst_cost
from experiments.running.plan import pending_requests
from experiments.specs.experiment import Experiment
from experiments.store.run_store import CompletionKey, RunStore
from graders.batch import openai_batch
from graders.batch.calls import BatchLimits
from graders.batch.opening import open_batch_service
from graders.capabilities import Capabilities, Price
from graders.errors import ServiceError, UnsupportedError
from graders.verdict import Completion

JOBS = {"chat": "/v1/batches", "responses": "/v1/batches", "messages": "/v1/messages/batches"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-key")
    with BatchServer() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture(params=["chat", "responses", "messages"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(experiment: Experiment, store: RunStore, clock: Clock | None = None, *, wait: bool = True) -> BatchSummary:
    clock = clock or Clock()
    return run_batch(experiment, store, open_batch_service, wait=wait, clock=clock, sleep=clock.sleep)


def assert_all_paid_once(server: BatchServer, store: RunStore, experiment: Experiment) -> None:
    (grader,) = experiment.graders
    n_items, repeats = len(experiment.calibration_set.items), grader.sampling.repeats
    assert len(store.stored_keys(grader.grader_id)) == n_items * repeats
    assert set(server.answered.values()) == {repeats}
    assert len(server.answered) == n_items
    assert held_keys(store, grader.grader_id) == set()


def test_every_verdict_lands_under_its_key(server: BatchServer, store: RunStore, style: str) -> None:
    server.answer_of = lambda text: "B" if "number 3?" in text else "A"
    experiment = make_experiment(make_grader(server.url, style, max_choices=2))
    told: list[str] = []
    clock = Clock()
    summary = run_batch(
        experiment, store, open_batch_service, wait=True, tell=told.append, clock=clock, sleep=clock.sleep
    )
    assert (summary.n_stored, summary.call_failures, summary.jobs) == (15, Counter(), ())
    assert_all_paid_once(server, store, experiment)
    (grader,) = experiment.graders
    third = experiment.calibration_set.items[3].digest
    stored = store.completions(grader.grader_id)
    assert {key.item_digest for key, said in stored.items() if said.text == "B"} == {third}
    assert {said.served_model for said in stored.values()} == {"some-model-2026"}
    assert batch_keys(store, grader.grader_id) == stored.keys()
    assert [line.split(": ")[1] for line in told] == [
        "submitted, 10 calls" if style == "chat" else "submitted, 15 calls",
        "ended, 15 verdicts stored, 0 without an answer",
    ]


def test_running_it_again_asks_for_nothing(server: BatchServer, store: RunStore, style: str) -> None:
    experiment = make_experiment(make_grader(server.url, style))
    run(experiment, store)
    n_requests = len(server.log)
    assert run(experiment, store).n_stored == 0
    assert len(server.log) == n_requests


def test_without_waiting_the_same_command_collects_later(server: BatchServer, store: RunStore, style: str) -> None:
    server.finishes_at_once = False
    experiment = make_experiment(make_grader(server.url, style))
    clock = Clock()
    first = run(experiment, store, clock, wait=False)
    (job,) = first.jobs
    assert (job.status, job.n_calls, job.job_id in server.jobs) == ("in_progress", 15, True)
    again = run(experiment, store, clock, wait=False)
    assert [out.job_id for out in again.jobs] == [job.job_id]
    assert len(server.jobs) == 1
    assert clock.sleeps == []
    server.finish()
    assert run(experiment, store, wait=False).n_stored == 15
    assert_all_paid_once(server, store, experiment)


def test_calls_are_spread_over_jobs_within_the_limits(
    server: BatchServer, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_batch, "LIMITS", BatchLimits(4, 10**6))
    server.most_calls = 4
    experiment = make_experiment(make_grader(server.url, "chat"))
    run(experiment, store)
    assert sorted(len(job.calls) for job in server.jobs.values()) == [3, 4, 4, 4]
    assert_all_paid_once(server, store, experiment)


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["expired", "missing", "garbage", "http:500"])
def test_what_fails_in_passing_is_handed_in_again(server: BatchServer, store: RunStore, style: str, fate: str) -> None:
    server.fate_of = lambda text, before: fate if "number 1?" in text and before < 3 else "ok"
    experiment = make_experiment(make_grader(server.url, style))
    summary = run(experiment, store)
    assert summary.n_stored == 15
    assert sum(summary.call_failures.values()) == 3
    assert_all_paid_once(server, store, experiment)


def test_what_fails_again_and_again_is_left_for_another_run(server: BatchServer, store: RunStore, style: str) -> None:
    server.fate_of = lambda text, _: "expired" if "number 1?" in text else "ok"
    experiment = make_experiment(make_grader(server.url, style, repeats=1))
    summary = run(experiment, store)
    assert (summary.n_stored, summary.call_failures, summary.jobs) == (4, Counter(timeout=3), ())
    assert len(server.jobs) == 3
    server.fate_of = lambda _text, _before: "ok"
    assert run(experiment, store).n_stored == 1


def test_what_cannot_succeed_is_not_handed_in_again(server: BatchServer, store: RunStore, style: str) -> None:
    server.fate_of = lambda text, _: "http:400" if "number 1?" in text else "ok"
    experiment = make_experiment(make_grader(server.url, style, repeats=1))
    summary = run(experiment, store)
    assert (summary.n_stored, summary.call_failures) == (4, Counter(bad_request=1))
    assert len(server.jobs) == 1
    (grader,) = experiment.graders
    ((key, failure),) = store.call_failures(grader.grader_id).items()
    assert key == CompletionKey(experiment.calibration_set.items[1].digest, 0)
    assert failure.message.startswith(f"batch job {next(iter(server.jobs))}: ")


def test_fewer_choices_than_asked_are_asked_for_again(server: BatchServer, store: RunStore) -> None:
    grader = make_grader(server.url, "chat", repeats=3, max_choices=3)
    experiment = make_experiment(grader)
    server.choices_of = lambda n, before: 1 if before == 0 else n
    summary = run(experiment, store)
    assert summary.n_stored == 15
    assert summary.call_failures == Counter(unreadable_reply=10)
    assert_all_paid_once(server, store, experiment)


@pytest.mark.slow
@pytest.mark.parametrize("refusal", ["status:429", "status:500", "status:529", "lost", "cut"])
@pytest.mark.parametrize("moment", ["POST", "GET"])
def test_passing_trouble_costs_nothing_twice(
    server: BatchServer, store: RunStore, style: str, refusal: str, moment: str
) -> None:
    server.finishes_at_once = False
    server.troubles.append((f"{moment} {JOBS[style]}", refusal))
    experiment = make_experiment(make_grader(server.url, style))
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if len(clock.sleeps) > 2:
            server.finish()

    run_batch(experiment, store, open_batch_service, wait=True, clock=clock, sleep=sleep)
    assert_all_paid_once(server, store, experiment)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_does_not_pass_stops_the_run_and_can_be_resumed(
    server: BatchServer, store: RunStore, style: str, status: int
) -> None:
    path = "/v1/files" if style != "messages" else JOBS[style]
    server.troubles.append((f"POST {path}", f"status:{status}"))
    experiment = make_experiment(make_grader(server.url, style))
    with pytest.raises(ServiceError) as caught:
        run(experiment, store)
    assert "\n" not in str(caught.value)
    assert "sk-secret-key" not in str(caught.value)
    run(experiment, store)
    assert_all_paid_once(server, store, experiment)


def test_a_service_out_of_reach_ends_the_run_not_the_jobs(server: BatchServer, store: RunStore) -> None:
    server.finishes_at_once = False
    experiment = make_experiment(make_grader(server.url, "chat"))
    run(experiment, store, wait=False)
    server.troubles.extend([("GET", "status:503")] * 50)
    clock = Clock()
    with pytest.raises(ServiceError, match="1 batch jobs stay with it"):
        run(experiment, store, clock)
    assert 5 <= len(clock.sleeps) <= 20
    server.troubles.clear()
    server.finish()
    run(experiment, store)
    assert_all_paid_once(server, store, experiment)


def test_a_full_queue_makes_jobs_smaller_and_one_at_a_time(server: BatchServer, store: RunStore) -> None:
    server.job_fates.extend(["failed:token_limit_exceeded", "failed:token_limit_exceeded"])
    experiment = make_experiment(make_grader(server.url, "chat", repeats=4))
    summary = run(experiment, store)
    assert [len(job.calls) for job in server.jobs.values()] == [20, 10, 5, 5, 5, 5]
    assert summary.n_stored == 20
    assert_all_paid_once(server, store, experiment)


def test_a_job_that_is_refused_as_a_whole_is_a_failure_of_its_calls(server: BatchServer, store: RunStore) -> None:
    server.job_fates.append("failed:model_not_found")
    experiment = make_experiment(make_grader(server.url, "chat", repeats=1))
    summary = run(experiment, store)
    assert (summary.n_stored, summary.call_failures) == (0, Counter(bad_request=5))
    assert len(server.jobs) == 1


def test_items_that_left_the_experiment_are_collected_all_the_same(
    server: BatchServer, store: RunStore, style: str
) -> None:
    server.finishes_at_once = False
    grader = make_grader(server.url, style)
    run(make_experiment(grader, n_items=5), store, wait=False)
    server.finish()
    assert run(make_experiment(grader, n_items=2), store).n_stored == 15
    assert_all_paid_once(server, store, make_experiment(grader, n_items=5))


def test_a_live_completion_stands_and_is_no_batch_completion(server: BatchServer, store: RunStore) -> None:
    server.finishes_at_once = False
    experiment = make_experiment(make_grader(server.url, "chat"))
    run(experiment, store, wait=False)
    (grader,) = experiment.graders
    key = CompletionKey(experiment.calibration_set.items[0].digest, 1)
    store.append(grader.grader_id, key, Completion("C", "other"))
    server.finish()
    assert run(experiment, store).n_stored == 14
    assert store.completions(grader.grader_id)[key].text == "C"
    assert key not in batch_keys(store, grader.grader_id)


def test_models_without_jobs_stop_it_before_anything_is_sent(server: BatchServer, store: RunStore) -> None:
    grader = make_grader(server.url, "chat")
    without = replace(grader, model="openai/other", capabilities=Capabilities(batch=False))
    with pytest.raises(UnsupportedError, match=r"^--batch: openai/other: ") as caught:
        run(make_experiment(grader, without), store)
    assert "\n" not in str(caught.value)
    assert server.log == []


def test_a_grader_that_has_nothing_left_needs_no_jobs(server: BatchServer, store: RunStore) -> None:
    grader = make_grader(server.url, "chat")
    done = replace(grader, model="openai/other", capabilities=Capabilities(batch=False))
    experiment = make_experiment(grader, done)
    for item in experiment.calibration_set.items:
        for repeat in range(3):
            store.append(done.grader_id, CompletionKey(item.digest, repeat), Completion("A", "m"))
    assert run(experiment, store).n_stored == 15


PRICE = Price(input=2.0, output=8.0, batch=0.5)


def priced(server: BatchServer) -> Experiment:
    grader = make_grader(server.url, "chat")
    return make_experiment(replace(grader, capabilities=replace(grader.capabilities, price=PRICE)))


def run_within(experiment: Experiment, store: RunStore, max_cost: float) -> BatchSummary:
    return run_batch(experiment, store, open_batch_service, max_cost=max_cost)


def worst_case(experiment: Experiment, store: RunStore) -> float:
    """Dollars for all of an experiment, at the price of jobs."""
    (grader,) = experiment.graders
    requests = pending_requests(experiment, grader, store)
    return PRICE.batch * sum(estimated_worst_cost(request, grader) for request in requests)


def test_a_job_that_would_cost_too_much_is_never_submitted(server: BatchServer, store: RunStore) -> None:
    experiment = priced(server)
    with pytest.raises(BudgetError):
        run_within(experiment, store, 0.99 * worst_case(experiment, store))
    assert server.log == []
    assert held_keys(store, experiment.graders[0].grader_id) == set()
    run_within(experiment, store, 1.01 * worst_case(experiment, store))
    assert len(server.jobs) == 1


def test_jobs_that_are_out_count_towards_the_limit(server: BatchServer, store: RunStore) -> None:
    server.finishes_at_once = False
    whole = priced(server)
    limit = 1.2 * worst_case(whole, store)
    run_within(whole, store, limit)
    larger = make_experiment(*whole.graders, n_items=10)
    with pytest.raises(BudgetError):
        run_within(larger, store, limit)
    assert len(server.jobs) == 1


def test_without_a_price_there_is_no_limit_to_keep(server: BatchServer, store: RunStore) -> None:
    with pytest.raises(BudgetError, match="no price is known"):
        run_within(make_experiment(make_grader(server.url, "chat")), store, 100.0)
    assert server.log == []


def test_an_interruption_leaves_the_jobs_running_and_says_so(server: BatchServer, store: RunStore, style: str) -> None:
    server.finishes_at_once = False
    experiment = make_experiment(make_grader(server.url, style))

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    summary = run_batch(experiment, store, open_batch_service, wait=True, sleep=interrupt)
    assert summary.interrupted
    job_line, advice = describe_jobs(summary)
    assert job_line.startswith(f"batch job {next(iter(server.jobs))}: in_progress, 0 of 15 calls done, submitted 20")
    assert "the same command collects them" in advice
    server.finish()
    assert describe_jobs(run(experiment, store)) == []
    assert not run(experiment, store).interrupted
    assert_all_paid_once(server, store, experiment)


def test_looks_become_rarer_while_nothing_happens(server: BatchServer, store: RunStore) -> None:
    server.finishes_at_once = False
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if len(clock.sleeps) == 12:
            server.finish()

    experiment = make_experiment(make_grader(server.url, "chat"))
    run_batch(experiment, store, open_batch_service, wait=True, poll_seconds=60, clock=clock, sleep=sleep)
    assert clock.sleeps[0] == 60
    assert clock.sleeps == sorted(clock.sleeps)
    assert clock.sleeps[-1] == 600


def test_a_job_that_its_service_forgot_is_asked_for_again_once_its_time_is_over(
    server: BatchServer, store: RunStore
) -> None:
    server.finishes_at_once = False
    experiment = make_experiment(make_grader(server.url, "chat"))
    clock = Clock()
    run(experiment, store, clock, wait=False)
    server.jobs.clear()
    with pytest.raises(ServiceError, match="not_found"):
        run(experiment, store, clock)
    clock.sleep(26 * 3600)
    server.finishes_at_once = True
    run(experiment, store, clock)
    assert_all_paid_once(server, store, experiment)


def test_several_graders_have_jobs_of_their_own(server: BatchServer, store: RunStore) -> None:
    graders = [make_grader(server.url, style) for style in ("chat", "messages")]
    assert run(make_experiment(*graders), store).n_stored == 30
    assert {len(store.stored_keys(grader.grader_id)) for grader in graders} == {15}


def test_nothing_of_the_key_is_stored(server: BatchServer, store: RunStore) -> None:
    experiment = make_experiment(make_grader(server.url, "chat"), make_grader(server.url, "messages"))
    server.troubles.append(("POST /v1/files", "status:429"))
    run(experiment, store)
    assert any("sk-secret-key" in key for key in server.keys)
    files = [file for file in store.place.path.parent.iterdir() if file.is_file()]
    assert all(b"sk-secret-key" not in file.read_bytes() for file in files)


def test_a_store_without_jobs_has_none(store: RunStore) -> None:
    assert batch_keys(store, "g") == set()
    assert held_keys(store, "g") == set()
    assert BatchRecords(store).jobs("g") == []


def test_a_model_of_no_such_service_is_refused_when_it_is_opened() -> None:
    with pytest.raises(UnsupportedError, match="local/smollm2"):
        open_batch_service(replace(make_grader("http://localhost", "chat"), model="local/smollm2"))
