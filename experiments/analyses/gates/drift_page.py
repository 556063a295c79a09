"""The page of a drift check, ending in its decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from experiments.analyses.gates.drift import FEWEST_QUESTIONS, Disagreement, Drift, RateShift
from experiments.analyses.p_values import p_text
from experiments.reports.document import Block, Document, Entries, Entry, Paragraph, Section, Table
from experiments.reports.figures import count_text, percent, rate_text
from experiments.reports.plain import estimate_fields
from experiments.stats.estimate import Estimate

__all__ = ["drift_document", "drift_fields"]

SCHEMA = "autorater.drift/1"
SHOWN = 10
"""Moved items that a page shows; all are in its JSON form."""


def drift_fields(drift: Drift) -> dict[str, Any]:
    """The check as plain JSON values."""
    movement = drift.movement
    return {
        "schema": SCHEMA,
        "old": _run_fields(drift, 0),
        "new": _run_fields(drift, 1),
        "level": drift.level,
        "n_common": drift.n_common,
        "n_questions": drift.n_questions,
        "n_relabelled": drift.n_relabelled,
        "changes": [{"what": one.what, "old": one.old, "new": one.new} for one in drift.changes],
        "movement": {
            "moved": estimate_fields(movement.moved),
            "n_moved": movement.n_moved,
            "without_majority": movement.without_majority,
            "between": movement.between,
            "within": movement.within,
            "excess": estimate_fields(movement.excess),
            "p_value": movement.p_value,
            "adjusted": drift.adjusted_movement,
        },
        "rates": [
            {
                "name": shift.name,
                "old": shift.old,
                "new": shift.new,
                "difference": estimate_fields(shift.comparison.difference.estimate),
                "p_value": shift.comparison.difference.p_value,
                "adjusted": shift.adjusted,
            }
            for shift in drift.rates
        ],
        "disagreements": [asdict(one) for one in drift.disagreements],
        "moved_items": [
            {
                "item_id": moved.item.item_id,
                "item_digest": moved.item.digest,
                "people": moved.people,
                "old": dict(moved.old),
                "new": dict(moved.new),
            }
            for moved in drift.moved
        ],
        "outcome": drift.outcome,
        "decision": drift_text(drift),
    }


def _run_fields(drift: Drift, place: int) -> dict[str, Any]:
    return {
        "run_id": drift.runs[place],
        "grader": drift.graders[place],
        "n_items": drift.n_items[place],
        "n_verdicts_on_common": drift.n_verdicts[place],
        "n_expected_on_common": drift.n_expected[place],
    }


def drift_document(drift: Drift) -> Document:
    """The check as a page."""
    blocks: list[Block] = [Paragraph(_about(drift)), _change_block(drift), Paragraph(_movement_text(drift))]
    blocks.append(_rate_table(drift))
    sections = [Section(f"Drift: {drift.graders[1]}", 1, tuple(blocks))]
    if drift.moved:
        shown = tuple(_entry(drift, place) for place in range(min(SHOWN, len(drift.moved))))
        sections.append(Section(f"Items that moved: {len(drift.moved):,}", 2, (Entries(shown),)))
    return Document((*sections, Section("Decision", 2, (Paragraph(drift_text(drift)),))))


def _about(drift: Drift) -> str:
    (old, new), counts = drift.runs, zip(drift.n_verdicts, drift.n_expected, strict=True)
    verdicts = " and ".join(f"{got:,} of {asked:,}" for got, asked in counts)
    relabelled = (
        f" {drift.n_relabelled:,} of them have another label in the old run; the new one's count."
        if drift.n_relabelled
        else ""
    )
    return (
        f"Old run {old} ({drift.n_items[0]:,} items), new run {new} ({drift.n_items[1]:,}): {drift.n_common:,} items "
        f"on {drift.n_questions:,} questions have the same content in both; {verdicts} verdicts on them.{relabelled}"
    )


def _change_block(drift: Drift) -> Block:
    if not drift.changes:
        return Paragraph("Prompt, model, served models, fingerprints and sampling: no difference is known.")
    rows = tuple((change.what, change.old, change.new) for change in drift.changes)
    return Table(("changed", "old", "new"), rows, n_text=3)


def _movement_text(drift: Drift) -> str:
    movement = drift.movement
    said = (
        f"The majority verdict moved on {movement.n_moved:,} items, {rate_text(estimate_fields(movement.moved))} of "
        f"those with a majority in both runs ({movement.without_majority:,} have none in one of them)."
    )
    if movement.p_value is None:
        return f"{said} Single verdicts show no noise, so what repeats alone would move is not known."
    return (
        f"{said} Verdicts of different runs differ on {percent(movement.between)} of draws, repeats within a run on "
        f"{percent(movement.within)}, as those of different runs would if nothing had changed: "
        f"{_points(movement.excess)} points more (p {p_text(movement.p_value)}, "
        f"adjusted {p_text(drift.adjusted_movement)})."
    )


def _rate_table(drift: Drift) -> Table:
    columns = ("on the common items", "old", "new", "points, new - old", "items", "p", "adjusted p")
    return Table(columns, tuple(map(_rate_row, drift.rates)))


def _rate_row(shift: RateShift) -> tuple[str, ...]:
    difference = shift.comparison.difference
    return (
        shift.name,
        percent(shift.old),
        percent(shift.new),
        _points(difference.estimate),
        str(difference.estimate.n),
        p_text(difference.p_value),
        p_text(shift.adjusted),
    )


def _points(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "not defined"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _entry(drift: Drift, place: int) -> Entry:
    moved = drift.moved[place]
    heading = f"{moved.item.item_id}: {count_text(moved.old)} -> {count_text(moved.new)}; people: {moved.people or '-'}"
    texts = (
        ("question", moved.item.question),
        ("reference", moved.item.reference.text),
        ("response", moved.item.response),
    )
    return Entry(heading, texts)


def drift_text(drift: Drift) -> str:
    """What a careful person would sign."""
    return " ".join([_verdict_text(drift), *_limits(drift)])


def _verdict_text(drift: Drift) -> str:
    where = f"{drift.graders[1]}, run {drift.runs[1]} against {drift.runs[0]} on {drift.n_common:,} items"
    if drift.outcome == "fail":
        shown = [
            name for name, adjusted in _family(drift) if adjusted is not None and adjusted <= 1 - drift.level + 1e-12
        ]
        return (
            f"SHIFT. {where}: shown for {', '.join(shown)}, at {percent(drift.level)} for all tests together, by their "
            "p-values (Holm)."
        )
    if drift.outcome == "pass":
        return (
            f"NO SHIFT SHOWN. {where}: no test finds one at {percent(drift.level)} for all together, by their p-values "
            "(Holm)."
        )
    if not drift.n_questions:
        return f"UNDECIDED. {where}: the runs have no item in common."
    if drift.n_questions < FEWEST_QUESTIONS:
        return f"UNDECIDED. {where}: {drift.n_questions} questions could hardly have shown a shift."
    if drift.movement.n_moved:
        return f"UNDECIDED. {where}: {drift.movement.n_moved:,} moved, and no repeats tell that from noise."
    return f"UNDECIDED. {where}: no test is defined."


def _family(drift: Drift) -> list[tuple[str, float | None]]:
    return [
        ("verdicts beyond repeats", drift.adjusted_movement),
        *((shift.name, shift.adjusted) for shift in drift.rates),
    ]


def _limits(drift: Drift) -> list[str]:
    limits = list(_otherwise(drift))
    named = [change.what for change in drift.changes]
    if named:
        limits.append(f"Known to have changed: {', '.join(named)}; whether a shift comes from that is not tested.")
    if drift.outcome != "fail" and drift.n_common:
        limits.append("No test that finds none proves that there is none: see how large a shift the intervals leave.")
    undefined = [shift.name for shift in drift.rates if shift.comparison.difference.p_value is None]
    if undefined and drift.n_common:
        limits.append(f"Not tested for want of items: {', '.join(undefined)}.")
    return limits


def _otherwise(drift: Drift) -> Iterator[str]:
    """Where an interval looks otherwise than the p-value that decides, and why."""
    pairs = [(one, _why(one)) for one in drift.disagreements]
    for why in dict.fromkeys(why for _, why in pairs):
        names = ", ".join(one.name for one, reason in pairs if reason == why)
        yield f"{names}: {why}"


_RULE = "the p-value decides, as a permutation test holds on few questions too and the interval is approximate."


def _why(one: Disagreement) -> str:
    if one.significant:
        return f"the interval holds 0; {_RULE}"
    if one.alone:
        return "the interval leaves out 0 and p is small by itself, but not among so many tests: it decides nothing."
    return f"the interval leaves out 0 but p is not small; {_RULE}"
