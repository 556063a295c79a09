"""Stage 5: answer types are balanced first, topics within them second, and the harder questions stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from calibration_sets.curation.quotas import fill_quotas
from calibration_sets.curation.reference_responses import ReferenceResponses, order_by_hardness
from calibration_sets.curation.stage_result import Drop, StageResult, keep_chosen
from calibration_sets.errors import SetFileError
from calibration_sets.question import Question

__all__ = ["balance_questions"]

NOT_GIVEN = "(not given)"


def balance_questions(
    questions: Sequence[Question],
    responses: ReferenceResponses,
    *,
    size: int | None,
    share: float,
    answer_types: Mapping[str, float],
    topics: Mapping[str, float],
    seed: int,
) -> StageResult:
    """Keep ``size`` questions, or ``share`` of them, in the proportions wanted; the hardest of each group stay.

    Raises
    ------
    SetFileError
        If a target names an answer type or topic that no question has.
    """
    _check_target("answer_types", answer_types, questions, _answer_type)
    _check_target("topics", topics, questions, _topic)
    total = size if size is not None else round(Fraction(str(share)) * len(questions))
    by_type = _group(order_by_hardness(questions, responses, seed=seed), _answer_type)
    quotas = fill_quotas(_sizes(by_type), total, weights=answer_types or None)
    kept: set[str] = set()
    for name, group in by_type.items():
        by_topic = _group(group, _topic)
        wanted = fill_quotas(_sizes(by_topic), quotas[name], weights=topics or None)
        kept |= {one.question_id for topic, members in by_topic.items() for one in members[: wanted[topic]]}
    drops = {
        one.question_id: Drop(one.question_id, "too many of its kind", f"{_answer_type(one)}, {_topic(one)}")
        for one in questions
        if one.question_id not in kept
    }
    notes = [f"{len(kept)} of the {total} wanted: the target leaves out the rest"] if len(kept) < total else []
    return keep_chosen(questions, drops, notes=notes)


def _answer_type(question: Question) -> str:
    return question.answer_type or NOT_GIVEN


def _topic(question: Question) -> str:
    return question.topic or NOT_GIVEN


def _group(questions: Sequence[Question], key: Callable[[Question], str]) -> dict[str, list[Question]]:
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(key(question), []).append(question)
    return groups


def _sizes(groups: Mapping[str, Sequence[Question]]) -> dict[str, int]:
    return {name: len(members) for name, members in groups.items()}


def _check_target(
    where: str, target: Mapping[str, float], questions: Sequence[Question], key: Callable[[Question], str]
) -> None:
    known = {key(question) for question in questions}
    strangers = sorted(set(target) - known)
    if strangers and questions:
        raise SetFileError(
            f"balance.{where}: {', '.join(strangers)} on no question; expected some of {', '.join(sorted(known))}"
        )
