"""What the store knows of batch jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from batch_study import make_grader, make_items

from calibration_sets.scale import SIMPLEQA
from experiments.batch.records import BatchRecords, JobState, batch_keys, held_keys
from experiments.store.run_store import CompletionKey, RunStore
from graders.batch.calls import BatchLimits, JobDraft, split_calls
from graders.client import Request
from graders.verdict import Completion

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ITEMS = make_items(3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "s.sqlite") as opened:
        yield opened


def draft(label: str = "autorater-1", n_items: int = 3, repeats: tuple[int, ...] = (0, 2)) -> JobDraft:
    grader = make_grader("http://localhost", "chat")
    requests = [Request(item, repeats, grader.prompt, grader.sampling, SIMPLEQA) for item in ITEMS[:n_items]]
    (job,) = split_calls(requests, lambda _: {}, BatchLimits(10, 10**6), lambda: label)
    return job


def intend(records: BatchRecords, job: JobDraft, now: datetime = NOW) -> None:
    records.intend(job, grader_id="g", run_id="r", service="s", now=now)


def test_an_intent_holds_its_calls_until_its_job_is_over(store: RunStore) -> None:
    records = BatchRecords(store)
    intend(records, draft())
    keys = {CompletionKey(item.digest, repeat) for item in ITEMS for repeat in (0, 2)}
    assert held_keys(store, "g") == keys
    assert held_keys(store, "other") == set()
    records.change("autorater-1", "in_progress", now=NOW, job_id="b1")
    assert held_keys(store, "g") == keys
    records.change("autorater-1", "collected", now=NOW)
    assert held_keys(store, "g") == set()


@pytest.mark.parametrize("state", ["collected", "refused", "queue_full", "lost"])
def test_a_job_that_is_over_is_not_alive_but_remembered(store: RunStore, state: JobState) -> None:
    records = BatchRecords(store)
    intend(records, draft())
    records.change("autorater-1", "in_progress", now=NOW, job_id="b1")
    records.change("autorater-1", state, now=NOW + timedelta(hours=1), message="so it was")
    assert records.alive("g") == []
    (job,) = records.jobs("g")
    assert (job.job_id, job.state, job.message, job.n_calls) == ("b1", state, "so it was", 3)
    assert (job.created_at, job.changed_at) == (NOW, NOW + timedelta(hours=1))
    assert records.job_ids() == {"b1"}


def test_a_job_that_is_to_be_looked_for_has_no_id(store: RunStore) -> None:
    records = BatchRecords(store)
    intend(records, draft())
    records.change("autorater-1", "in_progress", now=NOW, job_id="b1")
    assert records.change("autorater-1", "submitting", now=NOW).job_id is None
    assert records.job_ids() == frozenset()


def test_calls_come_back_as_they_were_recorded(store: RunStore) -> None:
    records = BatchRecords(store)
    intend(records, draft())
    assert records.calls("autorater-1") == {
        f"autorater-1-{place}": (item.digest, (0, 2)) for place, item in enumerate(ITEMS)
    }


def test_jobs_are_told_oldest_first_and_survive_the_process(store: RunStore) -> None:
    records = BatchRecords(store)
    intend(records, draft("autorater-2"), NOW + timedelta(seconds=1))
    intend(records, draft("autorater-1"), NOW + timedelta(seconds=2))
    intend(records, draft("autorater-3"), NOW)
    with RunStore(store.place.path) as again:
        assert [job.label for job in BatchRecords(again).jobs("g")] == ["autorater-3", "autorater-2", "autorater-1"]


def test_jobs_are_halved_below_the_smallest_that_was_too_large(store: RunStore) -> None:
    records = BatchRecords(store)
    assert records.reduced_size("g") is None
    intend(records, draft("autorater-1", 3))
    records.change("autorater-1", "queue_full", now=NOW)
    assert records.reduced_size("g") == 1
    intend(records, draft("autorater-2", 1))
    records.change("autorater-2", "queue_full", now=NOW)
    assert records.reduced_size("g") == 1


def test_completions_of_jobs_are_told_from_others(store: RunStore) -> None:
    records = BatchRecords(store)
    keys = [CompletionKey(item.digest, 0) for item in ITEMS]
    for _ in range(2):
        records.claim("g", "autorater-1", keys[:2])
    for key in keys:
        store.append("g", key, Completion("A", "m"))
    assert batch_keys(store, "g") == set(keys[:2])
    assert batch_keys(store, "other") == set()


def test_a_store_with_jobs_is_still_a_store(store: RunStore) -> None:
    intend(BatchRecords(store), draft())
    with RunStore(store.place.path, must_exist=True) as again:
        assert again.count_completions() == 0
        assert len(held_keys(again, "g")) == 6
