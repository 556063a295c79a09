"""Stage 9: the hardest questions stay."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.curation.reference_responses import ReferenceResponses, order_by_hardness
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.question import Question

__all__ = ["keep_hardest"]


def keep_hardest(questions: Sequence[Question], responses: ReferenceResponses, *, size: int, seed: int) -> StageResult:
    """Keep the ``size`` questions that the fewest reference models answered correctly; ties by lot.

    Without reference responses all is a tie, so that the stage draws at random, and says so.
    """
    kept = {one.question_id for one in order_by_hardness(questions, responses, seed=seed)[:size]}
    drops = {
        one.question_id: Drop(one.question_id, "easier than those that stay", _told(one, responses))
        for one in questions
        if one.question_id not in kept
    }
    few = [f"{len(questions)} of the {size} wanted: there are no more"] if len(questions) < size else []
    n_unknown = sum(responses.share_correct(question) is None for question in questions)
    told = f"{n_unknown} of {len(questions)} questions have no reference response: how hard they are is not known"
    n_partly = sum(0 < len(responses.labels.get(one.question_id, {})) < len(responses.models) for one in questions)
    partly = f"{n_partly} questions lack a usable verdict of some model: the share of the others' stands for it"
    return keep_chosen(questions, drops, notes=[*few, *([told] if n_unknown else []), *([partly] if n_partly else [])])


def _told(question: Question, responses: ReferenceResponses) -> str:
    share = responses.share_correct(question)
    return "no reference response" if share is None else f"{float(share):.0%} of reference responses correct"
