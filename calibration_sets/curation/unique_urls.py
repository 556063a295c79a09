"""Stage 1: at most one question an address, by preference one that every reference model failed."""

from __future__ import annotations

from collections.abc import Sequence

from calibration_sets.curation.reference_responses import ReferenceResponses, order_by_failure
from calibration_sets.curation.settings import WhichUrl
from calibration_sets.curation.source_urls import source_urls, url_key
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.question import Question

__all__ = ["keep_unique_urls"]


def keep_unique_urls(
    questions: Sequence[Question], responses: ReferenceResponses, *, match: WhichUrl, seed: int
) -> StageResult:
    """Keep questions in the order of preference, and none that shares an address with one that is kept.

    With ``match="first"`` a question's first address alone counts. Questions without an address share none.
    """
    taken: dict[str, str] = {}
    drops: dict[str, Drop] = {}
    for question in order_by_failure(questions, responses, seed=seed):
        keys = [url_key(url) for url in source_urls(question)]
        keys = keys[:1] if match == "first" else keys
        shared = next((key for key in keys if key in taken), None)
        if shared is None:
            taken.update(dict.fromkeys(keys, question.question_id))
        else:
            drops[question.question_id] = Drop(question.question_id, "shares an address", f"{taken[shared]}: {shared}")
    n_without = sum(not source_urls(question) for question in questions)
    notes = [f"{n_without} questions have no address and share none"] if n_without else []
    return keep_chosen(questions, drops, notes=notes)
