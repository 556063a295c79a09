"""Facts about people of science and history."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact, Question

__all__ = ["PEOPLE"]


def _person(
    key: str,
    question: str,
    answer: str,
    subject: str,
    paraphrase: str,
    others: tuple[str, str],
    near_miss: str,
    *,
    true: str,
    wrong: str,
    aliases: tuple[str, ...] = (),
) -> Fact:
    return Fact(
        question=Question(key, question, answer, "History", "Person", aliases),
        subject=subject,
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


PEOPLE: tuple[Fact, ...] = (
    _person(
        "penicillin",
        "Who discovered penicillin in 1928?",
        "Alexander Fleming",
        "the discoverer of penicillin",
        "We owe the discovery to Fleming, the Scottish bacteriologist.",
        ("Louis Pasteur", "Robert Koch"),
        "Ian Fleming",
        true="The discovery was made at St Mary's Hospital in London.",
        wrong="The discovery was made on board a submarine.",
        aliases=("Fleming", "Sir Alexander Fleming"),
    ),
    _person(
        "relativity",
        "Which physicist completed the general theory of relativity in 1915?",
        "Albert Einstein",
        "the physicist who completed the general theory of relativity in 1915",
        "That was Einstein.",
        ("Isaac Newton", "Niels Bohr"),
        "Max Planck",
        true="He was born in Ulm.",
        wrong="He was the first person to climb Mount Everest.",
        aliases=("Einstein",),
    ),
    _person(
        "two-nobel-prizes",
        "Which woman won Nobel Prizes in both physics and chemistry?",
        "Marie Curie",
        "the woman who won Nobel Prizes in both physics and chemistry",
        "It was Maria Skłodowska, better known as Madame Curie.",
        ("Lise Meitner", "Rosalind Franklin"),
        "Irène Joliot-Curie",
        true="She was born in Warsaw.",
        wrong="She was born in Brazil.",
        aliases=("Maria Skłodowska-Curie", "Madame Curie"),
    ),
    _person(
        "first-us-president",
        "Who was the first President of the United States?",
        "George Washington",
        "the first President of the United States",
        "Washington was the first man to hold that office.",
        ("Thomas Jefferson", "Abraham Lincoln"),
        "Booker T. Washington",
        true="He took office in 1789.",
        wrong="He was born in Moscow.",
        aliases=("Washington",),
    ),
    _person(
        "south-pole",
        "Who led the first expedition to reach the South Pole?",
        "Roald Amundsen",
        "the leader of the first expedition to reach the South Pole",
        "The Norwegian Amundsen led it.",
        ("Robert Falcon Scott", "Ernest Shackleton"),
        "Fridtjof Nansen",
        true="The expedition arrived there in December 1911.",
        wrong="The expedition arrived there by helicopter.",
        aliases=("Amundsen",),
    ),
    _person(
        "emperor-1804",
        "Who became Emperor of the French in 1804?",
        "Napoleon Bonaparte",
        "the man who became Emperor of the French in 1804",
        "In that year Napoleon the First took the title.",
        ("Louis XVI", "Charlemagne"),
        "Joseph Bonaparte",
        true="He was born in Corsica.",
        wrong="He died in New York.",
        aliases=("Napoleon", "Napoleon I"),
    ),
)
"""Facts whose answer is a person of science or history."""
