"""Plans: what is still to be asked, and what is paid already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.running.plan import build_plan, pending_requests
from experiments.specs.experiment import Experiment, load_experiment
from experiments.store.run_store import CompletionKey, RunStore
from graders.verdict import CallFailure, Completion


@pytest.fixture
def asked(study: Any) -> Experiment:
    return load_experiment(str(study.experiment))


@pytest.fixture
def store(study: Any) -> Any:
    with RunStore(study.folder / "s.sqlite") as opened:
        yield opened


def counts(asked: Experiment, store: RunStore | None) -> list[tuple[int, int, int]]:
    return [(share.n_expected, share.n_paid, share.n_pending) for share in build_plan(asked, store).graders]


def test_without_a_store_everything_is_to_be_asked(asked: Experiment) -> None:
    assert counts(asked, None) == [(24, 0, 24), (8, 0, 8)]
    assert build_plan(asked, None).n_pending == 32


def test_what_is_stored_is_paid_and_failures_are_not(asked: Experiment, store: RunStore) -> None:
    grader, digest = asked.graders[0].grader_id, asked.calibration_set.items[0].digest
    store.append(grader, CompletionKey(digest, 1), Completion("A", "m"))
    store.append(grader, CompletionKey(digest, 2), CallFailure("timeout", ""))
    assert counts(asked, store) == [(24, 1, 23), (8, 0, 8)]
    requests = list(pending_requests(asked, asked.graders[0], store))
    assert [request.repeats for request in requests if request.item.digest == digest] == [(0, 2)]
    assert sum(len(request.repeats) for request in requests) == 23


def test_completions_beyond_what_is_asked_are_not_counted(asked: Experiment, store: RunStore) -> None:
    grader, digest = asked.graders[0].grader_id, asked.calibration_set.items[0].digest
    store.append(grader, CompletionKey(digest, 3), Completion("A", "m"))
    store.append(grader, CompletionKey("elsewhere", 0), Completion("A", "m"))
    assert counts(asked, store)[0] == (24, 0, 24)


def test_items_of_one_content_are_asked_for_once(asked: Experiment, store: RunStore) -> None:
    items = asked.calibration_set.items
    twin = replace(items[0], item_id="twin")
    doubled = replace(asked, calibration_set=replace(asked.calibration_set, items=(*items, twin)))
    share = build_plan(doubled, store).graders[0]
    assert (share.n_items, share.n_contents, share.n_expected) == (9, 8, 24)
    assert [len(request.repeats) for request in pending_requests(doubled, doubled.graders[0], store)] == [3] * 8


def test_requests_of_an_item_stand_together_with_repeats_in_order(asked: Experiment, store: RunStore) -> None:
    requests = list(pending_requests(asked, asked.graders[0], store))
    assert [request.repeats for request in requests] == [(0, 1, 2)] * 8
    assert [request.item.item_id for request in requests] == [item.item_id for item in asked.calibration_set.items]


def test_more_repeats_cost_only_what_is_new(study: Any, asked: Experiment, store: RunStore) -> None:
    grader = asked.graders[0]
    keys = [CompletionKey(item.digest, repeat) for item in asked.calibration_set.items for repeat in range(3)]
    store.append_many(grader.grader_id, [(key, Completion("A", "m")) for key in keys])
    more = load_experiment(str(study.write_experiment({"repeats = 3": "repeats = 5"})))
    assert counts(more, store)[0] == (40, 24, 16)


def test_calls_are_as_many_as_the_service_needs(asked: Experiment, store: RunStore) -> None:
    first = asked.graders[0]
    together = replace(first, capabilities=replace(first.capabilities, max_choices=2))
    (share,) = build_plan(replace(asked, graders=(together,)), store).graders
    assert (share.n_requests, share.n_calls, share.n_pending) == (8, 16, 24)
    digest = asked.calibration_set.items[0].digest
    store.append(together.grader_id, CompletionKey(digest, 1), Completion("A", "m"))
    (share,) = build_plan(replace(asked, graders=(together,)), store).graders
    assert (share.n_requests, share.n_calls, share.n_pending) == (8, 15, 23)


def test_an_exact_grader_is_asked_once_for_each_item(asked: Experiment, store: RunStore) -> None:
    first = asked.graders[0]
    exact = replace(first, sampling=replace(first.sampling, method="exact"))
    (share,) = build_plan(replace(asked, graders=(exact,)), store).graders
    assert (share.n_expected, share.n_pending) == (8, 8)
    assert [request.repeats for request in pending_requests(asked, exact, store)] == [(0,)] * 8


def test_planning_writes_nothing_and_needs_no_store(asked: Experiment, store: RunStore) -> None:
    before = store.place.path.read_bytes()
    assert len(list(pending_requests(asked, asked.graders[0], None))) == 8
    list(pending_requests(asked, asked.graders[0], store))
    assert store.place.path.read_bytes() == before
