"""Batches for replicas: how large they are, and what becomes of those that a replica died with."""

from __future__ import annotations

import socket
import time
from collections import Counter
from typing import Any

import pytest
from conftest import SmallRuns
from hypothesis import given
from hypothesis import strategies as st

from calibration_sets.scale import SIMPLEQA
from graders.client import Answer, Request
from graders.endpoint import RayReplicas
from graders.errors import MissingDependencyError, ServiceError
from graders.providers import ray_cluster
from graders.providers.ray_batches import Batch, BatchQueue
from graders.providers.ray_cluster import check_ray, check_room, connected
from graders.sampling import Sampling
from graders.verdict import CallFailure


def requests(n_items: int, repeats: tuple[int, ...] = (0, 1)) -> list[Request]:
    items = [SmallRuns().item(number) for number in range(n_items)]
    return [Request(item, repeats, None, Sampling(), SIMPLEQA) for item in items]


def test_batches_grow_while_they_are_quick_and_shrink_when_they_last() -> None:
    queue = BatchQueue(iter(requests(200)), least=8)
    sizes = []
    for seconds in (0.1, 0.1, 5.0, 30.0, 30.0, 30.0):
        batch = queue.take()
        assert batch is not None
        sizes.append(len(batch.requests))
        queue.note(batch, seconds)
    assert sizes == [8, 16, 32, 32, 16, 8]


def test_a_last_small_batch_says_nothing_about_the_size() -> None:
    queue = BatchQueue(iter(requests(3)), least=8)
    batch = queue.take()
    assert batch is not None
    queue.note(batch, 0.01)
    assert queue.take() is None
    assert not queue.has_more


def test_requests_are_taken_only_when_they_are_sent() -> None:
    taken = []

    def source() -> Any:
        for request in requests(100):
            taken.append(request)
            yield request

    queue = BatchQueue(source(), least=8)
    assert queue.take() is not None
    assert len(taken) == 8


def test_a_batch_that_kills_comes_again_in_parts_and_fails_the_third_time() -> None:
    queue = BatchQueue(iter(requests(64)), least=64)
    first = queue.take()
    assert first is not None
    assert queue.blame(first, "killed") == []
    parts = [queue.take() for _ in range(8)]
    assert [len(part.requests) for part in parts if part] == [8] * 8
    assert queue.take() is None
    assert parts[0] is not None
    assert queue.blame(parts[0], "killed") == []
    single = queue.take()
    assert single is not None
    assert len(single.requests) == 1
    failed = queue.blame(single, "killed by signal 9")
    assert [(answer.repeat, type(answer.outcome)) for answer in failed] == [(0, CallFailure), (1, CallFailure)]
    outcome = failed[0].outcome
    assert isinstance(outcome, CallFailure)
    assert outcome.reason == "engine_error"
    assert "killed by signal 9" in outcome.message


def test_a_batch_that_only_waited_is_next_and_is_not_blamed() -> None:
    queue = BatchQueue(iter(requests(20)), least=8)
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    queue.put_back(second)
    queue.put_back(first)
    assert [queue.take(), queue.take()] == [first, second]


@given(st.lists(st.sampled_from(["done", "dies", "waits"]), max_size=60), st.integers(0, 40), st.integers(1, 9))
def test_each_repeat_is_answered_once_whatever_dies(fates: list[str], n_items: int, least: int) -> None:
    queue, answered = BatchQueue(iter(requests(n_items)), least=least), Counter[tuple[str, int]]()
    fates = [*fates]

    def count(answers: Any) -> None:
        answered.update((answer.item_digest, answer.repeat) for answer in answers)

    while (batch := queue.take()) is not None:
        fate = fates.pop() if fates else "done"
        if fate == "dies":
            count(queue.blame(batch, "died"))
        elif fate == "waits":
            queue.put_back(batch)
        else:
            count(Answer(one.item.digest, n, CallFailure("x", "")) for one in batch.requests for n in one.repeats)
    assert answered == Counter((one.item.digest, n) for one in requests(n_items) for n in (0, 1))


