"""The stages as a table: questions left, share removed, each reference model's F1, and what is still undecided."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from calibration_sets.curation.stage_folder import ScoreRecord, StageRecord

__all__ = ["render_stages"]


def render_stages(records: Sequence[StageRecord]) -> list[str]:
    """Lines of text. A stage that was not made from what the one before it left is marked, and said to be."""
    models = list(dict.fromkeys(score.model for record in records for score in record.scores))
    rows = [["stage", "left", "removed", *(f"F1 {model}" for model in models)]]
    rows.append(["(as given)", f"{records[0].n_before:,}", "", *_scores(records[0].scores_before, models)])
    stale = _stale(records)
    for record in records:
        name = f"{record.number} {record.stage}{' *' if record in stale else ''}"
        rows.append([name, f"{record.n_after:,}", _removed(record), *_scores(record.scores, models)])
    lines = _align(rows)
    if stale:
        lines.append("* made from other questions than the stage before it left; 'autorater curate run' mends that")
    return [*lines, "", *(line for record in records for line in _told(record))]


def _stale(records: Sequence[StageRecord]) -> list[StageRecord]:
    return [later for earlier, later in pairwise(records) if later.input_digest != earlier.output_digest]


def _removed(record: StageRecord) -> str:
    removed = record.n_before - record.n_after
    return f"{100 * removed / record.n_before:.1f}%" if record.n_before else "not defined"


def _scores(scores: Sequence[ScoreRecord], models: Sequence[str]) -> list[str]:
    by_model = {score.model: score for score in scores}
    return [_score(by_model[model]) if model in by_model else "not scored" for model in models]


def _score(score: ScoreRecord) -> str:
    f1 = "not defined" if score.f1 is None else f"{100 * score.f1:.1f}"
    return f"{f1} ({score.n_missing} missing)" if score.n_missing else f1


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _told(record: StageRecord) -> list[str]:
    reasons = [f"dropped {count}: {reason}" for reason, count in sorted(record.reasons.items())]
    changed = [f"changed {record.n_changed} references"] if record.n_changed else []
    return [f"{record.number} {record.stage}: {line}" for line in (*reasons, *changed, *record.notes)]
