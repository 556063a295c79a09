"""What a run was asked to do, read from its record: complete, whichever version wrote it.

Earlier versions left out what later ones need. Such a field is filled from the set that was stored with the run, or has
the value that stands for not known; a record that is none is named and refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from experiments.errors import StoreError
from experiments.respondents.records import AnsweringRecord, load_answering
from experiments.specs.decisions import DecisionSpecs
from experiments.specs.experiment import Analyses
from experiments.specs.grader_reading import GraderRecord
from experiments.store.run_store import RunRecord, RunStore
from experiments.store.set_snapshot import load_scale

__all__ = ["RunDescription", "RunDescriptions", "describe_run", "describe_runs"]


@dataclass(frozen=True, slots=True)
class RunDescription:
    """A run as it was recorded.

    Attributes
    ----------
    run_id, name
        Its id, and the name of its experiment.
    recorded_at
        When it was first recorded, ISO 8601 in UTC.
    set_title, set_digest
        Name and version of its set, and the digest of the whole set.
    n_items, n_items_in_set
        Items that it judges, and those that the set has.
    graders
        In the experiment's order.
    analyses, decisions
        What its reports are asked for, and the rules that were fixed before it ran.
    answering
        Its grid of respondents, if it has one.
    """

    run_id: str
    name: str
    recorded_at: str
    set_title: str
    set_digest: str
    n_items: int
    n_items_in_set: int
    graders: tuple[GraderRecord, ...]
    analyses: Analyses = field(default_factory=Analyses)
    decisions: DecisionSpecs = field(default_factory=DecisionSpecs)
    answering: AnsweringRecord | None = None


@dataclass(frozen=True, slots=True)
class RunDescriptions:
    """All runs of a store that can be read, oldest first, and a message for each that is damaged."""

    runs: tuple[RunDescription, ...]
    damaged: tuple[str, ...]


def describe_runs(store: RunStore) -> RunDescriptions:
    """Every run of a store; one that is damaged stands in the way of no other.

    Raises
    ------
    StoreError
        If the store cannot be read.
    """
    runs, damaged = [], []
    for run_id in store.run_times():
        try:
            runs.append(describe_run(store, store.load_run(run_id)))
        except StoreError as error:
            damaged.append(str(error))
    return RunDescriptions(tuple(runs), tuple(damaged))


def describe_run(store: RunStore, record: RunRecord) -> RunDescription:
    """What a record says.

    Raises
    ------
    StoreError
        If the record is damaged; the message names the run.
    """
    payload = record.payload
    with store.damage_named(f"the record of run {record.run_id}"):
        about = {**_from_snapshot(store, record), **payload}
        return RunDescription(
            run_id=record.run_id,
            name=str(payload.get("name", record.run_id.rpartition("-")[0])),
            recorded_at=record.recorded_at,
            set_title=str(about["set"]),
            set_digest=str(payload["set_digest"]),
            n_items=int(about["n_items"]),
            n_items_in_set=int(about["n_items_in_set"]),
            graders=tuple(map(_load_grader, payload["graders"])),
            analyses=Analyses(**_known(payload.get("analyses", {}), Analyses)),
            decisions=DecisionSpecs.model_validate(payload.get("decisions", {})),
            answering=load_answering(payload["answering"]) if "answering" in payload else None,
        )


def _from_snapshot(store: RunStore, record: RunRecord) -> Mapping[str, Any]:
    """What the stored set knows too; it is long, so it is read only where the record leaves something out."""
    if {"set", "n_items", "n_items_in_set"} <= set(record.payload):
        return {}
    snapshot = store.load_set_snapshot(record.run_id)
    n_items = len(snapshot["items"])
    return {"set": f"{snapshot['name']} {snapshot['version']}", "n_items": n_items, "n_items_in_set": n_items}


def _load_grader(given: Mapping[str, Any]) -> GraderRecord:
    return GraderRecord(**{**_known(given, GraderRecord), "scale": load_scale(given["scale"])})


def _known(given: Mapping[str, Any], kind: type[Analyses | GraderRecord]) -> Mapping[str, Any]:
    """The fields that this version knows; what a later one added is no damage."""
    names = {entry.name for entry in fields(kind)}
    return {name: value for name, value in given.items() if name in names}