def test_what_is_given_up_fails_once() -> None:
    queue = BatchQueue(iter(()), least=8)
    queue.put_back(Batch(tuple(requests(2)), 1))
    assert len(queue.give_up("stopped")) == 4
    assert queue.give_up("stopped") == []


def node(*, gpus: float = 0, cpus: float = 8, alive: bool = True) -> dict[str, Any]:
    return {"Alive": alive, "Resources": {"CPU": cpus, **({"GPU": gpus} if gpus else {})}}


@pytest.mark.parametrize(
    ("nodes", "asked"),
    [
        ([node(gpus=1)], RayReplicas(replicas=1, gpus=1)),
        ([node(gpus=8)], RayReplicas(replicas=8, gpus=1)),
        ([node(gpus=8)], RayReplicas(replicas=16, gpus=0.5, cpus=0.5)),
        ([node(gpus=8), node(gpus=8)], RayReplicas(replicas=4, gpus=4)),
        ([node(cpus=2)], RayReplicas(replicas=2)),
        ([node(cpus=1)], RayReplicas(replicas=10, cpus=0.1)),
        ([node(cpus=1)], RayReplicas(replicas=50, cpus=0)),
    ],
)
def test_what_fits_is_let_through(nodes: list[dict[str, Any]], asked: RayReplicas) -> None:
    check_room(nodes, asked)


@pytest.mark.parametrize(
    ("nodes", "asked", "room"),
    [
        ([node()], RayReplicas(replicas=1, gpus=1), "room for 0 (nodes: 0 GPUs, 8 CPUs)"),
        ([node(gpus=4)], RayReplicas(replicas=8, gpus=1), "room for 4 (nodes: 4 GPUs, 8 CPUs)"),
        # A replica is on one node: two nodes of four are not one of eight.
        ([node(gpus=4), node(gpus=4)], RayReplicas(replicas=1, gpus=8), "room for 0"),
        ([node(gpus=8, alive=False), node()], RayReplicas(replicas=1, gpus=1), "room for 0"),
        ([node(gpus=8, cpus=4)], RayReplicas(replicas=8, gpus=1), "room for 4"),
        ([], RayReplicas(), "room for 0"),
    ],
)
def test_more_than_the_cluster_has_is_an_error(nodes: list[dict[str, Any]], asked: RayReplicas, room: str) -> None:
    with pytest.raises(ServiceError, match=r"expected no more than fit, or a larger cluster") as caught:
        check_room(nodes, asked)
    assert room in str(caught.value)
    assert f"{asked.replicas} replicas" in str(caught.value)


def test_missing_ray_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", {}.get)
    with pytest.raises(MissingDependencyError, match=r"pip install 'autorater-calibration\[ray\]'"):
        check_ray()


@pytest.fixture
def dead_address() -> str:
    """Of a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def expect_no_cluster(address: str, said: str) -> None:
    pytest.importorskip("ray", reason="SKIPPED, NOT PASSED: ray is not installed")
    began = time.monotonic()
    with pytest.raises(ServiceError, match=rf"^ray: {said}: .*; expected the address of a cluster"), connected(address):
        pass
    assert time.monotonic() - began < 30, "Ray was left to look for it, which takes minutes"


def test_a_cluster_that_is_not_there_is_told_at_once(dead_address: str) -> None:
    expect_no_cluster(dead_address, dead_address)
    expect_no_cluster("127.0.0.1:99999", "127.0.0.1:99999")


@pytest.mark.parametrize("address", ["", "auto"])
def test_a_cluster_that_the_variable_names_is_told_as_such(
    dead_address: str, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", dead_address)
    expect_no_cluster(address, rf"{dead_address} \(RAY_ADDRESS\)")


def test_an_address_of_another_form_is_told_by_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # of no interest where the experiment has an address
    expect_no_cluster("not an address", "not an address: Invalid address format")
