"""Graders on a Ray cluster of two processors: the same verdicts, whatever dies on the way."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="SKIPPED, NOT PASSED: ray is not installed")

from conftest import SmallRuns  # noqa: E402
from fragile_replica import FOLDER, FragileReplica  # noqa: E402

from calibration_sets.item import Item  # noqa: E402
from calibration_sets.scale import SIMPLEQA, LabelScale  # noqa: E402
from experiments.reports import build_report  # noqa: E402
from experiments.running.control import RunControl  # noqa: E402
from experiments.running.runner import run_experiment  # noqa: E402
from experiments.specs.experiment import Experiment, load_experiment  # noqa: E402
from experiments.store.run_records import load_run_data  # noqa: E402
from experiments.store.run_store import RunStore  # noqa: E402
from graders.client import Answer, ModelClient, Request  # noqa: E402
from graders.endpoint import Endpoint, RayReplicas  # noqa: E402
from graders.errors import GraderError, MissingDependencyError, ServiceError  # noqa: E402
from graders.grader import Grader  # noqa: E402
from graders.prompt_library import load_prompt  # noqa: E402
from graders.providers import open_client, ray_pool  # noqa: E402
from graders.providers.local import LocalClient  # noqa: E402
from graders.providers.ray_client import RayClient  # noqa: E402
from graders.sampling import Sampling  # noqa: E402
from graders.verdict import CallFailure, Completion  # noqa: E402

TWO = RayReplicas(replicas=2)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        yield
        ray.shutdown()


@pytest.fixture
def fragile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Replicas are fragile, and share this folder with the test."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    monkeypatch.setattr(ray_pool, "Replica", FragileReplica)
    monkeypatch.setattr(ray_pool, "_PASSED_ON", (FOLDER,))
    return folder


def n_loads(folder: Path) -> int:
    return len((folder / "loads").read_text(encoding="utf-8").splitlines())


def baseline(asked: RayReplicas = TWO, *, max_wait_seconds: float = 600.0) -> Grader:
    endpoint = Endpoint(ray=asked, max_wait_seconds=max_wait_seconds)
    return Grader("baseline/lexical", Sampling(repeats=2), model_digest="rules 1.0.0; a, b", endpoint=endpoint)


def some_items(n_items: int, odd_ones: dict[int, str] | None = None) -> list[Item]:
    return [SmallRuns().item(n, response=(odd_ones or {}).get(n, f"right {n}")) for n in range(n_items)]


def requests(items: Iterable[Item], *, scale: LabelScale = SIMPLEQA) -> Iterator[Request]:
    return (Request(item, (0, 1), None, Sampling(repeats=2), scale) for item in items)


def pids(client: ModelClient) -> list[int]:
    """Processes of a client's replicas."""
    assert isinstance(client, RayClient)
    assert client._pool is not None
    actors = [slot.actor for slot in client._pool._slots if slot.is_ready]
    return list(ray.get([actor.__ray_call__.remote(lambda _: os.getpid()) for actor in actors]))


def outcomes(answers: Iterable[Sequence[Answer]]) -> dict[tuple[str, int], Completion | CallFailure]:
    """What came of each repeat; each must have come once."""
    found = [answer for together in answers for answer in together]
    said = {(answer.item_digest, answer.repeat): answer.outcome for answer in found}
    assert len(said) == len(found)
    return said


def failures(said: dict[tuple[str, int], Completion | CallFailure]) -> Counter[str]:
    return Counter(outcome.reason for outcome in said.values() if isinstance(outcome, CallFailure))


def test_replicas_answer_what_one_process_answers() -> None:
    items = some_items(100, {5: "wrong", 9: ""})
    with open_client(replace(baseline(), endpoint=Endpoint())) as alone, open_client(baseline()) as many:
        assert outcomes(many.complete(requests(items))) == outcomes(alone.complete(requests(items)))
        assert outcomes(many.complete(requests(items[:3]))) == outcomes(alone.complete(requests(items[:3])))
        assert list(many.complete(iter(()))) == []


def test_requests_are_taken_while_there_is_room_and_answers_come_as_they_are_there(fragile: Path) -> None:
    taken = []

    def source() -> Iterator[Request]:
        for request in requests(some_items(400, dict.fromkeys(range(400), "slow"))):
            taken.append(request)
            yield request

    with open_client(baseline()) as client:
        answers = client.complete(source())
        first = next(answers)
        assert len(first) <= 4 * 16
        assert len(taken) <= 4 * 16, "all of it was taken before anything was stored"
        answers.close()  # type: ignore[attr-defined]
        # Those that were broken off are not mixed with the next.
        assert len(outcomes(client.complete(requests(some_items(3))))) == 6


