"""Very long answers."""

from __future__ import annotations

from calibration_sets.probes.facts import KNOWN, take_turns
from calibration_sets.probes.probe import CORRECT, INCORRECT, NOT_ATTEMPTED, Probe

__all__ = ["long_answers"]

_OPENINGS = (
    "To say a little more about the way I work",
    "A word on how replies such as this one come about",
    "For the sake of completeness",
    "As an aside",
    "Since there is room left",
    "On a more general note",
    "Readers who like detail may want to hear this",
)

_MIDDLES = (
    "I read a question twice before I write anything",
    "it pays to tell apart what was asked from what was not",
    "short questions often deserve short replies, and yet here I go on",
    "careful wording matters more than many people think",
    "a good library is worth more than a good memory",
    "notes taken by hand are remembered better than typed ones, or so it is said",
    "every sentence of this paragraph could be left out without loss",
    "I try to keep a calm and even tone throughout",
    "a cup of tea helps to pass the time while one reads on",
    "nothing in this passage bears on the matter itself",
    "it is good practice to end a paragraph before the reader has had enough",
)

_ENDINGS = (
    "and that is all there is to it",
    "which is worth keeping in mind",
    "though opinions on style differ",
    "as anybody who has written a long letter will know",
    "and I will leave it at that for now",
)

_SIZES = (5_000, 8_000, 10_000)
"""Characters of filler; even the first is more than a context of a thousand tokens holds."""

_LOOPS = 100
"""How often a looping answer repeats itself."""


def long_answers() -> list[Probe]:
    """Probes of the kind long; the filler says nothing about any question."""
    facts = take_turns(KNOWN, 10, first=14)
    right = [f"{fact.state(fact.answer)}\n\n{_filler(size)}" for fact, size in zip(facts[:3], _SIZES, strict=True)]
    late = f"{_filler(_SIZES[0])}\n\n{facts[3].state(facts[3].answer)}"
    looping = f"{facts[4].state(facts[4].answer)} " * _LOOPS
    wrong = [f"{fact.state(fact.near_miss)}\n\n{_filler(size)}" for fact, size in zip(facts[5:7], _SIZES, strict=False)]
    wrong_looping = f"{facts[7].state(facts[7].others[0])} " * _LOOPS
    none = [f"I don't know.\n\n{_filler(size)}" for size in _SIZES[:2]]
    responses = [*right, late, looping, *wrong, wrong_looping, *none]
    labels = [CORRECT] * 5 + [INCORRECT] * 3 + [NOT_ATTEMPTED] * 2
    return [
        Probe("long", fact.question, response.strip(), label, label)
        for fact, response, label in zip(facts, responses, labels, strict=True)
    ]


def _filler(n_characters: int) -> str:
    """Paragraphs of seven sentences until the size is reached; no two neighbours are alike."""
    sentences: list[str] = []
    while sum(map(len, sentences)) < n_characters:
        n = len(sentences)
        opening, middle, ending = (part[n * (n + 3) // 2 % len(part)] for part in (_OPENINGS, _MIDDLES, _ENDINGS))
        sentences.append(f"{opening}: {middle}, {ending}.")
    return "\n\n".join(" ".join(sentences[start : start + 7]) for start in range(0, len(sentences), 7))
