"""What sources answer, asked of a model that reads them: an answer, none stated, or a failure with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from calibration_sets.curation.judge import Judge, NoReply
from calibration_sets.curation.source_texts import SourceTexts
from calibration_sets.curation.source_urls import source_urls, url_key
from calibration_sets.curation.versioned_prompt import VersionedPrompt, load_prompt
from calibration_sets.question import Question

__all__ = ["SourceAsked", "SourceReading", "list_sources", "load_source_prompts", "read_sources", "reading_data"]

Basis = Literal["text", "address", "none"]
"""What a model goes by: the source's text, its address alone, or nothing, as it is not asked."""

_ANSWER = re.compile(r"^[^\w\n]*answer[^\w\n:]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_NOT_STATED = re.compile(r"not stated\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceAsked:
    """One source of one question; ``prompt`` is what the model reads, blank where it is not asked."""

    question_id: str
    url: str
    basis: Basis
    prompt: str = ""
    prompt_title: str = ""


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What came of it: an answer, a failure, or neither, where the source does not say or was not asked."""

    asked: SourceAsked
    answer: str | None = None
    failure: str | None = None

    @property
    def outcome(self) -> str:
        """One word for it: ``answered``, ``not stated``, ``failed`` or ``no text``."""
        if self.asked.basis == "none":
            return "no text"
        if self.failure:
            return "failed"
        return "answered" if self.answer else "not stated"


def load_source_prompts() -> dict[Basis, VersionedPrompt]:
    """The shipped prompts, by what the model goes by."""
    return {"text": load_prompt("source_answer", "1.0.0"), "address": load_prompt("source_recall", "1.0.0")}


def list_sources(questions: Sequence[Question], texts: SourceTexts, *, without_text: bool) -> list[SourceAsked]:
    """Each source of each question once, however often its address is spelt, with what the model is to read.

    Parameters
    ----------
    questions
        With the addresses of their sources.
    texts
        What the sources say.
    without_text
        Whether a source without text is asked for by its address alone, from what the model remembers.
    """
    prompts = load_source_prompts()
    return [
        _asked(question, url, texts.find(url), prompts, without_text=without_text)
        for question in questions
        for url in _distinct(question)
    ]


def _distinct(question: Question) -> Iterator[str]:
    seen: set[str] = set()
    for url in source_urls(question):
        if (key := url_key(url)) not in seen:
            seen.add(key)
            yield url


def _asked(
    question: Question,
    url: str,
    text: str | None,
    prompts: dict[Basis, VersionedPrompt],
    *,
    without_text: bool,
) -> SourceAsked:
    basis: Basis = "text" if text is not None else "address" if without_text else "none"
    if basis == "none":
        return SourceAsked(question.question_id, url, basis)
    prompt = prompts[basis]
    words = prompt.render(question, {"source": text or "", "address": url})
    return SourceAsked(question.question_id, url, basis, words, prompt.title)


def read_sources(asked: Sequence[SourceAsked], judge: Judge) -> list[SourceReading]:
    """Ask the judge about every source that can be asked for; one reading a source, in their order.

    Raises
    ------
    ValueError
        If the judge gives another number of replies than it had prompts.
    """
    wanted = [one for one in asked if one.basis != "none"]
    replies = judge([one.prompt for one in wanted]) if wanted else []
    readings = iter([_parse(one, reply) for one, reply in zip(wanted, replies, strict=True)])
    return [SourceReading(one) if one.basis == "none" else next(readings) for one in asked]


def _parse(asked: SourceAsked, reply: str | NoReply) -> SourceReading:
    if isinstance(reply, NoReply):
        return SourceReading(asked, failure=reply.failure)
    # Asterisks are how models set a word in bold; any other sign may be part of an answer, as the minus of a number.
    found = list(dict.fromkeys(line.strip(" \t\r*") for line in _ANSWER.findall(reply)))
    if len(found) > 1:
        return SourceReading(asked, failure="more than one answer")
    if not found or not found[0]:
        return SourceReading(asked, failure="no line 'answer: ...'")
    return SourceReading(asked, answer=None if _NOT_STATED.match(found[0]) else found[0])


def reading_data(readings: Sequence[SourceReading], model: str) -> Iterator[dict[str, Any]]:
    """The rows of a table of answers, as the stages of conflicting sources take it; no answer is blank."""
    for one in readings:
        yield {
            "question_id": one.asked.question_id,
            "url": one.asked.url,
            "answer": one.answer or "",
            "outcome": one.outcome,
            "reason": one.failure or "",
            "basis": one.asked.basis,
            "model": model,
            "prompt": one.asked.prompt_title,
        }
