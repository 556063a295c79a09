"""What an importer brings: a set, verdicts of graders that came with it, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.writer import write_lines

__all__ = ["Imported", "RecordedVerdict"]


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """What a grader said of one item, as its authors published it.

    ``label`` is their reading of ``text``, the grader's words; ``None`` where they read no label
    in it, or where there are no words.
    """

    item_id: str
    item_digest: str
    grader: str
    repeat: int
    label: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Imported:
    """A set, the verdicts on its items, and the number of rows left out for each reason."""

    calibration_set: CalibrationSet
    verdicts: tuple[RecordedVerdict, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    def write_verdicts(self, path: Path) -> None:
        """Write the verdicts as JSON lines with the keys item, digest, grader, repeat, label, text."""
        write_lines(
            path,
            (
                {
                    "item": verdict.item_id,
                    "digest": verdict.item_digest,
                    "grader": verdict.grader,
                    "repeat": verdict.repeat,
                    "label": verdict.label,
                    "text": verdict.text,
                }
                for verdict in self.verdicts
            ),
        )
