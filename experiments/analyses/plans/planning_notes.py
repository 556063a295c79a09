"""Where the numbers of a plan come from, in words."""

from __future__ import annotations

from experiments.analyses.plans.planning_inputs import PairFigures, RunFigures
from experiments.reports.figures import percent, rate_text
from experiments.reports.plain import estimate_fields

__all__ = ["pair_notes", "run_notes"]


def run_notes(figures: RunFigures | None) -> list[str]:
    """What a run was found to have; nothing where all was given."""
    if figures is None:
        return []
    measured = figures.measured
    said = (
        f"From run {figures.run_id}, {figures.grader}: {figures.of} {rate_text(estimate_fields(measured))} over "
        f"{measured.n:,} items on {measured.clusters:,} questions; {_variance_text(figures)}. Numbers that were given "
        "count in place of these."
    )
    return [said, *_gaps(figures)]


def _variance_text(figures: RunFigures) -> str:
    if figures.item_variance is None or figures.repeat_variance is None:
        return "variance between repeats not known"
    return (
        f"variance of being wrong {figures.repeat_variance:.4g} between repeats, {figures.item_variance:.4g} between "
        "items with their questions"
    )


def _gaps(figures: RunFigures) -> list[str]:
    gaps = []
    if figures.computed:
        gaps.append(
            f"Its repeats are computed, not drawn: one call gives what {figures.repeats:,} would, so that asking for "
            "more lessens no variance."
        )
    if figures.rate_is_limit:
        gaps.append(
            f"A rate of 0 or 1 cannot be planned for: {percent(figures.rate)}, the end of its interval, is used."
        )
    if figures.repeat_share is None:
        gaps.append("The run cannot tell repeats from items: repeats are taken to bring nothing.")
    if figures.correlation is None:
        gaps.append("The run cannot tell questions from items: items of a question are taken to be independent.")
    return gaps


def pair_notes(pair: PairFigures | None) -> list[str]:
    """What two graders of a run were found to have."""
    if pair is None:
        return []
    return [
        f"From run {pair.run_id}: {pair.of} of {pair.graders[0]} less that of {pair.graders[1]} is "
        f"{100 * pair.difference:+.1f} points on {pair.n:,} items. Numbers that were given count in place of these."
    ]
