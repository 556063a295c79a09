"""``engine`` in an experiment's file: who is computed where, and that it makes no other grader or run."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.errors import SpecError
from experiments.specs.experiment import Experiment, load_experiment
from experiments.specs.grader_sources import dump_grader, rebuild_grader
from graders.endpoint import Endpoint, RayReplicas
from graders.providers import share_engine

LOCAL = 'model = "local/smollm2"\nprompt = "simpleqa_short@1.0.0"'
VLLM = 'model = "vllm/some/model"\nprompt = "simpleqa@1.0.0"'
BASELINE = 'model = "baseline/lexical"'
SERVICE = 'model = "openai/gpt-4.1-2025-04-14"\nprompt = "simpleqa@1.0.0"'


def load(folder: Path, engine: str, *graders: str, more: str = "") -> Experiment:
    tables = "".join(f"[[graders]]\n{grader}\n" for grader in graders)
    text = f'name = "study"\nset = "probes"\n{more}\n{f"engine = {engine}" if engine else ""}\n{tables}'
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return load_experiment(str(folder / "study.toml"))


def replicas(experiment: Experiment) -> list[RayReplicas | None]:
    return [grader.endpoint.ray for grader in experiment.graders]


def test_the_word_alone_has_each_model_once_with_what_it_needs(tmp_path: Path) -> None:
    asked = load(tmp_path, '"ray"', LOCAL, VLLM, BASELINE, SERVICE)
    assert replicas(asked) == [
        RayReplicas("", 1, gpus=0, cpus=2),
        RayReplicas("", 1, gpus=1, cpus=1),
        RayReplicas("", 1, gpus=0, cpus=1),
        None,
    ]


def test_a_grader_has_its_own_numbers_or_stays_in_this_process(tmp_path: Path) -> None:
    engine = '{ kind = "ray", address = "auto", replicas = 8, gpus_per_replica = 2 }'
    asked = load(
        tmp_path, engine, VLLM, f"{LOCAL}\nengine = {{ gpus_per_replica = 0.5 }}", f'{BASELINE}\nengine = "in-process"'
    )
    assert replicas(asked) == [RayReplicas("auto", 8, 2, 1), RayReplicas("auto", 8, 0.5, 2), None]


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.3333, 0.1, 1.0, 8.0])
def test_shares_that_ray_gives_out_are_taken_as_they_are(tmp_path: Path, share: float) -> None:
    engine = f'{{ kind = "ray", gpus_per_replica = {share}, cpus_per_replica = {share} }}'
    assert replicas(load(tmp_path, engine, VLLM)) == [RayReplicas("", 1, share, share)]


def test_where_it_is_computed_changes_neither_grader_nor_run(tmp_path: Path) -> None:
    here, there = load(tmp_path, "", VLLM, LOCAL), load(tmp_path, '{ kind = "ray", replicas = 64 }', VLLM, LOCAL)
    assert here.run_id == there.run_id
    assert [grader.grader_id for grader in here.graders] == [grader.grader_id for grader in there.graders]
    assert not share_engine(here.graders[1], there.graders[1])
    # A worker elsewhere computes it itself, unless the file tells it otherwise.
    kept = dump_grader(there.graders[1])
    assert rebuild_grader(kept, grader_id=there.graders[1].grader_id, title="x").endpoint == Endpoint()


def test_room_is_waited_for_as_long_as_services_are(tmp_path: Path) -> None:
    asked = load(tmp_path, '"ray"', VLLM, f"{LOCAL}\nmax_wait_seconds = 5", more="max_wait_seconds = 60")
    assert [grader.endpoint.max_wait_seconds for grader in asked.graders] == [60, 5]


@pytest.mark.parametrize(
    ("engine", "graders", "said"),
    [
        ('"slurm"', [VLLM], r"engine.kind: text 'slurm'; expected 'in-process' or 'ray'"),
        ("{ replicas = 2 }", [VLLM], r"study.toml: engine.kind: missing; expected 'ray' or 'in-process'"),
        ('{ kind = "in-process", replicas = 2 }', [VLLM], r"study.toml: engine.replicas: given for an engine in this"),
        ('{ kind = "ray", replicas = 0 }', [VLLM], r"engine.replicas: number 0; expected greater than or equal to 1"),
        (
            '{ kind = "ray", gpus_per_replica = 1.5 }',
            [VLLM],
            r"gpus_per_replica: number 1.5; expected up to 1, or a wh",
        ),
        ('{ kind = "ray", cpus_per_replica = 1e-9 }', [VLLM], r"cpus_per_replica: number 1e-09; expected four digits"),
        ('{ kind = "ray", gpus_per_replica = 0.33333 }', [VLLM], r"gpus_per_replica: number 0.33333; expected four"),
        ('{ kind = "ray", gpus = 1 }', [VLLM], r"unknown key 'engine.gpus'"),
        ('"ray"', [SERVICE], r"engine: none of its models is computed by an engine"),
        ("", [f'{SERVICE}\nengine = "ray"'], r"graders\[0\].engine: 'openai/gpt.*' is not computed by an engine"),
        ("", [f"{VLLM}\nengine = {{ replicas = 2 }}"], r"graders\[0\].engine.kind: missing"),
        ("", [f'{VLLM}\nengine = {{ kind = "in-process", address = "auto" }}'], r"graders\[0\].engine.address: given"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, engine: str, graders: list[str], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        load(tmp_path, engine, *graders)
