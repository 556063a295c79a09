"""How many more labels would tell two candidates apart, if their difference is as large as it looks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from experiments.analyses.choice.entrants import Contest
from experiments.stats.clusters import standard_error
from experiments.stats.comparisons import PairedComparison
from experiments.stats.planning import detectable_difference, paired_power

__all__ = ["MOST_QUESTIONS", "POWER", "Separation", "plan_separation"]

POWER = 0.8
"""Chance of finding a difference that is there, which a number of items is planned for."""
MOST_QUESTIONS = 1_000_000
"""Nobody labels more; a number beyond it says that the two are practically equal."""


@dataclass(frozen=True, slots=True)
class Separation:
    """What it takes to separate two finalists.

    Attributes
    ----------
    first, second
        The pair.
    difference
        Observed difference ``first - second`` of the rate.
    questions
        Questions at hand that the rate is about.
    detectable
        Smallest difference that these find with power ``POWER``; ``None`` where the spread is not known.
    needed
        Questions that find the observed difference with that power; ``None`` where it is 0, or more than
        ``MOST_QUESTIONS`` would be needed, or the spread is not known.
    more_questions, more_labels
        What is missing of them, in questions and in labelled items of the set's mix; ``None`` as ``needed``.
    reason
        Why there is no number.
    """

    first: str
    second: str
    difference: float
    questions: int
    detectable: float | None
    needed: int | None
    more_questions: int | None
    more_labels: int | None
    reason: str | None


def plan_separation(pair: PairedComparison, contest: Contest, *, level: float) -> Separation:
    """Plan from the observed variance of the paired difference, which already holds questions, items and repeats.

    The cluster-robust variance of the mean difference shrinks with the number of questions, as long as questions have
    as many items and items as many repeats as now. So the question is the unit here.
    """
    estimate = pair.difference.estimate
    difference, questions = estimate.value or 0.0, estimate.clusters
    error = standard_error(estimate)

    def without_number(reason: str, detectable: float | None = None) -> Separation:
        return Separation(pair.first, pair.second, difference, questions, detectable, None, None, None, reason)

    if error is None:
        return without_number(_unvaried(difference, questions))
    spread = error * questions**0.5
    detectable = detectable_difference(spread, questions, power=POWER, level=level)
    if abs(difference) * 1e9 < spread:
        return without_number("no difference was observed", detectable)
    needed = _search(abs(difference), spread, level=level)
    if needed is None:
        return without_number(f"more than {MOST_QUESTIONS:,} questions", detectable)
    more = max(0, needed - questions)
    labels = ceil(more * len(contest.items) / questions)
    return Separation(pair.first, pair.second, difference, questions, detectable, needed, more, labels, None)


def _unvaried(difference: float, questions: int) -> str:
    """Why the spread of a difference is not known."""
    if questions < 2:
        return "a single question does not tell how much questions vary"
    if not difference:
        return "they are alike on every question"
    return (
        f"they differ by the same {100 * abs(difference):.1f} points on each of {questions:,} questions, which does "
        "not tell how much questions vary"
    )


def _search(difference: float, spread: float, *, level: float) -> int | None:
    """Smallest number of questions with enough power, by halving: power grows with their number."""

    def enough(questions: int) -> bool:
        return paired_power(difference, spread, questions, level=level) >= POWER

    low, high = 1, 2
    while not enough(high):
        if high >= MOST_QUESTIONS:
            return None
        low, high = high, min(2 * high, MOST_QUESTIONS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
