"""What a run did, for people: a line each for what went wrong, what it cost, and what to look at."""

from __future__ import annotations

from collections import Counter

from experiments.reports.escaping import visible
from experiments.running.runner import RunSummary

__all__ = ["describe_summary"]


def describe_summary(summary: RunSummary) -> list[str]:
    """Lines to be shown when a run has ended; none where there is nothing to tell."""
    lines = []
    if summary.call_failures:
        hint = (
            "they are not in the recording"
            if set(summary.call_failures) == {"not_recorded"}
            else "the same command asks for them again"
        )
        lines.append(f"calls without an answer: {_counts(summary.call_failures)}; {hint}")
    if summary.failed_attempts:
        lines.append(f"attempts that failed before another succeeded: {_counts(summary.failed_attempts)}")
    if summary.cost is not None and (summary.cost.amount or not summary.cost.complete):
        usage = summary.usage
        cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
        tokens = f"{usage.input_tokens or 0:,} tokens in{cached}, {usage.output_tokens or 0:,} out"
        lines.append(f"cost of this run: {summary.cost} ({tokens})")
    lines += [f"warning: {line}" for line in summary.warnings()]
    return list(map(visible, lines))


def _counts(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
