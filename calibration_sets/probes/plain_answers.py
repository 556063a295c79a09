"""Right and wrong answers without tricks."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact
from calibration_sets.probes.facts import FACTS, KNOWN, take_turns
from calibration_sets.probes.probe import CORRECT, INCORRECT, Probe

__all__ = ["plain_answers"]


def plain_answers() -> list[Probe]:
    """Probes of the kinds exact, paraphrase, right_extra_*, other_answer and near_miss."""
    return [
        *(_right("exact", fact, _exact(fact, turn)) for turn, fact in enumerate(take_turns(FACTS, 20))),
        *(_right("paraphrase", fact, fact.paraphrase) for fact in take_turns(FACTS, 20, first=5)),
        *(
            _right("right_extra_true", fact, _with_extra(fact, fact.true_extra, turn))
            for turn, fact in enumerate(take_turns(KNOWN, 20, first=11))
        ),
        *(
            Probe("right_extra_wrong", fact.question, _with_extra(fact, fact.wrong_extra, turn), CORRECT, None)
            for turn, fact in enumerate(take_turns(KNOWN, 20, first=23))
        ),
        *(
            _wrong("other_answer", fact, _plain(fact, fact.others[turn % 2], turn))
            for turn, fact in enumerate(take_turns(FACTS, 20, first=31))
        ),
        *(
            _wrong("near_miss", fact, _plain(fact, fact.near_miss, turn))
            for turn, fact in enumerate(take_turns(FACTS, 20, first=43))
        ),
    ]


def _right(kind: str, fact: Fact, response: str) -> Probe:
    return Probe(kind, fact.question, response, CORRECT, CORRECT)


def _wrong(kind: str, fact: Fact, response: str) -> Probe:
    return Probe(kind, fact.question, response, INCORRECT, INCORRECT)


def _exact(fact: Fact, turn: int) -> str:
    answer = fact.answer
    return (answer, f"{answer}.", f"Answer: {answer}", f"**{answer}**", f'"{answer}"')[turn % 5]


def _plain(fact: Fact, answer: str, turn: int) -> str:
    return (answer, fact.state(answer), f"The answer is {answer}.")[turn % 3]


def _with_extra(fact: Fact, extra: str, turn: int) -> str:
    return f"{fact.answer}. {extra}" if turn % 2 else f"{fact.state(fact.answer)} {extra}"
