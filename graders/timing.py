"""How long calls took, noted with the completions that they brought."""

from __future__ import annotations

from collections.abc import Sequence

from graders.client import Answer
from graders.verdict import CallTime, Completion

__all__ = ["time_answers"]


def time_answers(answers: Sequence[Answer], seconds: float) -> list[Answer]:
    """The answers of one call, the completions among them with its time, which they share.

    Parameters
    ----------
    answers
        All that the call brought; failures stay as they are.
    seconds
        From handing in the call to its reply being complete.
    """
    n_completions = sum(isinstance(answer.outcome, Completion) for answer in answers)
    shared = CallTime(round(seconds, 6), max(1, n_completions))
    return [_time_answer(answer, shared) for answer in answers]


def _time_answer(answer: Answer, shared: CallTime) -> Answer:
    if not isinstance(answer.outcome, Completion):
        return answer
    return Answer(answer.item_digest, answer.repeat, answer.outcome.timed(shared), answer.failed_attempts)
