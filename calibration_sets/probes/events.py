"""Facts about when things happened."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact, Question

__all__ = ["EVENTS"]


def _event(
    key: str,
    event: str,
    answer: str,
    paraphrase: str,
    others: tuple[str, str],
    near_miss: str,
    *,
    true: str,
    wrong: str,
    aliases: tuple[str, ...] = (),
) -> Fact:
    unit = "year" if answer.isdigit() else "exact date"
    return Fact(
        question=Question(key, f"What was the {unit} of {event}?", answer, "History", "Date", aliases),
        subject=f"the {unit} of {event}",
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


EVENTS: tuple[Fact, ...] = (
    _event(
        "moon-landing",
        "the first landing of people on the Moon",
        "1969",
        "It was in nineteen sixty-nine.",
        ("1957", "1981"),
        "1968",
        true="The mission was Apollo 11.",
        wrong="The landing craft was called Titanic.",
    ),
    _event(
        "berlin-wall",
        "the fall of the Berlin Wall",
        "1989",
        "The Wall came down in the autumn of '89, that is in 1989.",
        ("1961", "1975"),
        "1990",
        true="It happened in November.",
        wrong="The wall ran through Madrid.",
    ),
    _event(
        "bastille",
        "the storming of the Bastille",
        "1789",
        "The crowd took the fortress in seventeen eighty-nine.",
        ("1815", "1688"),
        "1798",
        true="The day is now the national day of France.",
        wrong="The Bastille stood in Athens.",
    ),
    _event(
        "titanic",
        "the sinking of the Titanic",
        "1912",
        "The ship went down in April of the year 1912.",
        ("1898", "1939"),
        "1921",
        true="The ship had struck an iceberg.",
        wrong="The ship sank in the Black Sea.",
    ),
    _event(
        "magna-carta",
        "the first sealing of Magna Carta",
        "1215",
        "King John put his seal to it in twelve hundred and fifteen.",
        ("1066", "1348"),
        "1251",
        true="It was sealed at Runnymede.",
        wrong="It was sealed in Constantinople.",
    ),
    _event(
        "world-war-two",
        "the end of the Second World War",
        "1945",
        "The war was over in nineteen forty-five.",
        ("1918", "1953"),
        "1946",
        true="Japan surrendered in the late summer.",
        wrong="The last battle was fought in Iceland.",
    ),
    _event(
        "wright-brothers",
        "the first powered flight of the Wright brothers",
        "1903",
        "The brothers first flew with an engine in nineteen hundred and three.",
        ("1927", "1889"),
        "1902",
        true="It took place near Kitty Hawk.",
        wrong="The aircraft carried forty passengers.",
    ),
    _event(
        "chernobyl",
        "the nuclear accident at Chernobyl",
        "1986",
        "The reactor exploded in nineteen eighty-six.",
        ("1979", "2011"),
        "1968",
        true="It happened in April.",
        wrong="The plant stood in Portugal.",
    ),
    _event(
        "declaration",
        "the adoption of the United States Declaration of Independence",
        "4 July 1776",
        "It was adopted on the fourth day of July in 1776.",
        ("14 July 1789", "4 March 1861"),
        "5 July 1776",
        true="Thomas Jefferson was its main author.",
        wrong="It was adopted in Chicago.",
        aliases=("July 4, 1776",),
    ),
    _event(
        "queen-victoria",
        "the death of Queen Victoria",
        "22 January 1901",
        "She died on 22/01/1901 (day, month, year).",
        ("6 February 1952", "14 December 1861"),
        "21 January 1901",
        true="She had reigned for more than sixty-three years.",
        wrong="She died in Canada.",
        aliases=("January 22, 1901",),
    ),
)
"""Facts whose answer is a year or a date."""
