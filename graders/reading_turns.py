"""How many turns a model has that opens documents one at a time."""

from __future__ import annotations

__all__ = ["most_turns"]

_SPARE_TURNS = 3


def most_turns(n_documents: int) -> int:
    """Turns that a conversation may take: one a document, one for the reply, and two to spare."""
    return n_documents + _SPARE_TURNS
