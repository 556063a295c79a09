"""Questions with a mistake in them, and answers that put it right."""

from __future__ import annotations

from dataclasses import dataclass

from calibration_sets.probes.fact import Question
from calibration_sets.probes.probe import CORRECT, INCORRECT, Probe

__all__ = ["premises"]


@dataclass(frozen=True, slots=True)
class _Premise:
    """A question with a mistake or a needless limit in it; ``correction`` is true."""

    key: str
    text: str
    answer: str
    answer_type: str
    correction: str
    wrong: str


_PREMISES = (
    _Premise(
        "premise-roosevelt",
        "Who was President of the United States from January 1935 to March 1936?",
        "Franklin D. Roosevelt",
        "Person",
        "That is only a part of the term, though, which ran from March 1933 to April 1945.",
        "Herbert Hoover",
    ),
    _Premise(
        "premise-merkel",
        "Who was Chancellor of Germany from 2007 to 2009?",
        "Angela Merkel",
        "Person",
        "The years are not quite right: the time in office began in 2005 and ended in 2021.",
        "Helmut Kohl",
    ),
    _Premise(
        "premise-churchill",
        "Who was Prime Minister of the United Kingdom from June 1940 to July 1941?",
        "Winston Churchill",
        "Person",
        "The term had already begun in May 1940, and it went on until July 1945.",
        "Clement Attlee",
    ),
    _Premise(
        "premise-moon",
        "Who was the first person to walk on the Moon, in July 1968?",
        "Neil Armstrong",
        "Person",
        "But the first walk on the Moon took place in July 1969, not in 1968.",
        "Yuri Gagarin",
    ),
    _Premise(
        "premise-galileo",
        "Which scientist, born in Florence, found four large moons of Jupiter in 1610?",
        "Galileo Galilei",
        "Person",
        "His birthplace, however, was Pisa and not Florence.",
        "Johannes Kepler",
    ),
    _Premise(
        "premise-world-cup",
        "Which country won the final of the 1966 football World Cup, played in Manchester?",
        "England",
        "Place",
        "The final was played in London, at Wembley, not in Manchester.",
        "Brazil",
    ),
    _Premise(
        "premise-guernica",
        "Who painted Guernica in 1945?",
        "Pablo Picasso",
        "Person",
        "The year in your question is wrong, by the way: the picture was painted in 1937.",
        "Salvador Dalí",
    ),
    _Premise(
        "premise-amazon",
        "Which river is the largest of South America and flows into the Pacific?",
        "Amazon",
        "Place",
        "It flows into the Atlantic, however, and not into the Pacific.",
        "Orinoco",
    ),
    _Premise(
        "premise-iron",
        "Which element has the symbol Fe, after its Greek name?",
        "Iron",
        "Other",
        "The symbol comes from a Latin word, ferrum, and not from Greek.",
        "Silver",
    ),
    _Premise(
        "premise-frankenstein",
        "Who wrote Frankenstein, the novel named after the monster in it?",
        "Mary Shelley",
        "Person",
        "The title names the maker of the monster; the monster itself has no name.",
        "Bram Stoker",
    ),
    _Premise(
        "premise-victoria",
        "Which queen reigned in the United Kingdom from 1850 to 1860?",
        "Queen Victoria",
        "Person",
        "Those years are only a part of the reign, which lasted from 1837 to 1901.",
        "Queen Anne",
    ),
    _Premise(
        "premise-everest",
        "Which Himalayan mountain, which lies wholly in India, is the highest on Earth?",
        "Mount Everest",
        "Place",
        "It does not lie in India, though, but on the border of Nepal and China.",
        "Nanga Parbat",
    ),
)


def premises() -> list[Probe]:
    """Probes of the kind premise_correction.

    Only the direct answer counts under the newer rubric; the first one does not say what a
    correction of the question does to a right answer, so those have no label under it.
    """
    right = [Probe("premise_correction", _question(p), f"{p.answer}. {p.correction}", CORRECT, None) for p in _PREMISES]
    wrong = [
        Probe("premise_correction", _question(p), f"{p.wrong}. {p.correction}", INCORRECT, INCORRECT)
        for p in _PREMISES[::2]
    ]
    return [*right, *wrong]


def _question(premise: _Premise) -> Question:
    return Question(premise.key, premise.text, premise.answer, "History", premise.answer_type)
