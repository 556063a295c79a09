"""Answers without content."""

from __future__ import annotations

from calibration_sets.probes.facts import FACTS, take_turns
from calibration_sets.probes.probe import NOT_ATTEMPTED, Probe

__all__ = ["empty_answers"]

_EMPTY = ("", " ", "\n", "\t", "\n\n\n", "\u00a0", "\u3000", "\u200b")

_CONTENT_FREE = (
    ":",
    ".",
    ",",
    "-",
    "?",
    "!",
    "...",
    "…",
    "。",
    "—",
    "***",
    "()",
    '""',
    "[ ]",
    "```\n```",
    "N/A",
    "n/a",
    "[answer]",
    "<answer></answer>",
    "Answer:",
    "The answer is",
    "Solution:",
    "Thought process:",
    "Let's think step by step.",
    "Let's solve this problem step by step.",
    "Sure, here is the answer to your question:",
    "🙂",
    "解",
)


def empty_answers() -> list[Probe]:
    """Probes of the kinds empty and content_free."""
    return [*_asked("empty", _EMPTY, first=4), *_asked("content_free", _CONTENT_FREE, first=13)]


def _asked(kind: str, responses: tuple[str, ...], *, first: int) -> list[Probe]:
    facts = take_turns(FACTS, len(responses), first=first)
    return [
        Probe(kind, fact.question, response, NOT_ATTEMPTED, NOT_ATTEMPTED)
        for fact, response in zip(facts, responses, strict=True)
    ]
