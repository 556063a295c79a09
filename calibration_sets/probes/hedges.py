"""Doubtful answers: some settle on a candidate, some do not."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact
from calibration_sets.probes.facts import FACTS, take_turns
from calibration_sets.probes.probe import CORRECT, INCORRECT, NOT_ATTEMPTED, Probe

__all__ = ["hedges"]

_ONE_CANDIDATE = (
    "I would have to look it up to be sure, but I think it is {answer}.",
    "My best guess: {answer}.",
    "If I remember rightly, {answer}, though I could be mistaken.",
    "Hmm. Probably {answer}.",
    "I can't promise that this is right, but I'd say {answer}.",
    "Most people would say {answer}, and so do I, without having checked.",
)
"""Doubt about a single candidate, which both rubrics allow."""

_SETTLED = (
    "It could be {rival} or {answer}. If I have to choose one, my answer is {answer}.",
    "At first I thought of {rival}, but no: my final answer is {answer}.",
    "{rival}? {answer}? Of the two it is {answer}.",
    "There are two candidates, {answer} and {rival}, and I settle on {answer}.",
    "Some may say {rival}. I go with {answer}.",
    "I wavered between {answer} and {rival}. Final answer: {answer}.",
)
"""Two candidates and a choice."""

_OPEN = (
    "It is either {answer} or {rival}; I cannot say which.",
    "Perhaps {rival}, perhaps {answer}. I don't know which of them.",
    "Possible answers are {answer}, {rival} and {third}. I have no way to tell which one is right.",
    "It might be {third}, it might be {answer}, it might also be {rival}. I can't decide.",
    "{answer} or {rival}? Could be one as well as the other.",
    "I waver between {rival} and {answer} and will not choose.",
    "I'm torn: {answer}, {third} or {rival}. Take your pick.",
    "Candidates: (1) {rival}, (2) {answer}, (3) {third}. I am not able to rank them.",
    "Half of me says {answer}, the other half says {rival}, and neither half wins.",
    "One of these: {third}, {rival}, {answer}. I am not sure which one it is.",
    "There seem to be two possibilities, {answer} and {rival}, and I have no reason to prefer either.",
    "I have seen both {rival} and {answer} given for this and don't know which to believe.",
)
"""Candidates, the right one among them, and no choice."""


def hedges() -> list[Probe]:
    """Probes of the kinds hedge_committed and hedge_uncommitted."""
    return [*_committed(), *_uncommitted()]


def _committed() -> list[Probe]:
    facts = iter(take_turns(FACTS, 24, first=7))
    right_alone = [_hedge(next(facts), text, CORRECT, CORRECT) for text in _ONE_CANDIDATE]
    # The first rubric forbids wrong information in a right answer and does not say whether a
    # candidate that the answer drops again is that.
    right_of_two = [_hedge(next(facts), text, CORRECT, None) for text in _SETTLED]
    wrong_alone = [_hedge(next(facts), text, INCORRECT, INCORRECT) for text in _ONE_CANDIDATE]
    wrong_of_two = [_hedge(next(facts), text, INCORRECT, INCORRECT) for text in _SETTLED]
    return [*right_alone, *right_of_two, *wrong_alone, *wrong_of_two]


def _hedge(fact: Fact, text: str, label: str, first_label: str | None) -> Probe:
    answer, rival = (fact.answer, fact.others[0]) if label == CORRECT else (fact.others[0], fact.answer)
    return Probe("hedge_committed", fact.question, text.format(answer=answer, rival=rival), label, first_label)


def _uncommitted() -> list[Probe]:
    facts = take_turns(FACTS, 2 * len(_OPEN), first=17)
    return [
        Probe(
            "hedge_uncommitted",
            fact.question,
            _OPEN[turn % len(_OPEN)].format(answer=fact.answer, rival=fact.others[0], third=fact.others[1]),
            NOT_ATTEMPTED,
            INCORRECT,
        )
        for turn, fact in enumerate(facts)
    ]
