"""How a report speaks of the labels that a grader is held against: people's, or the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["PEOPLE", "LabelWords", "label_words"]


@dataclass(frozen=True, slots=True)
class LabelWords:
    """Whoever gave the labels, as the subject of a sentence (``people``) and as their owner (``people's``)."""

    giver: str
    givers: str
    source: str

    @property
    def capital(self) -> str:
        """The giver at the beginning of a sentence."""
        return self.giver[0].upper() + self.giver[1:]

    @property
    def say(self) -> str:
        """The giver with what it does: ``people say``, ``the reference says``."""
        return f"{self.giver} say{'' if self.giver == 'people' else 's'}"

    def retold(self, reason: str | None) -> str | None:
        """A reason of the report, which always speaks of people, in these words."""
        if reason is None:
            return None
        return reason.replace("people called", f"{self.giver} called", 1).replace("people's", self.givers, 1)


PEOPLE = LabelWords("people", "people's", "Labels were given by people.")
WORDS = {
    "human": PEOPLE,
    "published": LabelWords("the reference", "the reference's", "Labels are published facts (the reference)."),
    "construction": LabelWords(
        "the reference", "the reference's", "Labels hold by construction of the items (the reference)."
    ),
}


def label_words(about: Mapping[str, Any]) -> LabelWords:
    """Words for the labels of a set, by its ``label_source``."""
    return WORDS.get(about["label_source"], PEOPLE)
