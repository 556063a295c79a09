"""The folder of one stage: what it kept, dropped and changed, and a record of what it was made from."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from pydantic import Field

from calibration_sets.curation.question_file import question_data, questions_digest, read_question_lines
from calibration_sets.curation.reference_responses import ModelScore
from calibration_sets.curation.stage_result import StageResult
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question
from calibration_sets.records import StrictRecord
from calibration_sets.strict import parse_json, read_text
from calibration_sets.strict_models import parse_model
from calibration_sets.writer import write_lines

__all__ = ["KEPT", "ScoreRecord", "StageRecord", "describe_result", "read_kept", "read_record", "write_stage"]

KEPT, DROPPED, CHANGED, RECORD = "kept.jsonl", "dropped.jsonl", "changed.jsonl", "stage.json"
"""The files of a stage: questions that are kept, dropped and changed, and what the stage did."""


class ScoreRecord(StrictRecord):
    """A model's F1 over the questions left; ``null`` where it has no usable label."""

    model: str
    f1: float | None
    n: int
    n_missing: int


class StageRecord(StrictRecord):
    """What a stage was made from (``key``) and came to; ``files`` are the digests of what it wrote."""

    stage: str
    number: int
    key: str
    input_digest: str
    output_digest: str
    n_before: int
    n_after: int
    reasons: dict[str, int]
    n_changed: int
    notes: list[str]
    scores_before: list[ScoreRecord]
    scores: list[ScoreRecord]
    files: dict[str, str] = Field(default_factory=dict)


def _score_records(scores: tuple[ModelScore, ...]) -> list[ScoreRecord]:
    return [ScoreRecord(**asdict(score)) for score in scores]


def describe_result(
    stage: str,
    number: int,
    key: str,
    questions: tuple[Question, ...],
    result: StageResult,
    *,
    before: tuple[ModelScore, ...],
    after: tuple[ModelScore, ...],
) -> StageRecord:
    """The record of a stage that was just done; the digests of its files come when they are written."""
    return StageRecord(
        stage=stage,
        number=number,
        key=key,
        input_digest=questions_digest(questions),
        output_digest=questions_digest(result.kept),
        n_before=len(questions),
        n_after=len(result.kept),
        reasons=dict(Counter(drop.reason for drop in result.drops)),
        n_changed=len(result.changes),
        notes=list(result.notes),
        scores_before=_score_records(before),
        scores=_score_records(after),
    )


def write_stage(folder: Path, record: StageRecord, result: StageResult) -> None:
    """Put a stage's folder in its place when all of it is written; a folder never holds half a stage."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*"):
        # Of a run that was killed: runs in one folder take turns, so nobody works on it.
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as work:
        fresh = Path(work, "new")
        fresh.mkdir()
        write_lines(fresh / KEPT, map(question_data, result.kept))
        write_lines(fresh / DROPPED, map(asdict, result.drops))
        write_lines(fresh / CHANGED, map(asdict, result.changes))
        whole = record.model_copy(update={"files": _digests(fresh)})
        (fresh / RECORD).write_text(json.dumps(whole.model_dump(), indent=2, ensure_ascii=False) + "\n", "utf-8")
        if folder.exists():
            folder.rename(Path(work, "old"))
        fresh.rename(folder)


def _digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (KEPT, DROPPED, CHANGED)}


def read_record(folder: Path) -> StageRecord | None:
    """The record of a stage that is there and whole; ``None`` where it is not, or was changed by hand."""
    try:
        found = parse_json(read_text(folder / RECORD, SetFileError))
        if not isinstance(found, Mapping):
            return None
        record = parse_model(StageRecord, found, f"{folder.name}/{RECORD}", SetFileError)
        return record if record.files == _digests(folder) else None
    except (SetFileError, ValueError, OSError):
        return None


def read_kept(folder: Path) -> tuple[Question, ...]:
    """The questions that a stage left."""
    return read_question_lines(folder / KEPT)
