"""SAF: short answers of students to questions on computer networks, each with a score from 0 to 1.

Source: https://github.com/SebOchs/SAF (MIT), Filighera et al., "Your Answer is Incorrect... Would you like to know
why?", ACL 2022; its English part as one file of JSON lines. The score is the consolidated one of two people.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import Field

from calibration_sets.errors import SetFileError
from calibration_sets.importers.imported import Imported
from calibration_sets.item import HumanLabel, Item
from calibration_sets.records import Filled, Key, SetHeader, StrictRecord, default_cluster
from calibration_sets.references.reference_parser import parse_reference
from calibration_sets.scale import DER2_RUBRIC
from calibration_sets.strict_models import read_rows

__all__ = ["import_saf"]

RUBRIC = "saf@1.0.0"

_HEADER = SetHeader(
    name="saf",
    version="1.0.0",
    rubric=RUBRIC,
    scale=DER2_RUBRIC,
    label_source="human",
    licence="MIT",
    source="https://github.com/SebOchs/SAF",
    description="Short answers of students, each with a score by people on the steps 0, 0.25, 0.5, 0.75 and 1.",
)
_OFF_STEPS = "score between two of the five steps"


class _Line(StrictRecord):
    """One line; ``label`` and ``source_label`` say the score in three words and are not read."""

    id: Key
    question: Filled
    target: list[Filled] = Field(min_length=1)
    response: str
    score: float
    split: Key
    label: str | None = None
    source_label: str | None = None
    system: str | None = None
    annotators: Any = None
    scale: Any = None
    lang: str | None = None
    source: str | None = None


def import_saf(path: Path) -> Imported:
    """The set in a file of JSON lines.

    Answers whose score lies between two of the five steps are left out and counted: most of them lie in the very
    middle between two steps, and to round the others would make labels that nobody gave. Answers to one question are
    one cluster; ``kind`` says in which part of the data an answer lies.

    Raises
    ------
    SetFileError
        If the file is malformed, an id comes twice, a score is outside 0 to 1, or no score is on a step.
    """
    items, labels = [], []
    left_out: Counter[str] = Counter()
    steps = {float(label): label for label in DER2_RUBRIC.labels}
    seen: set[str] = set()
    for line, row in read_rows(_Line, path, SetFileError):
        _check(row, f"{path.name}:{line}", seen)
        if row.score not in steps:
            left_out[_OFF_STEPS] += 1
            continue
        item = _to_item(row)
        items.append(item)
        labels.append(HumanLabel(item.item_id, item.digest, "consolidated", steps[row.score], RUBRIC))
    if not items:
        raise SetFileError(f"{path.name}: no score on the steps {', '.join(DER2_RUBRIC.labels)}; expected at least one")
    return Imported(_HEADER.with_content(tuple(items), tuple(labels)), (), dict(left_out))


def _check(row: _Line, where: str, seen: set[str]) -> None:
    if row.id in seen:
        raise SetFileError(f"{where}: id {row.id!r} comes twice; expected each once")
    if not 0.0 <= row.score <= 1.0:
        raise SetFileError(f"{where}: score {row.score}; expected a number from 0 to 1")
    seen.add(row.id)


def _to_item(row: _Line) -> Item:
    first, *others = row.target
    return Item(
        item_id=row.id,
        question=row.question,
        reference=parse_reference(first, others),
        response=row.response,
        cluster_id=default_cluster(row.question),
        kind=row.split,
        respondent=row.system,
    )
