"""What an export says of itself: ``run.json``, written last."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiments.errors import ExportError

__all__ = [
    "DESCRIPTION_FILE",
    "SCHEMA",
    "ExportDescription",
    "ExportedGrader",
    "ExportedScale",
    "PartRecord",
    "RunFields",
    "load_description",
]

SCHEMA = "autorater.export/1"
"""Name and version of the form."""
DESCRIPTION_FILE = "run.json"
"""A folder that has this file is a whole export, or says which part of it is not."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PartRecord(_Record):
    """A file of the export, its path within it: rows, bytes, and SHA-256 of its content."""

    file: str
    rows: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: str


class RunFields(_Record):
    """The run, as its report names it; ``level`` is the confidence level of its intervals."""

    run_id: str
    experiment: str
    parser_rule: str
    level: float = Field(gt=0, lt=1)
    n_items_in_set: int = Field(ge=0)


class ExportedScale(_Record):
    """The labels of the run, worst first."""

    name: str
    labels: tuple[str, ...] = Field(min_length=2)
    level: Literal["nominal", "ordinal", "interval"]
    positive: str | None


class ExportedGrader(_Record):
    """A grader, and where its verdicts lie.

    Attributes
    ----------
    method
        ``draws``, or ``exact`` where repeats are computed and each item has its likeliest label alone.
    expected
        Verdicts asked for of each content.
    parser_rule
        The rules that read its replies.
    identity, labels, costly_items
        Fields of its section of the report that rest on no verdict.
    parts
        Its files, in order.
    """

    method: Literal["draws", "exact"]
    expected: int = Field(ge=1)
    parser_rule: str
    identity: Mapping[str, Any]
    labels: Mapping[str, Any]
    costly_items: tuple[Mapping[str, Any], ...]
    parts: tuple[PartRecord, ...]

    @property
    def grader_id(self) -> str:
        """Its id."""
        return str(self.identity["grader_id"])

    @property
    def n_verdicts(self) -> int:
        """Rows of all its parts."""
        return sum(part.rows for part in self.parts)


class ExportDescription(_Record):
    """A run as an export holds it.

    Attributes
    ----------
    set_fields, human_agreement, n_stale
        What its report says of the set, of how far people agree, and of labels of an older wording.
    content_digest
        Of the items and labels that the run is held against; with a grader's id it fixes the random draws.
    n_contents
        Different contents of items.
    """

    form: str = Field(alias="schema")
    run: RunFields
    scale: ExportedScale
    set_fields: Mapping[str, Any] = Field(alias="set")
    human_agreement: Mapping[str, Any] | None
    n_stale: int = Field(ge=0)
    content_digest: str
    n_contents: int = Field(ge=0)
    items: PartRecord
    labels: PartRecord
    texts: PartRecord
    graders: tuple[ExportedGrader, ...]

    @property
    def files(self) -> tuple[PartRecord, ...]:
        """All files that it describes."""
        return (self.items, self.labels, self.texts, *(part for grader in self.graders for part in grader.parts))

    def dump(self) -> str:
        """As the text of its file, signed with the SHA-256 of what it says."""
        fields = self.model_dump(by_alias=True)
        return json.dumps(fields | {"sha256": _digest(fields)}, indent=2, sort_keys=True) + "\n"


def load_description(folder: Path) -> ExportDescription:
    """What a folder says of itself.

    Raises
    ------
    ExportError
        If it is no export, one of another version, or its description is damaged or was changed.
    OSError
        If it cannot be read.
    """
    path = folder / DESCRIPTION_FILE
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ExportError(
            f"{folder}: no {DESCRIPTION_FILE}, so no export; expected a folder that `autorater export` wrote"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path}: no JSON ({error}); expected the description of an export") from error
    given = fields.get("schema") if isinstance(fields, dict) else None
    if given != SCHEMA:
        raise ExportError(f"{path}: schema {given!r}; expected {SCHEMA!r}")
    signed = fields.pop("sha256", None)
    if signed != _digest(fields):
        raise ExportError(f"{path}: changed, SHA-256 {_digest(fields)[:12]}; expected {str(signed)[:12]} as written")
    try:
        return ExportDescription.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ExportError(f"{path}: {where}: {first['msg']}; expected the description of an export") from error


def _digest(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
