"""Two readings of the same completions, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.reports.inputs import GraderResults
from experiments.reports.measures import count_fields, error_rate_fields
from experiments.reports.sample import Sample, build_sample, group_verdicts
from graders.verdict import Verdict

__all__ = ["comparison_fields"]

Outcome = str | None


def comparison_fields(
    results: GraderResults, others: Sequence[Verdict], sample: Sample, *, parser_rule: str, level: float
) -> dict[str, Any]:
    """How many verdicts another parser moves from label to label, and the error rates that it would give.

    ``labels`` ends with ``None``: no label. ``counts`` has the report's parser in rows and the other
    one in columns. Pairs of item and repeat that neither parser was given (no reply) are left out.
    """
    reference = {i.item_id: label for i, label in zip(sample.items, sample.reference, strict=True) if label is not None}
    read = replace(results, verdicts=others)
    other = build_sample(read, sample.items, reference, scale=sample.scale)
    outcomes: list[Outcome] = [*sample.scale.labels, None]
    moves = _moves(results, others, sample)
    counts = [[moves[(before, after)] for after in outcomes] for before in outcomes]
    errors, reasons = error_rate_fields(other, level=level)
    return {
        "rules": [parser_rule, _rule_name(others)],
        "labels": outcomes,
        "counts": counts,
        "n": sum(map(sum, counts)),
        "n_moved": sum(count for (before, after), count in moves.items() if before != after),
        **count_fields(other),
        **errors,
        "not_defined": dict(reasons),
    }


def _moves(results: GraderResults, others: Sequence[Verdict], sample: Sample) -> Counter[tuple[Outcome, Outcome]]:
    """Pairs of readings, once for each item: items with equal content share their verdicts."""
    ours = group_verdicts(results.verdicts, grader_id=results.grader_id, items=sample.items)
    theirs = group_verdicts(others, grader_id=results.grader_id, items=sample.items)
    moves: Counter[tuple[Outcome, Outcome]] = Counter()
    for item in sample.items:
        before, after = ours.get(item.digest, {}), theirs.get(item.digest, {})
        moves.update((_label(before, repeat), _label(after, repeat)) for repeat in before.keys() | after.keys())
    return moves


def _label(repeats: Mapping[int, Verdict], repeat: int) -> Outcome:
    verdict = repeats.get(repeat)
    return verdict.label if verdict else None


def _rule_name(verdicts: Sequence[Verdict]) -> str:
    """The parser that read the replies; calls without a reply and stated labels had no need of one."""
    read = {verdict.rule for verdict in verdicts if verdict.failure != "not_answered"}
    return ", ".join(sorted(read - {"label"} or read)) or "other"
