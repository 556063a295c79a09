"""The two halves of an experiment with respondents: questions are answered, then the answers are graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from experiments.errors import BudgetError, SpecError
from experiments.respondents.responses import as_asking, as_grading
from experiments.running.budget import check_prices, count_paid
from experiments.specs.experiment import Experiment
from experiments.store.run_store import RunStore

__all__ = ["AskHalf", "answer_questions", "check_batch", "describe_missing", "explain_limit", "limit_of_grading"]


def check_batch(experiment: Experiment) -> None:
    """Refuse batch jobs for what takes more than one turn.

    Raises
    ------
    SpecError
        If a respondent opens documents by a tool.
    """
    for one in experiment.answering.respondents if experiment.answering else ():
        if one.grader.prompt is not None and one.grader.prompt.reads_by_tool:
            raise SpecError(
                f"--batch: {one.name} opens documents by a tool, over several turns, and a batch job has one; expected "
                'no --batch, or documents = "text"'
            )


AskHalf = Callable[[Experiment, float | None], bool]
"""Asks for all that a half lacks, within a limit of dollars; whether nothing is left that was handed in and is out."""


def answer_questions(
    experiment: Experiment, store: RunStore, ask: AskHalf, *, max_cost: float | None = None
) -> Experiment | None:
    """Ask for the responses that the store lacks; the experiment that grades those that are there.

    ``None`` if answers are still out with a service that takes batch jobs.

    Parameters
    ----------
    experiment
        With respondents.
    ask
        Runs a half. What it raises is passed on; what was answered before is stored.
    max_cost
        Dollars that answering and grading together may cost in this store, earlier runs included.

    Raises
    ------
    BudgetError
        If a price is missing under ``max_cost``, of a respondent or a grader, or nothing more fits into it.
    """
    asking = as_asking(experiment)
    if max_cost is not None:
        check_prices((*asking.graders, *experiment.graders))
    limit = _left(max_cost, experiment, store)
    with explain_limit(max_cost, limit, "grading"):
        done = ask(asking, limit)
    return as_grading(experiment, store) if done else None


def limit_of_grading(experiment: Experiment, store: RunStore, max_cost: float | None) -> float | None:
    """What answering leaves of a limit for grading."""
    return _left(max_cost, as_asking(experiment), store)


def describe_missing(grading: Experiment) -> list[str]:
    """A line on responses that are not there, with the reasons; none where all are."""
    record = grading.answering.record if grading.answering else None
    missing: Counter[str] = Counter()
    for respondent in record.respondents if record else ():
        missing.update(respondent.missing)
    if not missing:
        return []
    reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(missing.items()))
    return [
        f"answers that cannot be graded: {reasons}; they count as missing, of no class "
        "(calls without an answer are made again by the same command, and then make another run)"
    ]


def _left(max_cost: float | None, other: Experiment, store: RunStore) -> float | None:
    """What the other half has left of a limit: what it may have spent counts as spent."""
    if max_cost is None:
        return None
    paid = count_paid(max_cost, other, store)
    return max(0.0, max_cost - paid.spent - paid.uncertain)


@contextmanager
def explain_limit(max_cost: float | None, left: float | None, other: str) -> Iterator[None]:
    """A limit that is reached (``BudgetError``) is told with what the other half has taken of it."""
    try:
        yield
    except BudgetError as error:
        if max_cost is None or left is None or left == max_cost:
            raise
        raise BudgetError(f"{error}; {other} has taken ${max_cost - left:.4f} of ${max_cost:.4f} before") from error