def test_a_poisoned_item_takes_few_with_it_and_the_rest_is_answered(
    fragile: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = some_items(40, {17: "poison"})
    with open_client(baseline()) as client:
        said = outcomes(client.complete(requests(items)))
    assert len(said) == 80
    failed = {digest for (digest, _), outcome in said.items() if isinstance(outcome, CallFailure)}
    assert items[17].digest in failed
    assert len(failed) <= 2
    assert failures(said) == {"engine_error": 2 * len(failed)}
    # Three deaths; one more where an answer was lost on its way, and another batch was blamed for it.
    assert 2 < n_loads(fragile) <= 2 + 5
    assert "is started again" in caplog.text


def test_an_engine_that_dies_in_its_replica_keeps_its_answers(fragile: Path) -> None:
    items = some_items(24, {7: "engine"})
    with open_client(baseline()) as client:
        said = outcomes(client.complete(requests(items)))
    failed = {digest for (digest, _), outcome in said.items() if isinstance(outcome, CallFailure)}
    assert (len(said), failed) == (48, {items[7].digest})
    assert n_loads(fragile) >= 3


def test_replicas_that_all_die_again_and_again_end_in_an_error(fragile: Path) -> None:
    items = some_items(4, dict.fromkeys(range(4), "poison"))
    with open_client(baseline(RayReplicas())) as client:
        found: list[Sequence[Answer]] = []
        with pytest.raises(ServiceError, match=r"1 replicas died 3 times each in a row.*answers so far are kept"):
            found.extend(client.complete(requests(items)))
    assert {type(answer.outcome) for together in found for answer in together} <= {CallFailure}
    assert n_loads(fragile) == 3


def test_a_model_that_is_not_there_is_told_at_once(fragile: Path) -> None:
    (fragile / "refuse-loading").touch()
    with pytest.raises(ServiceError, match=r"not loaded, no such model"), open_client(baseline()):
        pass


def test_a_replica_that_dies_while_it_loads_is_tried_three_times(fragile: Path) -> None:
    (fragile / "die-loading").touch()
    with (
        pytest.raises(ServiceError, match=r"died while it started: .*memory enough"),
        open_client(baseline(RayReplicas())),
    ):
        pass
    assert n_loads(fragile) == 3


def test_more_than_the_cluster_has_is_told_before_anything_is_loaded(fragile: Path) -> None:
    with pytest.raises(ServiceError, match=r"2 replicas of 1 GPUs"), open_client(baseline(RayReplicas("", 2, 1.0))):
        pass
    assert not (fragile / "loads").exists()


def test_room_that_others_use_is_waited_for_and_not_for_ever() -> None:
    with open_client(baseline()):
        began = time.monotonic()
        with (
            pytest.raises(ServiceError, match=r"0 GPUs and 1 CPUs on one node were not free for 0.2 s"),
            open_client(baseline(RayReplicas(), max_wait_seconds=0.2)),
        ):
            pass
        assert time.monotonic() - began < 20


def test_room_is_not_waited_for_where_no_node_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "_TELL_SECONDS", 0.1)
    with open_client(baseline()):
        # As Ray lists them before and after its only node was killed.
        lists = iter([ray.nodes(), [{**node, "Alive": False} for node in ray.nodes()]])
        monkeypatch.setattr(ray, "nodes", lambda: next(lists))
        with (
            pytest.raises(ServiceError, match=r"no node of the cluster is alive any more; .*answers so far are kept"),
            open_client(baseline(RayReplicas())),
        ):
            pass


def test_a_node_without_the_engine_is_named() -> None:
    if importlib.util.find_spec("vllm") is not None:
        pytest.skip("vLLM is installed")
    absent = replace(baseline(RayReplicas(cpus=1)), model="vllm/some/model", model_digest="")
    with pytest.raises(MissingDependencyError, match=r"^ray: node \S+: vllm: not installed"), open_client(absent):
        pass


def test_other_weights_or_another_version_on_a_node_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(ServiceError, match=r"not the model that the run was started with"),
        open_client(replace(baseline(RayReplicas()), model_digest="rules 0.9; a, b")),
    ):
        pass
    monkeypatch.setattr(ray_pool, "own_version", lambda: "99.0")
    with pytest.raises(ServiceError, match=r"expected 99.0"), open_client(baseline(RayReplicas())):
        pass


def test_what_a_person_must_mend_comes_as_it_would_without_ray() -> None:
    scale = LabelScale("other", ("good", "bad"))
    with (
        open_client(baseline()) as client,
        pytest.raises(GraderError, match=r"baseline/lexical: scale 'other'") as told,
    ):
        outcomes(client.complete(requests(some_items(4), scale=scale)))
    assert type(told.value) is GraderError


