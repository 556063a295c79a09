"""The items of a run with all that was said of them: what the page's table filters, sorts and shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from calibration_sets.item import Item
from calibration_sets.references.reference import AcceptableRange
from calibration_sets.scale import LabelScale
from experiments.plots.agreement import item_agreement
from experiments.plots.names import grader_names
from experiments.reports.inputs import GraderResults, RunData
from experiments.reports.item_listings import range_outcomes
from experiments.reports.reference_labels import drop_stale_labels, join_labels
from experiments.reports.sample import expected_repeats, group_verdicts
from graders.verdict import Verdict

__all__ = ["GraderCell", "GraderColumn", "ItemRow", "ItemTable", "build_item_table", "range_text"]


@dataclass(frozen=True, slots=True)
class GraderColumn:
    """A grader of the table: its name with its number, its id, and which of the rubrics it is held to."""

    name: str
    grader_id: str
    rubric: int


@dataclass(frozen=True, slots=True)
class GraderCell:
    """What one grader said of one item.

    Attributes
    ----------
    verdicts
        Label or reason of failure, by repeat.
    failed
        Which of these are failures.
    details
        Why a call brought no reply, by repeat; empty where there is one.
    agreement
        Share of the most frequent label; ``None`` with fewer than two verdicts.
    shares
        Label to its chance, of a grader whose repeats are computed; else empty.
    """

    verdicts: tuple[str, ...]
    failed: tuple[bool, ...]
    details: tuple[str, ...]
    agreement: float | None
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item: people's votes (rater, label, rubric), their common label under each rubric, and each grader's cell."""

    item: Item
    votes: tuple[tuple[str, str, str], ...]
    references: tuple[str | None, ...]
    range_outcome: str | None
    cells: tuple[GraderCell, ...]


@dataclass(frozen=True, slots=True)
class ItemTable:
    """All rows, the most inconsistent first: by mean agreement of repeats, then by that of all verdicts together."""

    scale: LabelScale
    rubrics: tuple[str, ...]
    graders: tuple[GraderColumn, ...]
    rows: tuple[ItemRow, ...]


def build_item_table(data: RunData) -> ItemTable:
    """Gather the items of a run, their labels and their verdicts.

    Raises
    ------
    ValueError
        If verdicts do not fit the run, as :func:`experiments.reports.build_report` says.
    """
    chosen, _ = drop_stale_labels(data.calibration_set)
    items = sorted(chosen.items, key=lambda item: (item.item_id, item.digest))
    joined = join_labels(chosen, [results.rubric for results in data.graders])
    rubrics = tuple(dict.fromkeys(one.rubric for one in joined))
    consensus = {one.rubric: one.consensus.labels for one in joined}
    votes: dict[str, list[tuple[str, str, str]]] = {}
    for given in chosen.human_labels:
        votes.setdefault(given.item_id, []).append((given.rater, given.label, given.rubric))
    outcomes = range_outcomes(items)
    columns = [_cells(data, results, items) for results in data.graders]
    rows = [
        ItemRow(
            item=item,
            votes=tuple(sorted(votes.get(item.item_id, ()))),
            references=tuple(consensus[rubric].get(item.item_id) for rubric in rubrics),
            range_outcome=outcomes.get(item.item_id),
            cells=cells,
        )
        for item, cells in zip(items, zip(*columns, strict=True), strict=True)
    ]
    names = _names(data)
    graders = tuple(
        GraderColumn(name, results.grader_id, rubrics.index(one.rubric))
        for name, results, one in zip(names, data.graders, joined, strict=True)
    )
    return ItemTable(chosen.scale, rubrics, graders, tuple(sorted(rows, key=_inconsistency)))


def range_text(found: AcceptableRange) -> str:
    """``10 to 12 metre``, ``at least 10``: the bounds as people read them."""
    unit = f" {found.unit}" if found.unit else ""
    if not found.low.is_finite():
        return f"at most {_decimal(found.high)}{unit}"
    if not found.high.is_finite():
        return f"at least {_decimal(found.low)}{unit}"
    return f"{_decimal(found.low)} to {_decimal(found.high)}{unit}"


def _decimal(number: Decimal) -> str:
    return f"{number:f}" if "E" in str(number) else str(number)


def _names(data: RunData) -> list[str]:
    fields = [
        {"number": number, "prompt": one.prompt, "model": one.model, "grader_id": one.grader_id}
        for number, one in enumerate(data.graders, start=1)
    ]
    return list(grader_names(fields).values())


def _cells(data: RunData, results: GraderResults, items: Sequence[Item]) -> Iterator[GraderCell]:
    groups = group_verdicts(results.verdicts, grader_id=results.grader_id, items=items)
    expected = expected_repeats(results, groups)
    for item, share in zip(items, item_agreement(data, results), strict=True):
        own = groups.get(item.digest, {})
        told = [own.get(repeat) for repeat in range(expected)]
        found = (results.distributions or {}).get(item.digest)
        yield GraderCell(
            verdicts=tuple(map(_word, told)),
            failed=tuple(verdict is None or verdict.label is None for verdict in told),
            details=tuple(map(_detail, told)),
            agreement=float(share) if np.isfinite(share) else None,
            shares={} if found is None or not found.probabilities else dict(found.probabilities),
        )


def _word(verdict: Verdict | None) -> str:
    return "not_answered" if verdict is None else verdict.label or str(verdict.failure)


def _detail(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not_asked"
    return (verdict.detail or "unknown") if verdict.failure == "not_answered" else ""


def _inconsistency(row: ItemRow) -> tuple[float, float, str, str]:
    known = [cell.agreement for cell in row.cells if cell.agreement is not None]
    said = Counter(
        word for cell in row.cells for word, failed in zip(cell.verdicts, cell.failed, strict=True) if not failed
    )
    together = max(said.values()) / said.total() if said else 1.0
    return sum(known) / len(known) if known else 1.0, together, row.item.item_id, row.item.digest
