"""Facts about places."""

from __future__ import annotations

from calibration_sets.probes.fact import Fact, Question

__all__ = ["PLACES"]


def _capital(
    country: str,
    answer: str,
    paraphrase: str,
    others: tuple[str, str],
    near_miss: str,
    *,
    true: str,
    wrong: str,
) -> Fact:
    return Fact(
        question=Question(
            key=f"capital-{country.casefold().replace(' ', '-')}",
            text=f"Which city is the capital of {country}?",
            reference=answer,
            topic="Geography",
            answer_type="Place",
        ),
        subject=f"the capital of {country}",
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


def _place(
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
        question=Question(key, question, answer, "Geography", "Place", aliases),
        subject=subject,
        paraphrase=paraphrase,
        others=others,
        near_miss=near_miss,
        true_extra=true,
        wrong_extra=wrong,
    )


PLACES: tuple[Fact, ...] = (
    _capital(
        "Australia",
        "Canberra",
        "Australians have their federal parliament, and so their capital, in Canberra.",
        ("Sydney", "Perth"),
        "Canterbury",
        true="Its artificial lake is named after Walter Burley Griffin.",
        wrong="It lies on the coast of the Indian Ocean.",
    ),
    _capital(
        "Hungary",
        "Budapest",
        "That would be Budapest, where the Hungarian government sits.",
        ("Vienna", "Debrecen"),
        "Bucharest",
        true="The Danube flows through it.",
        wrong="The Thames flows through it.",
    ),
    _capital(
        "Japan",
        "Tokyo",
        "The Japanese government has its seat in Tokyo.",
        ("Osaka", "Seoul"),
        "Kyoto",
        true="Until 1868 it was called Edo.",
        wrong="It lies on the island of Hokkaido.",
    ),
    _capital(
        "Greece",
        "Athens",
        "Greeks are governed from Athens.",
        ("Thessaloniki", "Istanbul"),
        "Sparta",
        true="The Acropolis stands there.",
        wrong="It lies high up in the Alps.",
    ),
    _capital(
        "Russia",
        "Moscow",
        "Russia is governed from Moscow.",
        ("Saint Petersburg", "Kazan"),
        "Minsk",
        true="Red Square is in it.",
        wrong="It is a port on the Pacific Ocean.",
    ),
    _capital(
        "Brazil",
        "Brasília",
        "Brazilians built Brasília from scratch to be their capital.",
        ("Rio de Janeiro", "São Paulo"),
        "Brazzaville",
        true="It was inaugurated in 1960.",
        wrong="It is a seaport at the mouth of the Amazon.",
    ),
    _capital(
        "Canada",
        "Ottawa",
        "Canada's parliament, and with it the capital, is in Ottawa.",
        ("Toronto", "Montreal"),
        "Oshawa",
        true="It lies in the province of Ontario.",
        wrong="It lies on the Pacific coast.",
    ),
    _capital(
        "South Korea",
        "Seoul",
        "South Koreans have Seoul as their capital.",
        ("Busan", "Tokyo"),
        "Pyongyang",
        true="The Han River flows through it.",
        wrong="It lies south of the equator.",
    ),
    _capital(
        "Egypt",
        "Cairo",
        "Egypt's seat of government is Cairo.",
        ("Alexandria", "Khartoum"),
        "Giza",
        true="It lies on the Nile.",
        wrong="It lies on the Mississippi.",
    ),
    _capital(
        "Iceland",
        "Reykjavík",
        "Icelanders are governed from Reykjavík.",
        ("Akureyri", "Oslo"),
        "Keflavík",
        true="It has hot water from geothermal sources.",
        wrong="It lies on the Mediterranean Sea.",
    ),
    _place(
        "river-paris",
        "Which river flows through the middle of Paris?",
        "Seine",
        "the river that flows through the middle of Paris",
        "Paris was built on both banks of the Seine.",
        ("Rhine", "Thames"),
        "Saône",
        true="It flows into the English Channel.",
        wrong="It rises in Egypt.",
        aliases=("River Seine",),
    ),
    _place(
        "country-marrakesh",
        "In which country is the city of Marrakesh?",
        "Morocco",
        "the country of Marrakesh",
        "Marrakesh is a Moroccan city, so: Morocco.",
        ("Tunisia", "Spain"),
        "Monaco",
        true="The capital of that country is Rabat.",
        wrong="That country borders on Finland.",
    ),
    _place(
        "mountain-africa",
        "What is the highest mountain in Africa?",
        "Kilimanjaro",
        "the highest mountain in Africa",
        "No African summit is higher than that of Mount Kilimanjaro.",
        ("Mount Kenya", "Table Mountain"),
        "Mount Meru",
        true="It stands in Tanzania.",
        wrong="It stands on an island in the Pacific.",
        aliases=("Mount Kilimanjaro",),
    ),
)
"""Facts whose answer is a place."""
