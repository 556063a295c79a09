"""Two versions of a question set, compared by what they say."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from calibration_sets.question import Question

__all__ = ["VersionChange", "VersionComparison", "compare_versions"]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """One question in both versions and what differs, before and after."""

    question_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """What differs. A reworded question was matched by its id or its row, all others by their text."""

    n_matched: int
    reworded: tuple[VersionChange, ...]
    changed_answers: tuple[VersionChange, ...]
    changed_ranges: tuple[VersionChange, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether both say the same, whatever their order and ids."""
        found = (self.reworded, self.changed_answers, self.changed_ranges, self.added, self.removed)
        return not any(found)


def compare_versions(before: Sequence[Question], after: Sequence[Question]) -> VersionComparison:
    """Match questions by all they say, then the rest by text and id, by text, by id, and by the row they came from.

    White space and the composition of characters (Unicode NFC) make no difference. A note on a reference's range is
    compared as a range, beside the answer; other aliases belong to the answer.
    """
    pairs = _match(before, after)
    matched_before = {old.question_id for old, _ in pairs}
    matched_after = {new.question_id for _, new in pairs}
    return VersionComparison(
        n_matched=len(pairs),
        reworded=tuple(
            VersionChange(new.question_id, old.question, new.question)
            for old, new in pairs
            if _plain(old.question) != _plain(new.question)
        ),
        changed_answers=tuple(
            VersionChange(new.question_id, _shown_answer(old), _shown_answer(new))
            for old, new in pairs
            if _answers(old) != _answers(new)
        ),
        changed_ranges=tuple(
            VersionChange(new.question_id, old.reference.text, new.reference.text)
            for old, new in pairs
            if old.reference.ranges != new.reference.ranges
        ),
        added=tuple(one.question_id for one in after if one.question_id not in matched_after),
        removed=tuple(one.question_id for one in before if one.question_id not in matched_before),
    )


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _answers(question: Question) -> tuple[str, frozenset[str]]:
    return _plain(question.reference.answer), frozenset(map(_plain, question.reference.extra_aliases))


def _shown_answer(question: Question) -> str:
    return " | ".join((question.reference.answer, *question.reference.extra_aliases))


def _content_of(question: Question) -> Hashable:
    return _plain(question.question), _answers(question), tuple(question.reference.ranges)


def _named_text_of(question: Question) -> Hashable:
    return _plain(question.question), question.question_id


def _text_of(question: Question) -> Hashable:
    return _plain(question.question)


def _id_of(question: Question) -> Hashable:
    return question.question_id


def _row_of(question: Question) -> Hashable:
    return question.original_index


def _by_key(questions: Sequence[Question], key: Callable[[Question], Hashable]) -> dict[Hashable, list[Question]]:
    groups: dict[Hashable, list[Question]] = {}
    for question in questions:
        name = key(question)
        if name is not None:
            groups.setdefault(name, []).append(question)
    return groups


def _match(before: Sequence[Question], after: Sequence[Question]) -> list[tuple[Question, Question]]:
    found: dict[str, Question] = {}
    taken: set[str] = set()
    for key in (_content_of, _named_text_of, _text_of, _id_of, _row_of):
        open_before = _by_key([one for one in before if one.question_id not in taken], key)
        open_after = _by_key([one for one in after if one.question_id not in found], key)
        for name, news in open_after.items():
            for old, new in zip(open_before.get(name, []), news, strict=False):
                found[new.question_id] = old
                taken.add(old.question_id)
    return [(found[new.question_id], new) for new in after if new.question_id in found]
