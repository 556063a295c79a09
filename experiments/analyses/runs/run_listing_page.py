"""The runs of a store as a page, and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from experiments.reports.document import Bullets, Document, Paragraph, Section, Table
from experiments.reports.figures import DASH
from experiments.reports.holdings import GraderHolding, RunHolding
from graders.pricing import Cost

__all__ = ["cost_text", "listing_document", "listing_fields", "moment_text"]

SCHEMA = "autorater.runs/1"
MOST_NAMED = 4
"""Graders of a run that are named; --format json has all."""


def listing_document(runs: Sequence[RunHolding], *, store: str) -> Document:
    """All runs in one table, and who judges in each."""
    heading = f"Runs in {store}"
    if not runs:
        return Document((Section(heading, 1, (Paragraph("None: 'autorater run quickstart' makes the first."),)),))
    columns = ("run", "set", "recorded, UTC", "items", "graders", "stored", "cost", "rule")
    table = Table(columns, tuple(map(_row, runs)), n_text=2, breaks=(5,))
    names = Bullets(tuple(f"{run.run_id}: {_graders_text(run.graders)}" for run in runs))
    note = (
        "Items: of those in the set. Stored: verdicts of those asked for. Rule: decisions whose rule was recorded "
        "with the run. 'autorater runs show RUN' tells more of one."
    )
    return Document((Section(heading, 1, (table, Paragraph(note), names)),))


def _row(run: RunHolding) -> tuple[str, ...]:
    return (
        run.run_id,
        run.set_name,
        moment_text(run.recorded_at),
        f"{run.n_items:,}/{run.n_items_in_set:,}",
        str(len(run.graders)),
        f"{run.n_stored:,}/{run.n_asked:,}",
        cost_text(run.cost),
        ", ".join(run.rules) or DASH,
    )


def moment_text(moment: str) -> str:
    """A time that is ISO 8601 in UTC, to the minute."""
    return moment[:16].replace("T", " ")


def cost_text(cost: Cost | None) -> str:
    """A cost; a dash where no price is known."""
    return DASH if cost is None else "$0" if cost == Cost(0.0) else str(cost)


def _graders_text(graders: Sequence[GraderHolding]) -> str:
    named = [f"{grader.model} x {grader.repeats}" for grader in graders[:MOST_NAMED]]
    more = [f"{len(graders) - MOST_NAMED} more"] if len(graders) > MOST_NAMED else []
    return ", ".join([*named, *more]) or "no grader"


def listing_fields(runs: Sequence[RunHolding], *, store: str) -> dict[str, Any]:
    """The runs as plain values; a cost is ``null`` where no price is known."""
    return {"schema": SCHEMA, "store": store, "runs": [_run_fields(run) for run in runs]}


def _run_fields(run: RunHolding) -> dict[str, Any]:
    fields = asdict(run) | {"n_stored": run.n_stored, "n_asked": run.n_asked, "cost": _cost_fields(run.cost)}
    fields["graders"] = [asdict(grader) | {"cost": _cost_fields(grader.cost)} for grader in run.graders]
    return fields


def _cost_fields(cost: Cost | None) -> dict[str, Any] | None:
    return None if cost is None else {"dollars": cost.amount, "complete": cost.complete}
