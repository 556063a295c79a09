"""What a question comes with: concepts, related documents, distractors.

A question that is to be asked carries its material as text in place of a response, so that its digest covers all that
a model may be shown, and the price of a call is estimated from it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from calibration_sets.item import content_digest

__all__ = ["Document", "Material", "cut_middle"]

_MOST_MARKS = 16
"""Accents in a row that a cut keeps with their letter; more are no writing."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Material:
    """Concepts, the documents that they come from, and other documents."""

    concepts: tuple[str, ...]
    related: tuple[Document, ...]
    distractors: tuple[Document, ...]

    def as_text(self) -> str:
        """JSON, which :meth:`from_text` takes back."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Material:
        """The material in a text of :meth:`as_text`."""
        fields = json.loads(text)
        return cls(
            concepts=tuple(fields["concepts"]),
            related=tuple(Document(**one) for one in fields["related"]),
            distractors=tuple(Document(**one) for one in fields["distractors"]),
        )

    def list_concepts(self) -> str:
        """A line a concept."""
        return "\n".join(f"- {concept.strip()}" for concept in self.concepts)

    def arrange(self, question: str, *, with_distractors: bool) -> list[Document]:
        """The documents in the order in which they are shown, and have their numbers.

        It is as good as drawn, fixed by question and text alone: a document's place does not tell what it is worth,
        and related documents keep their order where distractors come between.
        """
        shown = [*self.related, *(self.distractors if with_distractors else ())]
        return sorted(shown, key=lambda one: content_digest([question, one.title, one.text]))

    def list_documents(self, question: str, *, with_distractors: bool) -> str:
        """The documents one below the other, numbered."""
        shown = _number(self.arrange(question, with_distractors=with_distractors))
        return "\n\n".join(f"{head}\n\n{one.text}" for head, one in shown)

    def list_titles(self, question: str, *, with_distractors: bool) -> str:
        """The titles of the documents, numbered."""
        return "\n".join(head for head, _ in _number(self.arrange(question, with_distractors=with_distractors)))


def _number(documents: Sequence[Document]) -> list[tuple[str, Document]]:
    return [(f"Document {place}: {one.title}", one) for place, one in enumerate(documents, start=1)]


def cut_middle(text: str, *, most: int) -> str:
    """A text of at most so many characters: of a longer one begin and end, and between them how many are left out.

    Parameters
    ----------
    text
        Any text.
    most
        Characters (code points) that are kept; the marker comes on top. A cut does not part a letter from the accents
        that follow it: there a few less are kept.
    """
    if len(text) <= most:
        return text
    head, tail = most - most // 2, len(text) - most // 2
    head = next((place for place in range(head, max(head - _MOST_MARKS, 0), -1) if not _joins(text[place])), head)
    last = min(tail + _MOST_MARKS, len(text))
    tail = next((place for place in range(tail, last) if not _joins(text[place])), tail)
    return f"{text[:head]}\n[... {tail - head:,} characters are left out here ...]\n{text[tail:]}"


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: an accent, a joiner, a variation of an emoji."""
    return unicodedata.category(character) in ("Mn", "Me", "Mc") or character in "\u200d\ufe0f"
