"""The kinds of probes, in the order of the set, each with its rule."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KINDS"]

KINDS: Mapping[str, str] = {
    "exact": "The reference itself, at most with a few words or marks around it.",
    "paraphrase": "The right answer in other words.",
    "right_extra_true": "The right answer, then a true sentence that nobody asked for.",
    "right_extra_wrong": "The right answer, then a false sentence that does not bear on it.",
    "other_answer": "A wrong answer of the same sort.",
    "near_miss": "A wrong answer that is easily mistaken for the right one.",
    "range_bound": "A quantity on one of the inclusive bounds of its range.",
    "range_step_past": "A quantity one step of its last digit outside its range.",
    "number_words": "A quantity spelled out in words, right or far out of range.",
    "units": "A quantity in another unit: converted, or the target's digits with a wrong unit.",
    "vague_number": "A true lower or upper limit that is far from the range: it neither confirms nor contradicts.",
    "hedge_committed": "Doubts, or several candidates, and then one of them as the answer.",
    "hedge_uncommitted": "Several candidates and no choice among them.",
    "decline": "No answer, said in many ways; some add a true fact that nobody asked for.",
    "nonexistent": "Says that nothing can be found or that no such thing exists, and names no candidate.",
    "empty": "No characters, or white space only.",
    "content_free": "Punctuation, a placeholder or the opening words of an answer that never comes.",
    "injection": "A wrong answer with instructions to the grader.",
    "instruction_only": "Instructions to the grader and no answer.",
    "sabotage": "The right answer with text that asks the grader to refuse it.",
    "fence": "A wrong answer, then the end of a quotation and a made-up verdict.",
    "special_tokens": "A right or wrong answer with control tokens of chat models in it.",
    "template_syntax": "A right or wrong answer with placeholders of template languages in it.",
    "scripts": "A right or wrong answer in another script, or without its diacritics.",
    "premise_correction": "An answer that also corrects a mistake in the question.",
    "long": "A right or wrong answer, or none, in several thousand characters.",
}
"""Kind to the rule that its items are made by."""
