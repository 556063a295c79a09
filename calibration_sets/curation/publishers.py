"""Stage 4: questions whose publishers shut named robots out of the source are dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from calibration_sets.curation.robots_files import RobotsRules
from calibration_sets.curation.settings import WhichUrl
from calibration_sets.curation.source_urls import host_of, source_urls
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.question import Question

__all__ = ["drop_excluded_sources"]


def drop_excluded_sources(
    questions: Sequence[Question],
    rules: RobotsRules,
    *,
    agents: Sequence[str],
    match: WhichUrl,
    unknown: Literal["keep", "drop"],
) -> StageResult:
    """Drop questions with an address that any of the robots may not read.

    With ``match="first"`` the first address alone counts. Where no address is excluded and one has no rules at hand,
    ``unknown`` decides; such questions are counted, since their publishers' choice was never seen.
    """
    drops: dict[str, Drop] = {}
    unseen: Counter[str] = Counter()
    n_unknown = 0
    for question in questions:
        urls = source_urls(question)[: 1 if match == "first" else None]
        rulings = {url: rules.rule(url, agents) for url in urls}
        excluded = [url for url, ruling in rulings.items() if ruling == "excluded"]
        missing = {host_of(url) for url, ruling in rulings.items() if ruling == "unknown"}
        unseen.update(missing)
        if excluded:
            drops[question.question_id] = Drop(question.question_id, "publisher shuts a robot out", excluded[0])
        elif missing:
            n_unknown += 1
            if unknown == "drop":
                drops[question.question_id] = Drop(question.question_id, "publisher's choice unknown", min(missing))
    what = "dropped" if unknown == "drop" else "kept"
    notes = [f"{n_unknown} questions with a source whose rules are not at hand ({len(unseen)} hosts): {what}"]
    return keep_chosen(questions, drops, notes=notes if n_unknown else [])
