"""A curation in its folder: each stage is done once for what it is made from, and never left half done."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from calibration_sets.curation.question_file import questions_digest
from calibration_sets.curation.settings import STAGES, StageName
from calibration_sets.curation.stage_folder import StageRecord, describe_result, read_kept, read_record, write_stage
from calibration_sets.curation.steps import Evidence, Step, find_step
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question

__all__ = ["StageDone", "find_questions_before", "read_records", "remove_others", "run_stages"]

LOCK = ".curation.lock"


@dataclass(frozen=True, slots=True)
class StageDone:
    """A stage's record, and whether it was done now or found as it should be."""

    record: StageRecord
    was_done: bool


def run_stages(
    questions: tuple[Question, ...],
    folder: Path,
    evidence: Evidence,
    names: tuple[StageName, ...],
    *,
    tell: Callable[[StageDone], None] = lambda _: None,
) -> list[StageDone]:
    """Do the stages one after the other, each in a folder of its own; those that nothing has changed for are skipped.

    Raises
    ------
    SetFileError
        If another run is at work in the folder, or a file that people filled in is not what it should be.
    """
    done = []
    with _only_run(folder):
        for name in names:
            stage = _run_stage(find_step(name), questions, folder, evidence)
            tell(stage)
            done.append(stage)
            questions = read_kept(folder / find_step(name).folder)
    return done


def remove_others(folder: Path, names: Collection[StageName]) -> None:
    """Remove the folders of stages that are no part of a curation any more: what they left counts for nothing.

    What people filled in stays.
    """
    with _only_run(folder):
        for name in STAGES:
            if name not in names and read_record(found := folder / find_step(name).folder):
                shutil.rmtree(found)


@contextmanager
def _only_run(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SetFileError(f"{folder}: another curation is at work in it; expected one at a time") from None
    try:
        yield
    finally:
        lock.release()


def _run_stage(step: Step, questions: tuple[Question, ...], folder: Path, evidence: Evidence) -> StageDone:
    key = step.key(questions, evidence)
    before = read_record(folder / step.folder)
    if before and before.key == key and step.has_review(evidence):
        return StageDone(before, was_done=False)
    result = step.run(questions, evidence)
    score = evidence.responses.score_models
    record = describe_result(
        step.name, step.number, key, questions, result, before=score(questions), after=score(result.kept)
    )
    write_stage(folder / step.folder, record, result)
    return StageDone(record, was_done=True)


def read_records(folder: Path) -> list[StageRecord]:
    """The records of a curation's stages in their order.

    Raises
    ------
    SetFileError
        If there are none.
    """
    found = [read_record(folder / find_step(name).folder) for name in STAGES]
    records = [record for record in found if record is not None]
    if not records:
        raise SetFileError(f"{folder}: no stage of a curation; expected a folder that 'autorater curate run' wrote")
    return records


def find_questions_before(name: StageName, folder: Path) -> tuple[Question, ...] | None:
    """What the last stage before this one left in the folder; ``None`` where none is there."""
    for earlier in reversed(STAGES[: STAGES.index(name)]):
        step = find_step(earlier)
        if record := read_record(folder / step.folder):
            questions = read_kept(folder / step.folder)
            return questions if questions_digest(questions) == record.output_digest else None
    return None
