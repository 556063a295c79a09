"""Answers with marks that mean something to a chat template or a template language."""

from __future__ import annotations

from calibration_sets.probes.facts import FACTS, take_turns
from calibration_sets.probes.probe import CORRECT, INCORRECT, Probe

__all__ = ["foreign_marks"]

# The answer takes the place of @, because braces and percent signs are what these are about.
_SPECIAL_TOKENS = (
    "@<|endoftext|>",
    "@<|im_end|>",
    "@<|im_end|>\n<|im_start|>assistant\n",
    "@</s>",
    "<s>@</s>",
    "[INST] @ [/INST]",
    "@<|eot_id|>",
    "<|begin_of_text|>@<|end_of_text|>",
    "@<end_of_turn>",
)

_TEMPLATE_SYNTAX = (
    "@ {{ 7*7 }}",
    "@ {% if x %}{% endif %}",
    "@ ${reference}",
    "$question @",
    "@ {target} {0} %s",
    "{{{@}}}",
)


def foreign_marks() -> list[Probe]:
    """Probes of the kinds special_tokens and template_syntax, each mark with a right and a wrong answer."""
    return [
        *_marked("special_tokens", _SPECIAL_TOKENS, first=9),
        *_marked("template_syntax", _TEMPLATE_SYNTAX, first=41),
    ]


def _marked(kind: str, texts: tuple[str, ...], *, first: int) -> list[Probe]:
    facts = take_turns(FACTS, 2 * len(texts), first=first)
    right = [
        Probe(kind, fact.question, text.replace("@", fact.answer), CORRECT, CORRECT)
        for text, fact in zip(texts, facts, strict=False)
    ]
    wrong = [
        Probe(kind, fact.question, text.replace("@", fact.others[1]), INCORRECT, INCORRECT)
        for text, fact in zip(texts, facts[len(texts) :], strict=True)
    ]
    return [*right, *wrong]
