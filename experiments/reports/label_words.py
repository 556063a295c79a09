"""How a report speaks of the labels that a grader is held against: people's, or the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
"""Words for labels that people gave."""
WORDS = {
    "human": PEOPLE,
    "published": LabelWords("the reference", "the reference's", "Labels are published facts (the reference)."),
    "construction": LabelWords(
        "the reference", "the reference's", "Labels hold by construction of the items (the reference)."
    ),
}


def label_words(about: Mapping[str, Any]) -> LabelWords:
    """Words for the labels of a set, by its ``label_source``; where its counts say that there are none, they say so."""
    words = WORDS.get(about["label_source"], PEOPLE)
    is_bare = about.get("n_labelled") == 0 and not about.get("n_tied")
    return replace(words, source="No item has a label.") if is_bare else words
