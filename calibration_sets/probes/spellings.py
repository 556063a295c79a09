"""Answers in other scripts, and without diacritics."""

from __future__ import annotations

from calibration_sets.probes.facts import KNOWN
from calibration_sets.probes.probe import CORRECT, INCORRECT, Probe

__all__ = ["spellings"]

_RIGHT = (
    ("capital-japan", "東京"),
    ("capital-japan", "とうきょう"),
    ("capital-greece", "Αθήνα"),
    ("capital-russia", "Москва"),
    ("capital-hungary", "Будапешт"),
    ("capital-south-korea", "서울"),
    ("capital-egypt", "القاهرة"),
    ("capital-brazil", "Brasilia"),
    ("capital-iceland", "Reykjavik"),
    ("capital-iceland", "REYKJAVI\u0301K"),
    ("country-marrakesh", "المغرب"),
    ("war-and-peace", "Лев Толстой"),
    ("pride-and-prejudice", "Джейн Остин"),
    ("wuthering-heights", "Emily Bronte"),
    ("solitude", "gabriel garcia marquez"),
    ("magic-flute", "莫扎特"),
    ("relativity", "Альберт Эйнштейн"),
    ("largest-planet", "木星"),
    ("violin-strings", "४"),
    ("moon-landing", "१९६९"),
)
"""Key of the question, and its answer in another spelling."""

_WRONG = (
    ("capital-japan", "大阪"),
    ("capital-greece", "Θεσσαλονίκη"),
    ("capital-russia", "Санкт-Петербург"),
    ("capital-hungary", "Бухарест"),
    ("capital-south-korea", "부산"),
    ("capital-egypt", "الإسكندرية"),
    ("capital-brazil", "Sao Paulo"),
    ("country-marrakesh", "تونس"),
    ("war-and-peace", "Фёдор Достоевский"),
    ("pride-and-prejudice", "Чарльз Диккенс"),
    ("magic-flute", "贝多芬"),
    ("relativity", "Нильс Бор"),
    ("largest-planet", "土星"),
    ("moon-landing", "१९८१"),
)
"""Key of the question, and a wrong answer in another spelling."""


def spellings() -> list[Probe]:
    """Probes of the kind scripts; only meaning matters, so both rubrics agree."""
    questions = {fact.question.key: fact.question for fact in KNOWN}
    return [
        Probe("scripts", questions[key], response, label, label)
        for table, label in ((_RIGHT, CORRECT), (_WRONG, INCORRECT))
        for key, response in table
    ]
