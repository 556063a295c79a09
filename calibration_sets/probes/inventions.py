"""Invented facts: nobody can know them, so the reference alone decides."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact, Question

__all__ = ["INVENTIONS"]


def _invention(
    key: str,
    question: str,
    answer: str,
    answer_type: str,
    subject: str,
    paraphrase: str,
    others: tuple[str, str],
    near_miss: str,
) -> Fact:
    return Fact(
        question=Question(key, question, answer, "Other", answer_type, invented=True),
        subject=subject,
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
    )


INVENTIONS: tuple[Fact, ...] = (
    _invention(
        "ostervik-tower",
        "Who designed the clock tower of Ostervik harbour?",
        "Marta Lindquaver",
        "Person",
        "the designer of the clock tower of Ostervik harbour",
        "The tower was built to plans by Marta Lindquaver.",
        ("Joren Halvik", "Edda Stromme"),
        "Martin Lindquaver",
    ),
    _invention(
        "quillan-bridge",
        "In which year was the Quillan Narrows bridge opened to traffic?",
        "1934",
        "Date",
        "the year in which the Quillan Narrows bridge was opened to traffic",
        "Cars have crossed it since nineteen thirty-four.",
        ("1907", "1961"),
        "1943",
    ),
    _invention(
        "brassmoor-team",
        "Which town is home to the rowing club Brassmoor Rovers?",
        "Teldercombe",
        "Place",
        "the home town of the rowing club Brassmoor Rovers",
        "The Rovers row out of Teldercombe.",
        ("Ashwick Ferry", "Lower Penhallow"),
        "Teldermouth",
    ),
    _invention(
        "sorrelline-dye",
        "From which plant is the dye sorrelline made?",
        "marsh velvetwort",
        "Other",
        "the plant from which the dye sorrelline is made",
        "Dyers get it out of velvetwort, the kind that grows in marshes.",
        ("blue tansel", "hedge corran"),
        "mountain velvetwort",
    ),
    _invention(
        "harpeth-opera",
        "Who sang the title role at the first night of the opera Queen Harpeth?",
        "Ludmila Carvossa",
        "Person",
        "the singer of the title role at the first night of the opera Queen Harpeth",
        "On the first night Carvossa, Ludmila, was heard as the queen.",
        ("Inga Thorsby", "Rosalba Mencini"),
        "Ludovica Carvossa",
    ),
    _invention(
        "vennic-council",
        "How many members sit on the council of the island of Vennic?",
        "17",
        "Number",
        "the number of members of the council of the island of Vennic",
        "The island's council has seventeen members.",
        ("9", "40"),
        "16",
    ),
    _invention(
        "merrowick-lamp",
        "On what date was the Merrowick lighthouse first lit?",
        "3 October 1871",
        "Date",
        "the date on which the Merrowick lighthouse was first lit",
        "Its lamp was first lit on October 3rd, 1871.",
        ("25 May 1902", "11 August 1840"),
        "13 October 1871",
    ),
    _invention(
        "dunholt-prize",
        "Which book won the Dunholt prize when it was first awarded?",
        "The Salt Ledger",
        "Other",
        "the first winner of the Dunholt prize",
        "The prize first went to the book called The Salt Ledger.",
        ("A Winter of Kites", "Nine Doors"),
        "The Silver Ledger",
    ),
)
"""Facts about things that do not exist."""
