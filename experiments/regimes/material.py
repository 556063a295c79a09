"""What a question comes with: concepts, related documents, distractors.

A question that is to be asked carries its material as text in place of a response, so that its digest covers all that
a model may be shown, and the price of a call is estimated from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from calibration_sets.item import content_digest

__all__ = ["Document", "Material", "cut_middle"]


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

    def list_documents(self, question: str, *, with_distractors: bool) -> str:
        """The documents one below the other, numbered.

        Their order is as good as drawn, fixed by question and text alone: a document's place does not tell what it is
        worth, and related documents keep their order where distractors come between.
        """
        shown = [*self.related, *(self.distractors if with_distractors else ())]
        return "\n\n".join(_blocks(sorted(shown, key=lambda one: content_digest([question, one.title, one.text]))))


def _blocks(documents: Sequence[Document]) -> list[str]:
    return [f"Document {place}: {one.title}\n\n{one.text}" for place, one in enumerate(documents, start=1)]


def cut_middle(text: str, *, most: int) -> str:
    """A text of at most so many characters: of a longer one begin and end, and between them how many are left out.

    Parameters
    ----------
    text
        Any text.
    most
        Characters that are kept; the marker comes on top.
    """
    n_cut = len(text) - most
    if n_cut <= 0:
        return text
    tail = most // 2
    return f"{text[: most - tail]}\n[... {n_cut:,} characters are left out here ...]\n{text[len(text) - tail :]}"
