"""The turns of a model that opens documents one at a time: how many it has, and what it opened in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["count_opened", "most_turns"]

_SPARE_TURNS = 3


def most_turns(n_documents: int) -> int:
    """Turns that a conversation may take: one a document, one for the reply, and two to spare."""
    return n_documents + _SPARE_TURNS


def count_opened(turns: Sequence[Mapping[str, Any]]) -> int:
    """Documents that were opened in a conversation, by the turns of its completion."""
    return sum(len(turn["opened"]) for turn in turns)
