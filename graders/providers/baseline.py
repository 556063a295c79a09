"""``baseline/lexical``: a deterministic grader without a model, to hold others against.

Its rules, in order:

1. A response that is an alias of the reference, or holds one as whole words in a row, is CORRECT.
   Compared are words without case, punctuation and English articles; then without diacritics; and
   for a response of at most three words also with number words as digits.
2. A response without a letter or a digit, or one that declines and answers nothing, is
   NOT_ATTEMPTED; a decline that names the reference's words is still a decline. On a scale without
   that label both are INCORRECT.
3. Where the reference has acceptable ranges, the check of :func:`calibration_sets.check_range`
   decides in place of rule 1: in is CORRECT, out INCORRECT. Where it abstains, only a response that
   is an alias, and nothing more, is CORRECT: a range's number in passing proves nothing.
4. Everything else is INCORRECT.

A response that is only a part of an alias (``Paris`` for ``Paris, France``, ``February 2003`` for
``9 February 2003``) is INCORRECT: words alone cannot tell a short form from too little. Neither
can they tell a paraphrase, a negation or a hedge. Those errors are the grader's, and reports show
them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Self

from calibration_sets.item import Item
from calibration_sets.references.range_check import check_range
from calibration_sets.references.reference import Reference
from calibration_sets.scale import LabelScale
from graders.client import Answer, Request
from graders.errors import GraderError
from graders.providers.answer_words import (
    ARTICLES,
    contains_words,
    fold_diacritics,
    number_words_to_digits,
    split_words,
)
from graders.providers.declines import is_content_free, is_decline
from graders.timing import time_answers
from graders.verdict import Completion

__all__ = ["RULES_VERSION", "BaselineClient", "grade_lexically"]

RULES_VERSION = "1.0.0"
"""Changed with every change of a verdict."""

CORRECT, INCORRECT, NOT_ATTEMPTED = "CORRECT", "INCORRECT", "NOT_ATTEMPTED"

_SHORT = 3


class BaselineClient:
    """Grades at once; every repeat of an item gets the same verdict."""

    def __enter__(self) -> Self:
        """Take nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give nothing back."""

    def complete(self, requests: Iterable[Request]) -> Iterator[Sequence[Answer]]:
        """Answer each request in order with a label as its text.

        Raises
        ------
        GraderError
            If a scale lacks CORRECT or INCORRECT.
        """
        served = f"baseline/lexical@{RULES_VERSION}"
        for request in requests:
            began = time.perf_counter()
            said = Completion(text=grade_lexically(request.item, request.scale), served_model=served)
            answers = [Answer(request.item.digest, repeat, said) for repeat in request.repeats]
            yield time_answers(answers, time.perf_counter() - began)


def grade_lexically(item: Item, scale: LabelScale) -> str:
    """The label of an item under the rules above; ``GraderError`` if the scale has no place for it."""
    missing = [label for label in (CORRECT, INCORRECT) if label not in scale]
    if missing:
        raise GraderError(
            f"baseline/lexical: scale {scale.name!r} with labels {list(scale.labels)}; expected {missing} among them"
        )
    label = _judge(item)
    return INCORRECT if label == NOT_ATTEMPTED and NOT_ATTEMPTED not in scale else label


def _judge(item: Item) -> str:
    response, reference = item.response, item.reference
    if response.strip() and response.strip() in (alias.strip() for alias in _aliases(reference)):
        return CORRECT
    if is_content_free(response):
        return NOT_ATTEMPTED
    percent_asked = "percent" in item.question.casefold() or "%" in item.question
    matched = _matches(response, _aliases(reference), percent_asked=percent_asked, whole=bool(reference.ranges))
    if is_decline(response, in_own_words=matched):
        return NOT_ATTEMPTED
    if reference.ranges:
        return _judge_range(reference, response, matched=matched)
    return CORRECT if matched else INCORRECT


def _judge_range(reference: Reference, response: str, *, matched: bool) -> str:
    outcome = check_range(reference, response).outcome
    if outcome == "undecided":
        return CORRECT if matched else INCORRECT
    return CORRECT if outcome == "in" else INCORRECT


def _matches(response: str, aliases: Sequence[str], *, percent_asked: bool, whole: bool) -> bool:
    """Whether the response is one of the aliases or, unless ``whole``, holds one."""
    words = split_words(response, keep_percent=not percent_asked)
    wanted = [_alias_words(alias, not percent_asked) for alias in aliases]
    for fold in (tuple, fold_diacritics):
        folded = fold(words)
        for alias in wanted:
            sought = fold(alias)
            if sought and (sought == folded or (not whole and contains_words(folded, sought))):
                return True
    if not whole and any(_holds_article(response, alias) for alias in aliases):
        return True
    if len(words) > _SHORT:
        return False
    digits = number_words_to_digits(words)
    return any(alias and digits == number_words_to_digits(alias) for alias in wanted)


def _holds_article(response: str, alias: str) -> bool:
    # blood type A, vitamin A: a word that comparing leaves out as an article, looked for as it is written
    return alias.casefold() in ARTICLES and re.search(rf"(?<!\w){alias}(?!\w)", response) is not None


@lru_cache(maxsize=4096)
def _alias_words(alias: str, keep_percent: bool) -> tuple[str, ...]:
    return split_words(alias, keep_percent=keep_percent)


def _aliases(reference: Reference) -> tuple[str, ...]:
    return tuple(dict.fromkeys(alias for alias in (reference.answer, *reference.aliases) if alias.strip()))
