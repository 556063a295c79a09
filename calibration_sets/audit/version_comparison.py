"""Two versions of a question set, compared by what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """Match questions by their text, white space aside, then the rest by id, then by the row they were made from.

    A reference is compared without outer white space; a note on its range is compared as a range, beside the answer.
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
            VersionChange(new.question_id, old.reference.answer, new.reference.answer)
            for old, new in pairs
            if _plain(old.reference.answer) != _plain(new.reference.answer)
            or set(old.reference.extra_aliases) != set(new.reference.extra_aliases)
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
    return " ".join(text.split())


def _text_of(question: Question) -> str | None:
    return _plain(question.question)


def _id_of(question: Question) -> str | None:
    return question.question_id


def _row_of(question: Question) -> str | None:
    return None if question.original_index is None else str(question.original_index)


def _by_key(questions: Sequence[Question], key: Callable[[Question], str | None]) -> dict[str, list[Question]]:
    groups: dict[str, list[Question]] = {}
    for question in questions:
        name = key(question)
        if name is not None:
            groups.setdefault(name, []).append(question)
    return groups


def _match(before: Sequence[Question], after: Sequence[Question]) -> list[tuple[Question, Question]]:
    found: dict[str, Question] = {}
    taken: set[str] = set()
    for key in (_text_of, _id_of, _row_of):
        open_before = _by_key([one for one in before if one.question_id not in taken], key)
        open_after = _by_key([one for one in after if one.question_id not in found], key)
        for name, news in open_after.items():
            for old, new in zip(open_before.get(name, []), news, strict=False):
                found[new.question_id] = old
                taken.add(old.question_id)
    return [(found[new.question_id], new) for new in after if new.question_id in found]
