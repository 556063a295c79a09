"""The kinds of the set with their rules and counts, for the documentation."""

from __future__ import annotations

from collections import Counter

from calibration_sets.calibration_set import CalibrationSet
from calibration_sets.probes.kinds import KINDS
from calibration_sets.probes.probe import FIRST_RUBRIC, RUBRIC

__all__ = ["render_kind_table"]


def render_kind_table(probes: CalibrationSet) -> str:
    """A Markdown table: a row a kind and one for all, items by label under each rubric."""
    columns = [(rubric, label) for rubric in (RUBRIC, FIRST_RUBRIC) for label in probes.scale.labels[::-1]]
    counts: Counter[tuple[str, str, str]] = Counter()
    for rubric in (RUBRIC, FIRST_RUBRIC):
        labels = probes.consensus(rubric).labels
        counts.update(
            (item.kind or "", rubric, labels[item.item_id]) for item in probes.items if item.item_id in labels
        )
    n_items = Counter(item.kind for item in probes.items)
    rows = [
        ["kind", "how it is made", "items", *(f"{label} ({rubric.partition('@')[0]})" for rubric, label in columns)],
        ["---", "---", *["---:"] * (len(columns) + 1)],
        *(
            [f"`{kind}`", rule, str(n_items[kind]), *(str(counts[kind, *column]) for column in columns)]
            for kind, rule in KINDS.items()
        ),
        ["all", "", str(len(probes.items)), *(str(sum(counts[kind, *column] for kind in KINDS)) for column in columns)],
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
