"""Facts of science, and small exact counts."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact, Question

__all__ = ["SCIENCES"]


def _symbol(
    element: str, answer: str, paraphrase: str, others: tuple[str, str], near_miss: str, *, true: str, wrong: str
) -> Fact:
    return Fact(
        question=Question(
            f"symbol-{element}",
            f"What is the chemical symbol of the element {element}?",
            answer,
            "Science",
            "Other",
        ),
        subject=f"the chemical symbol of the element {element}",
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


def _count(
    key: str,
    question: str,
    answer: str,
    word: str,
    subject: str,
    others: tuple[str, str],
    near_miss: str,
    *,
    true: str,
    wrong: str,
) -> Fact:
    return Fact(
        question=Question(key, question, answer, "Other", "Number", (word,)),
        subject=subject,
        paraphrase=f"There are {word} of them.",
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


SCIENCES: tuple[Fact, ...] = (
    _symbol(
        "gold",
        "Au",
        "Chemists write gold as Au.",
        ("Fe", "Pb"),
        "Ag",
        true="It comes from the Latin name of the metal.",
        wrong="The element is a gas at room temperature.",
    ),
    _symbol(
        "sodium",
        "Na",
        "In formulas sodium appears as Na.",
        ("K", "S"),
        "Ni",
        true="It comes from the Latin word natrium.",
        wrong="The element is a noble gas.",
    ),
    _symbol(
        "potassium",
        "K",
        "Potassium is written as a capital K.",
        ("P", "Na"),
        "Kr",
        true="It comes from the Latin word kalium.",
        wrong="The atomic number of the element is 92.",
    ),
    _symbol(
        "tungsten",
        "W",
        "Tungsten is written as a capital W.",
        ("T", "Sn"),
        "V",
        true="It stands for the German name Wolfram.",
        wrong="The element has the lowest melting point of all metals.",
    ),
    Fact(
        question=Question(
            "first-element",
            "Which chemical element has the atomic number 1?",
            "Hydrogen",
            "Science",
            "Other",
        ),
        subject="the chemical element with the atomic number 1",
        paraphrase="The periodic table begins with hydrogen.",
        others=("Oxygen", "Carbon"),
        near_miss="Helium",
        true_extra="It is the most abundant element in the universe.",
        wrong_extra="It is heavier than lead.",
    ),
    Fact(
        question=Question(
            "largest-planet",
            "Which planet of the Solar System is the largest?",
            "Jupiter",
            "Science",
            "Other",
        ),
        subject="the largest planet of the Solar System",
        paraphrase="No planet that goes round the Sun is bigger than Jupiter.",
        others=("Mars", "Neptune"),
        near_miss="Saturn",
        true_extra="Its Great Red Spot is a giant storm.",
        wrong_extra="It is the planet closest to the Sun.",
    ),
    _count(
        "chromosomes",
        "How many chromosomes does a normal human body cell have?",
        "46",
        "forty-six",
        "the number of chromosomes in a normal human body cell",
        ("12", "64"),
        "48",
        true="They lie in the nucleus of the cell.",
        wrong="They are made of iron.",
    ),
    _count(
        "violin-strings",
        "How many strings does a standard violin have?",
        "4",
        "four",
        "the number of strings of a standard violin",
        ("12", "9"),
        "5",
        true="Neighbouring strings are tuned a fifth apart.",
        wrong="The violin is a wind instrument.",
    ),
    _count(
        "football-team",
        "How many players of one team may be on the pitch in association football?",
        "11",
        "eleven",
        "the number of players of one team on the pitch in association football",
        ("7", "15"),
        "12",
        true="One of them is the goalkeeper.",
        wrong="Each of them carries a bat.",
    ),
)
"""Facts of science and exact counts."""
