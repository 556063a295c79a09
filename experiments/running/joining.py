"""Joining a run that a shared store has: its experiment from its record, and the graders that this machine can ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.errors import SpecError
from experiments.specs.experiment import Experiment, load_experiment
from experiments.specs.grader_sources import rebuild_grader
from experiments.specs.joint_graders import find_name, name_graders
from experiments.store.run_descriptions import RunDescription, describe_run
from experiments.store.run_store import RunRecord, RunStore
from experiments.store.set_snapshot import load_set
from graders.errors import GraderError
from graders.grader import Grader
from graders.providers import check_model

__all__ = ["JoinedRun", "join_run"]


@dataclass(frozen=True, slots=True)
class JoinedRun:
    """A run with the graders that this worker asks, and why it leaves others to other workers, a line each.

    Attributes
    ----------
    is_whole
        Whether the worker asks all graders of the run.
    """

    run_id: str
    experiment: Experiment
    left: tuple[str, ...]
    is_whole: bool


def join_run(store: RunStore, run: str, *, file: str | None, graders: Sequence[str]) -> JoinedRun:
    """The experiment of a run with its graders, rebuilt, as far as they can be asked here.

    Parameters
    ----------
    run
        Its id, or enough of it.
    file
        The experiment's file, where its record does not do.
    graders
        Names of those to ask, as far as they are given; else all that can be asked here.

    Raises
    ------
    SpecError
        If the file is another run's, a grader's name is unknown, or a grader that is named, or all, cannot be asked
        here; the message says why.
    """
    record = store.find_run(run)
    described = describe_run(store, record)
    names = name_graders(
        [one.prompt for one in described.graders],
        [one.model for one in described.graders],
        [one.grader_id for one in described.graders],
    )
    wanted = [_find(names, name, [one.grader_id for one in described.graders]) for name in graders]
    places = list(dict.fromkeys(wanted)) or list(range(len(names)))
    given = None if file is None else _check_same(load_experiment(file), described)
    found, left = [], []
    for place in places:
        try:
            found.append(_open_grader(record, described, given, place, names[place]))
        except (SpecError, GraderError) as error:
            if graders or len(places) == 1:
                raise
            left.append(f"{names[place]}: left to others: {error}")
    if not found:
        raise SpecError(f"{described.run_id}: none of its graders can be asked here: {'; '.join(left)}")
    joined = _as_experiment(store, described, given, tuple(found))
    return JoinedRun(described.run_id, joined, tuple(left), len(found) == len(names))


def _find(names: Sequence[str], wanted: str, grader_ids: Sequence[str]) -> int:
    try:
        return find_name(names, wanted, grader_ids=grader_ids)
    except LookupError as error:
        raise SpecError(f"--graders: {error.args[0]}") from error


def _check_same(given: Experiment, described: RunDescription) -> Experiment:
    ids = [grader.grader_id for grader in given.graders]
    if ids != [grader.grader_id for grader in described.graders]:
        raise SpecError(
            f"--experiment: it makes {given.run_id}, with other graders; expected the file of {described.run_id}"
        )
    return given


def _open_grader(
    record: RunRecord, described: RunDescription, given: Experiment | None, place: int, name: str
) -> Grader:
    if given is not None:
        grader = given.graders[place]
    else:
        sources = record.payload.get("grader_sources")
        fields = sources[place] if sources else None
        grader = rebuild_grader(fields, grader_id=described.graders[place].grader_id, title=name)
    check_model(grader)
    return grader


def _as_experiment(
    store: RunStore, described: RunDescription, given: Experiment | None, graders: tuple[Grader, ...]
) -> Experiment:
    snapshot = store.load_set_snapshot(described.run_id)
    with store.damage_named(f"the set of run {described.run_id}"):
        calibration_set = load_set(snapshot)
    return Experiment(
        name=described.name,
        description="" if given is None else given.description,
        calibration_set=calibration_set,
        n_items_in_set=described.n_items_in_set,
        set_digest=described.set_digest,
        graders=graders,
        analyses=described.analyses,
        decisions=described.decisions,
    )
