"""Where a model is computed that no service has: in this process, or by replicas on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.errors import SpecError
from experiments.specs.experiment_file import EngineSpec, ExperimentSpec, GraderSpec
from graders.endpoint import RayReplicas
from graders.grader import Grader
from graders.providers import computes

__all__ = ["check_engine", "choose_replicas"]

_CPUS = {"local/": 2.0}
"""Processors that a replica keeps busy by itself."""

_GPUS = {"vllm/": 1.0}


def choose_replicas(entry: GraderSpec, spec: ExperimentSpec, where: str) -> RayReplicas | None:
    """The replicas of a grader's model by its own ``engine`` and the experiment's; ``None`` for none.

    Raises
    ------
    SpecError
        If a grader asks for an engine that its model has no use for, or gives numbers without saying of what.
    """
    if not computes(entry.model):
        if entry.engine is not None:
            raise SpecError(
                f"{where}.engine: {entry.model!r} is not computed by an engine; "
                "expected it for local/, vllm/ and baseline/ models only"
            )
        return None
    chosen: dict[str, Any] = {}
    for table, place in ((spec.engine, where.partition(":")[0]), (entry.engine, where)):
        chosen |= {} if table is None else table.model_dump(exclude_none=True)
        _check_kind(table, chosen, f"{place}: engine" if place != where else f"{where}.engine")
    if chosen.pop("kind", "in-process") != "ray":
        return None
    return RayReplicas(
        address=chosen.get("address", ""),
        replicas=chosen.get("replicas", 1),
        gpus=chosen.get("gpus_per_replica", _usual(_GPUS, entry.model, 0.0)),
        cpus=chosen.get("cpus_per_replica", _usual(_CPUS, entry.model, 1.0)),
    )


def _check_kind(table: EngineSpec | None, chosen: dict[str, Any], where: str) -> None:
    if table is not None and "kind" not in chosen:
        raise SpecError(f"{where}.kind: missing; expected 'ray' or 'in-process'")
    given = [] if table is None else list(table.model_dump(exclude={"kind"}, exclude_none=True))
    if given and chosen["kind"] != "ray":
        raise SpecError(f"{where}.{given[0]}: given for an engine in this process; expected kind = 'ray' with it")


def _usual(amounts: dict[str, float], model: str, other: float) -> float:
    return next((amount for prefix, amount in amounts.items() if model.startswith(prefix)), other)


def check_engine(spec: ExperimentSpec, asked: Iterable[Grader], where: str) -> None:
    """Check that somebody uses the experiment's engine; ``SpecError`` if not."""
    if spec.engine is not None and not any(computes(grader.model) for grader in asked):
        raise SpecError(
            f"{where}: engine: none of its models is computed by an engine; expected a local/, vllm/ or baseline/ model"
        )