def write_study(folder: Path, n_graders: int = 1, n_replicas: int = 2) -> tuple[Path, Path]:
    """An experiment on the probes, with and without Ray."""
    text = 'name = "study"\nset = "probes"\nitems = { sample = 200 }\n'
    graders = "".join(
        f"[[graders]]\nmodel = 'baseline/lexical'\nsampling = {{ seed = {n} }}\n" for n in range(n_graders)
    )
    alone, many = folder / "alone.toml", folder / "many.toml"
    alone.write_text(text + graders, encoding="utf-8")
    many.write_text(text + "" + f'engine = {{ kind = "ray", replicas = {n_replicas} }}\n' + graders, encoding="utf-8")
    return alone, many


def report_of(store: RunStore, experiment: Experiment) -> Any:
    data, analyses = load_run_data(store, experiment.run_id)
    return build_report(data, level=analyses.level)


class Killing:
    """A client one of whose replicas is killed after some answers."""

    def __init__(self, client: ModelClient, *, after: int) -> None:
        self._client, self._after = client, after
        self.n_killed = 0

    def __enter__(self) -> Killing:
        self._client.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._client.__exit__(*error)

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        for number, together in enumerate(self._client.complete(requests)):
            if number == self._after:
                os.kill(pids(self._client)[0], signal.SIGKILL)
                self.n_killed += 1
            yield together


def test_a_replica_killed_in_mid_run_changes_nothing_in_the_report(tmp_path: Path) -> None:
    alone, many = (load_experiment(str(path)) for path in write_study(tmp_path))
    assert alone.run_id == many.run_id
    killings: list[Killing] = []

    def open_killing(grader: Grader) -> ModelClient:
        killings.append(Killing(open_client(grader), after=1))
        return killings[-1]

    with RunStore(tmp_path / "one.sqlite") as one, RunStore(tmp_path / "many.sqlite") as other:
        run_experiment(alone, one, open_client)
        summary = run_experiment(many, other, open_killing)
        assert (summary.n_stored, dict(summary.call_failures)) == (2000, {})
        assert report_of(one, alone) == report_of(other, many)
    assert [killing.n_killed for killing in killings] == [1]


def test_a_stopped_run_keeps_what_was_under_way_and_is_continued(tmp_path: Path, fragile: Path) -> None:
    alone, many = (load_experiment(str(path)) for path in write_study(tmp_path, n_graders=2))
    control = RunControl(tell=print)

    class Stopping(Killing):
        def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
            for together in self._client.complete(requests):
                if not control.stopping:
                    control.stop()
                yield together

    with RunStore(tmp_path / "one.sqlite") as one, RunStore(tmp_path / "many.sqlite") as other:
        with pytest.raises(KeyboardInterrupt):
            run_experiment(many, other, lambda grader: Stopping(open_client(grader), after=0), control=control)
        n_kept = sum(1 for grader in many.graders for _ in other.iter_completions(grader.grader_id))
        assert 0 < n_kept < 2000
        summary = run_experiment(many, other, open_client)
        assert summary.n_stored == 4000 - n_kept
        run_experiment(alone, one, open_client)
        assert report_of(one, alone) == report_of(other, many)
    assert n_loads(fragile) <= 2 + 2


def test_graders_of_one_model_share_its_replicas(tmp_path: Path, fragile: Path) -> None:
    _, many = write_study(tmp_path, n_graders=3, n_replicas=1)
    with RunStore(tmp_path / "many.sqlite") as store:
        assert run_experiment(load_experiment(str(many)), store, open_client).n_stored == 6000
    assert n_loads(fragile) == 1


@pytest.mark.slow
@pytest.mark.engine
def test_the_local_model_draws_the_same_verdicts_though_one_of_its_replicas_is_killed(weights: Path) -> None:
    prompt = load_prompt("simpleqa_short@1.0.0")
    items = some_items(12, {n: f"It is number {n}." for n in range(12)})
    sampling = Sampling(temperature=2.0, repeats=2, seed=5, constrained=True, channel=prompt.channel)
    asked = [Request(item, (0, 1), prompt, sampling, prompt.scale) for item in items]
    digest = load_digest()
    grader = Grader("local/smollm2", sampling, prompt, digest, endpoint=Endpoint(ray=TWO))
    killing = Killing(open_client(grader), after=0)
    with LocalClient(path=weights) as alone, killing as many:
        expected, said = outcomes(alone.complete(asked)), outcomes(many.complete(asked))
    assert killing.n_killed == 1
    assert failures(said) == {}
    assert {key: one.text for key, one in said.items() if isinstance(one, Completion)} == {
        key: one.text for key, one in expected.items() if isinstance(one, Completion)
    }


def load_digest() -> str:
    from graders.providers import model_digest

    return model_digest("local/smollm2")
